"""Stores that never answer: every operation ends, and so does the program."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import conftest
import pytest
from conftest import SESSION, FakeCli, Run, run_asyncio
from towline import InMemorySessionStore, Options, Session, query


class Silent(InMemorySessionStore):
    """Never returns from a method; a stubborn one not even when it is cancelled."""

    def __init__(self, stubborn: bool = False) -> None:
        super().__init__()
        self.stubborn = stubborn
        self.released: Any = None

    async def _hang(self) -> None:
        self.released = anyio.Event()
        while self.stubborn and not self.released.is_set():
            with anyio.CancelScope(shield=True):
                try:
                    await self.released.wait()
                except anyio.get_cancelled_exc_class():
                    pass
        if not self.stubborn:
            await anyio.sleep_forever()

    async def load(self, key: Any) -> Any:
        await self._hang()

    async def list_sessions(self, project_key: str) -> Any:
        await self._hang()


def test_a_load_that_never_returns(run: Run, cli: FakeCli) -> None:
    async def main() -> None:
        options = Options(
            cli_path=cli.path, session_store=Silent(), resume=SESSION, load_timeout_ms=200
        )
        with anyio.fail_after(5), pytest.raises(RuntimeError, match="timed out after 200ms"):
            async for _ in query(prompt="hi", options=options):
                pass

    run(main)


def test_a_load_that_does_not_mind_its_cancellation(cli: FakeCli) -> None:
    async def main() -> None:
        store = Silent(stubborn=True)
        options = Options(
            cli_path=cli.path, session_store=store, resume=SESSION, load_timeout_ms=200
        )
        with anyio.fail_after(5), pytest.raises(RuntimeError, match="timed out after 200ms"):
            async for _ in query(prompt="hi", options=options):
                pass
        store.released.set()

    run_asyncio(main)


def test_a_load_that_never_returns_without_an_event_loop(cli: FakeCli) -> None:
    options = Options(
        cli_path=cli.path, session_store=Silent(), resume=SESSION, load_timeout_ms=200
    )
    with pytest.raises(RuntimeError, match="timed out after 200ms"):
        Session(options).connect()


class Server:
    """A PostgreSQL server."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [conftest.testkit("temporary-postgres")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, "PostgreSQL is missing; Debian: apt-get install postgresql"

    def _pids(self) -> list[int]:
        found = [self.process.pid]
        for pid in found:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found.extend(int(child) for child in children)
        return found[1:]

    def signal(self, number: int) -> None:
        for pid in self._pids():
            os.kill(pid, number)

    def close(self) -> None:
        self.signal(signal.SIGCONT)
        self.process.communicate(timeout=30)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.close()


PROGRAM = """
import asyncio, sys, anyio, towline
store = towline.open_store(sys.argv[1])
async def main():
    assert await towline.list_sessions_from_store(store) == []
    print("open", flush=True)
    sys.stdin.readline()
    try:
        with anyio.fail_after(float(sys.argv[2])):
            await towline.list_sessions_from_store(store)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
anyio.run(main, backend=sys.argv[3])
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(("limit", "patience"), [("0.5", "30"), ("60", "0.5")])
def test_a_server_that_hangs(server: Server, backend: str, limit: str, patience: str) -> None:
    """The call ends by the limit of the URL, or by that of its caller; then the program ends."""
    arguments = [f"{server.url}&answer_timeout={limit}", patience, backend]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        assert program.stdout.readline() == "open\n"
        server.signal(signal.SIGSTOP)
        begun = time.monotonic()
        try:
            said, _ = program.communicate("go\n", timeout=20)
        finally:
            program.kill()
    assert time.monotonic() - begun < 15
    assert program.returncode == 0
    assert ("answer_timeout" if limit == "0.5" else "TimeoutError") in said, said
