"""Sessions whose transcripts go to a store, and that are resumed from one, as in the official
package."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import anyio
import claude_agent_sdk as official
import pytest

import towline

CLI = Path(__file__).with_name("mirroring_cli.py")

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "aaaaaaaa-0000-4000-8000-000000000002"


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": f"uuid-{number}", "n": number, **more}


SCRIPT = {
    "before": [
        [f"-work/{ONE}.jsonl", [entry(1), entry(2)]],
        [f"-work/{ONE}/subagents/agent-a.jsonl", [{"type": "agent_metadata", "a": 1}, entry(3)]],
        [f"-work/{ONE}.jsonl", [entry(4)]],
        ["stray.jsonl", [entry(5)]],
        [f"-work/{ONE}/subagents/deep/agent-b.jsonl", [entry(6)]],
    ],
    "after": [[f"-work/{ONE}.jsonl", [entry(7), {"type": "cost-state"}]]],
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("RECORD", str(tmp_path / "record.json"))
    monkeypatch.setenv("MIRROR", json.dumps(SCRIPT))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


async def ask(package: Any, store: Any, **options: Any) -> list[Any]:
    made = package.ClaudeAgentOptions(cli_path=CLI, session_store=store, **options)
    return [message async for message in package.query(prompt="hello", options=made)]


def record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "record.json").read_text())
    return found


async def contents(store: Any, session: str = ONE) -> dict[str, Any]:
    key: Any = {"project_key": "-work", "session_id": session}
    found = {"": await store.load(key)}
    for subpath in sorted(await store.list_subkeys(key)):
        found[subpath] = await store.load({**key, "subpath": subpath})
    return found


class Coroutines:
    """A store with methods of its own and no base."""

    def __init__(self) -> None:
        self._inner = official.InMemorySessionStore()
        self.load = self._inner.load
        self.list_subkeys = self._inner.list_subkeys
        self.appended: list[Any] = []

    async def append(self, key: Any, entries: Any) -> None:
        await anyio.sleep(0.01)
        self.appended.append((key, len(entries)))
        await self._inner.append(key, entries)


@BACKENDS
@pytest.mark.parametrize("kind", ["own", "memory", "sqlite", "official"])
@pytest.mark.parametrize("flush", ["batched", "eager"])
def test_entries_reach_the_store(cli: Path, kind: str, flush: str, backend: str) -> None:
    made: dict[str, Any] = {
        "own": Coroutines,
        "memory": towline.InMemorySessionStore,
        "sqlite": lambda: towline.open_store(f"sqlite:{cli / 'store'}"),
        "official": official.InMemorySessionStore,
    }

    async def main() -> None:
        ours, theirs = made[kind](), official.InMemorySessionStore()
        mine = await ask(towline, ours, session_store_flush=flush)
        other = await ask(official, theirs, session_store_flush=flush)
        assert [type(message).__name__ for message in mine] == [
            type(message).__name__ for message in other
        ]
        assert await contents(ours) == await contents(theirs)
        assert "--session-mirror" in record(cli)["argv"]

    anyio.run(main, backend=backend)


def test_a_batch_for_each_file(cli: Path) -> None:
    async def main() -> None:
        stores = Coroutines(), Coroutines()
        for package, store in zip((towline, official), stores, strict=True):
            await ask(package, store)
        ours, theirs = (store.appended for store in stores)
        assert ours == theirs

    anyio.run(main)


@BACKENDS
def test_what_cannot_be_stored_is_told(cli: Path, backend: str) -> None:
    class Failing:
        def __init__(self) -> None:
            self.tries = 0

        async def append(self, key: Any, entries: Any) -> None:
            self.tries += 1
            raise ConnectionError("the store is away")

        async def load(self, key: Any) -> Any:
            return None

    script = {"before": [[f"-work/{ONE}.jsonl", [entry(1)]]]}

    async def main() -> None:
        told = []
        for package in (towline, official):
            store = Failing()
            env = {"MIRROR": json.dumps(script)}
            messages = await ask(package, store, env=env)
            (error,) = [m for m in messages if isinstance(m, package.MirrorErrorMessage)]
            assert store.tries == 3
            told.append((error.subtype, error.key, error.error, type(messages[-1]).__name__))
        assert told[0][1:3] == ({"project_key": "-work", "session_id": ONE}, "the store is away")
        assert told[0][:2] == told[1][:2]
        assert told[1][2] in told[0][2] or told[0][2] in told[1][2]

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_client_and_its_store(cli: Path, backend: str) -> None:
    async def main() -> None:
        store = Coroutines()
        options = towline.ClaudeAgentOptions(cli_path=CLI, session_store=store)  # type: ignore[arg-type]
        async with towline.ClaudeSDKClient(options) as client:
            await client.query("one")
            async for message in client.receive_response():
                if isinstance(message, towline.ResultMessage):
                    stored = await contents(store)
                    assert [e.get("n") for e in stored[""]] == [1, 2, 4], "stored before the result"
        assert [e.get("n") for e in (await contents(store))[""]] == [1, 2, 4, 7, None]

    anyio.run(main, backend=backend)


@pytest.mark.parametrize("kind", ["own", "sqlite"])
def test_a_synchronous_session_and_its_store(cli: Path, kind: str) -> None:
    store: Any = Coroutines() if kind == "own" else towline.open_store(f"sqlite:{cli / 'store'}")
    options = towline.ClaudeAgentOptions(cli_path=CLI, session_store=store)
    with towline.Session(options) as session:
        assert session.ask("hello").subtype == "success"
    stored = anyio.run(contents, store)
    assert [e.get("n") for e in stored[""]] == [1, 2, 4, 7, None]


async def fill(store: Any, cli: Path) -> None:
    key: Any = {"project_key": official.project_key_for_directory(cli / "work"), "session_id": ONE}
    await store.append(key, [entry(1), entry(2, text="ü \U0001f600")])
    await store.append(
        {**key, "subpath": "subagents/agent-a"}, [{"type": "agent_metadata", "a": 1}, entry(3)]
    )
    await store.append({**key, "subpath": "../outside"}, [entry(4)])
    await store.append({**key, "session_id": TWO}, [entry(5)])


RESUMES: list[dict[str, Any]] = [
    {"resume": ONE},
    {"resume": ONE, "fork_session": True},
    {"continue_conversation": True},
    {"resume": "aaaaaaaa-0000-4000-8000-000000000009"},
    {"resume": "a title"},
    {"resume": TWO, "continue_conversation": True},
    {},
]


@BACKENDS
@pytest.mark.parametrize("options", RESUMES, ids=repr)
def test_sessions_are_resumed_from_the_store(cli: Path, options: Any, backend: str) -> None:
    home = cli / "home/.claude"
    home.mkdir(parents=True)
    (home / ".credentials.json").write_text(
        json.dumps({"claudeAiOauth": {"accessToken": "x", "refreshToken": "secret"}})
    )
    (home / "settings.json").write_text(json.dumps({"model": "m", "enabledPlugins": {"p": True}}))
    (cli / "home/.claude.json").write_text(json.dumps({"a": 1}))

    async def main() -> None:
        seen = []
        for package in (towline, official):
            store = package.InMemorySessionStore()
            await fill(store, cli)
            await ask(package, store, env={"MIRROR": "{}"}, **options)
            found = record(cli)
            folder = found["config"]
            assert folder is None or not Path(folder).exists(), "the folder goes with the session"
            seen.append(
                (
                    folder is not None,
                    {
                        path: [mode, _documents(text)]
                        for path, (mode, text) in found["files"].items()
                    },
                    sorted(
                        flag for flag in found["argv"] if flag.startswith(("--resume", "--fork"))
                    ),
                )
            )
        assert seen[0] == seen[1]
        assert "secret" not in str(seen)

    anyio.run(main, backend=backend)


def _documents(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_session_of_a_store_by_url_is_resumed(cli: Path) -> None:
    async def main() -> None:
        store = towline.open_store(f"sqlite:{cli / 'store'}")
        await fill(store, cli)
        await ask(towline, store, resume=ONE, env={"MIRROR": "{}"})
        found = record(cli)
        (path,) = [path for path in found["files"] if path.endswith(f"{ONE}.jsonl")]
        assert [e["n"] for e in _documents(found["files"][path][1])] == [1, 2]

    anyio.run(main)


@BACKENDS
def test_a_store_that_fails_or_hangs_at_resuming(cli: Path, backend: str) -> None:
    class Failing:
        async def append(self, key: Any, entries: Any) -> None: ...

        async def load(self, key: Any) -> Any:
            raise ConnectionError("away")

    class Hanging(Failing):
        async def load(self, key: Any) -> Any:
            await anyio.sleep_forever()

    async def main() -> None:
        for make in (Failing, Hanging):
            told = []
            for package in (towline, official):
                with pytest.raises(RuntimeError) as caught:
                    await ask(package, make(), resume=ONE, load_timeout_ms=100)
                told.append(str(caught.value))
            assert told[0] == told[1]
        assert not (cli / "record.json").exists(), "no CLI was started"

    anyio.run(main, backend=backend)


ONE_BATCH = {"before": [[f"-work/{ONE}.jsonl", [entry(1)]]]}


@BACKENDS
def test_an_append_that_raises_what_means_something_else(
    cli: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    class Raising(towline.InMemorySessionStore):
        def __init__(self, kind: Any) -> None:
            super().__init__()
            self.kind = kind

        async def append(self, key: Any, entries: Any) -> None:
            raise self.kind

    class Synchronous(Raising):
        def append(self, key: Any, entries: Any) -> Any:
            raise self.kind

    async def check(store: Any) -> None:
        error, result = await ask(towline, store)
        assert isinstance(error, towline.MirrorErrorMessage)
        assert error.error == f"the store's append() raised {store.kind.__name__}"
        assert isinstance(result, towline.ResultMessage)

    async def main() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                for kind in (StopAsyncIteration, asyncio.CancelledError, GeneratorExit):
                    group.start_soon(check, Raising(kind))
                    group.start_soon(check, Synchronous(kind))

    monkeypatch.setenv("MIRROR", json.dumps(ONE_BATCH))
    anyio.run(main, backend=backend)


class Never(towline.InMemorySessionStore):
    """Does not return from `append`."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = anyio.Event()
        self.ended: list[str] = []

    async def append(self, key: Any, entries: Any) -> None:
        self.begun.set()
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            self.ended.append(type(error).__name__)
            raise


@BACKENDS
@pytest.mark.parametrize("way", ["query", "client", "closing"])
def test_a_cancelled_program_does_not_wait_for_its_store(cli: Path, way: str, backend: str) -> None:
    async def main() -> None:
        store = Never()
        options = towline.ClaudeAgentOptions(cli_path=CLI, session_store=store)

        async def use() -> None:
            if way == "query":
                async for _ in towline.query(prompt="hello", options=options):
                    pass
                return
            async with towline.ClaudeSDKClient(options) as client:
                await client.query("hello")
                await store.begun.wait()
                if way == "client":
                    await anyio.sleep_forever()

        async def cancel() -> None:
            await store.begun.wait()
            group.cancel_scope.cancel()

        begun = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(use)
            group.start_soon(cancel)
        assert time.monotonic() - begun < 10
        assert len(store.ended) == 1

    anyio.run(main, backend=backend)


def test_a_time_limit_over_a_store_that_does_not_return(cli: Path) -> None:
    async def main() -> None:
        store = Never()
        begun = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ask(towline, store), 1)
        assert time.monotonic() - begun < 10
        assert store.ended == ["CancelledError"]

    asyncio.run(main())


@BACKENDS
def test_a_store_that_is_slow_has_everything_all_the_same(cli: Path, backend: str) -> None:
    class Slow(Coroutines):
        async def append(self, key: Any, entries: Any) -> None:
            begun.set()
            await anyio.sleep(0.2)
            await super().append(key, entries)

    begun = anyio.Event()

    async def main() -> None:
        store = Slow()

        async def cancel() -> None:
            await begun.wait()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(ask, towline, store)
            group.start_soon(cancel)
        assert [count for _, count in store.appended] == [3, 2, 1, 2]

    anyio.run(main, backend=backend)


def test_ctrl_c_does_not_wait_for_the_store(cli: Path) -> None:
    class Interrupted(Coroutines):
        async def append(self, key: Any, entries: Any) -> None:
            self.appended.append(key)
            raise KeyboardInterrupt

    store: Any = Interrupted()
    options = towline.ClaudeAgentOptions(cli_path=CLI, session_store=store)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), towline.Session(options) as session:
        session.ask("hello")
    assert time.monotonic() - begun < 10
    assert len(store.appended) == 1
