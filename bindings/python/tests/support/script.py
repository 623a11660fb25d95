"""Steps of a script for the fake CLI; `tests/testkit/src/fake_cli/mod.rs` describes them all."""

from typing import Any

Step = dict[str, Any]

SESSION = "11111111-2222-4333-8444-555555555555"
PROMPT: Step = {"expect": {"type": "user"}}
"""Waits for a prompt."""


def emit(message: dict[str, Any]) -> Step:
    return {"emit": message}


def system(subtype: str, **more: Any) -> Step:
    return emit(
        {"type": "system", "subtype": subtype, "session_id": SESSION, "uuid": "u-system", **more}
    )


INIT = system(
    "init",
    cwd="/w",
    tools=["Bash"],
    mcp_servers=[],
    model="claude-x",
    claude_code_version="2.1.332",
)


def assistant(*blocks: dict[str, Any], **more: Any) -> Step:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(blocks),
    }
    return emit(
        {
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": None,
            "session_id": SESSION,
            "uuid": "u-assistant",
            **more,
        }
    )


def text(words: str) -> Step:
    return assistant({"type": "text", "text": words})


def result_message(**more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 5,
        "duration_api_ms": 4,
        "num_turns": 1,
        "result": "ok",
        "session_id": SESSION,
        "total_cost_usd": 0.25,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "uuid": "u-result",
        **more,
    }


def result(**more: Any) -> Step:
    return emit(result_message(**more))


RESULT = result()


def turn(words: str = "hello") -> list[Step]:
    """One prompt and a whole answer to it."""
    return [PROMPT, INIT, text(words), RESULT]


def request(request_id: str, subtype: str, **payload: Any) -> Step:
    return emit(
        {
            "type": "control_request",
            "request_id": request_id,
            "request": {"subtype": subtype, **payload},
        }
    )


def permission(request_id: str = "p1", tool: str = "Bash", **more: Any) -> Step:
    given = {
        "tool_name": tool,
        "input": {"command": "ls"},
        "tool_use_id": f"toolu_{request_id}",
        **more,
    }
    return request(request_id, "can_use_tool", **given)


def answered(
    request_id: str, response: dict[str, Any] | None = None, subtype: str = "success"
) -> Step:
    """Waits for the host's answer to a request."""
    inner: dict[str, Any] = {"request_id": request_id, "subtype": subtype}
    if response is not None:
        inner["response"] = response
    return {"expect": {"type": "control_response", "response": inner}}


def unanswered(request_id: str, for_ms: int = 300) -> Step:
    return {
        "expect_none": {"type": "control_response", "response": {"request_id": request_id}},
        "for_ms": for_ms,
    }


def withdraw(request_id: str) -> Step:
    return emit({"type": "control_cancel_request", "request_id": request_id})


def asked(subtype: str, **payload: Any) -> Step:
    """Waits for a control request of the host."""
    return {"expect": {"type": "control_request", "request": {"subtype": subtype, **payload}}}


def mcp(
    request_id: str,
    server: str,
    method: str,
    number: int | None,
    params: dict[str, Any] | None = None,
) -> Step:
    """A JSON-RPC message for an in-process server; a notification without a number."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return request(request_id, "mcp_message", server_name=server, message=message)


def mcp_handshake(server: str) -> list[Step]:
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    return [
        mcp("m0", server, "initialize", 0, client),
        answered("m0"),
        mcp("m1", server, "notifications/initialized", None),
        answered("m1"),
    ]


def mcp_call(
    request_id: str, server: str, tool: str, arguments: dict[str, Any], number: int = 7
) -> Step:
    return mcp(request_id, server, "tools/call", number, {"name": tool, "arguments": arguments})
