"""Event loops, and what has to be so when one ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import trio
import uvloop

NAMES = ("asyncio", "trio")

# The first loop of libuv opens a pipe that the process keeps.
uvloop.new_event_loop().close()


class Loop:
    """Runs an asynchronous function; nothing may be left over after it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, main: Callable[[], Awaitable[Any]]) -> None:
        if self.name == "trio":
            trio.run(main)
        elif self.name == "uvloop":
            uvloop.run(_checked(main))
        else:
            asyncio.run(_checked(main))


async def _checked(main: Callable[[], Awaitable[Any]]) -> None:
    unhandled: list[str] = []

    def note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        unhandled.append(f"{context.get('message')}: {context.get('exception')!r}")

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(note)
    await main()
    for _ in range(10):  # what has been told to end takes a few steps
        await asyncio.sleep(0)
    pending = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not pending, f"tasks are left over: {pending}"
    assert not unhandled, f"nobody handled {unhandled}"
