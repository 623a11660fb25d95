"""However a program leaves a session: nothing hangs, nothing is left, nobody complains."""

import asyncio
import gc
import os
import threading
import warnings

import anyio
import anyio.lowlevel
import pytest
from conftest import USER, FakeCli, Run, assistant, result, run_asyncio, run_trio
from test_query import gone, options
from towline import ClaudeSDKClient, query

# A CLI that has something to say and then waits for the end.
TALKING = (USER, assistant("one"), {"expect_eof": 1, "timeout_ms": 9000})


def all_gone(cli: FakeCli) -> bool:
    return all(gone(pid) for pid in cli.pids())


async def hold_open(name, given, context):
    """With it the input of a query stays open until there is a result."""


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_cancel_scope_around_a_client(cli: FakeCli, backend: str) -> None:
    cli.script(*TALKING)

    async def main():
        with anyio.move_on_after(1) as scope:
            async with ClaudeSDKClient(options(cli)) as client:
                await client.query("hi")
                async for _ in client.receive_response():
                    pass
        assert scope.cancelled_caught

    anyio.run(main, backend=backend)
    assert all_gone(cli)


def test_a_cancel_scope_around_a_query(cli: FakeCli, backend: str) -> None:
    cli.script(*TALKING)

    async def main():
        seen = 0
        with anyio.move_on_after(1):
            async for _ in query(prompt="hi", options=options(cli, can_use_tool=hold_open)):
                seen += 1
        return seen

    assert anyio.run(main, backend=backend) == 1
    assert all_gone(cli)


def test_a_failing_task_group(cli: FakeCli, backend: str) -> None:
    cli.script(*TALKING)

    async def main():
        async with anyio.create_task_group() as group:

            async def read(*, task_status):
                async with ClaudeSDKClient(options(cli)) as client:
                    await client.query("hi")
                    async for _ in client.receive_messages():
                        task_status.started()

            await group.start(read)
            raise ValueError("elsewhere")

    with pytest.raises(BaseException) as raised:
        anyio.run(main, backend=backend)
    assert "elsewhere" in repr(getattr(raised.value, "exceptions", raised.value))
    assert all_gone(cli)


def test_connected_in_one_task_and_closed_in_another(cli: FakeCli, run: Run) -> None:
    cli.script(*TALKING)

    async def main():
        client = ClaudeSDKClient(options(cli))
        async with anyio.create_task_group() as group:
            group.start_soon(client.connect)
        async with anyio.create_task_group() as group:
            group.start_soon(client.disconnect)

    run(main)
    assert all_gone(cli)


def test_a_program_that_ends_without_closing(cli: FakeCli, backend: str) -> None:
    cli.script(*TALKING)

    async def main():
        client = ClaudeSDKClient(options(cli))
        await client.connect("hi")
        await anext(client.receive_messages())

    anyio.run(main, backend=backend)
    gc.collect()
    assert all_gone(cli)


def test_a_dropped_client(cli: FakeCli, run: Run) -> None:
    cli.script(*TALKING)

    async def main():
        client = ClaudeSDKClient(options(cli))
        await client.connect("hi")
        await anext(client.receive_messages())
        del client
        gc.collect()
        # The loop sees the CLI out.
        while cli.pids() and os.path.exists(f"/proc/{cli.pids()[0]}"):
            await anyio.sleep(0.01)

    run(main)
    assert all_gone(cli)


def test_a_callback_that_does_not_end(cli: FakeCli, run: Run) -> None:
    ask = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t"}
    request = {"type": "control_request", "request_id": "p", "request": ask}
    cli.script(USER, {"emit": request}, {"expect_eof": 1, "timeout_ms": 9000})
    begun = []

    async def can_use_tool(name, given, context):
        begun.append(context.signal)
        await anyio.sleep_forever()

    async def main():
        async with ClaudeSDKClient(options(cli, can_use_tool=can_use_tool)) as client:
            await client.query("hi")
            while not begun:
                await anyio.sleep(0.01)

    run(main)
    assert begun[0].reason == "session_ended"
    assert all_gone(cli)


def test_loops_in_threads(cli: FakeCli) -> None:
    cli.script(USER, assistant("one"), result())
    counts = []

    def one() -> None:
        async def main():
            messages = query(prompt="hi", options=options(cli))
            return len([message async for message in messages])

        counts.append(asyncio.run(main()))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert counts == [2] * 4


@pytest.mark.parametrize("run_in", [run_asyncio, run_trio])
def test_nothing_is_left_of_many_sessions(cli: FakeCli, run_in) -> None:
    cli.script(USER, assistant("one"), result())

    async def one():
        async with ClaudeSDKClient(options(cli)) as client:
            await client.query("hi")
            async for _ in client.receive_response():
                pass

    def left() -> tuple[int, int, int]:
        gc.collect()
        engines = [kept for kept in gc.get_objects() if type(kept).__name__ == "Engine"]
        return len(os.listdir("/proc/self/fd")), threading.active_count(), len(engines)

    async def main():
        await one()
        before = left()
        for _ in range(5):
            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(one)
        await anyio.lowlevel.checkpoint()
        return before, left()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before, after = run_in(main)
    assert after == before
    assert all_gone(cli)
