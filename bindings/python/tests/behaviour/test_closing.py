"""The end of a session, whoever wants it and whatever the CLI makes of it."""

import gc
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.leftovers import is_gone
from support.script import INIT, PROMPT, RESULT, asked, text, turn

import towline

SLOW_TO_END: list[dict[str, Any]] = [{"ignore_signals": ["SIGTERM"]}, {"on_eof": "ignore"}]


async def one_turn(client: "towline.ClaudeSDKClient") -> None:
    await client.query("hi")
    async for _ in client.receive_response():
        pass


async def test_a_willing_cli_ends_by_itself(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn(), {"expect_eof": True})) as client:
        await one_turn(client)
        started = time.monotonic()
    assert time.monotonic() - started < 3
    cli.holds()


async def test_a_cli_that_has_gone_is_not_waited_for(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn(), {"exit": 0})) as client:
        await one_turn(client)
        started = time.monotonic()
    assert time.monotonic() - started < 3


async def test_a_cli_that_needs_time_is_given_it(cli: FakeCli, tmp_path: Path) -> None:
    written = tmp_path / "written"
    slow = {"on_eof": "slow", "ms": 1000, "touch": str(written)}
    async with towline.ClaudeSDKClient(cli.options(slow, turn())) as client:
        await one_turn(client)
    assert written.exists()


@pytest.mark.loops("asyncio")
async def test_one_that_ignores_everything_is_killed(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(SLOW_TO_END, turn())) as client:
        await one_turn(client)
        started = time.monotonic()
    assert time.monotonic() - started < 15
    assert is_gone(cli.started()["pid"], 0)


async def test_closing_is_idempotent(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    await client.disconnect()
    await client.connect()
    await client.disconnect()
    await client.disconnect()


async def test_closing_twice_at_once(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    await client.connect()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.disconnect)
        tasks.start_soon(client.disconnect)


async def test_closing_from_another_task(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))

    async def open_and_talk() -> None:
        await client.connect()
        await one_turn(client)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_and_talk)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.disconnect)


async def test_a_receiver_that_waits_is_woken(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    await client.connect()
    ended = anyio.Event()

    async def receive() -> None:
        try:
            async for _ in client.receive_messages():
                pass
        except towline.CLIConnectionError:
            pass
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        await anyio.wait_all_tasks_blocked()
        await client.disconnect()
        with anyio.fail_after(5):
            await ended.wait()


async def test_the_context_is_left_by_an_exception(cli: FakeCli) -> None:
    with pytest.raises(ZeroDivisionError):
        async with towline.ClaudeSDKClient(cli.options(turn())):
            raise ZeroDivisionError
    assert is_gone(cli.started()["pid"])


async def test_the_task_of_the_context_is_cancelled(cli: FakeCli) -> None:
    with anyio.move_on_after(30) as scope:
        async with towline.ClaudeSDKClient(cli.options(turn())) as client:
            await one_turn(client)
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert is_gone(cli.started()["pid"])


async def test_connect_is_cancelled(cli: FakeCli) -> None:
    unanswered = [asked("initialize"), {"expect_eof": True, "timeout_ms": 20_000}]
    client = towline.ClaudeSDKClient(cli.options(unanswered))
    with anyio.move_on_after(0.5) as scope:
        await client.connect()
    assert scope.cancelled_caught
    await client.disconnect()
    assert is_gone(cli.started()["pid"], 15)


async def test_a_close_that_is_cancelled_still_ends_the_process(cli: FakeCli) -> None:
    slow = {"on_eof": "slow", "ms": 1500}
    client = towline.ClaudeSDKClient(cli.options(slow, turn()))
    await client.connect()
    await one_turn(client)
    with anyio.move_on_after(0.2):
        await client.disconnect()
    with anyio.fail_after(10):
        while not is_gone(cli.started()["pid"], 0):
            await anyio.sleep(0.02)


@pytest.mark.loops("asyncio")
async def test_a_dropped_client_ends_its_process(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    await client.connect()
    pid = cli.started()["pid"]
    del client
    gc.collect()
    with anyio.fail_after(10):
        while not is_gone(pid, 0):
            await anyio.sleep(0.02)


async def test_children_of_the_cli_do_not_hold_up_the_end(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(
        cli.options({"spawn_child": 30}, turn(), {"exit": 0})
    ) as client:
        await one_turn(client)
        started = time.monotonic()
    assert time.monotonic() - started < 5


HOST = """
import sys, asyncio, towline
async def main():
    client = towline.ClaudeSDKClient(towline.ClaudeAgentOptions(cli_path=sys.argv[1], cwd=sys.argv[2]))
    await client.connect()
    await client.query("hi")
    async for _ in client.receive_response():
        pass
    {end}
asyncio.run(main())
"""


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)", "import os; os._exit(0)", "kill"])
def test_a_host_that_ends_without_closing_leaves_nothing(
    cli: FakeCli, tmp_path: Path, end: str
) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    source = textwrap.dedent(HOST.format(end=kill if end == "kill" else end))
    env = {**os.environ, **cli.env({"ignore_signals": ["SIGTERM"]}, turn(), {"on_eof": "ignore"})}
    arguments = [sys.executable, "-c", source, str(cli.path), str(tmp_path)]
    subprocess.run(arguments, env=env, timeout=40, check=end not in ("kill",))
    assert is_gone(cli.started()["pid"], 20)


async def test_messages_that_were_buffered_can_be_read_after_the_exit(cli: FakeCli) -> None:
    options = cli.options(
        PROMPT, INIT, [text(str(number)) for number in range(20)], RESULT, {"exit": 0}
    )
    async with towline.ClaudeSDKClient(options) as client:
        await client.query("hi")
        with anyio.fail_after(10):
            while not is_gone(cli.started()["pid"], 0):
                await anyio.sleep(0.02)
        messages = [message async for message in client.receive_messages()]
    assert len(messages) == 22
