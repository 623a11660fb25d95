"""A session over a transport that the program brings."""

from typing import TYPE_CHECKING

from .._errors import ProcessError
from .launching import dumps

if TYPE_CHECKING:
    from .._native import Pipe
    from .._transport import Transport
    from .loops import Event, Loop, Task


class Wire:
    """Carries lines between a transport and a native session, in two tasks."""

    __slots__ = (
        "_changed",
        "_closing",
        "_loop",
        "_pipe",
        "_reader",
        "_transport",
        "_writer",
        "done",
        "error",
    )

    def __init__(self, transport: "Transport", pipe: "Pipe", loop: "Loop") -> None:
        self._transport = transport
        self._pipe = pipe
        self._loop = loop
        self._closing = False
        self._changed: Event = loop.event()
        self.error: BaseException | None = None
        """What the transport has failed with."""
        self.done: Event = loop.event()
        """Set when the transport is closed."""
        pipe.on_change(self._change)
        self._reader: Task = loop.spawn(self._read())
        self._writer: Task = loop.spawn(self._write())

    def _change(self) -> None:
        self._changed.set()

    def close(self) -> None:
        """Ends the stream: what is to be written goes out, then the transport is closed."""
        self._closing = True
        self._change()

    async def _room(self) -> None:
        while not self._pipe.wants_more and not self._pipe.closed and not self._closing:
            await self._changed.wait()
            await self._loop.sleep(0)

    async def _read(self) -> None:
        error: BaseException | None = None
        try:
            async for message in self._transport.read_messages():
                if not self._pipe.feed(dumps(message) + "\n"):
                    await self._room()
        except Exception as failure:
            error = self.error = failure
        finally:
            self._finish(error)

    def _finish(self, error: BaseException | None) -> None:
        if isinstance(error, ProcessError) and error.exit_code is not None:
            self._pipe.finish(None, error.exit_code)
        else:
            self._pipe.finish(None if error is None else str(error) or type(error).__name__)

    async def _write(self) -> None:
        pipe = self._pipe
        ended = False
        try:
            while True:
                changed = self._changed = self._loop.event()
                data = pipe.take_outgoing()
                if data is not None:
                    for line in data.decode().split("\n")[:-1]:
                        await self._transport.write(line + "\n")
                elif pipe.closed or self._closing:
                    return
                elif pipe.input_ended and not ended:
                    ended = True
                    await self._transport.end_input()
                else:
                    await changed.wait()
        except Exception as failure:
            self.error = failure
            pipe.lose_input()
            while not pipe.closed and not self._closing:
                changed = self._changed = self._loop.event()
                if not pipe.closed and not self._closing:
                    await changed.wait()
        finally:
            await self._loop.shielded(self._end())

    async def _end(self) -> None:
        try:
            await self._transport.close()
        except Exception as failure:
            if self.error is None:
                self.error = failure
            from .log import logger

            logger().warning("the transport failed to close", exc_info=True)
        finally:
            self._reader.cancel()
            self._finish(None)
            self.done.set()
