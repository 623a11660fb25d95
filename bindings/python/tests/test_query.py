"""`query`: messages, their end, and what is left behind."""

import asyncio
import gc
import os
import time

import pytest
from conftest import SESSION, USER, FakeCli, Run, assistant, result, run_asyncio
from towline import (
    AssistantMessage,
    ClaudeAgentOptions,
    CLIConnectionError,
    CLINotFoundError,
    MessageParseError,
    ProcessError,
    ResultError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    query,
)

DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "é\n"}}


def options(cli: FakeCli, **more) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(cli_path=cli.path, **more)


def gone(pid: int, seconds: float = 5) -> bool:
    """Whether a process ends in time, without being a zombie of ours."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not os.path.exists(f"/proc/{pid}"):
            return True
        time.sleep(0.02)
    return False


def test_messages_come_in_order_and_as_their_classes(cli: FakeCli, run: Run) -> None:
    event = {"type": "stream_event", "uuid": "e", "session_id": SESSION, "event": DELTA}
    init = {"type": "system", "subtype": "init", "session_id": SESSION, "uuid": "i"}
    cli.script(USER, {"emit": init}, {"emit": event}, assistant("hi"), result(), {"expect_eof": 1})

    async def main():
        return [message async for message in query(prompt="2+2?", options=options(cli))]

    messages = run(main)
    kinds = [type(message) for message in messages]
    assert kinds == [SystemMessage, StreamEvent, AssistantMessage, ResultMessage]
    assert messages[0].data == init == messages[0].raw
    assert messages[1].event == DELTA
    assert messages[2].content == [TextBlock("hi")]
    assert messages[3].result == "done"
    [prompt] = cli.received("user")
    assert prompt["message"] == {"role": "user", "content": "2+2?"}
    assert cli.failures() == []
    assert all(gone(pid) for pid in cli.pids())


def test_the_raw_message_has_what_the_class_has_not(cli: FakeCli) -> None:
    plain = {"type": "stream_event", "uuid": "e", "session_id": SESSION, "event": DELTA}
    more = {**plain, "parent_tool_use_id": None, "ttft_ms": 12}
    cli.script(USER, {"emit": plain}, {"emit": more}, assistant("hi", novel={"a": [1]}), result())

    async def main():
        return [message async for message in query(prompt="", options=options(cli))]

    first, second, third, _ = run_asyncio(main)
    assert first.raw == plain
    assert second.raw == more
    assert third.raw["novel"] == {"a": [1]}
    assert "raw" not in repr(third) and vars(second).keys() == vars(first).keys()
    assert "novel" not in vars(third) and "_raw" not in vars(third)


def test_prompts_from_an_iterable(cli: FakeCli, run: Run) -> None:
    cli.script(USER, USER, result(), result(), {"expect_eof": 1})

    async def prompts():
        for text in ("one", "two"):
            yield {"type": "user", "message": {"role": "user", "content": text}}

    async def main():
        return [message async for message in query(prompt=prompts(), options=options(cli))]

    assert len(run(main)) == 2
    assert [line["message"]["content"] for line in cli.received("user")] == ["one", "two"]


def test_a_failing_iterable_ends_the_input(cli: FakeCli, run: Run) -> None:
    cli.script(USER, result(), {"expect_eof": 1})

    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "one"}}
        raise ValueError("no more")

    async def main():
        return [message async for message in query(prompt=prompts(), options=options(cli))]

    assert len(run(main)) == 1
    assert cli.failures() == []


@pytest.mark.parametrize("prompt", [None, 5, ["a"], {"type": "user"}])
def test_what_is_no_prompt_is_refused(cli: FakeCli, run: Run, prompt) -> None:
    cli.script()

    async def main():
        with pytest.raises(TypeError, match="prompt must be"):
            await anext(query(prompt=prompt, options=options(cli)))

    run(main)
    assert cli.pids() == []


def test_an_error_result_is_delivered_and_then_raised(cli: FakeCli, run: Run) -> None:
    failed = result(None, is_error=True, subtype="error_max_turns", errors=["too many turns"])
    cli.script(USER, failed, {"exit": 1})
    seen = []

    async def main():
        async for message in query(prompt="hi", options=options(cli)):
            seen.append(message)

    with pytest.raises(ResultError, match="too many turns") as raised:
        run(main)
    assert [type(message) for message in seen] == [ResultMessage]
    assert raised.value.subtype == "error_max_turns"
    assert raised.value.exit_code == 1


def test_a_crash_tells_status_and_stderr(cli: FakeCli, run: Run) -> None:
    cli.script(USER, {"stderr": "out of cheese\n"}, {"exit": 3})

    async def main():
        async for _ in query(prompt="hi", options=options(cli)):
            pass

    with pytest.raises(ProcessError) as raised:
        run(main)
    assert raised.value.exit_code == 3
    assert "out of cheese" in str(raised.value)


def test_launch_failures_are_told_apart(cli: FakeCli, run: Run, tmp_path) -> None:
    async def ask(**more):
        async for _ in query(prompt="hi", options=ClaudeAgentOptions(**more)):
            pass

    with pytest.raises(CLINotFoundError, match="/no/such/claude"):
        run(lambda: ask(cli_path="/no/such/claude"))
    missing = tmp_path / "missing"
    with pytest.raises(CLIConnectionError, match=str(missing)) as raised:
        run(lambda: ask(cli_path=cli.path, cwd=missing))
    assert not isinstance(raised.value, CLINotFoundError)


def test_leaving_the_iteration_ends_the_cli(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("one"), {"expect_eof": 1, "timeout_ms": 9000})

    async def main():
        async for _ in query(prompt="hi", options=options(cli)):
            break
        gc.collect()

    run(main)
    [pid] = cli.pids()
    assert gone(pid)


def test_closed_in_another_task(cli: FakeCli) -> None:
    cli.script(USER, assistant("one"), {"expect_eof": 1, "timeout_ms": 9000})

    async def main():
        messages = query(prompt="hi", options=options(cli))
        await anext(messages)
        waiting = asyncio.ensure_future(_step(messages))
        await asyncio.sleep(0)
        await asyncio.create_task(messages.aclose())
        with pytest.raises(StopAsyncIteration):
            await waiting

    run_asyncio(main)
    assert all(gone(pid) for pid in cli.pids())


def test_steps_are_coroutines_to_tasks(cli: FakeCli) -> None:
    events = [{"type": "stream_event", "uuid": "e", "session_id": SESSION, "event": DELTA}] * 3
    cli.script(USER, *({"emit": event} for event in events), result(), {"expect_eof": 1})

    async def main():
        messages = query(prompt="x", options=options(cli))
        seen = []
        while True:
            try:
                seen.append(await asyncio.create_task(messages.__anext__()))
            except StopAsyncIteration:
                return [type(message) for message in seen]

    assert run_asyncio(main) == [StreamEvent] * 3 + [ResultMessage]


def test_steps_with_a_default(cli: FakeCli, run: Run) -> None:
    cli.script(USER, {"emit": {"type": "assistant"}}, result(), {"expect_eof": 1})

    async def main():
        messages = query(prompt="x", options=options(cli))
        with pytest.raises(MessageParseError):
            await anext(messages, None)
        with pytest.raises(StopAsyncIteration):
            await messages.__anext__()
        return await anext(messages, None), await anext(messages, None)

    assert run(main) == (None, None)


def test_a_step_is_thrown_into_and_closed(cli: FakeCli) -> None:
    event = {"type": "stream_event", "uuid": "e", "session_id": SESSION, "event": DELTA}
    cli.script(USER, {"emit": event}, {"emit": event}, {"emit": event}, result(), {"expect_eof": 1})

    async def main():
        messages = query(prompt="x", options=options(cli))
        await anext(messages)
        step = messages.__anext__()
        with pytest.raises(KeyError, match="thrown"):
            step.throw(KeyError("thrown"))
        messages.__anext__().close()
        await messages.aclose()

    run_asyncio(main)


async def _step(messages):
    return await anext(messages)


def test_cancelling_the_reader_ends_the_cli(cli: FakeCli) -> None:
    cli.script(USER, {"expect_eof": 1, "timeout_ms": 9000})

    async def can_use_tool(name, given, context):
        raise AssertionError("nobody asks")

    async def main():
        # With the callback, the input stays open until there is a result.
        messages = query(prompt="hi", options=options(cli, can_use_tool=can_use_tool))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(messages), 0.3)
        with pytest.raises(StopAsyncIteration):
            await anext(messages)

    run_asyncio(main)
    assert all(gone(pid) for pid in cli.pids())


def test_many_deltas_in_one_go(cli: FakeCli, run: Run) -> None:
    cli.bench("stream:5000")

    async def main():
        count = 0
        async for message in query(prompt="hi", options=options(cli)):
            count += isinstance(message, StreamEvent)
        return count

    assert run(main) == 5000
