"""In-process tools."""

from typing import Any

import anyio
import pytest

import towline

from .stage import Stage
from .talk import good, result, tool, tool_results, turn

both_versions = pytest.mark.both_versions
TOOL = "mcp__kit__count"


def kit(handler: Any) -> dict[str, Any]:
    """The options of a session with the one tool `mcp__kit__count`."""
    count = towline.tool("count", "Counts.", {"n": int})(handler)
    server = towline.create_sdk_mcp_server("kit", "1.0.0", [count])
    return {"allowed_tools": [TOOL], "mcp_servers": {"kit": server}}


def call(n: Any) -> str:
    return tool(TOOL, {"n": n})


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


@both_versions
async def test_one_that_succeeds(stage: Stage) -> None:
    called: list[Any] = []

    async def count(arguments: dict[str, Any]) -> dict[str, Any]:
        called.append(arguments)
        return text("counted to three")

    async with stage.client(**kit(count)) as client:
        messages = await turn(client, call(3))
    assert tool_results(messages) == [("counted to three", False)]
    assert good(messages) == "done" and called == [{"n": 3}]


@both_versions
async def test_one_that_fails(stage: Stage) -> None:
    async def count(_: dict[str, Any]) -> dict[str, Any]:
        return text("cannot count so far", is_error=True)

    async with stage.client(**kit(count)) as client:
        messages = await turn(client, call(3))
    ((words, is_error),) = tool_results(messages)
    assert is_error and "cannot count so far" in words and good(messages) == "done"


async def test_one_that_raises(stage: Stage) -> None:
    async def count(_: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of numbers")

    async with stage.client(**kit(count)) as client:
        messages = await turn(client, call(3))
    ((words, is_error),) = tool_results(messages)
    assert is_error and "out of numbers" in words


@both_versions
async def test_one_that_is_cancelled(stage: Stage) -> None:
    running, cancelled = anyio.Event(), anyio.Event()

    async def count(_: dict[str, Any]) -> dict[str, Any]:
        running.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return text("never")

    async with stage.client(**kit(count)) as client:
        await client.query(call(3))
        await running.wait()
        await client.interrupt()
        with anyio.fail_after(10):
            await cancelled.wait()
        messages = [message async for message in client.receive_response()]
        assert result(messages).subtype == "error_during_execution"
        assert good(await turn(client, "and on")) == "done"


async def test_bad_arguments_never_reach_it(stage: Stage) -> None:
    called = 0

    async def count(_: dict[str, Any]) -> dict[str, Any]:
        nonlocal called
        called += 1
        return text("counted")

    async with stage.client(**kit(count)) as client:
        messages = await turn(client, call("three"))
        ((_, is_error),) = tool_results(messages)
        assert is_error and called == 0
        assert good(await turn(client, call(3))) == "done" and called == 1


async def test_one_of_a_query(stage: Stage) -> None:
    async def count(arguments: dict[str, Any]) -> dict[str, Any]:
        return text(f"counted to {arguments['n']}")

    options = stage.options(**kit(count))
    messages = [message async for message in towline.query(prompt=call(4), options=options)]
    assert tool_results(messages) == [("counted to 4", False)]
