"""A turn: one prompt, and what comes of it."""

from typing import TYPE_CHECKING, Any

import towline

from . import _native
from ._errors import CLIConnectionError

if TYPE_CHECKING:
    from ._engine.engine import Engine


async def start_turn(engine: "Engine", message: dict[str, Any]) -> "Turn":
    """Sends a prompt whose messages go to the turn that is returned."""
    inbox = _native.Inbox()
    number = await engine.send(message, inbox)
    turn = Turn(engine, inbox, number)
    engine.turns[number] = turn
    return turn


class Turn(_native.Stream):
    """The messages of a turn, in the order of their coming: `async for message in turn`."""

    outcome: str | None = None
    """`result`, `cancelled`, `timed_out` or `session_ended`, once it is over."""

    def __init__(self, engine: Any, inbox: "_native.Inbox", number: int) -> None:
        self._engine: Engine = engine
        self._number = number
        self._over = engine.loop.event()
        self._result: towline.ResultMessage | None = None
        self.inbox = inbox

    def over(self, outcome: str, result: Any) -> None:
        """Called by the engine."""
        self.outcome = outcome
        self._result = result
        inbox = self.inbox
        if inbox is not None:
            inbox.close()
        self._over.set()

    async def _wait(self) -> "towline.Message":
        inbox = self.inbox
        while inbox is not None:
            message = self._take()
            if message is not None:
                return message
            if self.ended or inbox.closed:
                break
            await self._engine.more(inbox)
        self.ended = True
        raise StopAsyncIteration

    async def result(self) -> "towline.ResultMessage":
        """Waits for the turn's result. Its messages can still be read afterwards.

        Raises:
            ClaudeSDKError: what ended the session before there was a result.
            CLIConnectionError: the turn ended without one; `outcome` says how.
        """
        engine = self._engine
        async with engine.reading():
            await self._over.wait()
        if self._result is None:
            raise engine.error or CLIConnectionError(f"the turn has no result: {self.outcome}")
        return self._result

    async def interrupt(self) -> None:
        """Ends the turn, if it is the running one; its result follows."""
        if self.outcome is None:
            await self._engine.request("interrupt")

    async def cancel(self) -> bool:
        """Takes the prompt back. `False` when the turn has begun already."""
        if self.outcome is not None:
            return False
        return bool((await self._engine.cancel_turn(self._number)).get("cancelled"))

    async def aclose(self) -> None:
        """Ends this iteration; the turn goes on."""
        self.ended = True
