"""Tasks that belong to no scope of the code that starts them, under asyncio and trio.

A session may be opened in one task and closed in another, so its helpers cannot live in a task group
of either.
"""

import sys
from collections.abc import Coroutine
from typing import Any


class Detached:
    """A running task of its own."""

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts `work` in the event loop that is running."""
        import anyio

        self._over = anyio.Event()
        self._cancelled = False
        self._scope: Any = None
        self._task: Any = None
        if _in_trio():
            import trio

            trio.lowlevel.spawn_system_task(self._run, work)
        else:
            import asyncio

            # The loop itself keeps tasks only weakly.
            self._task = asyncio.get_running_loop().create_task(self._run(work))

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        import anyio

        try:
            with anyio.CancelScope() as self._scope:
                if self._cancelled:
                    work.close()
                    return
                await work
        finally:
            self._over.set()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._over.is_set()

    def cancel(self) -> None:
        """Cancels it at its next wait; does not wait for that."""
        self._cancelled = True
        if self._scope is not None:
            self._scope.cancel()

    async def wait(self) -> None:
        """Returns when it has ended."""
        await self._over.wait()


def _in_trio() -> bool:
    trio = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()
