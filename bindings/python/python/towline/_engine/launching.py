"""From the options of a program to what the native module starts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._errors import CLIConnectionError
from .._version import __version__
from .log import wanted_level

if TYPE_CHECKING:
    from .._mcp import Entry, ToolServer
    from .._options import Launch

# The CLI understands neither NaN nor infinity, which are no JSON.
dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


# Whose faults are no fault of the start in `claude_agent_sdk`.
_AS_THEY_ARE = ("plugins", "session_store_flush", "skills")
_JOINED = ("allowed_tools", "betas", "disallowed_tools", "setting_sources", "tools")
_NESTED = ("agents", "mcp_servers", "output_format", "sandbox")


@contextmanager
def starting(launch: "Launch") -> Iterator[None]:
    """While a session is started: an option that cannot be used is told of by its Python name.

    Raises:
        CLIConnectionError: the value cannot be given to a CLI.
        TypeError: it is no list of texts, where one is needed.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        name, text = _blamed(error, launch)
        if name is None or name in _AS_THEY_ARE:
            raise
        if name in _JOINED:
            raise TypeError(text) from error
        if name in _NESTED and isinstance(error, TypeError):
            raise
        raise CLIConnectionError(f"Failed to start Claude Code: {text}") from error


def _blamed(error: Exception, launch: "Launch") -> tuple[str | None, str]:
    """The option that an error is about, and its text with that name."""
    import re
    from dataclasses import fields

    from ..types.extended import Options

    text = str(error)
    found = re.match(r'option "(\w+)"|(\w+): ', text)
    if found is not None and isinstance(error, ValueError):
        given = found[1] or found[2]
        name = re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), given)
        name = {"max_line_bytes": "max_buffer_size"}.get(name, name)
        if any(field.name == name for field in fields(Options)):
            return name, text.replace(given, name, 1)
    for name, value in launch.document.items():
        try:
            dumps(value)
        except (TypeError, ValueError):
            return name, f"{name}: {text}"
    return None, text


class Start:
    """The attributes that the native module reads."""

    __slots__ = (
        "bridged",
        "document",
        "elicitation",
        "hooks",
        "log_level",
        "materialized",
        "other",
        "permission",
        "sdk_version",
        "servers",
        "stderr",
        "store",
        "store_flush",
        "trace_context",
        "unknown",
    )

    def __init__(self, launch: "Launch") -> None:
        document: dict[str, Any] = launch.document
        if launch.dialogs:
            document = {**document, "supported_dialog_kinds": list(launch.dialogs)}
        self.document = dumps(document)
        self.permission = launch.permission is not None
        self.hooks = [
            (hook.event, hook.matcher, hook.timeout, hook.on_failure) for hook in launch.hooks
        ]
        self.servers = [Server(name, server) for name, server in launch.servers.items()]
        self.bridged = list(launch.bridged)
        self.elicitation = launch.elicitation is not None
        self.other = launch.other is not None
        self.stderr = launch.stderr is not None
        self.unknown = launch.unknown_messages
        self.trace_context = launch.trace_context
        self.log_level = wanted_level(document)
        self.sdk_version = __version__
        self.store: tuple[bool, bool, bool, bool] | None = None
        if launch.store is not None:
            from .._store_tasks import capabilities

            self.store = capabilities(launch.store)
        self.store_flush = launch.store_flush
        self.materialized = launch.materialized


class Server:
    """An in-process MCP server, as the native module reads it."""

    __slots__ = ("instructions", "name", "own_name", "timeout_ms", "tools", "version")

    def __init__(self, name: str, server: "ToolServer") -> None:
        self.name = name
        self.own_name = server.name
        self.version = server.version
        self.instructions = None
        self.timeout_ms = None
        self.tools = [Tool(entry) for entry in server.entries]


class Tool:
    """A tool; what is an object to MCP is JSON text."""

    __slots__ = (
        "annotations",
        "description",
        "input_schema",
        "meta",
        "name",
        "output_schema",
        "title",
    )

    def __init__(self, entry: "Entry") -> None:
        self.name = entry.name
        self.title = None
        self.description = entry.description
        self.input_schema = dumps(entry.input_schema)
        self.output_schema = None
        self.annotations = None if entry.annotations is None else dumps(entry.annotations)
        self.meta = None if entry.meta is None else dumps(entry.meta)
