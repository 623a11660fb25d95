"""Iterators that are left early, closed, dropped, shared and cancelled."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from support.fake import FakeCli
from support.leftovers import is_gone
from support.script import INIT, PROMPT, RESULT, text, turn

import towline

MANY: list[Any] = [PROMPT, INIT, [text(str(number)) for number in range(50)], RESULT]
ENDLESS: list[Any] = [
    PROMPT,
    INIT,
    text("and then nothing"),
    {"expect_eof": True, "timeout_ms": 30_000},
]


async def forever() -> AsyncIterator[dict[str, Any]]:
    """One prompt, and then the input stays open."""
    yield {"type": "user", "message": {"role": "user", "content": "hi"}}
    await anyio.sleep_forever()


async def gone(cli: FakeCli) -> None:
    """The process ends while the loop runs."""
    with anyio.fail_after(10):
        while not is_gone(cli.started()["pid"], 0):
            await anyio.sleep(0.02)


async def test_a_loop_that_is_left_early(cli: FakeCli) -> None:
    async for message in towline.query(prompt="hi", options=cli.options(MANY)):
        if isinstance(message, towline.AssistantMessage):
            break
    del message
    gc.collect()
    await gone(cli)


async def test_a_loop_that_is_left_by_an_exception(cli: FakeCli) -> None:
    with pytest.raises(ZeroDivisionError):
        async for _ in towline.query(prompt="hi", options=cli.options(MANY)):
            raise ZeroDivisionError
    gc.collect()
    await gone(cli)


async def test_an_iterator_that_is_closed(cli: FakeCli) -> None:
    async with aclosing(towline.query(prompt=forever(), options=cli.options(ENDLESS))) as messages:  # type: ignore[type-var]
        async for _ in messages:
            break
    assert is_gone(cli.started()["pid"], 0)
    with pytest.raises(StopAsyncIteration):
        await messages.__anext__()


async def test_an_iterator_that_is_closed_before_it_begins(cli: FakeCli) -> None:
    messages: Any = towline.query(prompt="hi", options=cli.options(turn()))
    await messages.aclose()
    await messages.aclose()
    assert cli.log("start") == []


async def test_an_iterator_that_is_closed_in_another_task(cli: FakeCli) -> None:
    messages: Any = towline.query(prompt="hi", options=cli.options(MANY))
    await messages.__anext__()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(messages.aclose)
    assert is_gone(cli.started()["pid"], 0)


async def test_an_iterator_that_goes_from_task_to_task(cli: FakeCli) -> None:
    messages: Any = towline.query(prompt="hi", options=cli.options(MANY))
    seen: list[Any] = []

    async def one() -> None:
        seen.append(await messages.__anext__())

    for _ in range(3):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
    seen += [message async for message in messages]
    assert len(seen) == 52


async def test_a_reader_that_is_cancelled(cli: FakeCli) -> None:
    seen: list[Any] = []
    with anyio.move_on_after(1) as scope:
        async for message in towline.query(prompt=forever(), options=cli.options(ENDLESS)):
            seen.append(message)
    assert scope.cancelled_caught and len(seen) == 2
    await gone(cli)


async def test_a_client_whose_reader_is_cancelled_goes_on(cli: FakeCli) -> None:
    steps = [PROMPT, INIT, turn()]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        await client.query("hi")
        with anyio.move_on_after(0.3) as scope:
            async for _ in client.receive_response():
                pass
        assert scope.cancelled_caught
        await client.query("hi")
        messages = [message async for message in client.receive_response()]
    assert isinstance(messages[-1], towline.ResultMessage)


async def test_a_response_that_is_left_early_is_read_on(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(MANY)) as client:
        await client.query("hi")
        async for message in client.receive_response():
            first = message
            break
        rest = [message async for message in client.receive_response()]
    assert isinstance(first, towline.SystemMessage) and len(rest) == 51


async def test_a_response_ends_with_its_result(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn("one"), turn("two"))) as client:
        for wanted in ("one", "two"):
            await client.query("hi")
            messages = [message async for message in client.receive_response()]
            assert messages[-2].content == [towline.TextBlock(text=wanted)]
            assert isinstance(messages[-1], towline.ResultMessage)


async def test_messages_end_with_the_session(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn(), {"exit": 0})) as client:
        await client.query("hi")
        messages = [message async for message in client.receive_messages()]
        assert [message async for message in client.receive_messages()] == []
    assert len(messages) == 3


@pytest.mark.loops("asyncio", "uvloop")
async def test_a_loop_under_wait_for(cli: FakeCli) -> None:
    async def read() -> None:
        async for _ in towline.query(prompt=forever(), options=cli.options(ENDLESS)):
            pass

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(read(), 1)
    await gone(cli)


@pytest.mark.loops("asyncio", "uvloop")
async def test_a_task_that_is_cancelled_by_hand(cli: FakeCli) -> None:
    async def read() -> None:
        async with towline.ClaudeSDKClient(cli.options(ENDLESS)) as client:
            await client.query("hi")
            async for _ in client.receive_messages():
                pass

    task = asyncio.create_task(read())
    while not cli.received("user"):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(cli.started()["pid"])


async def test_inside_an_anyio_task_group_and_out_again(cli: FakeCli) -> None:
    """A generator that is left inside a scope it did not open must not complain of scopes."""
    messages: Any = towline.query(prompt="hi", options=cli.options(MANY))
    async with anyio.create_task_group():
        await messages.__anext__()
    with anyio.CancelScope():
        await messages.__anext__()
    await messages.aclose()


async def arrived(client: towline.ClaudeSDKClient, count: int) -> None:
    """So many messages wait for a reader."""
    engine: Any = client._engine
    with anyio.fail_after(10):
        while len(engine.inbox) < count:
            await anyio.sleep(0.01)


def answer_of(messages: list[Any]) -> list[str]:
    return [
        message.content[0].text
        for message in messages
        if isinstance(message, towline.AssistantMessage)
    ]


@pytest.mark.loops("asyncio", "uvloop")
async def test_a_step_that_is_cancelled_before_it_begins_takes_no_message(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(MANY)) as client:
        await client.query("hi")
        await arrived(client, 52)
        messages: Any = client.receive_response()
        steps = [asyncio.create_task(messages.__anext__()) for _ in range(3)]
        for step in steps:
            step.cancel()
        await asyncio.wait(steps)
        assert all(step.cancelled() for step in steps)
        with pytest.raises(asyncio.TimeoutError):
            # Takes no message in some versions of Python, and one in others.
            await asyncio.wait_for(messages.__anext__(), 0)
            raise asyncio.TimeoutError
        with anyio.move_on_after(0):
            await anyio.lowlevel.checkpoint()
            await messages.__anext__()
        rest = [message async for message in messages]
    assert answer_of(rest) == [str(number) for number in range(50)]


async def test_a_scope_that_is_over_takes_no_message(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(MANY)) as client:
        await client.query("hi")
        await arrived(client, 52)
        messages: Any = client.receive_response()
        seen = []
        for _ in range(3):
            with anyio.move_on_after(0):
                seen.append(await messages.__anext__())
        async with anyio.create_task_group() as tasks:

            async def step() -> None:
                seen.append(await messages.__anext__())

            tasks.cancel_scope.cancel()
            tasks.start_soon(step)
        seen += [message async for message in messages]
    assert len(seen) == 52
    assert answer_of(seen) == [str(number) for number in range(50)]


async def test_a_step_that_nobody_awaits_takes_no_message(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(MANY)) as client:
        await client.query("hi")
        await arrived(client, 52)
        messages: Any = client.receive_response()
        messages.__anext__()
        left = messages.__anext__()
        left.close()
        with pytest.raises(RuntimeError, match="already awaited"):
            await left
        thrown = messages.__anext__()
        with pytest.raises(KeyError):
            thrown.throw(KeyError("k"))
        rest = [message async for message in messages]
    assert answer_of(rest) == [str(number) for number in range(50)]


async def test_a_reader_that_comes_too_late_waits(cli: FakeCli) -> None:
    """Two steps are made while one message is there: the second is for the next one."""
    later = [PROMPT, INIT, PROMPT, text("later"), RESULT]
    async with towline.ClaudeSDKClient(cli.options(later)) as client:
        await client.query("hi")
        await arrived(client, 1)
        messages: Any = client.receive_response()
        first, second, third = (messages.__anext__() for _ in range(3))
        assert isinstance(await first, towline.SystemMessage)
        with anyio.move_on_after(0.05) as scope:
            await second
        assert scope.cancelled_caught
        await client.query("on")
        assert answer_of([await third]) == ["later"]
        assert isinstance(await messages.__anext__(), towline.ResultMessage)
