"""Calls of code that the program brings, and what they fail with.

Anything may come out of such a call: also what ends an iteration, and what is otherwise raised in a
task that is cancelled, or in a coroutine that is collected.
"""

import asyncio
import sys
from math import inf
from typing import Any

if sys.version_info >= (3, 11):
    Task = asyncio.Task

    def _cancellations(task: "asyncio.Task[Any]") -> int:
        return task.cancelling()

else:

    class Task(asyncio.Task):  # type: ignore[type-arg]
        """Counts how often it was cancelled. Of other tasks that is not known."""

        cancellations = 0

        def cancel(self, msg: Any = None) -> bool:
            self.cancellations += 1
            return super().cancel(msg)

    def _cancellations(task: Task) -> int:
        return task.cancellations


def in_trio() -> bool:
    """Whether the running task is one of trio's."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


def _running() -> Any:
    if in_trio():
        import trio

        return trio.lowlevel.current_task()
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


class Call:
    """A call, from before it is made."""

    __slots__ = ("_cancellations", "_task")

    def __init__(self) -> None:
        self._task = _running()
        self._cancellations = 0
        if isinstance(self._task, Task):
            self._cancellations = _cancellations(self._task)

    def failed(self, error: BaseException) -> bool:
        """Whether this is what it has failed with, and not the end of the task, or of the program."""
        if isinstance(error, Exception):
            return True
        if isinstance(error, (KeyboardInterrupt, SystemExit)) or _running() is not self._task:
            return False
        if isinstance(error, GeneratorExit):
            return True
        if in_trio():
            import trio

            return trio.current_effective_deadline() != -inf
        return isinstance(self._task, Task) and (_cancellations(self._task) == self._cancellations)


def failure(error: BaseException, where: str) -> Exception:
    """What a call has failed with, as it can be raised anywhere and means that: what means something
    else becomes the cause of a `RuntimeError`, as in generators."""
    if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
        return error
    named = RuntimeError(f"{where} raised {type(error).__name__}")
    named.__cause__ = error
    return named
