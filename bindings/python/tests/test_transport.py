"""Transports that the program brings, duck-typed."""

import json
from unittest.mock import AsyncMock, MagicMock

import pytest
from conftest import SESSION, Run, run_asyncio
from towline import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ProcessError,
    ResultError,
    ResultMessage,
    query,
)

DONE = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 1,
    "duration_api_ms": 1,
    "num_turns": 1,
    "session_id": SESSION,
    "result": "ok",
}


class Loopback:
    """A CLI in a few lines: answers `initialize` and gives each prompt what the test says."""

    def __init__(self, *replies) -> None:
        self.replies = list(replies)
        self.written: list[dict] = []
        self.calls: list[str] = []
        self.queue: list = []
        self.arrived = None

    async def connect(self) -> None:
        import anyio

        self.calls.append("connect")
        self.arrived = anyio.Event()

    async def write(self, data: str) -> None:
        assert data.endswith("\n") and "\n" not in data[:-1]
        line = json.loads(data)
        self.written.append(line)
        if line["type"] == "control_request":
            response = {"subtype": "success", "request_id": line["request_id"], "response": {}}
            self.put({"type": "control_response", "response": response})
        elif line["type"] == "user":
            for reply in self.replies:
                self.put(reply)
        elif line["type"] == "control_response":
            self.put(DONE)

    def put(self, item) -> None:
        self.queue.append(item)
        self.arrived.set()

    async def read_messages(self):
        import anyio

        while True:
            while self.queue:
                item = self.queue.pop(0)
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
            self.arrived = anyio.Event()
            await self.arrived.wait()

    async def end_input(self) -> None:
        self.calls.append("end_input")
        self.put(None)

    async def close(self) -> None:
        self.calls.append("close")

    def is_ready(self) -> bool:
        return True


def test_a_query(run: Run) -> None:
    transport = Loopback(DONE)

    async def main():
        return [message async for message in query(prompt="hi", transport=transport)]

    [message] = run(main)
    assert isinstance(message, ResultMessage)
    assert transport.calls == ["connect", "end_input", "close"]
    assert [line["type"] for line in transport.written] == ["control_request", "user"]


def test_a_client_with_hooks(run: Run) -> None:
    request = {"subtype": "hook_callback", "callback_id": "hook_0", "input": {"x": 1}}
    asked = {"type": "control_request", "request_id": "h", "request": request}
    transport = Loopback(asked)
    seen = []

    async def hook(given, tool_use_id, context):
        seen.append(given)
        return {"continue_": True}

    options = ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[hook])]})

    async def main():
        async with ClaudeSDKClient(options, transport) as client:
            await client.query("hi")
            return [message async for message in client.receive_response()]

    assert len(run(main)) == 1
    assert seen == [{"x": 1}]
    assert transport.written[-1]["response"]["response"] == {"continue": True}
    assert transport.calls == ["connect", "close"]


def test_its_exception_is_the_one_that_is_raised(run: Run) -> None:
    failure = ProcessError("gone", exit_code=7)

    async def main(*replies):
        async for _ in query(prompt="hi", transport=Loopback(*replies)):
            pass

    with pytest.raises(ProcessError) as raised:
        run(lambda: main(failure))
    assert raised.value is failure
    failed = {**DONE, "is_error": True, "subtype": "error_max_turns", "errors": ["too many"]}
    with pytest.raises(ResultError, match="too many"):
        run(lambda: main(failed, ProcessError("gone", exit_code=1)))


def test_mocks_do() -> None:
    transport = MagicMock()
    for name in ("connect", "write", "close", "end_input"):
        setattr(transport, name, AsyncMock())
    real = Loopback(DONE)
    transport.connect.side_effect = real.connect
    transport.write.side_effect = real.write
    transport.end_input.side_effect = real.end_input
    transport.read_messages = real.read_messages

    async def main():
        return [message async for message in query(prompt="hi", transport=transport)]

    assert len(run_asyncio(main)) == 1
    transport.close.assert_awaited_once()


def test_a_broken_write_ends_the_session(run: Run) -> None:
    class Broken(Loopback):
        async def write(self, data: str) -> None:
            if '"user"' in data:
                self.put(None)
                raise OSError("pipe is gone")
            await super().write(data)

    async def main():
        async for _ in query(prompt="hi", transport=Broken()):
            pass

    with pytest.raises(OSError, match="pipe is gone"):
        run(main)
