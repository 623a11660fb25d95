"""Code of the program's that raises what means something else where it comes from a task or an
iterator: the end of an iteration, a cancellation, the end of a coroutine."""

import asyncio
import logging
from typing import Any

import anyio
import pytest
import towline
from conftest import USER, FakeCli, Run, result
from test_transport import DONE, Loopback
from towline import ClaudeAgentOptions, HookMatcher, ResultMessage, Session

# They also take what only looks like a transport.
query: Any = towline.query
ClaudeSDKClient: Any = towline.ClaudeSDKClient

KINDS = [StopAsyncIteration, asyncio.CancelledError, GeneratorExit]

raises = pytest.mark.parametrize("kind", KINDS)


class Raising(Loopback):
    """Raises this in one of its methods; in `write` for lines of one type."""

    def __init__(self, at: str, error: BaseException, line: str = "") -> None:
        super().__init__(DONE)
        self.at = at
        self.error = error
        self.line = line

    def meet(self, method: str) -> None:
        if method == self.at:
            raise self.error

    async def connect(self) -> None:
        self.meet("connect")
        await super().connect()

    async def write(self, data: str) -> None:
        if f'"type":"{self.line}"' in data:
            self.meet("write")
        await super().write(data)

    def read_messages(self) -> Any:
        return _Read(self, super().read_messages())

    async def end_input(self) -> None:
        self.meet("end_input")
        await super().end_input()


class _Read:
    """No generator, which would turn some exceptions into others."""

    def __init__(self, transport: Raising, messages: Any) -> None:
        self._transport = transport
        self._messages = messages

    def __aiter__(self) -> "_Read":
        return self

    async def __anext__(self) -> Any:
        message = await self._messages.__anext__()
        self._transport.meet("read_messages")
        return message


PLACES = [
    ("connect", ""),
    ("write", "control_request"),
    ("write", "user"),
    ("read_messages", ""),
    ("end_input", ""),
]


# A `StopAsyncIteration` of `read_messages` is its end.
CASES = [
    (*place, kind)
    for place in PLACES
    for kind in KINDS
    if (place[0], kind) != ("read_messages", StopAsyncIteration)
]


@pytest.mark.parametrize(("at", "line", "kind"), CASES)
def test_a_transport_that_raises_it(run: Run, at: str, line: str, kind: Any) -> None:
    cause = kind()
    seen = []

    async def main() -> None:
        with anyio.fail_after(5):
            async for message in query(prompt="hi", transport=Raising(at, cause, line)):
                seen.append(message)

    with pytest.raises(RuntimeError, match=rf"{at}\(\) raised {kind.__name__}") as raised:
        run(main)
    assert raised.value.__cause__ is cause
    # What was read before the input was to end is not lost.
    assert [type(message) for message in seen] == ([ResultMessage] if at == "end_input" else [])


@raises
@pytest.mark.parametrize(("at", "line"), PLACES[:3])
def test_it_reaches_the_caller_of_a_client(run: Run, at: str, line: str, kind: Any) -> None:
    async def main() -> None:
        with anyio.fail_after(5):
            async with ClaudeSDKClient(transport=Raising(at, kind(), line)) as client:
                await client.query("hi")
                async for _ in client.receive_response():
                    pass

    with pytest.raises(RuntimeError, match=rf"{at}\(\) raised {kind.__name__}"):
        run(main)


def test_a_cancellation_of_trio_that_comes_late() -> None:
    import trio

    async def main() -> None:
        kept: Any = None
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.lowlevel.checkpoint()
            except trio.Cancelled as cancelled:
                kept = cancelled
        with trio.fail_after(5), pytest.raises(RuntimeError, match=r"write\(\) raised Cancelled"):
            async for _ in query(prompt="hi", transport=Raising("write", kept, "user")):
                pass

    trio.run(main)


def test_a_task_of_the_transport_that_was_cancelled() -> None:
    class Waiting(Loopback):
        async def write(self, data: str) -> None:
            pending = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(pending.cancel)
            await pending

    async def main() -> None:
        async for _ in query(prompt="hi", transport=Waiting()):
            pass

    with pytest.raises(RuntimeError, match=r"write\(\) raised CancelledError"):
        asyncio.run(asyncio.wait_for(main(), 5))


def test_a_transport_that_cancels_its_caller() -> None:
    """The session does not wait for a transport that nothing calls any more."""

    class Cancelling(Loopback):
        async def write(self, data: str) -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)

    async def main() -> None:
        async for _ in query(prompt="hi", transport=Cancelling()):
            pass

    with pytest.raises(Exception, match="CancelledError has ended the task that writes"):
        asyncio.run(asyncio.wait_for(main(), 5))


def test_a_message_that_is_too_deep(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}

    async def main() -> list[Any]:
        transport = Loopback({"type": "assistant", "message": deep}, DONE)
        return [message async for message in query(prompt="hi", transport=transport)]

    with caplog.at_level(logging.WARNING):
        assert [type(message) for message in run(main)] == [ResultMessage]
    assert "skipped a message" in caplog.text


class Prompts:
    def __init__(self, error: BaseException) -> None:
        self.left: list[Any] = [{"type": "user", "message": {"role": "user", "content": "hi"}}]
        self.error = error

    def __aiter__(self) -> "Prompts":
        return self

    async def __anext__(self) -> Any:
        if self.left:
            return self.left.pop()
        raise self.error


@pytest.mark.parametrize("kind", KINDS[1:])
def test_prompts_that_end_so(run: Run, kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[Any]:
        with anyio.fail_after(5):
            prompts = Prompts(kind())
            return [m async for m in query(prompt=prompts, transport=Loopback(DONE))]

    assert [type(message) for message in run(main)] == [ResultMessage]
    assert kind.__name__ in caplog.text


def asked_hook() -> dict[str, Any]:
    request = {"subtype": "hook_callback", "callback_id": "hook_0", "input": {}}
    return {"type": "control_request", "request_id": "h", "request": request}


@raises
def test_a_callback_that_raises_it(run: Run, kind: Any) -> None:
    async def hook(*_: Any) -> Any:
        raise kind

    async def main() -> list[Any]:
        transport = Loopback(asked_hook())
        options = ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[hook])]})
        with anyio.fail_after(5):
            async with ClaudeSDKClient(options, transport) as client:
                await client.query("hi")
                assert len([message async for message in client.receive_response()]) == 1
        return transport.written

    answer = run(main)[-1]["response"]
    assert (answer["subtype"], answer["error"]) == ("error", kind.__name__)


@raises
def test_a_callback_that_raises_it_without_an_event_loop(cli: FakeCli, kind: Any) -> None:
    def hook(*_: Any) -> Any:
        raise kind

    request = {"subtype": "hook_callback", "callback_id": "hook_0", "input": {}}
    asked = {"type": "control_request", "request_id": "h", "request": request}
    refused = {"type": "control_response", "response": {"subtype": "error", "request_id": "h"}}
    cli.script(USER, {"emit": asked}, {"expect": refused, "timeout_ms": 5000}, result())
    options = ClaudeAgentOptions(
        cli_path=cli.path, hooks={"PreToolUse": [HookMatcher(hooks=[hook])]}
    )
    with Session(options) as session:
        assert session.ask("hi").result == "done"
    assert not cli.failures()


@raises
def test_a_stderr_callback_that_raises_it(run: Run, cli: FakeCli, kind: Any) -> None:
    lines: list[str] = []

    def stderr(line: str) -> None:
        lines.append(line)
        raise kind

    async def main() -> list[Any]:
        with anyio.fail_after(5):
            options = ClaudeAgentOptions(cli_path=cli.path, stderr=stderr)
            return [message async for message in query(prompt="hi", options=options)]

    cli.script(USER, {"stderr": "one\ntwo\n"}, result(), {"expect_eof": 1})
    assert len(run(main)) == 1
    assert lines == ["one", "two"]


KEY = ["-----BEGIN PRIVATE KEY-----", "MIIEbody", "-----END PRIVATE KEY-----"]


def test_diagnostics_are_logged_without_secrets(
    cli: FakeCli, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    lines = ["bad line MY_TOKEN=rawtok1234567", "has optsecretXYZ1", *KEY, "the last one"]
    cli.script(USER, *({"emit_raw": line + "\n"} for line in lines), result(), {"expect_eof": 1})
    options = ClaudeAgentOptions(cli_path=cli.path, env={"S_TOKEN": "optsecretXYZ1"})

    async def main() -> None:
        async for _ in query(prompt="hi", options=options):
            pass

    with caplog.at_level(logging.DEBUG):
        run(main)
    told = [record for record in caplog.records if "skipped a line" in record.getMessage()]
    assert len(told) == len(lines)
    assert "the last one" in told[-1].getMessage()
    for secret in ("rawtok1234567", "optsecretXYZ1", "MIIEbody"):
        assert secret not in caplog.text
