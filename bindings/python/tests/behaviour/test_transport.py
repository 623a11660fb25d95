"""Transports of one's own."""

import json
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import anyio
import pytest
from support.script import INIT, RESULT, permission, text

import towline


class Wire:
    """A CLI made of lists: what it says after the prompt, and what it has been told."""

    def __init__(self, *said: dict[str, Any]) -> None:
        self.said = [step["emit"] for step in said]
        self.written: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self._send: Any = None
        self._receive: Any = None

    async def connect(self) -> None:
        self.calls.append("connect")
        self._send, self._receive = anyio.create_memory_object_stream(1000)

    async def write(self, data: str) -> None:
        for line in data.splitlines():
            message = json.loads(line)
            self.written.append(message)
            if message["type"] == "control_request":
                self.answer(message["request_id"])
            elif message["type"] == "user":
                for part in self.said:
                    self._send.send_nowait(part)

    def answer(self, request_id: str) -> None:
        inner = {
            "subtype": "success",
            "request_id": request_id,
            "response": {"commands": [], "mode": "plan"},
        }
        self._send.send_nowait({"type": "control_response", "response": inner})

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._read()

    async def _read(self) -> AsyncIterator[dict[str, Any]]:
        async for message in self._receive:
            yield message

    async def close(self) -> None:
        self.calls.append("close")
        if self._send is not None:
            self._send.close()
            self._receive.close()

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        self.calls.append("end_input")
        self._send.close()


async def test_a_query_over_it(nothing_left: None) -> None:
    wire: Any = Wire(INIT, text("hello"), RESULT)
    messages = [message async for message in towline.query(prompt="hi", transport=wire)]
    assert [type(message).__name__ for message in messages] == [
        "SystemMessage",
        "AssistantMessage",
        "ResultMessage",
    ]
    assert [line["type"] for line in wire.written] == ["control_request", "user"]
    assert wire.calls[0] == "connect" and "end_input" in wire.calls and wire.calls[-1] == "close"


async def test_a_client_over_it(nothing_left: None) -> None:
    asked: list[str] = []

    async def can_use_tool(tool: str, *_: Any) -> Any:
        asked.append(tool)
        return towline.PermissionResultAllow()

    wire: Any = Wire(INIT, permission(), text("hello"), RESULT)
    client = towline.ClaudeSDKClient(
        towline.ClaudeAgentOptions(can_use_tool=can_use_tool), transport=wire
    )
    await client.connect()
    await client.query("hi")
    messages = [message async for message in client.receive_response()]
    await client.set_permission_mode("plan")
    with anyio.fail_after(5):
        while not any(line["type"] == "control_response" for line in wire.written):
            await anyio.sleep(0.01)
    await client.disconnect()
    assert len(messages) == 3 and asked == ["Bash"]
    (answer,) = [line for line in wire.written if line["type"] == "control_response"]
    assert answer["response"]["response"]["behavior"] == "allow"


async def test_hooks_and_tools_over_it_are_announced(nothing_left: None) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    options = towline.ClaudeAgentOptions(hooks={"Stop": [towline.HookMatcher(hooks=[callback])]})
    wire: Any = Wire(INIT, RESULT)
    async for _ in towline.query(prompt="hi", options=options, transport=wire):
        pass
    initialize = wire.written[0]["request"]
    assert initialize["subtype"] == "initialize" and "Stop" in initialize["hooks"]


async def test_one_made_of_mocks(nothing_left: None) -> None:
    written: list[str] = []
    lines = [INIT["emit"], text("hello")["emit"], RESULT["emit"]]

    async def write(data: str) -> None:
        written.append(data)

    async def read() -> AsyncIterator[dict[str, Any]]:
        with anyio.fail_after(5):
            while not written:
                await anyio.sleep(0.01)
        request_id = json.loads(written[0])["request_id"]
        inner = {"subtype": "success", "request_id": request_id, "response": {}}
        yield {"type": "control_response", "response": inner}
        for line in lines:
            yield line

    transport = AsyncMock()
    transport.write = AsyncMock(side_effect=write)
    transport.read_messages = MagicMock(side_effect=read)
    transport.is_ready = MagicMock(return_value=True)
    messages = [message async for message in towline.query(prompt="hi", transport=transport)]
    assert len(messages) == 3
    transport.connect.assert_awaited_once()
    transport.close.assert_awaited()


async def test_one_that_cannot_connect(nothing_left: None) -> None:
    class Unreachable(Wire):
        async def connect(self) -> None:
            raise OSError("no route to the CLI")

    wire: Any = Unreachable()
    with pytest.raises(Exception, match="no route to the CLI"):
        async for _ in towline.query(prompt="hi", transport=wire):
            pass


@pytest.mark.parametrize("value", [float("nan"), b"bytes", 5])
async def test_what_is_no_json_is_left_out(nothing_left: None, value: Any) -> None:
    odd = {"emit": value if value == 5 else {"type": "system", "subtype": "odd", "value": value}}
    wire: Any = Wire(INIT, odd, text("hello"), RESULT)
    messages = [message async for message in towline.query(prompt="hi", transport=wire)]
    kinds = [type(message).__name__ for message in messages]
    assert kinds == ["SystemMessage", "AssistantMessage", "ResultMessage"]


async def test_one_whose_reading_fails(nothing_left: None) -> None:
    class Broken(Wire):
        async def _read(self) -> AsyncIterator[dict[str, Any]]:
            async for message in self._receive:
                yield message
                if message["type"] == "assistant":
                    raise OSError("the line is dead")

    wire: Any = Broken(INIT, text("hello"), RESULT)
    seen: list[Any] = []
    with pytest.raises(Exception, match="the line is dead"):
        async for message in towline.query(prompt="hi", transport=wire):
            seen.append(message)
    assert len(seen) == 2
    assert wire.calls[-1] == "close"


async def test_one_that_is_left_early_is_closed(nothing_left: None) -> None:
    wire: Any = Wire(INIT, text("hello"), RESULT)
    messages: Any = towline.query(prompt="hi", transport=wire)
    await messages.__anext__()
    await messages.aclose()
    assert "close" in wire.calls
