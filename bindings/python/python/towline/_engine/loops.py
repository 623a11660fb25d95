"""The event loop that runs: what an engine needs of it.

A library is asked only if the program has imported it.
"""

import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .engine import Engine


class Event(Protocol):
    """Something that happens once, and any number of tasks wait for."""

    def set(self) -> object: ...

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class Task(Protocol):
    """Work that runs by itself."""

    def cancel(self) -> object: ...

    def done(self) -> bool: ...


class Scope(Protocol):
    """A `with` block that can be cancelled from outside; the task then goes on behind it."""

    cut: bool
    """Whether it was, or its time was up."""

    def cancel(self) -> object: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *_: Any) -> bool | None: ...


class Loop(Protocol):
    """An event loop, for one engine."""

    def is_running(self) -> bool:
        """Whether the caller runs in it."""
        ...

    def is_over(self) -> bool:
        """Whether it will never run again."""
        ...

    def event(self) -> Event: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> Task:
        """Runs a coroutine by itself. Whoever calls this keeps the task."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def until(self, event: Event, cancelled: Callable[[], None] | None = None) -> None:
        """Waits for an event even if the task is cancelled, and tells of that; the cancellation
        follows."""
        ...

    def scope(self, seconds: float | None) -> Scope:
        """A block of the running task that may take so long; `None` is for ever."""
        ...

    def shield(self) -> AbstractContextManager[Any]:
        """A block in a task of its own that what has cancelled the task does not cancel again."""
        ...

    def watch(self, engine: "Engine") -> None:
        """Drains the engine whenever its session has something."""
        ...

    def resume(self) -> None:
        """Somebody reads again, or waits for an answer."""
        ...

    def unwatch(self) -> None:
        """The session has ended."""
        ...


def running() -> Loop:
    """The loop of the running task.

    Raises:
        RuntimeError: there is none.
    """
    if "trio" in sys.modules:
        from .with_trio import TrioLoop, in_task

        if in_task():
            return TrioLoop()
    from .with_asyncio import AsyncioLoop

    return AsyncioLoop()
