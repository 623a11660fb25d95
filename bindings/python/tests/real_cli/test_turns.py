"""Turns: one, several, merged, folded in, taken back, interrupted."""

import json
from typing import Any

import anyio
import pytest

import towline

from .stage import Stage
from .talk import good, kinds, result, shell, turn

both_versions = pytest.mark.both_versions


@both_versions
async def test_one_query(stage: Stage) -> None:
    messages = [
        message async for message in towline.query(prompt="hello there", options=stage.options())
    ]
    assert good(messages) == "echo: hello there"
    said = [message for message in messages if isinstance(message, towline.AssistantMessage)]
    assert said[0].content == [towline.TextBlock(text="echo: hello there")]
    first = messages[0]
    assert isinstance(first, towline.SystemMessage) and first.subtype == "init"
    assert first.data["claude_code_version"] == stage.version
    assert result(messages).session_id == first.data["session_id"]


@both_versions
async def test_several_turns(stage: Stage) -> None:
    async with stage.client() as client:
        for prompt in ("first", "second", "third"):
            messages = await turn(client, prompt)
            assert good(messages) == f"echo: {prompt}"
            assert kinds(messages).count("ResultMessage") == 1
    history = json.dumps(stage.api.requests()[-1]["messages"])
    assert "first" in history and "echo: second" in history


async def test_partial_messages(stage: Stage) -> None:
    async with stage.client(include_partial_messages=True) as client:
        messages = await turn(client, "DELTAS 3")
    events = [message.event for message in messages if isinstance(message, towline.StreamEvent)]
    deltas = [event["delta"]["text"] for event in events if "text" in event.get("delta", {})]
    assert deltas == ["tok "] * 3


async def read(turn: Any) -> list[Any]:
    return [message async for message in turn]


@both_versions
async def test_prompts_that_wait_each_end(stage: Stage) -> None:
    async with stage.client() as client:
        first = await client.send("GATE one")
        await stage.api.stands_at("one")
        waiting = [(prompt, await client.send(prompt)) for prompt in ("two", "three", "four")]
        stage.api.release("one")
        assert (await first.result()).result == "before after"
        for prompt, one in waiting:
            assert prompt in str((await one.result()).result)
        fifth = await client.send("five")
        assert good(await read(fifth)) == "echo: five"


@both_versions
async def test_prompts_sent_at_once_each_end(stage: Stage) -> None:
    async with stage.client() as client:
        turns = [(prompt, await client.send(prompt)) for prompt in ("one", "two", "three")]
        for prompt, one in turns:
            assert prompt in str((await one.result()).result)
        assert (await (await client.send("four")).result()).result == "echo: four"


@both_versions
async def test_interrupt(stage: Stage) -> None:
    async with stage.client() as client:
        await client.query("GATE never")
        await stage.api.stands_at("never")
        await client.interrupt()
        messages = [message async for message in client.receive_response()]
        assert result(messages).subtype == "error_during_execution" and result(messages).is_error
        assert good(await turn(client, "TEXT and on")) == "and on"


@both_versions
async def test_interrupt_leaves_waiting_prompts(stage: Stage) -> None:
    async with stage.client() as client:
        first = await client.send("GATE never")
        await stage.api.stands_at("never")
        second = await client.send("TEXT the next one")
        await first.interrupt()
        assert (await first.result()).subtype == "error_during_execution"
        assert (await second.result()).result == "the next one"


@both_versions
async def test_a_waiting_prompt_is_taken_back(stage: Stage) -> None:
    async with stage.client() as client:
        first = await client.send("GATE one")
        await stage.api.stands_at("one")
        second = await client.send("never asked")
        await second.cancel()
        with pytest.raises(towline.CLIConnectionError, match="cancelled"):
            await second.result()
        stage.api.release("one")
        assert (await first.result()).result == "before after"
        assert (await (await client.send("after")).result()).result == "echo: after"
    assert stage.asked("never asked") == []


async def test_a_prompt_folded_into_a_running_turn_shares_its_result(stage: Stage) -> None:
    asked, go_on = anyio.Event(), anyio.Event()

    async def can_use_tool(*_: Any) -> Any:
        asked.set()
        await go_on.wait()
        return towline.PermissionResultAllow()

    async with stage.client(can_use_tool=can_use_tool, unknown_messages=True) as client:
        first = await client.send(shell("touch folded"))
        await asked.wait()
        second = await client.send("and this too")
        # The CLI has taken it in once it answers what was asked after it.
        await client.get_mcp_status()
        go_on.set()
        ended = [await first.result(), await second.result()]
    assert ended[0].result == "done" and ended[0].uuid == ended[1].uuid


async def test_a_stream_of_prompts(stage: Stage) -> None:
    async def prompts() -> Any:
        for text in ("one", "two"):
            yield {
                "type": "user",
                "message": {"role": "user", "content": text},
                "parent_tool_use_id": None,
            }

    results = []
    async for message in towline.query(prompt=prompts(), options=stage.options()):
        if isinstance(message, towline.ResultMessage):
            results.append(message.result)
    assert results and "two" in str(results[-1])


async def test_two_sessions_in_one_loop(stage: Stage) -> None:
    said: dict[str, list[str]] = {"left": [], "right": []}

    async def talk(name: str) -> None:
        async with stage.client() as client:
            for prompt in ("one", "two"):
                said[name].append(good(await turn(client, f"{name} {prompt}")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk, "left")
        tasks.start_soon(talk, "right")
    assert said == {name: [f"echo: {name} one", f"echo: {name} two"] for name in said}
