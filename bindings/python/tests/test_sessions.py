"""Saved sessions, and sessions in stores: as the official package reads and changes them.

The sessions are those of two recordings of the CLI, and made ones for what recordings lack.
"""

import copy
import dataclasses
import json
import os
import pickle
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import claude_agent_sdk as official
import pytest

import towline

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])

RECORDINGS = Path(__file__).resolve().parents[3] / "tests/transcripts"

SESSION = "0fd1b5a1-1c1e-4a51-9e3d-{:012d}"

NO_SESSION = "ffffffff-ffff-4fff-bfff-ffffffffffff"


def session(number: int) -> str:
    return SESSION.format(number)


def lines(*entries: Any) -> str:
    return "".join(
        (entry if isinstance(entry, str) else json.dumps(entry, separators=(",", ":"))) + "\n"
        for entry in entries
    )


class Talk:
    """Entries of a conversation, each the child of the one before."""

    def __init__(self, number: int, cwd: str = "/home/user/project") -> None:
        self.number = number
        self.cwd = cwd
        self.entries: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, content: Any, **more: Any) -> "Talk":
        at = len(self.entries)
        entry = {
            "type": kind,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.number}/{at}")),
            "parentUuid": self.last,
            "sessionId": session(self.number),
            "timestamp": f"2024-05-01T10:{self.number % 60:02d}:{at:02d}.{at:03d}Z",
            "cwd": self.cwd,
            "gitBranch": "main" if at % 2 else f"branch-{self.number}",
            "isSidechain": False,
            "message": {"role": kind, "content": content, "id": f"msg_{self.number}_{at}"},
        }
        entry.update(more)
        self.entries.append(entry)
        self.last = str(entry["uuid"])
        return self

    def say(self, *texts: str) -> "Talk":
        for at, text in enumerate(texts):
            self.add("assistant" if at % 2 else "user", text)
        return self

    def put(self, **entry: Any) -> "Talk":
        self.entries.append({**entry, "sessionId": session(self.number)})
        return self


def talks() -> Iterator[Talk]:
    yield Talk(1).say("hello there\nagain", "hi", "more", "yes")
    yield Talk(2).say("x" * 300, "y").put(type="custom-title", customTitle="A title")
    yield Talk(3).say("prompt", "answer").put(type="ai-title", aiTitle="of the AI")
    yield Talk(4).say("a", "b").put(type="tag", tag="one").put(type="tag", tag="two")
    yield Talk(5).say("a", "b").put(type="tag", tag="one").put(type="tag", tag="")
    yield Talk(6).add("user", "side", isSidechain=True).say("a", "b")
    yield Talk(7).add("user", "meta", isMeta=True).say("real", "b")
    yield Talk(8).say("<command-name>/clear</command-name>").say("[Request interrupted by user]")
    yield Talk(9).put(type="summary", summary="summed up", leafUuid="x").say("a", "b")
    yield Talk(10).put(type="last-prompt", lastPrompt="the last").say("a", "b")
    yield Talk(11).add("user", "compact", isCompactSummary=True).say("after", "b")
    yield Talk(12)
    yield Talk(13).put(type="queue-operation", operation="enqueue").say("ü \U0001f600 ok", "b")

    parallel = Talk(14).say("do two things")
    asked = parallel.last
    for at in range(2):
        block = {"type": "tool_use", "id": f"tool_{at}", "name": "Bash", "input": {}}
        parallel.add("assistant", [block])
        parallel.entries[-1]["message"]["id"] = "msg_same"
    uses = [entry["uuid"] for entry in parallel.entries[-2:]]
    for at in range(2):
        block = {"type": "tool_result", "tool_use_id": f"tool_{at}", "content": f"r{at}"}
        parallel.add("user", [block], parentUuid=uses[at])
    parallel.add("assistant", "done")
    assert asked
    yield parallel

    branched = Talk(15).say("one", "two")
    fork = branched.last
    branched.say("left", "left answer")
    branched.last = fork
    yield branched.say("right", "right answer")

    yield Talk(16, cwd="/home/user/project/sub").say("from below", "b")
    yield Talk(17).say("a").add("progress", "p").add("assistant", "after progress")
    yield (
        Talk(18)
        .say("a", "b")
        .add("system", "compacted", subtype="compact_boundary", parentUuid=None)
        .say("c")
    )
    yield Talk(19).say("only me").put(type="file-history-snapshot", snapshot={"a": 1})
    yield Talk(20).say("long", "z" * 200_000).put(type="custom-title", customTitle="at the end")


def recorded() -> Iterator[tuple[str, list[Any]]]:
    """Path below `projects` and entries, of what the CLI has mirrored."""
    files: dict[str, list[Any]] = {}
    for name in ("mirror_subagent", "session_store_mirror"):
        for text in (RECORDINGS / f"{name}.jsonl").read_text().splitlines():
            line = json.loads(text).get("line")
            line = json.loads(line) if isinstance(line, str) else line
            if isinstance(line, dict) and line.get("type") == "transcript_mirror":
                path = line["filePath"].partition("/projects/")[2]
                files.setdefault(path, []).extend(line["entries"])
    assert len(files) == 3
    yield from files.items()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration folder, and beside it directories that the sessions ran in."""
    root = tmp_path_factory.mktemp("corpus").resolve()
    projects = root / "config/projects"
    work = root / "work"
    deep = work / ("deep" * 60)
    for directory in (work, deep, root / "empty"):
        directory.mkdir(parents=True)
    home = projects / official.project_key_for_directory(work)
    home.mkdir(parents=True)
    for talk in talks():
        talk.cwd = str(work)
        (home / f"{session(talk.number)}.jsonl").write_text(lines(*talk.entries))
    made = projects / official.project_key_for_directory(deep)
    made.mkdir()
    (made / f"{session(30)}.jsonl").write_text(lines(*Talk(30).say("deep", "b").entries))
    (made / f"{session(19)}.jsonl").write_text(lines(*Talk(19).say("twice", "b").entries))

    (home / f"{session(40)}.jsonl").write_text("")
    (home / f"{session(41)}.jsonl").write_text("no json\n" + lines(*Talk(41).say("a", "b").entries))
    (home / f"{session(42)}.jsonl").write_text(lines(*Talk(42).say("cut", "b", "c").entries)[:-40])
    (home / f"{session(43)}.jsonl").write_text("\n\n" + lines(*Talk(43).say("a").entries))
    (home / f"{session(48)}.jsonl").write_text(lines("[1]", "3", *Talk(48).say("a").entries))
    (home / "notes.jsonl").write_text(lines(*Talk(44).say("a", "b").entries))
    (home / f"{session(45)}.jsonl").mkdir()
    (home / f"{session(46)}.jsonl").write_bytes(
        lines(*Talk(46).say("bad bytes", "b").entries).encode()
        + b'{"type":"user","x":"\xff\xfe"}\n'
    )
    (home / f"{session(47)}.jsonl").write_bytes(
        lines(*Talk(47).say("a", "b").entries).encode().replace(b"\n", b"\r\n")
    )

    agents = home / session(1) / "subagents"
    (agents / "workflows/run-1").mkdir(parents=True)
    for path, number in (("agent-abc", 50), ("agent-def", 51), ("workflows/run-1/agent-ghi", 52)):
        talk = Talk(number).add("user", "task", isSidechain=True, agentId=path[-3:])
        talk.add("assistant", "did it", isSidechain=True)
        (agents / f"{path}.jsonl").write_text(lines(*talk.entries))
    (agents / "agent-abc.meta.json").write_text(
        json.dumps(
            {"agentType": "general", "toolUseId": "toolu_1", "parentAgentId": "def", "type": "no"}
        )
    )
    (agents / "agent-def.meta.json").write_text("{broken")
    (agents / "other.jsonl").write_text("{}\n")

    for path, entries in recorded():
        place = projects / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(lines(*(e for e in entries if e["type"] != "agent_metadata")))
        for entry in entries:
            if entry["type"] == "agent_metadata":
                known = {name: value for name, value in entry.items() if name != "type"}
                place.with_suffix("").with_suffix(".meta.json").write_text(json.dumps(known))
    for at, file in enumerate(sorted(projects.rglob("*.jsonl"))):
        os.utime(file, (1_700_000_000 + at * 10, 1_700_000_000 + at * 10))
    return root


@pytest.fixture
def saved(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(corpus / "config"))
    monkeypatch.chdir(corpus / "work")
    return corpus


@pytest.fixture
def copied(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A configuration folder of one's own, with the same sessions."""

    def copy(name: str) -> Path:
        place = tmp_path / name
        shutil.copytree(saved / "config", place, copy_function=shutil.copy2)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place))
        return place

    return copy


def outcome(work: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """What comes of a call, in a form that does not depend on the package."""
    try:
        return plain(work(*arguments, **more))
    except Exception as error:
        return type(error).__name__


NOW = 1_750_000_000_000


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {"class": type(value).__name__, **dataclasses.asdict(value)}
        if found.get("last_modified", 0) > NOW:
            found["last_modified"] = "now"
        return found
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def directories(root: Path) -> list[str | None]:
    deep = root / "work" / ("deep" * 60)
    return [None, ".", "", str(root / "work"), str(deep), str(root / "empty"), "/no/such/place"]


PAGES: list[dict[str, Any]] = [
    {},
    {"limit": 3},
    {"limit": 2, "offset": 1},
    {"offset": 5},
    {"limit": 0},
    {"limit": -1, "offset": -2},
    {"limit": 1000, "offset": 1000},
]


def ids() -> list[str]:
    """Ids of sessions, but 19: it lies in two projects, and the official package takes either."""
    numbers = [*range(1, 19), 20, 30, *range(40, 49)]
    found = [path.split("/")[-1].removesuffix(".jsonl") for path, _ in recorded()]
    named = [name for name in found if not name.startswith("agent-")]
    return [*map(session, numbers), *named, NO_SESSION, "no-uuid", "../x", "", session(1).upper()]


@pytest.mark.parametrize("page", PAGES, ids=repr)
def test_lists(saved: Path, page: dict[str, Any]) -> None:
    for directory in directories(saved):
        for worktrees in (True, False):
            given: dict[str, Any] = {"directory": directory, "include_worktrees": worktrees, **page}
            ours = outcome(towline.list_sessions, **given)
            assert ours == outcome(official.list_sessions, **given), given


def test_a_list_has_something_to_tell(saved: Path) -> None:
    listed = {info.session_id: info for info in towline.list_sessions(str(saved / "work"))}
    assert len(listed) > 15
    assert listed[session(2)].custom_title == "A title"
    assert listed[session(4)].tag == "two"
    assert listed[session(5)].tag is None
    assert session(6) not in listed and session(12) not in listed


@pytest.mark.parametrize("identity", ids())
def test_one_session(saved: Path, identity: str) -> None:
    for directory in directories(saved):
        for name in ("get_session_info", "get_session_messages", "list_subagents"):
            ours = outcome(getattr(towline, name), identity, directory)
            theirs = outcome(getattr(official, name), identity, directory)
            if name == "get_session_messages" and identity == session(46):
                # Bytes that are no text: the official package gives up, here the rest is read.
                assert theirs in ("UnicodeDecodeError", []) and isinstance(ours, list)
            else:
                assert ours == theirs, (name, directory)
    for page in PAGES if identity != session(46) else ():
        ours = outcome(towline.get_session_messages, identity, **page)
        assert ours == outcome(official.get_session_messages, identity, **page)


def test_subagents(saved: Path) -> None:
    recorded_session = next(path for path, _ in recorded() if "/subagents/" in path)
    for identity in (session(1), recorded_session.split("/")[1], NO_SESSION, "x"):
        for agent in ("abc", "def", "ghi", "abb93bacd23791385", "none", "", "../x"):
            for page in PAGES:
                given = (identity, agent)
                ours = outcome(towline.get_subagent_messages, *given, **page)
                theirs = outcome(official.get_subagent_messages, *given, **page)
                assert ours == theirs, (given, page)
    (message, *_) = towline.get_subagent_messages(session(1), "abc")
    assert (message.parent_tool_use_id, message.parent_agent_id) == ("toolu_1", "def")


COPIES: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    dataclasses.replace,
    lambda message: type(message)(**dataclasses.asdict(message)),
    lambda message: type(message)(**vars(message)),
    *(
        lambda message, protocol=protocol: pickle.loads(pickle.dumps(message, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize(("agent", "parent"), [(None, None), ("abc", "toolu_1")])
def test_a_message_is_decoded_by_whatever_looks_at_it(
    saved: Path, agent: str | None, parent: str | None
) -> None:
    def undecoded(package: Any = towline) -> Any:
        if agent is None:
            return package.get_session_messages(session(1))[0]
        return package.get_subagent_messages(session(1), agent)[0]

    theirs = undecoded(official)
    assert hasattr(undecoded(), "_raw")
    for copied in COPIES:
        again = copied(undecoded())
        assert again == undecoded() and type(again) is towline.SessionMessage
        assert vars(again) == vars(theirs) and again.parent_tool_use_id == parent
    assert repr(undecoded()) == repr(theirs)
    assert list(vars(undecoded())) == list(vars(theirs))
    assert dataclasses.asdict(undecoded()) == dataclasses.asdict(theirs)
    looked_at = undecoded()
    assert looked_at.message == theirs.message and looked_at.message is looked_at.message
    assert not hasattr(looked_at, "_raw") and list(vars(looked_at)) == list(vars(theirs))
    assert undecoded().parent_tool_use_id == parent and undecoded() != dataclasses.asdict(theirs)
    with pytest.raises(TypeError):
        hash(undecoded())


def test_what_a_program_sets_in_a_message_stays(saved: Path) -> None:
    message, other = towline.get_session_messages(session(1))[:2]
    message.message = "mine"
    message.parent_agent_id = "me"
    message.new = 1  # type: ignore[attr-defined]
    assert (message.message, message.parent_agent_id) == ("mine", "me")
    assert vars(message)["message"] == "mine" and vars(message)["parent_agent_id"] == "me"
    assert copy.copy(message).new == 1  # type: ignore[attr-defined]
    del other.message
    for _ in range(2):
        with pytest.raises(AttributeError, match="'SessionMessage' object has no attribute"):
            _ = other.message
    with pytest.raises(AttributeError, match="type object 'SessionMessage' has no attribute"):
        _ = towline.SessionMessage.message  # type: ignore[misc]
    assert "message" not in vars(other) and other.uuid and other.parent_tool_use_id is None


def test_worktrees(copied: Callable[[str], Path], tmp_path: Path) -> None:
    config = copied("worktrees")
    main, other = tmp_path.resolve() / "main", tmp_path.resolve() / "other"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run([*git, "init", "-q", str(main)], check=True)
    subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "-C", str(main), "worktree", "add", "-q", str(other)], check=True)
    for number, directory in ((60, main), (61, other)):
        place = config / "projects" / official.project_key_for_directory(directory)
        place.mkdir()
        (place / f"{session(number)}.jsonl").write_text(
            lines(*Talk(number, cwd=str(directory)).say("a", "b").entries)
        )
        os.utime(place / f"{session(number)}.jsonl", (number, number))
    for worktrees in (True, False):
        for directory in (main, other):
            given = {"directory": str(directory), "include_worktrees": worktrees}
            listed = towline.list_sessions(**given)  # type: ignore[arg-type]
            assert plain(listed) == plain(official.list_sessions(**given))  # type: ignore[arg-type]
            assert len(listed) == (2 if worktrees else 1)
    assert towline.get_session_info(session(61), str(main)) is not None
    assert official.get_session_info(session(61), str(main)) is not None


CHANGES: list[tuple[str, tuple[Any, ...]]] = [
    ("rename_session", (session(1), "  New title \n")),
    ("rename_session", (session(1), "   ")),
    ("rename_session", (session(1), "ü \U0001f600 \u200b x")),
    ("rename_session", (NO_SESSION, "x")),
    ("rename_session", ("no-uuid", "x")),
    ("rename_session", (session(40), "of an empty file")),
    ("tag_session", (session(1), "tag")),
    ("tag_session", (session(1), " \u200bta\u00adg\ufeff ")),
    ("tag_session", (session(1), "\ufb01 \ue000")),
    ("tag_session", (session(1), "\u200b")),
    ("tag_session", (session(1), "")),
    ("tag_session", (session(1), None)),
    ("tag_session", (NO_SESSION, "x")),
    ("tag_session", ("x", "x")),
    ("delete_session", (session(1),)),
    ("delete_session", (session(20),)),
    ("delete_session", (NO_SESSION,)),
    ("delete_session", ("../x",)),
]


def tree(config: Path) -> dict[str, Any]:
    """Every file below a configuration folder, its last line as what it says."""
    found: dict[str, Any] = {}
    for file in sorted(config.rglob("*")):
        if file.is_file():
            *before, last = file.read_bytes().splitlines() or [b""]
            try:
                read = json.loads(last)
            except ValueError:
                read = last
            found[str(file.relative_to(config))] = (before, read, oct(file.stat().st_mode))
    return found


def test_a_title_does_not_go_onto_a_line_that_was_cut_off(copied: Callable[[str], Path]) -> None:
    copied("cut")
    towline.rename_session(session(42), "whole")
    info = towline.get_session_info(session(42))
    assert info is not None and info.custom_title == "whole"


@pytest.mark.parametrize(("name", "given"), CHANGES, ids=repr)
def test_changes(copied: Callable[[str], Path], name: str, given: tuple[Any, ...]) -> None:
    config = copied("official")
    theirs = outcome(getattr(official, name), *given)
    their_tree = tree(config)
    config = copied("towline")
    assert outcome(getattr(towline, name), *given) == theirs
    assert tree(config) == their_tree


FORKS: list[dict[str, Any]] = [
    {"session_id": session(number)} for number in (*range(1, 19), 20, 41, 42, 43, 46, 47)
]
FORKS += [
    {"session_id": session(2), "title": " mine "},
    {"session_id": session(1), "up_to_message_id": Talk(1).say("a", "b").last},
    {"session_id": session(1), "up_to_message_id": NO_SESSION},
    {"session_id": session(1), "up_to_message_id": "no uuid"},
    {"session_id": session(15), "up_to_message_id": Talk(15).say("a", "b", "c").last},
    {"session_id": session(40)},
    {"session_id": NO_SESSION},
    {"session_id": "no-uuid"},
    {"session_id": session(1), "directory": "/no/such/place"},
]


def forked(entries: list[Any]) -> list[Any]:
    """Entries of a fork, new ids by the order of their first appearance."""
    known: dict[str, int] = {}
    text = lines(*entries)
    for entry in entries:
        for name in ("uuid", "sessionId"):
            if name in entry:
                known.setdefault(entry[name], len(known))
    for name, number in known.items():
        text = text.replace(name, f"<{number}>")
    found = [json.loads(line) for line in text.splitlines()]
    for entry in found:
        if "timestamp" in entry and not entry["timestamp"].startswith("2024-05-01"):
            entry["timestamp"] = "now"
        if entry["type"] == "custom-title":
            entry["uuid"] = entry["timestamp"] = "new"
    return found


@pytest.mark.parametrize("given", FORKS, ids=repr)
def test_forks(copied: Callable[[str], Path], given: dict[str, Any]) -> None:
    def fork(package: Any) -> Any:
        config = copied(package.__name__)
        before = set(tree(config))
        try:
            made = package.fork_session(**given)
        except Exception as error:
            assert set(tree(config)) == before
            return type(error).__name__
        (new,) = set(tree(config)) - before
        assert Path(new).stem == made.session_id
        file = config / new
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        return Path(new).parent, oct(file.stat().st_mode), forked(entries)

    assert fork(towline) == fork(official)


class Counting(official.InMemorySessionStore):
    """Counts loads, and how many are open at once."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.open = self.most = 0

    async def load(self, key: Any) -> Any:
        self.calls.append("load")
        self.open += 1
        self.most = max(self.most, self.open)
        await anyio.sleep(0)
        self.open -= 1
        return await super().load(key)

    async def list_session_summaries(self, project_key: str) -> Any:
        self.calls.append("list_session_summaries")
        return await super().list_session_summaries(project_key)

    async def list_sessions(self, project_key: str) -> Any:
        self.calls.append("list_sessions")
        return await super().list_sessions(project_key)


class WithoutSummaries(Counting):
    list_session_summaries = official.SessionStore.list_session_summaries


class SummariesFail(Counting):
    async def list_session_summaries(self, project_key: str) -> Any:
        raise NotImplementedError


class OldSummaries(Counting):
    async def list_session_summaries(self, project_key: str) -> Any:
        found = await super().list_session_summaries(project_key)
        return [
            {**entry, "mtime": entry["mtime"] - at % 2 * 10_000} for at, entry in enumerate(found)
        ]


class Bare:
    """Only what every store has."""

    def __init__(self) -> None:
        self.inner = official.InMemorySessionStore()
        self.calls: list[str] = []

    async def append(self, key: Any, entries: Any) -> None:
        await self.inner.append(key, entries)

    async def load(self, key: Any) -> Any:
        return await self.inner.load(key)


STORES = [Counting, WithoutSummaries, SummariesFail, OldSummaries, Bare]


async def filled(make: Any, root: Path) -> Any:
    """A store with the sessions of `work`, as the official package imports them."""
    store = make()
    home = root / "config/projects" / official.project_key_for_directory(root / "work")
    for file in sorted(home.glob("*.jsonl")):
        if file.stem == session(48):
            continue
        try:
            await official.import_session_to_store(file.stem, store, directory=str(root / "work"))
        except (ValueError, OSError):
            continue
    return store


async def awaited(work: Any) -> Any:
    try:
        return plain(await work)
    except Exception as error:
        return type(error).__name__


@BACKENDS
@pytest.mark.parametrize("make", STORES)
def test_lists_of_stores(saved: Path, make: Any, backend: str) -> None:
    async def main() -> None:
        for page in PAGES:
            for directory in (None, str(saved / "work"), "/no/such/place"):
                answers = []
                for package in (towline, official):
                    store = await filled(make, saved)
                    store.calls.clear()
                    found = await awaited(
                        package.list_sessions_from_store(store, directory=directory, **page)
                    )
                    answers.append((found, sorted(store.calls)))
                    assert getattr(store, "most", 0) <= 16
                assert answers[0] == answers[1], (page, directory)

    anyio.run(main, backend=backend)


def test_loads_are_made_at_once(saved: Path) -> None:
    async def main() -> None:
        store = await filled(WithoutSummaries, saved)
        await towline.list_sessions_from_store(store)
        assert store.most == 16

    anyio.run(main)


@BACKENDS
def test_one_session_of_a_store(saved: Path, backend: str) -> None:
    async def main() -> None:
        for make in (Counting, Bare):
            store = await filled(make, saved)
            for identity in ids():
                for name in (
                    "get_session_info_from_store",
                    "get_session_messages_from_store",
                    "list_subagents_from_store",
                ):
                    ours = await awaited(getattr(towline, name)(store, identity))
                    theirs = await awaited(getattr(official, name)(store, identity))
                    assert ours == theirs, (make, identity, name)
            for agent in ("abc", "def", "ghi", "none", ""):
                for page in PAGES:
                    given = (store, session(1), agent)
                    ours = await awaited(towline.get_subagent_messages_from_store(*given, **page))
                    theirs = await awaited(
                        official.get_subagent_messages_from_store(*given, **page)
                    )
                    assert ours == theirs, (make, agent, page)

    anyio.run(main, backend=backend)


def kept(store: Any, before: int) -> Any:
    """What was added to a session of a store, but what differs from run to run."""
    key: Any = {"project_key": towline.project_key_for_directory(), "session_id": session(1)}
    added = store.get_entries(key)[before:]
    return [
        {**entry, **{name: "new" for name in ("uuid", "timestamp") if name in entry}}
        for entry in added
    ]


@pytest.mark.parametrize(
    ("name", "given"), [change for change in CHANGES if change[0] != "delete_session"], ids=repr
)
def test_changes_of_stores(saved: Path, name: str, given: tuple[Any, ...]) -> None:
    async def main() -> None:
        answers = []
        for package in (towline, official):
            store = await filled(Counting, saved)
            key: Any = {
                "project_key": towline.project_key_for_directory(),
                "session_id": session(1),
            }
            before = len(store.get_entries(key))
            found = await awaited(getattr(package, f"{name}_via_store")(store, *given))
            answers.append((found, kept(store, before)))
        assert answers[0] == answers[1]

    anyio.run(main)


def test_deleting_from_stores(saved: Path) -> None:
    async def main() -> None:
        for make in (Counting, Bare):
            for identity in (session(1), NO_SESSION, "no-uuid"):
                answers = []
                for package in (towline, official):
                    store = await filled(make, saved)
                    found = await awaited(package.delete_session_via_store(store, identity))
                    key: Any = {
                        "project_key": towline.project_key_for_directory(),
                        "session_id": session(1),
                    }
                    answers.append((found, await store.load(key)))
                assert answers[0] == answers[1], (make, identity)

    anyio.run(main)


@pytest.mark.parametrize("given", [fork for fork in FORKS if "directory" not in fork], ids=repr)
def test_forks_in_stores(saved: Path, given: dict[str, Any]) -> None:
    async def main() -> None:
        answers = []
        for package in (towline, official):
            store = await filled(Counting, saved)
            before = set(store._store)
            found = await awaited(package.fork_session_via_store(store, **given))
            if isinstance(found, dict):
                (new,) = set(store._store) - before
                assert new.endswith(found["session_id"])
                found = forked(store._store[new])
            answers.append(found)
        assert answers[0] == answers[1]

    anyio.run(main)


@BACKENDS
def test_importing(saved: Path, backend: str) -> None:
    async def main() -> None:
        for identity in ids():
            for more in ({}, {"batch_size": 2}, {"include_subagents": False}, {"batch_size": 0}):
                answers = []
                for package in (towline, official):
                    batches: list[Any] = []

                    class Recording:
                        async def append(
                            self, key: Any, entries: Any, batches: Any = batches
                        ) -> None:
                            batches.append((key, json.loads(json.dumps(entries))))

                    work = str(saved / "work")
                    found = await awaited(
                        package.import_session_to_store(
                            identity, Recording(), directory=work, **more
                        )
                    )
                    answers.append((found, batches))
                if identity == session(45):
                    # A folder of that name.
                    assert [found for found, _ in answers] == [
                        "FileNotFoundError",
                        "IsADirectoryError",
                    ]
                elif identity in (session(41), session(42), session(46), session(48)):
                    # The official package stops at a damaged line; here it is left out.
                    assert answers[0][0] is None and answers[0][1]
                else:
                    assert answers[0] == answers[1], (identity, more)

    anyio.run(main, backend=backend)


class Trouble(Exception):
    """What a store raises."""


@BACKENDS
def test_what_a_store_raises_comes_through(saved: Path, backend: str) -> None:
    class Broken(Counting):
        async def load(self, key: Any) -> Any:
            raise Trouble("no load")

        async def append(self, key: Any, entries: Any) -> None:
            raise Trouble("no append")

    async def main() -> None:
        store = Broken()
        for work in (
            lambda: towline.get_session_info_from_store(store, session(1)),
            lambda: towline.get_session_messages_from_store(store, session(1)),
            lambda: towline.rename_session_via_store(store, session(1), "x"),
            lambda: towline.fork_session_via_store(store, session(1)),
            lambda: towline.import_session_to_store(session(1), store),
        ):
            with pytest.raises(Trouble):
                await work()

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_cancelled_operation_leaves_nothing_behind(saved: Path, backend: str) -> None:
    class Slow(WithoutSummaries):
        started = cancelled = 0

        async def load(self, key: Any) -> Any:
            Slow.started += 1
            try:
                await anyio.sleep_forever()
            finally:
                Slow.cancelled += 1

    async def main() -> None:
        store = await filled(Slow, saved)
        with anyio.move_on_after(0.1) as scope:
            await towline.list_sessions_from_store(store)
        assert scope.cancelled_caught
        assert Slow.started == Slow.cancelled == 16

    anyio.run(main, backend=backend)


def test_stores_that_need_no_waiting(saved: Path) -> None:
    class Plain:
        """Methods that are no coroutines."""

        def append(self, key: Any, entries: Any) -> None:
            self.kept = entries

        def load(self, key: Any) -> Any:
            return None

    async def main() -> None:
        store: Any = Plain()
        await towline.rename_session_via_store(store, session(1), "x")
        assert store.kept[0]["customTitle"] == "x"
        assert await towline.get_session_info_from_store(store, session(1)) is None

    anyio.run(main)


@BACKENDS
def test_stores_by_url(saved: Path, tmp_path: Path, backend: str) -> None:
    async def main() -> None:
        store = towline.open_store(f"sqlite:{tmp_path / 'store'}")
        await towline.import_session_to_store(session(1), store)
        await towline.rename_session_via_store(store, session(1), "in SQLite")
        (info,) = await towline.list_sessions_from_store(store)
        assert info.custom_title == "in SQLite"
        assert await towline.list_subagents_from_store(store, session(1)) == ["abc", "def", "ghi"]
        made = await towline.fork_session_via_store(store, session(1))
        assert await towline.get_session_messages_from_store(store, made.session_id)
        await towline.delete_session_via_store(store, session(1))
        listed = await towline.list_sessions_from_store(store)
        assert [info.session_id for info in listed] == [made.session_id]
        with pytest.raises(FileNotFoundError):
            await towline.fork_session_via_store(store, NO_SESSION)
        with pytest.raises(ValueError):
            await towline.rename_session_via_store(store, session(1), "")

    anyio.run(main, backend=backend)
