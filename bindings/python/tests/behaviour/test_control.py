"""Control requests of the host."""

from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, SESSION, asked, result, turn

import towline

REQUESTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("interrupt", (), {"subtype": "interrupt"}),
    (
        "set_permission_mode",
        ("acceptEdits",),
        {"subtype": "set_permission_mode", "mode": "acceptEdits"},
    ),
    ("set_model", ("claude-opus",), {"subtype": "set_model", "model": "claude-opus"}),
    ("rewind_files", ("uuid-1",), {"subtype": "rewind_files", "user_message_id": "uuid-1"}),
    ("reconnect_mcp_server", ("kit",), {"subtype": "mcp_reconnect", "serverName": "kit"}),
    (
        "toggle_mcp_server",
        ("kit", False),
        {"subtype": "mcp_toggle", "serverName": "kit", "enabled": False},
    ),
    ("stop_task", ("task-1",), {"subtype": "stop_task", "task_id": "task-1"}),
    ("get_mcp_status", (), {"subtype": "mcp_status"}),
    ("get_context_usage", (), {"subtype": "get_context_usage"}),
]


@pytest.mark.parametrize(
    ("method", "arguments", "wanted"), REQUESTS, ids=[name for name, _, _ in REQUESTS]
)
async def test_each_method_is_a_request(
    cli: FakeCli, method: str, arguments: tuple[Any, ...], wanted: dict[str, Any]
) -> None:
    answer: dict[str, Any] = {"mcpServers": [], "categories": []}
    async with towline.ClaudeSDKClient(cli.options(asked(**wanted), {"answer": answer})) as client:
        value = await getattr(client, method)(*arguments)
    cli.holds()
    if method.startswith("get_"):
        assert value == answer


async def test_an_answer_without_a_payload(cli: FakeCli) -> None:
    response = {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "$rid"},
    }
    steps = [asked("set_model"), {"emit": response}]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        await client.set_model(None)
    cli.holds()


async def test_an_error_is_raised_with_its_text_and_the_next_request_works(cli: FakeCli) -> None:
    steps = [
        asked("set_model"),
        {"answer_error": "no such model"},
        asked("set_model"),
        {"answer": {}},
    ]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        with pytest.raises(Exception, match="no such model"):
            await client.set_model("x")
        await client.set_model("y")
    cli.holds()


async def test_answers_may_come_in_any_order(cli: FakeCli) -> None:
    def reply(save: str, value: str) -> dict[str, Any]:
        response = {
            "subtype": "success",
            "request_id": f"${save}",
            "response": {"mcpServers": [value]},
        }
        return {"emit": {"type": "control_response", "response": response}}

    steps = [
        {**asked("mcp_status"), "save": "1"},
        {**asked("get_context_usage"), "save": "2"},
        reply("2", "second"),
        reply("1", "first"),
    ]
    answers: dict[str, Any] = {}
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:

        async def status() -> None:
            answers["status"] = await client.get_mcp_status()

        async def usage() -> None:
            answers["usage"] = await client.get_context_usage()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(status)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(usage)
    assert answers == {"status": {"mcpServers": ["first"]}, "usage": {"mcpServers": ["second"]}}


async def test_requests_in_flight_fail_when_the_cli_goes(cli: FakeCli) -> None:
    steps = [asked("mcp_status"), {"stderr": "out of memory\n"}, {"exit": 7}]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        with anyio.fail_after(5), pytest.raises(Exception):  # noqa: B017
            await client.get_mcp_status()


async def test_requests_in_flight_fail_with_the_text_of_an_error_result(cli: FakeCli) -> None:
    failed = result(
        subtype="error_during_execution", is_error=True, result=None, errors=["the disk is full"]
    )
    steps = [asked("mcp_status"), failed, {"exit": 1}]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        with anyio.fail_after(5), pytest.raises(Exception, match="the disk is full"):
            await client.get_mcp_status()


async def test_a_request_that_is_given_up_does_not_hurt(cli: FakeCli) -> None:
    late = {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "$1", "response": {}},
    }
    steps = [{**asked("mcp_status"), "save": "1"}, PROMPT, {"emit": late}, INIT, RESULT]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        with anyio.move_on_after(0.2) as scope:
            await client.get_mcp_status()
        assert scope.cancelled_caught
        await client.query("hi")
        messages = [message async for message in client.receive_response()]
    assert isinstance(messages[-1], towline.ResultMessage)
    cli.holds()


async def test_a_request_while_nobody_reads_many_messages(cli: FakeCli) -> None:
    event = {"type": "stream_event", "event": {"type": "ping"}, "session_id": SESSION, "uuid": "e"}
    flood = {"repeat": 5000, "steps": [{"emit": event}]}
    steps = [PROMPT, INIT, flood, asked("interrupt"), {"answer": {}}, RESULT]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        await client.query("hi")
        with anyio.fail_after(20):
            await client.interrupt()
        messages = [message async for message in client.receive_response()]
    assert len(messages) == 5002
    cli.holds()


async def test_an_unknown_request_of_the_cli_is_refused(cli: FakeCli) -> None:
    from support.script import answered, request

    steps = [
        PROMPT,
        INIT,
        request("x1", "from_the_future"),
        answered("x1", subtype="error"),
        RESULT,
    ]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass
    cli.holds()


@pytest.mark.loops("asyncio")
async def test_the_time_limit_of_initialize_is_never_below_a_minute(
    cli: FakeCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "1")
    steps = [asked("initialize"), {"sleep_ms": 1500}, {"answer": {"commands": []}}, turn()]
    async with towline.ClaudeSDKClient(cli.options(steps)) as client:
        assert await client.get_server_info() == {"commands": []}
