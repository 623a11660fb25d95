"""What comes on the CLI's stdout, in whatever pieces and of whatever quality."""

import json
from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, SESSION, assistant, emit, result_message, text

import towline

TEXT = 'line one\nline two\n\n  three\u2028four\u0085 "quoted" \\ é 中 🎉 \t end  '


def words(messages: list[Any]) -> list[str]:
    found = [message for message in messages if isinstance(message, towline.AssistantMessage)]
    return [
        block.text
        for message in found
        for block in message.content
        if isinstance(block, towline.TextBlock)
    ]


async def ask(options: "towline.ClaudeAgentOptions") -> list[Any]:
    return [message async for message in towline.query(prompt="hi", options=options)]


def line(message: dict[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 20])
async def test_pieces_of_any_size(cli: FakeCli, chunk: int) -> None:
    said = {**text(TEXT), "chunk": chunk}
    messages = await ask(cli.options(PROMPT, INIT, said, said, RESULT))
    assert words(messages) == [TEXT, TEXT]


async def test_many_lines_in_one_read(cli: FakeCli) -> None:
    raw = "".join(line(text(str(number))["emit"]) for number in range(200))
    messages = await ask(cli.options(PROMPT, INIT, {"emit_raw": raw}, RESULT))
    assert words(messages) == [str(number) for number in range(200)]


async def test_blanks_at_the_edge_of_a_piece_are_kept(cli: FakeCli) -> None:
    said = " " * 70_000 + "x" + " " * 70_000
    messages = await ask(cli.options(PROMPT, INIT, {**text(said), "chunk": 65_536}, RESULT))
    assert words(messages) == [said]


async def test_lines_that_are_no_json_are_skipped(cli: FakeCli) -> None:
    raw = "[SandboxDebug] starting\n\n   \nWarning: {not json\n"
    messages = await ask(
        cli.options({"emit_raw": raw}, PROMPT, {"emit_raw": raw}, INIT, text("hi"), RESULT)
    )
    assert words(messages) == ["hi"]


async def test_the_last_line_needs_no_end(cli: FakeCli) -> None:
    raw = json.dumps(result_message())
    messages = await ask(cli.options(PROMPT, INIT, {"emit_raw": raw}, {"exit": 0}))
    assert isinstance(messages[-1], towline.ResultMessage)


async def test_a_last_line_that_is_cut_off_is_dropped(cli: FakeCli) -> None:
    raw = json.dumps(text("lost")["emit"])[:-20]
    messages = await ask(
        cli.options(PROMPT, INIT, text("kept"), RESULT, {"emit_raw": raw}, {"exit": 0})
    )
    assert words(messages) == ["kept"]


async def test_a_line_over_the_limit_does_not_end_the_session(cli: FakeCli) -> None:
    options = cli.options(
        PROMPT, INIT, text("x" * 200_000), text("next"), RESULT, max_buffer_size=100_000
    )
    messages = await ask(options)
    assert words(messages) == ["next"]
    assert isinstance(messages[-1], towline.ResultMessage)


async def test_a_large_line_arrives_with_the_default_limit(cli: FakeCli) -> None:
    big = {"emit_big": assistant({"type": "text", "text": "@FILL@"})["emit"], "bytes": 3 << 20}
    messages = await ask(cli.options(PROMPT, INIT, big, RESULT))
    assert [len(part) for part in words(messages)] == [3 << 20]


async def test_unknown_messages_and_blocks_do_not_hurt(cli: FakeCli) -> None:
    odd = emit({"type": "from_the_future", "session_id": SESSION})
    blocks = assistant({"type": "hologram", "x": 1}, {"type": "text", "text": "seen"})
    messages = await ask(cli.options(PROMPT, INIT, odd, blocks, RESULT))
    assert words(messages) == ["seen"]


async def test_every_kind_of_message(cli: FakeCli) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": False}
    user = emit(
        {
            "type": "user",
            "message": {"role": "user", "content": [answer]},
            "session_id": SESSION,
            "uuid": "u",
        }
    )
    event = emit(
        {"type": "stream_event", "event": {"type": "ping"}, "session_id": SESSION, "uuid": "e"}
    )
    messages = await ask(
        cli.options(PROMPT, INIT, assistant(thinking), assistant(call), user, event, RESULT)
    )
    kinds = [type(message).__name__ for message in messages]
    assistant_kind = "AssistantMessage"
    assert kinds == [
        "SystemMessage",
        assistant_kind,
        assistant_kind,
        "UserMessage",
        "StreamEvent",
        "ResultMessage",
    ]
    assert messages[1].content == [towline.ThinkingBlock(thinking="hm", signature="s")]
    assert messages[2].content == [
        towline.ToolUseBlock(id="t1", name="Bash", input={"command": "ls"})
    ]
    (block,) = messages[3].content
    assert (block.tool_use_id, block.content, block.is_error) == ("t1", "out", False)
    assert messages[4].event == {"type": "ping"}
    assert (messages[5].total_cost_usd, messages[5].session_id, messages[5].num_turns) == (
        0.25,
        SESSION,
        1,
    )
