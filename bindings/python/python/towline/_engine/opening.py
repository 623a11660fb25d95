"""The start of a session under an event loop."""

from typing import TYPE_CHECKING, Any

from .._options import prepare
from .engine import Engine
from .loops import running

if TYPE_CHECKING:
    from .._transport import Transport
    from ..types import ClaudeAgentOptions


def check_prompt(prompt: Any) -> None:
    """Raises before a CLI is started for a prompt that is none."""
    if not isinstance(prompt, str) and not hasattr(prompt, "__aiter__"):
        raise TypeError(
            "prompt must be a str or an asynchronous iterable of user messages, "
            f"not {type(prompt).__name__}"
        )


async def open_engine(
    options: "ClaudeAgentOptions | None", transport: "Transport | None"
) -> Engine:
    """Starts a CLI, or opens a transport."""
    if options is None:
        from ..types import ClaudeAgentOptions

        options = ClaudeAgentOptions()
    launch = prepare(options)
    loop = running()
    if transport is None and launch.store is not None:
        from .._store_tasks import resume

        await resume(launch)
    engine = Engine(launch, loop, transport)
    try:
        await engine.reached()
    except BaseException as error:
        await engine.close(not isinstance(error, Exception))
        raise
    return engine
