"""Transports that the program brings, duck-typed."""

import json
from typing import Any
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
        self.arrived: Any = None

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


class Failing(Loopback):
    """Fails at one of its calls, and never ends by itself."""

    def __init__(self, at: str, *replies) -> None:
        super().__init__(*replies)
        self.at = at
        self.failure = OSError("the line is dead")

    def meet(self, call: str) -> None:
        if call == self.at:
            raise self.failure

    async def connect(self) -> None:
        self.meet("connect")
        await super().connect()

    async def write(self, data: str) -> None:
        line = json.loads(data)
        self.meet("write")
        self.meet(line["request"]["subtype"] if "request" in line else line["type"])
        if "second" in data:
            for reply in self.replies:
                self.put(reply)
            self.meet("second prompt")
        await super().write(data)

    async def read_messages(self):
        self.meet("read_messages")
        async for message in super().read_messages():
            yield message

    async def end_input(self) -> None:
        self.meet("end_input")
        await super().end_input()


def test_a_failing_call_ends_a_query(run: Run) -> None:
    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "hi"}}

    async def main(prompt, transport):
        import anyio

        with anyio.fail_after(5):
            async for message in query(prompt=prompt, transport=transport):
                seen.append(message)

    for at in ("connect", "write", "initialize", "user", "read_messages", "end_input"):
        for streamed in (False, True):
            seen: list = []
            transport = Failing(at, DONE)
            with pytest.raises(OSError) as raised:
                run(lambda: main(prompts() if streamed else "hi", transport))  # noqa: B023
            assert raised.value is transport.failure
            assert len(seen) == (at == "end_input"), at
            assert transport.calls.count("close") == (at != "connect"), at


def test_a_failing_call_is_raised_by_what_made_it(run: Run) -> None:
    async def main(at):
        import anyio

        transport = Failing(at, DONE)
        client = ClaudeSDKClient(transport=transport)
        with anyio.fail_after(5), pytest.raises(OSError) as raised:
            await client.connect()
            steps.append("connected")
            await client.query("first")
            steps.append("asked")
            seen = [message async for message in client.receive_response()]
            steps.append(len(seen))
            if at == "interrupt":
                await client.interrupt()
            await client.query("second")
        assert raised.value is transport.failure
        left = []
        if steps[1:]:
            with anyio.fail_after(5), pytest.raises(OSError):
                async for message in client.receive_messages():
                    left.append(message)
        await client.disconnect()
        assert transport.calls.count("close") == (at != "connect")
        return len(left)

    for at, wanted in (
        ("connect", []),
        ("initialize", []),
        ("read_messages", []),
        ("user", ["connected"]),
        ("interrupt", ["connected", "asked", 1]),
        ("second prompt", ["connected", "asked", 1]),
    ):
        steps: list = []
        # What the transport had before it failed is given out first.
        assert run(lambda: main(at)) == (at == "second prompt"), at  # noqa: B023
        assert steps == wanted, at


def test_an_input_that_cannot_be_ended_is_well_if_the_output_ends(run: Run) -> None:
    class Ended(Loopback):
        async def end_input(self) -> None:
            self.put(None)
            raise OSError("it has ended by itself")

    async def main():
        return [message async for message in query(prompt="hi", transport=Ended(DONE))]

    assert len(run(main)) == 1
