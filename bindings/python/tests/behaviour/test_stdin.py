"""What is written to the CLI, and how long it can be."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, SESSION, answered, request, system, text, turn

import towline


async def ask(options: "towline.ClaudeAgentOptions", prompt: Any = "hi") -> list[Any]:
    return [message async for message in towline.query(prompt=prompt, options=options)]


def content(message: dict[str, Any]) -> Any:
    return message["message"]["content"]


async def test_a_one_shot_query_ends_its_input_at_once(cli: FakeCli) -> None:
    await ask(cli.options(PROMPT, {"expect_eof": True, "timeout_ms": 3000}, INIT, RESULT))
    cli.holds()


async def test_a_client_keeps_its_input_open(cli: FakeCli) -> None:
    none = {"expect_none": {"type": "user"}, "for_ms": 300}
    async with towline.ClaudeSDKClient(cli.options(turn(), none, turn("again"))) as client:
        for wanted in ("hello", "again"):
            await client.query("hi")
            messages = [message async for message in client.receive_response()]
            assert messages[-2].content == [towline.TextBlock(text=wanted)]
            await anyio.sleep(0.4)
    cli.holds()


async def test_the_input_stays_open_for_hooks_until_the_result(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    call = request(
        "h1",
        "hook_callback",
        callback_id="hook_0",
        input={"hook_event_name": "Stop"},
        tool_use_id="t",
    )
    steps = [
        PROMPT,
        INIT,
        {"sleep_ms": 300},
        call,
        answered("h1", {}),
        RESULT,
        {"expect_eof": True},
    ]
    await ask(cli.options(steps, hooks={"Stop": [towline.HookMatcher(hooks=[callback])]}))
    cli.holds()


async def test_the_input_stays_open_for_a_background_agent(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    started = system(
        "task_started", task_id="t1", tool_use_id="x", description="d", task_type="local_agent"
    )
    done = system(
        "task_notification", task_id="t1", status="completed", output_file="", summary="s"
    )
    call = request(
        "h1",
        "hook_callback",
        callback_id="hook_0",
        input={"hook_event_name": "Stop"},
        tool_use_id="t",
    )
    steps = [
        PROMPT,
        INIT,
        started,
        RESULT,
        {"sleep_ms": 400},
        call,
        answered("h1", {}),
        done,
        RESULT,
    ]
    await ask(
        cli.options(
            steps, {"expect_eof": True}, hooks={"Stop": [towline.HookMatcher(hooks=[callback])]}
        )
    )
    cli.holds()


async def test_a_stream_of_prompts(cli: FakeCli) -> None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for number in range(3):
            yield {"type": "user", "message": {"role": "user", "content": f"prompt {number}"}}

    await ask(cli.options([PROMPT] * 3, INIT, RESULT), prompts())
    assert [content(line) for line in cli.received("user")] == ["prompt 0", "prompt 1", "prompt 2"]


async def test_a_stream_of_prompts_that_fails_ends_the_input(
    cli: FakeCli, nothing_logged: None
) -> None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "the only one"}}
        raise ValueError("no more prompts")

    messages = await ask(cli.options(PROMPT, {"expect_eof": True}, INIT, RESULT), prompts())
    assert isinstance(messages[-1], towline.ResultMessage)
    cli.holds()


async def test_messages_come_while_prompts_are_still_sent(cli: FakeCli) -> None:
    answered_one = anyio.Event()

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "one"}}
        await answered_one.wait()
        yield {"type": "user", "message": {"role": "user", "content": "two"}}

    results = 0
    async for message in towline.query(prompt=prompts(), options=cli.options(turn(), turn())):
        if isinstance(message, towline.ResultMessage):
            results += 1
            answered_one.set()
    assert results == 2


@pytest.mark.parametrize("kind", ["blocks", "awkward text"])
async def test_prompts_arrive_unchanged(cli: FakeCli, kind: str) -> None:
    awkward = 'a\u2028b\x00c "\\ \r\n 🎉 \x7f'
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
    }
    wanted: Any = [image, {"type": "text", "text": "what"}] if kind == "blocks" else awkward

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {
            "type": "user",
            "message": {"role": "user", "content": wanted},
            "parent_tool_use_id": None,
        }

    await ask(cli.options(turn()), prompts())
    (line,) = cli.received("user")
    assert content(line) == wanted


async def test_writers_at_once_do_not_mix_their_lines(cli: FakeCli) -> None:
    prompts = [str(number) * 50_000 for number in range(8)]
    async with towline.ClaudeSDKClient(
        cli.options({"sleep_ms": 200}, [PROMPT] * 8, INIT, RESULT)
    ) as client:
        async with anyio.create_task_group() as tasks:
            for prompt in prompts:
                tasks.start_soon(client.query, prompt)
        async for _ in client.receive_response():
            pass
    assert sorted(content(line) for line in cli.received("user")) == sorted(prompts)
    cli.holds()


async def test_a_prompt_larger_than_any_pipe_while_the_cli_writes(cli: FakeCli) -> None:
    event = {
        "type": "stream_event",
        "event": {"type": "ping", "fill": "x" * 1000},
        "session_id": SESSION,
        "uuid": "e",
    }
    options = cli.options(
        {"repeat": 300, "steps": [{"emit": event}]}, PROMPT, INIT, text("got it"), RESULT
    )
    async with towline.ClaudeSDKClient(options) as client:
        with anyio.fail_after(20):
            await client.query("x" * (2 << 20))
            messages = [message async for message in client.receive_response()]
    assert len(messages) == 303


async def test_the_session_id_of_a_prompt(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options([PROMPT] * 2, INIT, RESULT)) as client:
        await client.query("one")
        await client.query("two", session_id="mine")
        async for _ in client.receive_response():
            pass
    assert [line["session_id"] for line in cli.received("user")] == ["default", "mine"]


async def test_a_prompt_given_to_connect(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    await client.connect("the first")
    async for _ in client.receive_response():
        pass
    await client.disconnect()
    assert [content(line) for line in cli.received("user")] == ["the first"]


async def test_a_stream_given_to_connect_leaves_the_client_usable(cli: FakeCli) -> None:
    go_on = anyio.Event()

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "streamed"}}
        await go_on.wait()

    client = towline.ClaudeSDKClient(cli.options(turn(), turn()))
    await client.connect(prompts())
    async for _ in client.receive_response():
        pass
    await client.query("typed")
    async for _ in client.receive_response():
        pass
    go_on.set()
    await client.disconnect()
    assert [content(line) for line in cli.received("user")] == ["streamed", "typed"]


async def test_messages_that_are_no_prompt_go_out_as_they_are(cli: FakeCli) -> None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {
            "type": "user",
            "message": {"role": "user", "content": "x"},
            "uuid": "u-1",
            "priority": "later",
        }

    await ask(cli.options(turn()), prompts())
    (line,) = cli.received("user")
    assert (line["uuid"], line["priority"]) == ("u-1", "later")
