"""Operations over a store: the core says which calls come next, the store does them.

For whoever has a `_native.StoreTask`: `await run(task, store)` gives its output, under asyncio and trio.
`store` is any object with the methods of `SessionStore`.
"""

import json
import os
from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

from ._engine.calls import Call, failure, in_trio
from .types.stores import store_implements

if TYPE_CHECKING:
    from ._native import StoreCall, StoreTask
    from ._options import Launch

T = TypeVar("T")

# As the CLI writes lines, so that sizes are those of its files.
_dumps = json.JSONEncoder(separators=(",", ":")).encode


async def operation(store: Any, name: str, **arguments: Any) -> Any:
    """Does one of the core's operations (`towline::transcripts::store::operations::Operation`)."""
    from ._native import StoreTask

    directory = arguments.get("directory")
    if isinstance(directory, os.PathLike):
        arguments["directory"] = os.fspath(directory)
    document = json.dumps({"operation": name, **arguments})
    return await run(StoreTask(document, capabilities(store)), store)


def capabilities(store: Any) -> tuple[bool, bool, bool, bool]:
    """Which optional methods a store has, in the order that the core takes."""
    return (
        store_implements(store, "list_sessions"),
        store_implements(store, "list_session_summaries"),
        store_implements(store, "delete"),
        store_implements(store, "list_subkeys"),
    )


async def resume(launch: "Launch") -> None:
    """Loads the session that is to be resumed, if it is in the store of the options.

    Raises:
        RuntimeError: the store has failed, or took too long.
    """
    from . import _native
    from ._engine.launching import Start, starting

    with starting(launch):
        task = _native.resume_task(Start(launch))
    if task is None:
        return
    plan = await run(task, launch.store, told=True)
    if plan is not None:
        launch.materialized = await to_thread(_native.materialize_session, Start(launch), plan)


async def mirror(call: "StoreCall", store: Any) -> None:
    """Gives a store what the CLI has written. The core tries again what fails, and tells of it."""
    native = getattr(store, "_native_store", None)
    if native is not None:
        await to_thread(call.run, native)
        return
    name, argument, entries = call.call()
    own = Call()
    try:
        made = getattr(store, name)(argument, *(() if entries is None else (entries,)))
        if isawaitable(made):
            made = await within(call.timeout_ms, made, f"the store's {name}()")
        call.answer(_dumps(made))
    except TimedOut:
        # The core has counted too.
        pass
    except BaseException as raised:
        if not own.failed(raised):
            raise
        error = failure(raised, f"the store's {name}()")
        call.fail(str(error) or type(error).__name__)


async def run(task: "StoreTask", store: Any, *, told: bool = False) -> Any:
    """Does an operation and gives its output; raises what a method of the store has raised, if that
    has ended it. `told` raises `RuntimeError` with what was tried instead."""
    native = getattr(store, "_native_store", None)
    if native is not None:
        return await to_thread(task.run, native)
    failures: dict[int, Exception] = {}

    async def work(call: Any) -> None:
        # As many of these run as calls could be done at once; each goes on with what is there next.
        while call is not None:
            await _do(task, store, call, failures)
            call = task.next_call()

    while True:
        calls = []
        while (call := task.next_call()) is not None:
            calls.append(call)
        if len(calls) == 1:
            # Several calls may follow from its answer.
            await _do(task, store, calls[0], failures)
        elif calls:
            await together([work(call) for call in calls])
        finished = task.finished()
        if finished is None:
            continue
        value, failed, message = finished
        if failed is None:
            return value
        failure = failures.get(failed)
        if failure is not None and not told:
            raise failure
        raise RuntimeError(message) from failure


async def _do(task: "StoreTask", store: Any, call: Any, failures: dict[int, Exception]) -> None:
    identity, name, argument, entries, timeout_ms = call
    own = Call()
    try:
        made = getattr(store, name)(argument, *(() if entries is None else (entries,)))
        if isawaitable(made):
            made = await within(timeout_ms, made, f"the store's {name}()")
        if name == "load" and made is not None:
            # What is no object is no line of a transcript.
            made = [entry for entry in made if isinstance(entry, dict)]
        task.answer(identity, name, _dumps(made))
    except TimedOut:
        task.fail(identity, "timeout", f"{name}() timed out after {timeout_ms}ms")
    except NotImplementedError as error:
        failures[identity] = error
        task.fail(identity, "unsupported", str(error) or f"the store does not implement {name}()")
    except BaseException as raised:
        if not own.failed(raised):
            raise
        failed = failures[identity] = failure(raised, f"the store's {name}()")
        task.fail(identity, "failed", str(failed) or type(failed).__name__)


class TimedOut(Exception):
    """Something has taken too long."""


LEFT = "nobody waited for the store any more"
"""What a call is told to have failed with that was given up for the sake of who waits."""

LAST_WORDS = 0.1
"""Seconds that a cancelled call of a store has to end."""


async def within(timeout_ms: int | None, work: Awaitable[T], where: str) -> T:
    """Waits for something, but only so long.

    Raises:
        TimedOut: it was cancelled.
        RuntimeError: it has cancelled itself; `where` names it.
    """
    if timeout_ms is None:
        return await work
    if in_trio():
        import trio

        with trio.move_on_after(timeout_ms / 1000):
            return await work
        raise TimedOut
    import asyncio

    waited = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait([waited], timeout=timeout_ms / 1000)
    except BaseException:
        waited.cancel()
        raise
    if done:
        if waited.cancelled():
            raise failure(asyncio.CancelledError(), where)
        return waited.result()
    waited.cancel()
    # What does not mind that is left behind.
    await asyncio.wait([waited], timeout=LAST_WORDS)
    raise TimedOut


async def together(works: list[Coroutine[Any, Any, None]]) -> None:
    """Does several things at once; if one fails the others are cancelled."""
    if in_trio():
        import trio

        async def run(work: Coroutine[Any, Any, None]) -> None:
            await work

        async with trio.open_nursery() as nursery:
            for work in works:
                nursery.start_soon(run, work)
        return
    import asyncio

    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def to_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Does something that blocks, off the event loop, in a thread that keeps no process from its
    end: a store may not answer for long."""
    if in_trio():
        import trio

        return await trio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
    import asyncio
    from threading import Thread

    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def run() -> None:
        result, failure = None, None
        try:
            result = function(*arguments)
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            # The loop is over, and nobody waits any more.
            pass

    Thread(target=run, name="towline-store", daemon=True).start()
    return await done
