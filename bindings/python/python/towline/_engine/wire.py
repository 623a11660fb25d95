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
        "_busy",
        "_changed",
        "_closing",
        "_idle",
        "_loop",
        "_lost",
        "_pipe",
        "_reader",
        "_transport",
        "_write_over",
        "_writer",
        "done",
        "error",
        "unended",
    )

    def __init__(self, transport: "Transport", pipe: "Pipe", loop: "Loop") -> None:
        self._transport = transport
        self._pipe = pipe
        self._loop = loop
        self._closing = False
        self._busy = True
        self._lost: Exception | None = None
        self._write_over = False
        self._changed: Event = loop.event()
        self._idle: Event = loop.event()
        self.error: BaseException | None = None
        """What the transport has failed with."""
        self.unended: BaseException | None = None
        """What its input could not be ended for, which is an error if the output did not end."""
        self.done: Event = loop.event()
        """Set when the transport is closed."""
        pipe.on_change(self._change)
        self._reader: Task = loop.spawn(self._read())
        self._writer: Task = loop.spawn(self._write())

    def _change(self) -> None:
        self._changed.set()

    def _next(self) -> "Event":
        """Set at the next change; to be taken before looking at what may have changed."""
        if self._changed.is_set():
            self._changed = self._loop.event()
        return self._changed

    def close(self) -> None:
        """Ends the stream: what is to be written goes out, then the transport is closed."""
        self._closing = True
        self._change()

    async def written(self) -> None:
        """Waits until what there is to be written has been, and raises what that failed with."""
        if not self._write_over and (self._busy or self._changed.is_set()):
            if self._idle.is_set():
                self._idle = self._loop.event()
            await self._idle.wait()
        if self._lost is not None:
            raise self._lost

    @property
    def _over(self) -> bool:
        return self._pipe.closed or self._closing

    async def _read(self) -> None:
        error: BaseException | None = None
        try:
            async for message in self._transport.read_messages():
                try:
                    line = dumps(message)
                except (TypeError, ValueError) as problem:
                    from .log import logger

                    logger().warning("skipped a message that is no JSON: %s", problem)
                    continue
                if not self._pipe.feed(line + "\n"):
                    while True:
                        changed = self._next()
                        if self._pipe.wants_more or self._over:
                            break
                        await changed.wait()
        except Exception as failure:
            error = failure
            if self.error is None:
                self.error = failure
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
                changed = self._next()
                data = pipe.take_outgoing()
                if data is not None:
                    for line in data.decode().split("\n")[:-1]:
                        await self._transport.write(line + "\n")
                elif self._over:
                    return
                elif pipe.input_ended and not ended:
                    ended = True
                    await self._transport.end_input()
                else:
                    self._busy = False
                    self._idle.set()
                    await changed.wait()
                    self._busy = True
        except Exception as failure:
            await self._lose(failure, ended)
        finally:
            self._stop_writing()
            await self._loop.shielded(self._end())

    def _stop_writing(self) -> None:
        self._write_over = True
        self._idle.set()

    async def _lose(self, failure: Exception, ending: bool) -> None:
        """The input is lost: what the transport has read by now is given out, then that is the end."""
        if ending:
            # It may have ended by itself, which is well.
            self.unended = failure
        else:
            self._lost = failure
            if self.error is None:
                self.error = failure
        self._stop_writing()
        self._pipe.fail_input(str(failure) or type(failure).__name__, ending)
        while True:
            changed = self._next()
            if self._over:
                return
            await changed.wait()

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
