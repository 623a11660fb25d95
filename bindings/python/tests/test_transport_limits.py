"""Transports that the program brings and that do not do their part: calls that never return, an end
too early."""

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from conftest import Run, run_asyncio
from test_transport import DONE, Loopback
from towline import (
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    Options,
    PermissionResultAllow,
    ProcessError,
    query,
)


def options(**more: Any) -> Options:
    return Options(close_grace_ms=200, terminate_grace_ms=200, **more)


made: list["Hanging"] = []


def released(main: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """In the end, calls that were left behind return."""

    async def whole() -> None:
        made.clear()
        try:
            await main()
        finally:
            for transport in made:
                transport.released.set()

    return whole


class Hanging(Loopback):
    """Does not return from one of its calls, until it is cancelled; a stubborn one not even then."""

    def __init__(self, at: str, *replies, stubborn: bool = False) -> None:
        super().__init__(*replies)
        self.at = at
        self.stubborn = stubborn
        self.released: Any = None
        self.cancelled = 0

    async def meet(self, call: str) -> None:
        if call != self.at:
            return
        if not self.stubborn:
            try:
                await anyio.sleep_forever()
            finally:
                self.cancelled += 1
        while not self.released.is_set():
            with anyio.CancelScope(shield=True):
                try:
                    await self.released.wait()
                except anyio.get_cancelled_exc_class():
                    self.cancelled += 1

    async def connect(self) -> None:
        self.released = anyio.Event()
        made.append(self)
        await self.meet("connect")
        await super().connect()

    async def write(self, data: str) -> None:
        line = json.loads(data)
        await self.meet("write")
        await self.meet(line["request"]["subtype"] if "request" in line else line["type"])
        await super().write(data)

    async def read_messages(self):
        await self.meet("read_messages")
        async for message in super().read_messages():
            yield message

    async def end_input(self) -> None:
        await self.meet("end_input")
        await super().end_input()

    async def close(self) -> None:
        await super().close()
        await self.meet("close")


def hanging(*given: Any, **more: Any) -> Any:
    return Hanging(*given, **more)


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("at", ["connect", "initialize", "read_messages"])
@pytest.mark.parametrize("way", ["query", "client"])
def test_one_that_hangs_before_the_session_is_open(
    run: Run, way: str, at: str, stubborn: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        transport = hanging(at, DONE, stubborn=stubborn)
        limited = options(initialize_timeout_ms=200)
        with anyio.fail_after(5), pytest.raises(CLIConnectionError) as raised:
            if way == "query":
                async for _ in query(prompt="hi", options=limited, transport=transport):
                    pass
            else:
                await ClaudeSDKClient(limited, transport).connect()
        text = str(raised.value)
        assert "200 ms" in text and "initialize_timeout_ms" in text, text
        method = "write" if at == "initialize" else at
        assert at == "read_messages" or f"{method}() has not returned" in text, text
        assert transport.cancelled or stubborn
        assert transport.calls.count("close") == (at != "connect")
        left = [
            record for record in caplog.records if f"{method}() has not ended" in record.message
        ]
        assert bool(left) == stubborn

    with caplog.at_level(logging.WARNING):
        run(released(main))


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_prompt_that_is_never_written(run: Run, stubborn: bool) -> None:
    """The write has the time of a control request; the reader is told as well."""

    async def main() -> None:
        transport = hanging("user", DONE, stubborn=stubborn)
        limited = options(control_timeout_ms=200)
        with anyio.fail_after(5):
            with pytest.raises(
                CLIConnectionError, match=r"write\(\) has not returned within 200 ms"
            ):
                async for _ in query(prompt="hi", options=limited, transport=transport):
                    pass
        assert transport.calls[-1] == "close"
        transport = hanging("user", DONE, stubborn=stubborn)
        client = ClaudeSDKClient(limited, transport)
        with anyio.fail_after(5):
            await client.connect()
            with pytest.raises(
                CLIConnectionError, match=r"write\(\) has not returned within 200 ms"
            ):
                await client.query("hi")
            with pytest.raises(
                CLIConnectionError, match=r"write\(\) has not returned within 200 ms"
            ):
                async for _ in client.receive_response():
                    pass
            await client.disconnect()
        assert transport.calls[-1] == "close"

    run(released(main))


@pytest.mark.parametrize("limit", ["first_message_timeout_ms", "turn_timeout_ms"])
def test_a_turn_whose_prompt_is_never_written(run: Run, limit: str) -> None:
    async def main() -> None:
        transport = hanging("user", DONE)
        limited = options(**{limit: 200})
        with anyio.fail_after(5), pytest.raises(CLIConnectionError) as raised:
            async for _ in query(prompt="hi", options=limited, transport=transport):
                pass
        assert limit in str(raised.value) and "write() has not returned" in str(raised.value)
        client = ClaudeSDKClient(limited, hanging("user", DONE))
        with anyio.fail_after(5):
            await client.connect()
            with pytest.raises(CLIConnectionError, match=r"write\(\) has not returned"):
                await client.query("hi")
            with pytest.raises(CLIConnectionError, match=limit):
                async for _ in client.receive_response():
                    pass
            await client.disconnect()

    run(released(main))


def test_a_request_that_is_never_written(run: Run) -> None:
    async def main() -> None:
        client = ClaudeSDKClient(options(control_timeout_ms=200), hanging("interrupt", DONE))
        with anyio.fail_after(5):
            await client.connect()
            with pytest.raises(ClaudeSDKError, match=r"write\(\) has not returned"):
                await client.interrupt()
            await client.disconnect()

    run(released(main))


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_input_that_is_never_ended(run: Run, stubborn: bool) -> None:
    async def main() -> None:
        transport = hanging("end_input", DONE, stubborn=stubborn)
        seen = []
        with anyio.fail_after(10):
            with pytest.raises(CLIConnectionError, match=r"end_input\(\) has not returned"):
                limited = options(control_timeout_ms=200)
                async for message in query(prompt="hi", options=limited, transport=transport):
                    seen.append(message)
        assert len(seen) == 1 and transport.calls[-1] == "close"

    run(released(main))


@pytest.mark.parametrize("stubborn", [False, True])
def test_one_that_never_closes(run: Run, stubborn: bool, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        transport = hanging("close", DONE, stubborn=stubborn)
        begun = time.monotonic()
        with anyio.fail_after(5):
            async for _ in query(prompt="hi", options=options(), transport=transport):
                pass
                transport = hanging("close", DONE, stubborn=stubborn)
            client = ClaudeSDKClient(options(), transport)
            await client.connect()
            await client.disconnect()
        assert time.monotonic() - begun < 3
        assert transport.cancelled or stubborn
        left = [record for record in caplog.records if "close() has not ended" in record.message]
        assert bool(left) == stubborn

    with caplog.at_level(logging.WARNING):
        run(released(main))


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("at", ["connect", "initialize", "user", "close"])
def test_a_caller_that_is_cancelled_meanwhile(run: Run, at: str, stubborn: bool) -> None:
    async def main() -> None:
        client = ClaudeSDKClient(options(), hanging(at, DONE, stubborn=stubborn))
        with anyio.fail_after(5):
            with anyio.move_on_after(0.1):
                await client.connect()
                await client.query("hi")
            await client.disconnect()
            transport = hanging(at, DONE, stubborn=stubborn)
            with anyio.move_on_after(0.1):
                async for _ in query(prompt="hi", options=options(), transport=transport):
                    pass

    run(released(main))


def test_nothing_is_left_of_one_that_hung() -> None:
    """The tasks of a transport that can be cancelled are gone when the session is."""
    import asyncio

    async def main() -> None:
        before = asyncio.all_tasks()
        for at in ("connect", "initialize", "user", "end_input", "close"):
            limited = options(initialize_timeout_ms=100, control_timeout_ms=100)
            try:
                async for _ in query(prompt="hi", options=limited, transport=hanging(at, DONE)):
                    pass
            except CLIConnectionError:
                pass
            assert asyncio.all_tasks() == before, at

    run_asyncio(main)


class Ending(Loopback):
    """Ends, well or badly, at a moment of the session."""

    def __init__(self, at: str, how: Any = None) -> None:
        super().__init__()
        self.at = at
        self.how = how

    async def connect(self) -> None:
        await super().connect()
        if self.at == "connect":
            self.put(self.how)

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if self.at == "initialize" and line["type"] == "control_request":
            self.put(self.how)
            return
        if line["type"] == "user":
            if self.at == "callback":
                request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
                self.put({"type": "control_request", "request_id": "p", "request": request})
            elif self.at == "between turns":
                self.put(DONE)
                self.put(self.how)
            elif self.at == "turn":
                self.put(self.how)
        elif line["type"] == "control_request":
            await super().write(data)


def ending(*given: Any) -> Any:
    return Ending(*given)


async def prompts():
    yield {"type": "user", "message": {"role": "user", "content": "hi"}}


@pytest.mark.parametrize("how", [None, ProcessError("gone", exit_code=7)])
@pytest.mark.parametrize("at", ["connect", "initialize", "turn", "callback"])
def test_an_end_without_a_result_is_an_error(run: Run, at: str, how: Any) -> None:
    async def main() -> None:
        transport = ending(at, how)

        async def can_use_tool(*_: Any) -> PermissionResultAllow:
            transport.put(how)
            await anyio.sleep_forever()
            raise AssertionError

        asking = options(can_use_tool=can_use_tool)
        with anyio.fail_after(5):
            with pytest.raises(ProcessError) as raised:
                async for _ in query(prompt=prompts(), options=asking, transport=transport):
                    pass
            assert raised.value.exit_code == (None if how is None else 7)
            transport = ending(at, how)
            client = ClaudeSDKClient(asking, transport)
            with pytest.raises(ProcessError):
                await client.connect()
                assert at in ("turn", "callback")
                await client.query("hi")
                async for _ in client.receive_response():
                    pass
            await client.disconnect()
            if at in ("turn", "callback"):
                transport = ending(at, how)
                async with ClaudeSDKClient(asking, transport) as client:
                    turn = await client.send("hi")
                    with pytest.raises(ProcessError):
                        async for _ in turn:
                            pass
                    with pytest.raises(ProcessError):
                        await turn.result()

    run(released(main))


def test_an_end_between_turns_is_none(run: Run) -> None:
    async def main() -> None:
        with anyio.fail_after(5):
            asked = query(prompt=prompts(), transport=ending("between turns"))
            assert len([message async for message in asked]) == 1
            async with ClaudeSDKClient(options(), ending("between turns")) as client:
                await client.query("hi")
                assert len([message async for message in client.receive_messages()]) == 1
                with pytest.raises(CLIConnectionError):
                    await client.query("and again")

    run(released(main))
