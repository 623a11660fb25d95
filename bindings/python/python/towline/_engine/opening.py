"""The start of a session under an event loop."""

from typing import TYPE_CHECKING

from .._options import prepare
from .engine import Engine
from .loops import running

if TYPE_CHECKING:
    from .._transport import Transport
    from ..types import ClaudeAgentOptions


async def open_engine(
    options: "ClaudeAgentOptions | None", transport: "Transport | None"
) -> Engine:
    """Starts a CLI, or opens a transport."""
    if options is None:
        from ..types import ClaudeAgentOptions

        options = ClaudeAgentOptions()
    launch = prepare(options)
    loop = running()
    if transport is not None:
        await transport.connect()
    elif launch.store is not None:
        from .._store_tasks import resume

        await resume(launch)
    return Engine(launch, loop, transport)
