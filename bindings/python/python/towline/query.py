"""One prompt, or a stream of them, and everything that comes of it."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

import towline

from . import _native
from ._generators import Generator, generator

if TYPE_CHECKING:
    from ._engine.engine import Engine

    Prompt = str | AsyncIterable[dict[str, Any]]


@generator
def query(
    *,
    prompt: "str | AsyncIterable[dict[str, Any]]",
    options: "towline.ClaudeAgentOptions | None" = None,
    transport: "towline.Transport | None" = None,
) -> "AsyncIterator[towline.Message]":
    """Asks, and gives out the messages as they come.

    The CLI starts with the first step of the iteration and ends with the last, or when the iterator
    is closed, dropped or its task cancelled. For a conversation use `ClaudeSDKClient`.

    Args:
        prompt: A text, or an asynchronous iterable of user messages
            (`{"type": "user", "message": {"role": "user", "content": …}, …}`). While hooks,
            permission callbacks or in-process tools may be needed the CLI is kept able to ask.
        options: What to start it with.
        transport: Another way to a CLI; the options that are arguments or variables of a process
            do not reach it.

    Raises:
        ResultError: in the iteration, behind a result that is an error.
        ClaudeSDKError: the CLI could not be started, or has failed.
    """
    return Query(prompt, options, transport)


class Query(Generator, _native.Stream):
    """The messages of a `query`. As an asynchronous generator it can be closed, in any task."""

    if TYPE_CHECKING:
        _engine: Engine | None
    _engine = None

    def __init__(
        self,
        prompt: "Prompt",
        options: "towline.ClaudeAgentOptions | None",
        transport: "towline.Transport | None",
    ) -> None:
        self._prompt = prompt
        self._options = options
        self._transport = transport

    async def _open(self) -> "Engine":
        from ._engine.opening import check_prompt, open_engine

        prompt = self._prompt
        check_prompt(prompt)
        engine = await open_engine(self._options, self._transport)
        self._engine = engine
        engine.single = True
        self.inbox = engine.inbox
        if engine.blocks_on_failure():
            await engine.connected()
        if isinstance(prompt, str):
            await engine.send(
                {
                    "type": "user",
                    "session_id": "",
                    "message": {"role": "user", "content": prompt},
                    "parent_tool_use_id": None,
                }
            )
            engine.end_input_when_settled()
        else:
            engine.feed(prompt)
        return engine

    async def _wait(self) -> "towline.Message":
        if self._engine is not None:
            self._engine.check_loop()
        try:
            engine = self._engine or await self._open()
            while True:
                message = self._take()
                if message is not None:
                    return message
                inbox = engine.inbox
                if self.ended or inbox.closed:
                    break
                await engine.more(inbox)
        except (StopIteration, StopAsyncIteration) as error:
            await self.aclose()
            # Nobody may take it for the end of the messages.
            raise RuntimeError(f"the session raised {type(error).__name__}") from error
        except BaseException as error:
            await self._close(not isinstance(error, Exception))
            raise
        await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Ends the CLI, if it has not ended."""
        await self._close(False)

    async def _close(self, hurry: bool) -> None:
        engine = self._engine
        if engine is not None:
            engine.check_loop(closing=True)
        self.ended = True
        if engine is not None:
            await engine.close(hurry)

    async def asend(self, value: Any) -> "towline.Message":
        """The next message; `value` goes nowhere."""
        return await self.__anext__()

    async def athrow(self, error: BaseException, *_: Any) -> "towline.Message":
        """Ends the CLI and raises `error`."""
        await self.aclose()
        raise error

    def __del__(self) -> None:
        if self._engine is not None:
            self._engine.abandon()
