"""Stores: the conformance suite for those that come along, folding as the official package does."""

import json
import threading
from pathlib import Path
from typing import Any

import anyio
import claude_agent_sdk as official
import pytest
from claude_agent_sdk.testing import run_session_store_conformance as official_conformance

import towline
from towline.testing import run_session_store_conformance

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


@pytest.fixture(params=["class", "memory", "sqlite", "dir"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        if request.param == "class":
            return towline.InMemorySessionStore()
        place = "" if request.param == "memory" else tmp_path / f"store-{len(made)}"
        return towline.open_store(f"{request.param}:{place}")

    return make


@BACKENDS
def test_stores_that_come_along_conform(make: Any, backend: str) -> None:
    async def main() -> None:
        await run_session_store_conformance(make)

    anyio.run(main, backend=backend)


def test_the_official_suite_passes_them_too(make: Any) -> None:
    anyio.run(official_conformance, make)


def test_entries_that_come_again_are_not_added(make: Any) -> None:
    async def main() -> None:
        store = make()
        key: Any = {"project_key": "p", "session_id": "s"}
        one: Any = {"type": "user", "uuid": "1"}
        await store.append(key, [one, one])
        await store.append(key, [one, {"type": "x"}, {"type": "x"}])
        assert await store.load(key) == [one, {"type": "x"}, {"type": "x"}]

    anyio.run(main)


def test_the_store_in_memory_can_be_looked_into() -> None:
    async def fill(store: Any) -> Any:
        key: Any = {"project_key": "p", "session_id": "s"}
        sub: Any = {**key, "subpath": "subagents/agent-1"}
        await store.append(key, [{"type": "x"}])
        await store.append(sub, [{"type": "y"}])
        seen = (store.size, store.get_entries(key), store.get_entries(sub))
        store.clear()
        return seen, store.size, store.get_entries(key)

    ours = anyio.run(fill, towline.InMemorySessionStore())
    assert ours == anyio.run(fill, official.InMemorySessionStore())


@pytest.mark.parametrize("url", ["", "nothing:x", "sqlite:", "sqlite", "/tmp/x"])
def test_what_is_no_store_is_said(url: str) -> None:
    with pytest.raises(ValueError):
        towline.open_store(url)


def test_calls_of_a_store_leave_the_loop_free(tmp_path: Path) -> None:
    async def main() -> None:
        store = towline.open_store(f"sqlite:{tmp_path / 'store'}")
        threads: set[str] = set()
        entries: Any = [{"type": "x", "n": n} for n in range(20_000)]
        async with anyio.create_task_group() as group:
            key: Any = {"project_key": "p", "session_id": "s"}
            group.start_soon(store.append, key, entries)
            threads.add(threading.current_thread().name)
        listed = await store.list_sessions("p")
        assert [entry["session_id"] for entry in listed] == ["s"]
        assert threads == {"MainThread"}

    anyio.run(main)


def user(content: Any, **more: Any) -> Any:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


BATCHES: list[list[Any]] = [
    [],
    [user("hello")],
    [user("hello\nworld"), user("second")],
    [user([{"type": "text", "text": "  "}, {"type": "text", "text": "block"}])],
    [user([{"type": "tool_result", "content": "x"}]), user("after")],
    [user("<command-name>/clear</command-name>"), user("<command-name>/x</command-name>")],
    [user("<command-name>/clear</command-name>"), user("real")],
    [user("meta", isMeta=True), user("compact", isCompactSummary=True)],
    [user("x" * 250)],
    [user("ü\U0001f600" * 150)],
    [user("[Request interrupted by user]"), user("<local-command-stdout>x"), user("left")],
    [user("a", isSidechain=True, timestamp="2024-01-01T00:00:00.123Z", cwd="/x", gitBranch="b")],
    [user("a", timestamp="no time"), user("b", timestamp="2024-01-01T00:00:00+02:00")],
    [user("a", cwd=""), user("b", cwd="/y"), user("c", cwd="/z")],
    [{"type": "custom-title", "customTitle": "t"}, {"type": "ai-title", "aiTitle": "ai"}],
    [{"type": "summary", "summary": "s"}, {"type": "last-prompt", "lastPrompt": "p"}],
    [{"type": "tag", "tag": "x"}, {"type": "tag", "tag": ""}],
    [{"type": "tag", "tag": "x"}, {"type": "tag"}, {"type": "tag", "tag": "y"}],
    [{"type": "tag", "tag": 3}],
    [{"type": "x", "customTitle": 3, "gitBranch": None}],
]


@pytest.mark.parametrize("batch", range(len(BATCHES)))
@pytest.mark.parametrize("before", range(len(BATCHES)))
def test_summaries_fold_alike(before: int, batch: int) -> None:
    key: Any = {"project_key": "p", "session_id": "s"}

    def folded(package: Any) -> Any:
        first = package.fold_session_summary(None, key, BATCHES[before])
        first["mtime"] = 7
        kept = json.loads(json.dumps(first))
        second = package.fold_session_summary(first, key, BATCHES[batch])
        assert json.loads(json.dumps(first)) == kept, "what it is folded onto stays as it was"
        return first, second

    assert folded(towline) == folded(official)


def test_what_is_no_text_does_not_stop_folding() -> None:
    key: Any = {"project_key": "p", "session_id": "s"}
    folded = towline.fold_session_summary(None, key, [user("\ud800 lone")])
    assert folded["data"]["first_prompt"].endswith(" lone")


@pytest.mark.parametrize("directory", [None, ".", "/", "/tmp/a b/ü", "/no/such/place", "/x" * 150])
def test_project_keys(directory: Any) -> None:
    assert towline.project_key_for_directory(directory) == official.project_key_for_directory(
        directory
    )
    if directory is not None:
        path = Path(directory)
        assert towline.project_key_for_directory(path) == official.project_key_for_directory(path)
