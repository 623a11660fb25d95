"""A session over a transport that the program brings.

What the transport does is waited for as long as the session says, and no longer. A method that has not
returned by then is cancelled; one that does not mind that is left behind.
"""

from time import monotonic
from typing import TYPE_CHECKING

from .._errors import CLIConnectionError, ProcessError
from .calls import Call, failure
from .launching import dumps

if TYPE_CHECKING:
    from .._native import Pipe
    from .._transport import Transport
    from .loops import Event, Loop, Scope, Task


class Cut(Exception):
    """A call of the transport has not returned in time, and was cancelled."""


class Wire:
    """Carries lines between a transport and a native session, in tasks of its own: one calls the
    transport, one reads from it, one sees to their end."""

    __slots__ = (
        "_begun",
        "_busy",
        "_changed",
        "_closing",
        "_due",
        "_ended",
        "_free",
        "_idle",
        "_keep",
        "_late",
        "_left",
        "_loop",
        "_lost",
        "_minder",
        "_pipe",
        "_read_over",
        "_reader",
        "_scope",
        "_transport",
        "_until",
        "_write_over",
        "_writer",
        "connected",
        "done",
        "error",
        "opened",
        "unended",
    )

    def __init__(self, transport: "Transport", pipe: "Pipe", loop: "Loop") -> None:
        self._transport = transport
        self._pipe = pipe
        self._loop = loop
        self._closing = False
        self._busy = True
        self._lost: Exception | None = None
        self._late: tuple[Event, Exception] | None = None
        self._write_over = False
        self._left = False
        self._scope: Scope | None = None
        """Of the call that is under way."""
        self._until: float | None = None
        """When it has to have returned."""
        self._begun: Event = loop.event()
        """Set at the next call that has such a time."""
        self._changed: Event = loop.event()
        self._idle: Event = loop.event()
        self._due: Event = loop.event()
        """Set when nothing of the transport is to go on any more but its end."""
        self._free: Event = loop.event()
        """Set when no call but `close` is under way or follows."""
        self._ended: Event = loop.event()
        """Set when all calls have returned."""
        self._read_over: Event = loop.event()
        self.error: BaseException | None = None
        """What the transport has failed with."""
        self.unended: BaseException | None = None
        """What its input could not be ended for, which is an error if the output did not end."""
        self.opened: Event = loop.event()
        """Set when the transport is connected, or cannot be."""
        self.connected = False
        self.done: Event = loop.event()
        """Set when the transport is closed, or left behind."""
        self._reader: Task | None = None
        self._keep: Task | None = None
        """What was left behind, which event loops keep only weakly."""
        pipe.on_change(self._change)
        self._writer: Task = loop.spawn(self._work())
        self._minder: Task = loop.spawn(self._mind())

    def _change(self) -> None:
        self._changed.set()
        pipe = self._pipe
        if pipe.closed or (not self.opened.is_set() and (self._closing or pipe.input_ended)):
            self._due.set()
            self._begun.set()

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
            idle = self._idle
            await idle.wait()
            if self._late is not None and self._late[0] is idle:
                raise self._late[1]
        if self._lost is not None:
            raise self._lost

    def turn_timed_out(self) -> None:
        """A turn has reached a limit: whoever waits for its prompt to be written waits no longer."""
        if self._pipe.call == "write" and not self._idle.is_set():
            error = CLIConnectionError(
                "the turn has reached its time limit, and the transport's write() has not returned"
            )
            self._late = (self._idle, error)
            self._idle.set()

    @property
    def _over(self) -> bool:
        return self._pipe.closed or self._closing

    # What it reads.

    async def _read(self) -> None:
        error: BaseException | None = None
        call = Call()
        try:
            async for message in self._transport.read_messages():
                try:
                    line = dumps(message)
                except (TypeError, ValueError, RecursionError) as problem:
                    from .log import logger

                    logger().warning("skipped a message that is no JSON: %s", problem)
                    continue
                if not self._pipe.feed(line + "\n"):
                    while True:
                        changed = self._next()
                        if self._pipe.wants_more or self._over:
                            break
                        await changed.wait()
        except BaseException as raised:
            if not call.failed(raised):
                raise
            error = failure(raised, "the transport's read_messages()")
            if self.error is None:
                self.error = error
        finally:
            self._finish(error)
            self._read_over.set()

    def _finish(self, error: BaseException | None) -> None:
        if isinstance(error, ProcessError) and error.exit_code is not None:
            self._pipe.finish(None, error.exit_code)
        else:
            self._pipe.finish(None if error is None else str(error) or type(error).__name__)

    # What it calls.

    async def _call(self, method: str, *arguments: str, limit: float | None = None) -> None:
        """Calls the transport and waits, `limit` seconds and as long as the session goes on.

        Raises:
            Cut: it has not returned.
            Exception: it has failed.
        """
        pipe = self._pipe
        scope = self._scope = self._loop.scope(None)
        pipe.call = method
        if limit is not None:
            self._until = monotonic() + limit
            self._begun.set()
        call = Call()
        try:
            with scope:
                try:
                    await getattr(self._transport, method)(*arguments)
                except BaseException as raised:
                    if not call.failed(raised):
                        raise
                    error = failure(raised, f"the transport's {method}()")
                    if error is raised:
                        raise
                    raise error from raised
        finally:
            if self._scope is scope:
                pipe.call = self._scope = self._until = None
        if scope.cut:
            raise Cut(method)

    async def _work(self) -> None:
        try:
            await self._connect()
            if self.connected:
                self._reader = self._loop.spawn(self._read())
                await self._write()
        except GeneratorExit:
            raise
        except BaseException as error:
            # Whoever has cancelled this task: nothing calls the transport any more.
            self._pipe.finish(f"{type(error).__name__} has ended the task that writes to it")
            raise
        finally:
            self._free.set()
            await self._end()

    async def _connect(self) -> None:
        try:
            if self._due.is_set():
                return
            await self._call("connect")
        except Cut:
            pass
        except Exception as error:
            self.error = error
            self._finish(error)
        else:
            self.connected = True
            self.opened.set()

    async def _write(self) -> None:
        pipe = self._pipe
        limit = pipe.call_limit
        ended = False
        try:
            while True:
                changed = self._next()
                data = None if self._due.is_set() else pipe.take_outgoing()
                if data is not None:
                    for line in data.decode().split("\n")[:-1]:
                        await self._call("write", line + "\n", limit=limit)
                elif self._over:
                    return
                elif pipe.input_ended and not ended:
                    ended = True
                    await self._call("end_input", limit=limit)
                else:
                    self._busy = False
                    self._idle.set()
                    await changed.wait()
                    self._busy = True
        except Cut:
            await self._be_over()
        except Exception as error:
            self._lose(error, ended)
            await self._be_over()

    def _stop_writing(self) -> None:
        self._write_over = True
        self._idle.set()

    def _lose(self, error: Exception, ending: bool) -> None:
        """The input is lost: what the transport has read by now is given out, then that is the end."""
        if ending:
            # It may have ended by itself, which is well.
            self.unended = error
        else:
            self._lost = error
            if self.error is None:
                self.error = error
        self._stop_writing()
        self._pipe.fail_input(str(error) or type(error).__name__, ending)

    async def _be_over(self) -> None:
        while True:
            changed = self._next()
            if self._over:
                return
            await changed.wait()

    async def _end(self) -> None:
        """Closes the transport, in whatever task comes to it first."""
        if self._left:
            return
        self._left = True
        self.opened.set()
        self._stop_writing()
        with self._loop.shield():
            try:
                if self.connected:
                    await self._call("close")
            except Cut:
                pass
            except Exception as error:
                if self.error is None:
                    self.error = error
                from .log import logger

                logger().warning("the transport failed to close", exc_info=True)
            finally:
                if self._reader is not None:
                    self._reader.cancel()
                    await self._read_over.wait()
                self._ended.set()

    # Its end.

    async def _mind(self) -> None:
        try:
            await self._mind_calls()
        except GeneratorExit:
            raise
        except BaseException:
            await self._see_to_end()
            raise
        await self._see_to_end()

    async def _mind_calls(self) -> None:
        """Cuts calls that take too long, until nothing is to go on any more."""
        while not self._due.is_set():
            if self._until is None:
                self._begun = self._loop.event()
                await self._begun.wait()
                continue
            left = self._until - monotonic()
            if left > 0:
                await self._within(left, self._due)
                continue
            self._until = None
            method = self._pipe.call
            limit = round((self._pipe.call_limit or 0) * 1000)
            error = CLIConnectionError(
                f"the transport's {method}() has not returned within {limit} ms "
                "(option control_timeout_ms)"
            )
            self._lose(error, method == "end_input")
            if self._scope is not None:
                self._scope.cancel()

    async def _see_to_end(self) -> None:
        """Gives what is under way the time that there is, and no more."""
        with self._loop.shield():
            limit = self._pipe.end_limit
            left = limit
            if not self._free.is_set():
                self._cut()
                left /= 2
                if not await self._within(left, self._free):
                    self._leave(self._pipe.call or "read_messages")
                    self._keep = self._writer
                    self._writer = self._loop.spawn(self._end())
            if not await self._within(left, self._ended):
                method = self._pipe.call or "read_messages"
                self._cut()
                if not await self._within(limit / 10, self._ended):
                    self._leave(method)
            self._finish(None)
            self.done.set()

    def _cut(self) -> None:
        if self._scope is None:
            return
        self._scope.cancel()
        method = self._pipe.call
        if method != "close":
            # Why the session has ended, unless that is known.
            self._pipe.finish(f"its {method}() has not returned")
            if self._lost is None:
                self._lost = CLIConnectionError(f"the transport's {method}() has not returned")

    async def _within(self, seconds: float, event: "Event") -> bool:
        with self._loop.scope(seconds):
            await event.wait()
        return event.is_set()

    def _leave(self, method: str) -> None:
        from .log import logger

        logger().warning(
            "the transport's %s() has not ended though it was cancelled, and is left behind", method
        )
