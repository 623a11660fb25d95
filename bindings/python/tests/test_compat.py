"""Programs that import `claude_agent_sdk` on Towline."""

import subprocess
import sys


def program(text: str) -> None:
    subprocess.run([sys.executable, "-c", text], check=True)


def test_every_import_leads_to_towline() -> None:
    program("""
import sys
import towline.compat
towline.compat.install()
towline.compat.install()
from claude_agent_sdk.types import TextBlock
from claude_agent_sdk import _errors, ClaudeAgentOptions
from claude_agent_sdk._errors import MessageParseError
import claude_agent_sdk._version
import claude_agent_sdk.testing
import claude_agent_sdk, towline, towline.types, towline._errors
assert claude_agent_sdk is towline
assert claude_agent_sdk.types is towline.types is sys.modules["claude_agent_sdk.types"]
assert TextBlock is towline.TextBlock and _errors is towline._errors
assert towline.types.__spec__.name == "towline.types" == towline.types.__name__
assert towline.__spec__.name == "towline"
""")


def test_the_functions_keep_their_names() -> None:
    program("""
import towline.compat
towline.compat.install()
import claude_agent_sdk.query, claude_agent_sdk.client
from claude_agent_sdk.query import query
from claude_agent_sdk.client import ClaudeSDKClient
import towline
assert towline.query is query and callable(query)
assert towline.ClaudeSDKClient is ClaudeSDKClient
""")


def test_what_towline_does_not_have_is_said() -> None:
    program("""
import towline.compat
towline.compat.install()
try:
    import claude_agent_sdk._internal.transport
except ModuleNotFoundError as error:
    assert "Towline" in str(error)
else:
    raise AssertionError
""")


def test_two_packages_at_once_are_refused() -> None:
    program("""
import claude_agent_sdk, towline.compat
try:
    towline.compat.install()
except RuntimeError as error:
    assert "already" in str(error)
else:
    raise AssertionError
""")


def test_it_can_be_taken_back() -> None:
    program("""
import towline, towline.compat
towline.compat.install()
import claude_agent_sdk
assert claude_agent_sdk is towline
towline.compat.uninstall()
import claude_agent_sdk
assert claude_agent_sdk is not towline
import towline.types
assert towline.types.TextBlock is not claude_agent_sdk.TextBlock
""")


def test_what_a_first_query_brings_in() -> None:
    """Starting is what users feel most: nothing heavy may come in unasked."""
    program("""
import sys
import towline
towline.query(prompt="x", options=towline.ClaudeAgentOptions(model="m"))
loaded = {name.split(".")[0] for name in sys.modules}
assert not loaded & {"anyio", "asyncio", "trio", "mcp", "pydantic", "jsonschema", "logging"}, loaded
assert "towline.sessions" not in sys.modules and "towline.types.control" not in sys.modules
""")
