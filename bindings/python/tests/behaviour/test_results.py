"""Results that are errors, and ends without one."""

from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, SESSION, emit, result, system, text, turn

import towline


async def collect(options: "towline.ClaudeAgentOptions") -> tuple[list[Any], Exception | None]:
    messages = []
    try:
        async for message in towline.query(prompt="hi", options=options):
            messages.append(message)
    except Exception as error:
        return messages, error
    return messages, None


FAILED = result(
    subtype="error_during_execution", is_error=True, result=None, errors=["the model is on strike"]
)


async def test_an_error_result_is_delivered_and_then_raised(cli: FakeCli) -> None:
    messages, error = await collect(cli.options(PROMPT, INIT, FAILED, {"exit": 1}))
    assert isinstance(messages[-1], towline.ResultMessage) and messages[-1].is_error
    assert isinstance(error, towline.ClaudeSDKError) and "the model is on strike" in str(error)


async def test_notes_behind_an_error_result_do_not_hide_it(cli: FakeCli) -> None:
    note = emit(
        {
            "type": "command_lifecycle",
            "command_uuid": "c",
            "state": "cancelled",
            "session_id": SESSION,
        }
    )
    idle = system("session_state_changed", state="idle")
    messages, error = await collect(cli.options(PROMPT, INIT, FAILED, note, idle, {"exit": 1}))
    assert messages[1].is_error
    assert isinstance(error, towline.ClaudeSDKError) and "the model is on strike" in str(error)


async def test_the_same_for_too_many_turns(cli: FakeCli) -> None:
    text_of_it = "Reached maximum number of turns (1)"
    failed = result(subtype="error_max_turns", is_error=True, result=None, errors=[text_of_it])
    messages, error = await collect(cli.options(PROMPT, INIT, failed, {"exit": 1}))
    assert messages[-1].subtype == "error_max_turns"
    assert isinstance(error, towline.ClaudeSDKError) and text_of_it in str(error)


async def test_an_error_of_the_api_is_a_success_that_is_an_error(cli: FakeCli) -> None:
    failed = result(is_error=True, result="API Error: 529 overloaded", api_error_status=529)
    messages, error = await collect(cli.options(PROMPT, INIT, failed, {"exit": 1}))
    assert (messages[-1].subtype, messages[-1].is_error) == ("success", True)
    assert error is not None and "529 overloaded" in str(error)


async def test_a_crash_without_a_result_is_a_process_error(cli: FakeCli) -> None:
    options = cli.options(PROMPT, INIT, text("half"), {"stderr": "segmentation\n"}, {"exit": 3})
    messages, error = await collect(options)
    assert isinstance(messages[-1], towline.AssistantMessage)
    assert isinstance(error, towline.ProcessError) and error.exit_code == 3


async def test_a_signal_is_a_process_error(cli: FakeCli) -> None:
    _, error = await collect(cli.options(PROMPT, INIT, {"kill": "SIGKILL"}))
    assert isinstance(error, towline.ProcessError)


async def test_a_good_end_without_a_result_is_no_error(cli: FakeCli) -> None:
    messages, error = await collect(cli.options(PROMPT, INIT, text("half"), {"exit": 0}))
    assert error is None and isinstance(messages[-1], towline.AssistantMessage)


async def test_a_good_end_without_anything_is_an_error(cli: FakeCli) -> None:
    messages, error = await collect(cli.options(PROMPT, {"exit": 0}))
    assert not messages
    assert isinstance(error, towline.ProcessError) and error.exit_code == 0


async def test_a_good_result_after_an_error_makes_up_for_it(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(
        cli.options(PROMPT, INIT, FAILED, turn(), {"exit": 0})
    ) as client:
        results = []
        for _ in range(2):
            await client.query("hi")
            results += [
                message.is_error
                async for message in client.receive_response()
                if hasattr(message, "is_error")
            ]
    assert results == [True, False]


async def test_a_client_goes_on_after_an_error_result(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(PROMPT, INIT, FAILED, turn("again"))) as client:
        await client.query("hi")
        first = [message async for message in client.receive_response()]
        await client.query("hi")
        second = [message async for message in client.receive_response()]
    assert first[-1].is_error and not second[-1].is_error


@pytest.mark.parametrize("status", [0, 2])
async def test_writing_to_a_cli_that_has_gone(cli: FakeCli, status: int) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn(), {"exit": status})) as client:
        await client.query("hi")
        try:
            async for _ in client.receive_messages():
                pass
        except towline.ProcessError as error:
            assert error.exit_code == status
        with pytest.raises(towline.CLIConnectionError):
            await client.query("are you there")


async def test_the_result_has_all_its_fields(cli: FakeCli) -> None:
    full = result(
        structured_output={"n": 5},
        permission_denials=[{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}],
        modelUsage={"claude-x": {"inputTokens": 1}},
        stop_reason="end_turn",
    )
    messages, _ = await collect(cli.options(PROMPT, INIT, full, RESULT))
    last = messages[1]
    assert (last.structured_output, last.stop_reason, last.result) == ({"n": 5}, "end_turn", "ok")
    assert last.usage == {"input_tokens": 1, "output_tokens": 1}
    assert last.permission_denials is not None and last.permission_denials[0]["tool_name"] == "Bash"
