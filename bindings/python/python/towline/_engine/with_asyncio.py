"""Under asyncio, with its own loops or uvloop."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .calls import Task

if TYPE_CHECKING:
    from .engine import Engine
    from .loops import Event

SOON = 0.001
"""Timers that differ by less are the same."""


class AsyncioEvent:
    """As `asyncio.Event`, with nothing beyond what is needed here."""

    __slots__ = ("_loop", "_set", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._set = False
        self._waiting: list[asyncio.Future[None]] | None = None

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True
        waiting, self._waiting = self._waiting, None
        for future in waiting or ():
            if not future.done():
                future.set_result(None)

    async def wait(self) -> None:
        if self._set:
            return
        future = self._loop.create_future()
        if self._waiting is None:
            self._waiting = [future]
        else:
            self._waiting.append(future)
        await future


class AsyncioScope:
    """Cancels the task that is in it, and keeps that from going on beyond it."""

    __slots__ = ("_loop", "_seconds", "_task", "_timer", "cut")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float | None) -> None:
        self._loop = loop
        self._seconds = seconds
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.cut = False

    def cancel(self) -> None:
        if self._task is not None:
            self.cut = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        if self._seconds is not None:
            self._timer = self._loop.call_later(self._seconds, self.cancel)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        task, self._task = self._task, None
        if self._timer is not None:
            self._timer.cancel()
        if not self.cut:
            return False
        # Before Python 3.11 nobody counts.
        uncancel = getattr(task, "uncancel", None)
        others = 0 if uncancel is None else uncancel()
        if kind is None:
            return False
        # What a call fails with when it is cancelled is of no interest.
        return others == 0 and issubclass(kind, (asyncio.CancelledError, Exception))


class AsyncioLoop:
    """The running loop."""

    __slots__ = ("_due", "_engine", "_fd", "_loop", "_paused", "_timer")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._engine: Engine | None = None
        self._fd = -1
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._paused = False

    def is_running(self) -> bool:
        return asyncio._get_running_loop() is self._loop

    def is_over(self) -> bool:
        return self._loop.is_closed()

    def event(self) -> AsyncioEvent:
        return AsyncioEvent(self._loop)

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        if sys.version_info >= (3, 11):
            return self._loop.create_task(work)
        return Task(work, loop=self._loop)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def until(self, event: "Event", cancelled: Callable[[], None] | None = None) -> None:
        cancellation: asyncio.CancelledError | None = None
        while not event.is_set():
            try:
                if cancelled is not None and cancellation is None:
                    await event.wait()
                else:
                    with _shield():
                        await event.wait()
            except asyncio.CancelledError as error:
                cancellation = error
                if cancelled is not None:
                    cancelled()
        if cancellation is not None:
            raise cancellation

    def scope(self, seconds: float | None) -> "AsyncioScope":
        return AsyncioScope(self._loop, seconds)

    def shield(self) -> AbstractContextManager[Any]:
        # A task is cancelled once for each time that somebody asks for it.
        return nullcontext()

    def watch(self, engine: "Engine") -> None:
        self._engine = engine
        self._fd = engine.session.watch()
        self._loop.add_reader(self._fd, self._ready)
        self._arm(engine)

    def _ready(self) -> None:
        engine = self._engine
        if engine is None:
            return
        engine.drain()
        if self._engine is None:
            return
        if engine.crowded():
            self._paused = True
            self._loop.remove_reader(self._fd)
        self._arm(engine)

    def _arm(self, engine: "Engine") -> None:
        """Sets the timer for the next deadline; one that is early is left to fire for nothing."""
        timeout = engine.session.next_timeout()
        if timeout is None or self._paused:
            return
        due = self._loop.time() + timeout
        if self._timer is not None:
            if self._due <= due + SOON:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self._loop.call_at(due, self._timed_out)

    def _timed_out(self) -> None:
        self._timer = None
        self._ready()

    def resume(self) -> None:
        if self._paused and self._engine is not None:
            self._paused = False
            self._loop.add_reader(self._fd, self._ready)
            self._arm(self._engine)

    def unwatch(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._fd)
            engine.session.unwatch()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None


def _shield() -> AbstractContextManager[Any]:
    """Keeps off the cancellations of anyio, which are repeated until they are obeyed."""
    if "anyio._backends._asyncio" not in sys.modules:
        return nullcontext()
    import anyio

    return anyio.CancelScope(shield=True)
