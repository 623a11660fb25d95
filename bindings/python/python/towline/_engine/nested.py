"""An event loop inside another one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def outside() -> Iterator[None]:
    """While this lasts, the thread is in no event loop and no task, so that another loop can run in
    it. The outer one stands still meanwhile, as it does in every call that blocks."""
    loop: Any = asyncio._get_running_loop()
    # Since 3.12; before, every loop has its own current task.
    swap: Any = getattr(asyncio.tasks, "_swap_current_task", None)
    task = None if swap is None else swap(loop, None)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        if swap is not None:
            swap(loop, task)
