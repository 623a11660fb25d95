"""Several tasks, clients, threads and loops at once."""

import asyncio
import os
import threading
from typing import Any

import anyio
import pytest
import trio
import uvloop
from support.fake import FakeCli
from support.leftovers import is_gone
from support.script import INIT, PROMPT, RESULT, answered, asked, permission, text, turn

import towline


ENDLESS: list[Any] = [{"expect_eof": True, "timeout_ms": 30_000}]


async def ask(options: "towline.ClaudeAgentOptions") -> list[Any]:
    return [message async for message in towline.query(prompt="hi", options=options)]


@pytest.mark.loops("asyncio", "trio", "uvloop")
async def test_many_clients_in_one_loop(cli: FakeCli) -> None:
    results: dict[int, Any] = {}

    async def one(number: int) -> None:
        async with towline.ClaudeSDKClient(cli.options(turn(f"number {number}"))) as client:
            await client.query("hi")
            results[number] = [message async for message in client.receive_response()][1].content

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(one, number)
    assert results == {number: [towline.TextBlock(text=f"number {number}")] for number in range(10)}


@pytest.mark.loops("asyncio", "trio", "uvloop")
async def test_one_client_in_many_tasks(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        await anyio.sleep(0.05)
        return towline.PermissionResultAllow()

    steps = [
        PROMPT,
        permission(),
        asked("mcp_status"),
        {"answer": {"mcpServers": []}},
        answered("p1"),
        INIT,
        RESULT,
    ]
    seen: list[Any] = []
    async with towline.ClaudeSDKClient(cli.options(steps, can_use_tool=can_use_tool)) as client:

        async def read() -> None:
            seen.extend([message async for message in client.receive_response()])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(client.query, "hi")
            tasks.start_soon(client.get_mcp_status)
    assert len(seen) == 2
    cli.holds()


async def test_a_query_inside_a_callback_of_another(cli: FakeCli) -> None:
    inner: list[Any] = []
    inside = cli.options(turn("inside"))

    async def can_use_tool(*_: Any) -> Any:
        inner.extend(await ask(inside))
        return towline.PermissionResultAllow()

    await ask(
        cli.options(
            PROMPT,
            permission(),
            answered("p1"),
            INIT,
            text("outside"),
            RESULT,
            can_use_tool=can_use_tool,
        )
    )
    assert len(inner) == 3
    cli.holds()


def test_a_loop_in_each_of_several_threads(cli: FakeCli) -> None:
    counts: list[int] = []
    options = [cli.options(turn()) for _ in range(4)]

    def run(number: int) -> None:
        counts.append(len(asyncio.run(ask(options[number]))))

    threads = [threading.Thread(target=run, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 4


def test_a_loop_that_runs_piece_by_piece(cli: FakeCli) -> None:
    """As in a notebook: each cell runs the loop for a while, and nothing runs between two cells."""
    loop = asyncio.new_event_loop()
    try:
        client = towline.ClaudeSDKClient(cli.options(turn("one"), turn("two")))
        loop.run_until_complete(client.connect())
        for wanted in ("one", "two"):
            loop.run_until_complete(client.query("hi"))

            async def read() -> list[Any]:
                return [message async for message in client.receive_response()]

            messages = loop.run_until_complete(read())
            assert messages[1].content == [towline.TextBlock(text=wanted)]
        loop.run_until_complete(client.disconnect())
    finally:
        loop.close()


def test_a_loop_is_closed_with_a_session_open(cli: FakeCli) -> None:
    async def forget() -> Any:
        client = towline.ClaudeSDKClient(cli.options(turn()))
        await client.connect()
        return client

    client = asyncio.run(forget())
    del client


def test_a_forked_child_is_told(cli: FakeCli) -> None:
    async def fork() -> int:
        async with towline.ClaudeSDKClient(cli.options(turn())) as client:
            await client.query("hi")
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                said = b"nothing"
                try:
                    coroutine = client.query("again")
                    coroutine.send(None)
                except BaseException as error:
                    said = f"{type(error).__name__}: {error}".encode()
                finally:
                    os.write(writing, said)
                    os._exit(0)
            os.close(writing)
            said = os.read(reading, 4096)
            os.close(reading)
            os.waitpid(child, 0)
            assert b"fork" in said.lower(), said
            messages = [message async for message in client.receive_response()]
            return len(messages)

    assert asyncio.run(fork()) == 3


def test_no_thread_is_started(cli: FakeCli) -> None:
    async def count() -> int:
        async with towline.ClaudeSDKClient(cli.options(turn())) as client:
            await client.query("hi")
            async for _ in client.receive_response():
                pass
            return len(os.listdir("/proc/self/task"))

    before = len(os.listdir("/proc/self/task"))
    assert asyncio.run(count()) == before


def refused_elsewhere() -> Any:
    return pytest.raises(towline.CLIConnectionError, match="another event loop")


async def read(client: towline.ClaudeSDKClient) -> list[Any]:
    return [message async for message in client.receive_response()]


@pytest.mark.parametrize("first", ["asyncio", "uvloop"])
def test_a_client_that_outlives_its_loop_is_refused_and_can_be_closed(
    cli: FakeCli, first: str
) -> None:
    client = towline.ClaudeSDKClient(cli.options(ENDLESS))
    {"asyncio": asyncio, "uvloop": uvloop}[first].run(client.connect())
    for use in (lambda: client.query("hi"), client.interrupt, lambda: read(client)):
        with refused_elsewhere():
            asyncio.run(use())
        with refused_elsewhere():
            trio.run(use)
    asyncio.run(client.disconnect())
    assert is_gone(cli.started()["pid"], 0)
    with pytest.raises(towline.CLIConnectionError, match="Not connected"):
        asyncio.run(client.interrupt())


def test_a_client_that_outlives_its_trio_run_is_refused_and_can_be_closed(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(ENDLESS))
    trio.run(client.connect)
    assert is_gone(cli.started()["pid"])
    with refused_elsewhere():
        trio.run(client.query, "hi")
    with refused_elsewhere():
        asyncio.run(client.query("hi"))
    trio.run(client.disconnect)


def test_an_iterator_that_outlives_its_loop_is_refused_and_can_be_closed(cli: FakeCli) -> None:
    messages: Any = towline.query(
        prompt="hi", options=cli.options(PROMPT, INIT, {"expect_eof": True})
    )

    async def step() -> None:
        await messages.__anext__()

    asyncio.run(step())
    with refused_elsewhere():
        asyncio.run(step())
    asyncio.run(messages.aclose())
    assert is_gone(cli.started()["pid"], 0)


async def test_a_client_is_not_used_from_another_thread(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn())) as client:
        turn_of_it = await client.send("hi")

        refusals: list[Any] = []

        def elsewhere() -> None:
            for runner in (trio.run, lambda work: asyncio.run(work())):
                for use in (
                    client.get_mcp_status,
                    client.disconnect,
                    turn_of_it.result,
                    lambda: client.query("hi"),
                ):
                    with refused_elsewhere() as refusal:
                        runner(use)
                    refusals.append(refusal)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        while thread.is_alive():
            await anyio.sleep(0.01)
        assert len(refusals) == 8
        messages = [message async for message in turn_of_it]
    assert isinstance(messages[-1], towline.ResultMessage)
