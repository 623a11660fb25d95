"""A scripted CLI, and both event loops to meet it in."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SESSION = "11111111-2222-4333-8444-555555555555"


def testkit(program: str) -> str:
    """A program of tests/testkit."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = target / "debug" / program
    if not path.exists():
        pytest.fail(f"{path} is missing: cargo build -p towline-testkit --bins")
    return str(path)


@pytest.fixture(autouse=True)
def no_other_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    """The official package, which the tests compare with, brings a real CLI along. None is started
    unless a test names it."""
    monkeypatch.setattr("towline._options.bundled_cli", lambda: None)


class FakeCli:
    """Scripts for the fake CLI, and what it has logged."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = testkit("fake-cli")
        self._folder = folder
        self._log = folder / "log.jsonl"
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("FAKE_CLI_LOG", str(self._log))

    def script(self, *steps: dict[str, Any]) -> "FakeCli":
        """What the next sessions meet."""
        path = self._folder / "script.json"
        path.write_text(json.dumps(list(steps)))
        self._monkeypatch.setenv("FAKE_CLI_SCRIPT", str(path))
        return self

    def bench(self, mode: str) -> "FakeCli":
        """One of the built-in scripts."""
        self._monkeypatch.setenv("FAKE_CLI_BENCH", mode)
        return self

    def log(self, event: str | None = None) -> list[dict[str, Any]]:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        entries = [json.loads(line) for line in lines]
        return [entry for entry in entries if event in (None, entry["ev"])]

    def received(self, kind: str) -> list[dict[str, Any]]:
        """Lines of this type that the host has written."""
        lines = [entry["line"] for entry in self.log("in")]
        return [line for line in lines if line.get("type") == kind]

    def failures(self) -> list[str]:
        return [entry["why"] for entry in self.log("fail")]

    def pids(self) -> list[int]:
        return [entry["pid"] for entry in self.log("start")]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCli:
    return FakeCli(tmp_path, monkeypatch)


Run = Callable[[Callable[[], Awaitable[Any]]], Any]


def run_asyncio(main: Callable[[], Awaitable[Any]]) -> Any:
    """Runs `main` and fails if it leaves tasks, or the loop complains."""
    complaints: list[dict[str, Any]] = []

    async def whole() -> Any:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        result = await asyncio.wait_for(_coroutine(main), 30)
        for _ in range(10):  # what has been told to end takes a few steps
            await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks are left: {left}"
        return result

    result = asyncio.run(whole())
    assert not complaints
    return result


async def _coroutine(main: Callable[[], Awaitable[Any]]) -> Any:
    return await main()


def run_uvloop(main: Callable[[], Awaitable[Any]]) -> Any:
    import uvloop

    async def whole() -> Any:
        return await asyncio.wait_for(_coroutine(main), 30)

    return uvloop.run(whole())


def run_trio(main: Callable[[], Awaitable[Any]]) -> Any:
    import trio

    async def whole() -> Any:
        with trio.fail_after(30):
            return await main()

    return trio.run(whole)


@pytest.fixture(params=["asyncio", "uvloop", "trio"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs an asynchronous function in each of the event loops."""
    loops = {"asyncio": run_asyncio, "uvloop": run_uvloop, "trio": run_trio}
    return loops[request.param]


USER = {"expect": {"type": "user"}}


def assistant(*blocks: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    """A step that writes an assistant message; a string is a block of text."""
    content = [
        {"type": "text", "text": block} if isinstance(block, str) else block for block in blocks
    ]
    message = {"id": "msg_1", "role": "assistant", "model": "claude-x", "content": content}
    return {
        "emit": {
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": None,
            "session_id": SESSION,
            "uuid": "a1",
            **more,
        }
    }


def result(text: str | None = "done", **more: Any) -> dict[str, Any]:
    """A step that writes a result."""
    return {
        "emit": {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "duration_ms": 5,
            "duration_api_ms": 4,
            "num_turns": 1,
            "result": text,
            "session_id": SESSION,
            "uuid": "r1",
            **more,
        }
    }


def ask(subtype: str, request_id: str = "q1", **request: Any) -> dict[str, Any]:
    """A step with a request of the CLI."""
    body = {"subtype": subtype, **request}
    return {"emit": {"type": "control_request", "request_id": request_id, "request": body}}


def answered(request_id: str = "q1", **response: Any) -> dict[str, Any]:
    """A step that waits for the host's answer."""
    return {
        "expect": {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": request_id, "response": response},
        },
        "timeout_ms": 5000,
    }
