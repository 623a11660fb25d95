"""Pools: sessions started ahead, conversations kept open."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import towline
from conftest import SESSION, USER, FakeCli, Run, assistant, result
from towline import ClaudeAgentOptions, CLIConnectionError, Pool, ResultMessage, SessionPool

PATIENT = {**USER, "timeout_ms": 60_000}
CHECK = {"expect": {"request": {"subtype": "get_binary_version"}}, "timeout_ms": 60_000}


def chat(cli: FakeCli, **more: Any) -> ClaudeAgentOptions:
    """Answers prompt after prompt."""
    cli.script({"repeat": 1000, "steps": [PATIENT, assistant("hi"), result()]})
    return ClaudeAgentOptions(cli_path=cli.path, **more)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return 0


def until_dead(pid: int) -> None:
    for _ in range(1000):
        # Its first thread may be gone before the others.
        if not is_alive(pid) and threads(pid) <= 1:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} lives on")


async def ask(client: towline.ClaudeSDKClient) -> ResultMessage:
    await client.query("hi")
    messages = [message async for message in client.receive_response()]
    last = messages[-1]
    assert isinstance(last, ResultMessage)
    return last


async def pid_of(client: towline.ClaudeSDKClient) -> int:
    pid = client._connected().session.pid
    assert pid is not None
    return pid


def test_a_first_message_costs_no_start(cli: FakeCli, run: Run) -> None:
    options = chat(cli)

    async def main() -> None:
        async with Pool(options, size=1) as pool:
            await pool.fill()
            async with pool.client() as client:
                start = client.startup
                assert start.spawned is not None and start.initialized is not None
                assert start.taken is not None and start.first_message is None
                assert start.spawned <= start.initialized <= start.taken
                await ask(client)
                assert (client.startup.first_message or 0) >= start.taken
            kinds = [type(message).__name__ async for message in pool.query("hi")]
            assert kinds == ["AssistantMessage", "ResultMessage"]
            stats = pool.stats()
            assert (stats["hits"] + stats["misses"], stats["handed_out"]) == (2, 0)
            assert stats["hits"] >= 1
        with pytest.raises(CLIConnectionError, match="closed"):
            await pool.take()

    run(main)
    for pid in cli.pids():
        until_dead(pid)


def test_a_dead_session_is_not_given(cli: FakeCli, run: Run) -> None:
    options = chat(cli)

    async def main() -> None:
        async with Pool(options) as pool:
            await pool.fill()
            (pid,) = cli.pids()
            os.kill(pid, signal.SIGKILL)
            until_dead(pid)
            client = await pool.take()
            assert await pid_of(client) != pid
            await ask(client)
            assert pool.stats()["exited"] == 1
            await client.disconnect()

    run(main)


def test_a_hung_session_is_replaced(cli: FakeCli, run: Run) -> None:
    cli.script({"repeat": 1000, "steps": [CHECK, {"answer": {}}]})
    options = towline.Options(cli_path=cli.path, close_grace_ms=50, terminate_grace_ms=50)

    async def main() -> None:
        async with Pool(options, check_interval=0.05, check_timeout=0.3) as pool:
            await pool.fill()
            pid = cli.pids()[0]
            os.kill(pid, signal.SIGSTOP)
            while pool.stats()["unhealthy"] == 0:
                await sleep(0.02)
            await pool.fill()
            client = await pool.take()
            assert await pid_of(client) != pid
            while is_alive(pid):
                await sleep(0.02)
            pool.discard(client)

    run(main)


async def sleep(seconds: float) -> None:
    from towline._engine.loops import running

    await running().sleep(seconds)


def test_an_idle_session_is_replaced(cli: FakeCli, run: Run) -> None:
    options = chat(cli)

    async def main() -> None:
        async with Pool(options, idle_timeout=0.1) as pool:
            await pool.fill()
            while pool.stats()["started"] < 2 or pool.stats()["warm"] < 1:
                await sleep(0.02)
            assert pool.stats()["idle"] >= 1
            assert pool.stats()["exited"] == 0

    run(main)


def test_a_conversation_is_kept_open_and_resumed(cli: FakeCli, run: Run) -> None:
    options = chat(cli)

    async def main() -> None:
        async with Pool(options, size=0, max_sessions=1) as pool:
            client = await pool.take()
            await ask(client)
            pid = await pid_of(client)
            pool.put_back(client)
            with pytest.raises(CLIConnectionError, match="Not connected"):
                await client.query("mine no more")
            client = await pool.take(SESSION)
            assert await pid_of(client) == pid
            with pytest.raises(CLIConnectionError, match="in use"):
                await pool.take(SESSION, timeout=0.01)
            with pytest.raises(CLIConnectionError, match="max_sessions"):
                await pool.take(timeout=0.01)
            pool.put_back(client)
            # Room is made.
            other = await pool.take()
            assert not is_alive(pid)
            await other.disconnect()
            client = await pool.take(SESSION)
            assert f"--resume={SESSION}" in cli.log("start")[-1]["argv"]
            await ask(client)
            stats = pool.stats()
            assert (stats["evicted"], stats["resumed"], stats["hits"]) == (1, 1, 1)
            await client.disconnect()

    run(main)


def test_a_start_that_fails_is_told(cli: FakeCli, run: Run) -> None:
    initialize = {"expect": {"request": {"subtype": "initialize"}}}
    cli.script(initialize, {"stderr": "no luck\n"}, {"exit": 3})
    options = ClaudeAgentOptions(cli_path=cli.path)

    async def main() -> None:
        async with Pool(options) as pool:
            with pytest.raises(towline.ProcessError) as caught:
                await pool.take()
            assert "no luck" in (caught.value.stderr or "")
            assert pool.last_failure is not None
            await sleep(0.3)
            assert pool.stats()["started"] <= 4

    run(main)


def test_what_cannot_be_put_back_stays_the_callers(cli: FakeCli, run: Run) -> None:
    cli.script(PATIENT, {"await_file": cli.path + ".never", "timeout_ms": 60_000})
    options = ClaudeAgentOptions(cli_path=cli.path)

    async def main() -> None:
        async with Pool(options, size=0) as pool, Pool(options, size=0) as other:
            client = await pool.take()
            pid = await pid_of(client)
            pool.put_back(client)
            client = await pool.take()
            assert await pid_of(client) == pid
            with pytest.raises(ValueError, match="not of this pool"):
                other.put_back(client)
            await client.query("hi")
            with pytest.raises(CLIConnectionError, match="turn"):
                pool.put_back(client)
            await client.disconnect()

    run(main)


def test_limits_are_checked(cli: FakeCli) -> None:
    with pytest.raises(ValueError, match="max_sessions"):
        Pool(size=2, max_sessions=1)
    with pytest.raises(ValueError, match="option resume is for one session"):
        Pool(ClaudeAgentOptions(resume="x"))
    with pytest.raises(ValueError, match="option continue_conversation is for one session"):
        Pool(ClaudeAgentOptions(continue_conversation=True))
    with pytest.raises(ValueError, match="option session_id is for one session"):
        Pool(ClaudeAgentOptions(session_id="x"))
    with pytest.raises(ValueError, match="session_id"):
        SessionPool(ClaudeAgentOptions(session_id="11111111-2222-4333-8444-555555555555"))


def test_without_an_event_loop(cli: FakeCli) -> None:
    options = chat(cli)
    with SessionPool(options, size=1, max_sessions=2) as pool:
        assert pool.stats()["starting"] == 1
        pool.poll()
        assert pool.stats()["warm"] == 1
        with pool.session(park=True) as session:
            assert session.startup.taken is not None
            assert session.ask("hi").result == "done"
            pid = session.pid
        assert pool.stats()["parked"] == 1
        session = pool.take(SESSION)
        assert session.pid == pid
        os.kill(pid or 0, signal.SIGKILL)
        until_dead(pid or 0)
        session.close()
        session = pool.take(SESSION)
        assert f"--resume={SESSION}" in cli.log("start")[-1]["argv"]
        other = pool.take()
        with pytest.raises(CLIConnectionError, match="max_sessions"):
            pool.take(timeout=0.01)
        taken = []
        taker = threading.Thread(target=lambda: taken.append(pool.take()))
        taker.start()
        other.close()
        taker.join(20)
        assert taken[0].ask("hi").result == "done"
        taken[0].close()
        session.close()
        assert pool.stats()["handed_out"] == 0
    for pid in cli.pids():
        until_dead(pid)


def test_without_an_event_loop_dead_and_hung_ones_are_not_given(cli: FakeCli) -> None:
    cli.script({"repeat": 1000, "steps": [CHECK, {"answer": {}}]})
    options = towline.Options(cli_path=cli.path, close_grace_ms=50, terminate_grace_ms=50)
    with SessionPool(options, check_interval=0.2, check_timeout=0.3) as pool:
        pool.poll()
        (dead,) = cli.pids()
        os.kill(dead, signal.SIGKILL)
        until_dead(dead)
        session = pool.take()
        assert session.pid != dead
        session.close()
        # What replaces one that died comes a little later.
        while pool.stats()["warm"] == 0:
            pool.poll()
        hung = cli.pids()[-1]
        os.kill(hung, signal.SIGSTOP)
        time.sleep(0.25)  # until a check is due
        session = pool.take()
        assert session.pid not in (dead, hung)
        assert pool.stats()["exited"] == 1
        assert pool.stats()["unhealthy"] >= 1
        session.close()


def test_one_file_is_no_recording_of_several_sessions(tmp_path: Path) -> None:
    options = towline.Options(record=str(tmp_path / "one.jsonl"))
    for make in (towline.Pool, towline.SessionPool):
        with pytest.raises(ValueError, match="option record names one file"):
            make(options)


@pytest.mark.parametrize("pool", [Pool, SessionPool])
def test_limits_that_are_none_are_named(cli: FakeCli, pool: Any) -> None:
    options = chat(cli)
    nan, infinity = float("nan"), float("inf")
    for name in ("idle_timeout", "check_interval", "check_timeout", "take_timeout"):
        for value, error in ((nan, ValueError), (-1.5, ValueError), ("1", TypeError)):
            with pytest.raises(error, match=name):
                pool(options, size=0, **{name: value})
        if name == "check_timeout":
            with pytest.raises(ValueError, match=name):
                pool(options, size=0, check_timeout=infinity)
        else:
            pool(options, size=0, **{name: infinity})
            pool(options, size=0, **{name: 1e300})
    for name in ("size", "max_sessions"):
        for bad in (-1, 1 << 70):
            with pytest.raises(ValueError, match=name):
                pool(options, **{name: bad})
        for odd in (1.5, "2", True):
            with pytest.raises(TypeError, match=name):
                pool(options, **{name: odd})
    with pytest.raises(ValueError, match="size"):
        pool(options, size=1_000_000)


def test_a_wait_that_is_none_is_named(cli: FakeCli, run: Run) -> None:
    async def main() -> None:
        async with Pool(chat(cli), size=0) as pool:
            for bad in (float("nan"), -2.0):
                with pytest.raises(ValueError, match="timeout"):
                    await pool.take(timeout=bad)
            client = await pool.take(timeout=float("inf"))
            assert (await ask(client)).result is not None
            await client.disconnect()

    run(main)
    with SessionPool(chat(cli), size=0) as pool:
        for bad in (float("nan"), -2.0):
            with pytest.raises(ValueError, match="timeout"):
                pool.take(timeout=bad)
        with pool.session() as session:
            assert session.ask("hi").result is not None


def test_those_that_are_open_are_hits_without_an_event_loop(cli: FakeCli) -> None:
    with SessionPool(chat(cli), size=2, max_sessions=2) as pool:
        pool.poll()
        first = pool.take()
        second = pool.take()
        assert (pool.stats()["hits"], pool.stats()["misses"]) == (2, 0)
        first.close()
        second.close()
    with SessionPool(chat(cli), size=1, max_sessions=1) as pool:
        # Nobody has looked at it, and yet it is open.
        [place] = pool._places.values()
        while not place.engine.is_open():
            time.sleep(0.01)
        with pool.session():
            assert (pool.stats()["hits"], pool.stats()["misses"]) == (1, 0)
    with SessionPool(chat(cli), size=0) as pool, pool.session():
        assert (pool.stats()["hits"], pool.stats()["misses"]) == (0, 1)


@pytest.mark.parametrize("kind", [Pool, SessionPool])
def test_a_child_of_fork_is_refused(cli: FakeCli, kind: Any) -> None:
    pool = kind(chat(cli), size=0)
    if kind is SessionPool:
        # Whoever had the lock at that moment is not in the child.
        pool._changed.acquire()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = []
            for call in (pool.stats, *((pool.take, pool.poll) if kind is SessionPool else ())):
                try:
                    call()
                    told.append("nothing")
                except CLIConnectionError as error:
                    told.append(str(error))
            os.write(writing, "\n".join(told).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        told = answers.read().splitlines()
    os.waitpid(child, 0)
    assert len(told) == (3 if kind is SessionPool else 1)
    assert all("fork" in text for text in told), told
