"""The two event loops, each with its own means and nothing between."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import trio

from .record import Record, StepTimeout

Step = Callable[[], Awaitable[None]]


class Loop(Protocol):
    """What the steps of a case need of an event loop."""

    async def sleep(self, seconds: float) -> None: ...

    async def within(self, seconds: float, step: Step) -> None:
        """Raises :class:`StepTimeout` when the time is up."""

    async def cancelled_after(self, seconds: float, step: Step) -> None: ...

    def start(self, step: Step) -> Any:
        """Starts a task; :meth:`join` waits for it."""

    async def join(self, task: Any) -> None: ...

    def event(self) -> Any: ...

    #: What a cancelled callback sees.
    cancelled: type[BaseException]


class AsyncioLoop:
    cancelled = asyncio.CancelledError

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def within(self, seconds: float, step: Step) -> None:
        task = asyncio.ensure_future(step())
        done, _ = await asyncio.wait([task], timeout=seconds)
        if not done:
            task.cancel()
            await asyncio.wait([task], timeout=2)
            raise StepTimeout(f"not done within {seconds} s")
        task.result()

    async def cancelled_after(self, seconds: float, step: Step) -> None:
        task = asyncio.ensure_future(step())
        await asyncio.wait([task], timeout=seconds)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass

    def start(self, step: Step) -> Any:
        return asyncio.ensure_future(step())

    async def join(self, task: Any) -> None:
        await task

    def event(self) -> Any:
        return asyncio.Event()

    @staticmethod
    def run(main: Callable[[Loop], Awaitable[None]], record: Record) -> None:
        async def whole() -> None:
            def unhandled(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
                record.loop_errors.append(f"{context.get('message')} {context.get('exception')!r}")

            asyncio.get_running_loop().set_exception_handler(unhandled)
            await main(AsyncioLoop())

        asyncio.run(whole())


class TrioLoop:
    cancelled = trio.Cancelled

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)

    async def within(self, seconds: float, step: Step) -> None:
        with trio.move_on_after(seconds) as scope:
            await step()
        if scope.cancelled_caught:
            raise StepTimeout(f"not done within {seconds} s")

    async def cancelled_after(self, seconds: float, step: Step) -> None:
        with trio.move_on_after(seconds):
            await step()

    def start(self, step: Step) -> Any:
        done = trio.Event()

        async def task() -> None:
            try:
                await step()
            finally:
                done.set()

        self._nursery.start_soon(task)
        return done

    async def join(self, task: Any) -> None:
        await task.wait()

    def event(self) -> Any:
        return trio.Event()

    @staticmethod
    def run(main: Callable[[Loop], Awaitable[None]], _: Record) -> None:
        async def whole() -> None:
            async with trio.open_nursery() as nursery:
                await main(TrioLoop(nursery))

        trio.run(whole)


LOOPS = {"asyncio": AsyncioLoop.run, "trio": TrioLoop.run}
