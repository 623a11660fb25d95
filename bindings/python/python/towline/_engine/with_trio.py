"""Under trio."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import trio

if TYPE_CHECKING:
    from .engine import Engine
    from .loops import Event


def in_task() -> bool:
    """Whether a trio task is running."""
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


def _nothing() -> None: ...


class TrioTask:
    """A system task that can be cancelled."""

    __slots__ = ("_done", "_scope")

    def __init__(self) -> None:
        self._scope = trio.CancelScope()
        self._done = False

    def cancel(self) -> None:
        self._scope.cancel()

    def done(self) -> bool:
        return self._done

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        with self._scope:
            try:
                await work
            except (trio.Cancelled, GeneratorExit):
                raise
            except BaseException as error:
                # What leaves a system task ends the whole program, as an error of trio's own.
                part = getattr(error, "subgroup", None)
                if part is not None and part(trio.Cancelled) is not None:
                    raise
                from .log import logger

                logger().exception("a task of towline failed")
            finally:
                self._done = True


class TrioScope:
    """A cancel scope."""

    __slots__ = ("_scope", "_seconds", "cut")

    def __init__(self, seconds: float | None) -> None:
        self._scope = trio.CancelScope()
        self._seconds = seconds
        self.cut = False

    def cancel(self) -> None:
        self._scope.cancel()

    def __enter__(self) -> None:
        if self._seconds is not None:
            self._scope.deadline = trio.current_time() + self._seconds
        self._scope.__enter__()

    def __exit__(self, *error: Any) -> bool:
        caught = bool(self._scope.__exit__(*error))
        self.cut = self._scope.cancel_called
        # What a call fails with when it is cancelled is of no interest.
        kind = error[0]
        return caught or (self.cut and kind is not None and issubclass(kind, Exception))


class TrioLoop:
    """The running loop."""

    __slots__ = ("_engine", "_resumed", "_token")

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._token = trio.lowlevel.current_trio_token()
        self._resumed = trio.Event()

    def is_running(self) -> bool:
        return in_task() and trio.lowlevel.current_trio_token() is self._token

    def is_over(self) -> bool:
        try:
            self._token.run_sync_soon(_nothing, idempotent=True)
        except trio.RunFinishedError:
            return True
        return False

    def event(self) -> trio.Event:
        return trio.Event()

    def spawn(self, work: Coroutine[Any, Any, None]) -> TrioTask:
        task = TrioTask()
        trio.lowlevel.spawn_system_task(task.run, work, context=copy_context())
        return task

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)

    async def until(self, event: "Event", cancelled: Callable[[], None] | None = None) -> None:
        if cancelled is not None:
            try:
                await event.wait()
            except trio.Cancelled:
                cancelled()
                with trio.CancelScope(shield=True):
                    await event.wait()
                raise
        with trio.CancelScope(shield=True):
            await event.wait()
        await trio.lowlevel.checkpoint_if_cancelled()

    def scope(self, seconds: float | None) -> "TrioScope":
        return TrioScope(seconds)

    def shield(self) -> AbstractContextManager[Any]:
        return trio.CancelScope(shield=True)

    def watch(self, engine: "Engine") -> None:
        self._engine = engine
        trio.lowlevel.spawn_system_task(self._watch, engine, context=copy_context())

    async def _watch(self, engine: "Engine") -> None:
        try:
            await self._pump(engine)
        except trio.Cancelled:
            # The program has ended without closing the session.
            with trio.CancelScope(shield=True):
                engine.abandon()
                await self._pump(engine)
            raise

    async def _pump(self, engine: "Engine") -> None:
        session = engine.session
        fd = session.watch()
        while self._engine is not None:
            timeout = session.next_timeout()
            if timeout != 0.0:
                with trio.CancelScope() as scope:
                    if timeout is not None:
                        scope.deadline = trio.current_time() + timeout
                    await trio.lowlevel.wait_readable(fd)
            engine.drain()
            while self._engine is not None and engine.crowded():
                self._resumed = trio.Event()
                await self._resumed.wait()

    def resume(self) -> None:
        self._resumed.set()

    def unwatch(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.session.unwatch()
