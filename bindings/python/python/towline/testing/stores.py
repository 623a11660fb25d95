"""What every session store must do."""

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any

from ..types.stores import SessionKey, SessionListSubkeysKey, SessionStore, store_implements

_OPTIONAL = frozenset({"list_sessions", "list_session_summaries", "delete", "list_subkeys"})

_PROJECT = "project"
_MAIN: SessionKey = {"project_key": _PROJECT, "session_id": "session"}
_SESSION: SessionListSubkeysKey = {"project_key": _PROJECT, "session_id": "session"}

# Milliseconds since 1970 of the year 2001: what is below was given in seconds.
_SECONDS_AT_MOST = 1e12


def _entry(**members: Any) -> Any:
    return {"type": "x", **members}


def _sub(name: str, session: str = "session") -> SessionKey:
    return {"project_key": _PROJECT, "session_id": session, "subpath": f"subagents/{name}"}


def _time(value: Any) -> None:
    assert math.isfinite(value) and value > _SECONDS_AT_MOST, (
        f"mtime must be in milliseconds since 1970, not {value!r}"
    )


async def run_session_store_conformance(
    make_store: Callable[[], SessionStore | Awaitable[SessionStore]],
    *,
    skip_optional: frozenset[str] = frozenset(),
) -> None:
    """Holds a store to what `SessionStore` says; raises `AssertionError` where it does otherwise.

    Args:
        make_store: Makes an empty store, several times; may be asynchronous.
        skip_optional: Optional methods that are not tried, though the store has them.
    """
    unknown = skip_optional - _OPTIONAL
    assert not unknown, f"no optional methods: {sorted(unknown)}"

    async def fresh() -> SessionStore:
        store = make_store()
        return await store if inspect.isawaitable(store) else store

    probe = await fresh()
    has = {name: store_implements(probe, name) for name in _OPTIONAL - skip_optional}

    await _order(await fresh())
    await _never_written(await fresh())
    await _several_batches(await fresh())
    await _empty_batch(await fresh())
    await _any_entry(await fresh())
    await _subpaths_apart(await fresh())
    await _projects_apart(await fresh(), has)
    if has.get("list_sessions"):
        await _sessions(await fresh())
        await _sessions_without_subagents(await fresh())
    if has.get("list_session_summaries"):
        await _summaries(await fresh(), has)
    if has.get("delete"):
        await _delete(await fresh())
        await _delete_with_subagents(await fresh(), has)
        await _delete_one_subagent(await fresh(), has)
    if has.get("list_subkeys"):
        await _subkeys(await fresh())
        await _no_subkeys(await fresh())


async def _order(store: SessionStore) -> None:
    entries = [_entry(uuid="b", n=1), _entry(uuid="a", n=2)]
    await store.append(_MAIN, entries)
    assert await store.load(_MAIN) == entries, "entries come back in the order they were appended"


async def _never_written(store: SessionStore) -> None:
    nothing: SessionKey = {"project_key": _PROJECT, "session_id": "none"}
    assert await store.load(nothing) is None, "what was never written is None"
    await store.append(_MAIN, [_entry(n=1)])
    assert await store.load(_sub("none")) is None, "a subpath that was never written is None"


async def _several_batches(store: SessionStore) -> None:
    batches = [
        [_entry(uuid="z", n=1)],
        [_entry(uuid="a", n=2), _entry(uuid="m", n=3)],
        [_entry(uuid="b", n=4)],
    ]
    for batch in batches:
        await store.append(_MAIN, batch)
    expected = [entry for batch in batches for entry in batch]
    assert await store.load(_MAIN) == expected, "batches stay in the order of the calls"


async def _empty_batch(store: SessionStore) -> None:
    await store.append(_MAIN, [_entry(n=1)])
    await store.append(_MAIN, [])
    assert await store.load(_MAIN) == [_entry(n=1)], "appending nothing changes nothing"


async def _any_entry(store: SessionStore) -> None:
    entry = _entry(
        text="ü \U0001f600 \n", deep={"a": [1, 2.5, None, True, {"b": ""}]}, timestamp="t"
    )
    await store.append(_MAIN, [entry, entry])
    assert await store.load(_MAIN) == [entry, entry], (
        "entries come back as they were, and without a uuid as often as they were appended"
    )


async def _subpaths_apart(store: SessionStore) -> None:
    await store.append(_MAIN, [_entry(n=1)])
    await store.append(_sub("agent-1"), [_entry(n=2)])
    assert await store.load(_MAIN) == [_entry(n=1)], "a subagent's entries are not the session's"
    assert await store.load(_sub("agent-1")) == [_entry(n=2)], "a subagent has its own entries"


async def _projects_apart(store: SessionStore, has: dict[str, bool]) -> None:
    for project in ("A", "B"):
        key: SessionKey = {"project_key": project, "session_id": "same"}
        await store.append(key, [_entry(of=project)])
    for project in ("A", "B"):
        key = {"project_key": project, "session_id": "same"}
        assert await store.load(key) == [_entry(of=project)], "projects are kept apart"
        if has.get("list_sessions"):
            assert len(await store.list_sessions(project)) == 1, "projects are listed apart"


async def _sessions(store: SessionStore) -> None:
    for project, session in ((_PROJECT, "a"), (_PROJECT, "b"), ("other", "c")):
        await store.append({"project_key": project, "session_id": session}, [_entry()])
    listed = await store.list_sessions(_PROJECT)
    assert sorted(entry["session_id"] for entry in listed) == ["a", "b"]
    for entry in listed:
        _time(entry["mtime"])
    assert await store.list_sessions("none") == [], "a project without sessions is empty"


async def _sessions_without_subagents(store: SessionStore) -> None:
    await store.append(_MAIN, [_entry()])
    await store.append(_sub("agent-1"), [_entry()])
    listed = [entry["session_id"] for entry in await store.list_sessions(_PROJECT)]
    assert listed == ["session"], "subagents are no sessions"


async def _summaries(store: SessionStore, has: dict[str, bool]) -> None:
    from .. import fold_session_summary

    def at(second: int, **members: Any) -> Any:
        return _entry(timestamp=f"2024-01-01T00:00:0{second}.000Z", **members)

    await store.append(_MAIN, [at(0, customTitle="first"), at(1)])
    await store.append(_MAIN, [at(2, customTitle="second")])
    await store.append({"project_key": "other", "session_id": "elsewhere"}, [at(0)])
    found = {
        summary["session_id"]: summary for summary in await store.list_session_summaries(_PROJECT)
    }
    assert set(found) == {"session"}, "a summary for each session of the project"
    summary = found["session"]
    _time(summary["mtime"])
    if has.get("list_sessions"):
        times = {
            entry["session_id"]: entry["mtime"] for entry in await store.list_sessions(_PROJECT)
        }
        assert summary["mtime"] >= times["session"], (
            "a summary's mtime is when it was stored, by the same clock as list_sessions"
        )
    assert isinstance(summary["data"], dict)
    folded = fold_session_summary(summary, _MAIN, [at(3)])
    assert folded["session_id"] == "session"
    assert folded["mtime"] == summary["mtime"], "what is stored can be folded on"
    await store.append(_sub("agent-1"), [at(9, customTitle="subagent")])
    after = {
        summary["session_id"]: summary for summary in await store.list_session_summaries(_PROJECT)
    }
    assert after["session"]["data"] == summary["data"], "subagents do not change the summary"
    assert await store.list_session_summaries("none") == []
    if has.get("delete"):
        await store.delete(_MAIN)
        assert await store.list_session_summaries(_PROJECT) == [], "a summary goes with its session"


async def _delete(store: SessionStore) -> None:
    await store.delete({"project_key": _PROJECT, "session_id": "none"})
    await store.append(_MAIN, [_entry()])
    await store.delete(_MAIN)
    assert await store.load(_MAIN) is None, "what was deleted is gone"


async def _delete_with_subagents(store: SessionStore, has: dict[str, bool]) -> None:
    others: list[SessionKey] = [
        {"project_key": _PROJECT, "session_id": "session-2"},
        {"project_key": "other", "session_id": "session"},
    ]
    gone = [_MAIN, _sub("agent-1"), _sub("agent-2")]
    for key in [*gone, *others]:
        await store.append(key, [_entry()])
    await store.delete(_MAIN)
    for key in gone:
        assert await store.load(key) is None, "a session takes its subagents with it"
    for key in others:
        assert await store.load(key) == [_entry()], "other sessions stay"
    if has.get("list_subkeys"):
        assert await store.list_subkeys(_SESSION) == []
    if has.get("list_sessions"):
        listed = [entry["session_id"] for entry in await store.list_sessions(_PROJECT)]
        assert "session" not in listed


async def _delete_one_subagent(store: SessionStore, has: dict[str, bool]) -> None:
    for key in (_MAIN, _sub("agent-1"), _sub("agent-2")):
        await store.append(key, [_entry()])
    await store.delete(_sub("agent-1"))
    assert await store.load(_sub("agent-1")) is None
    assert await store.load(_sub("agent-2")) == [_entry()], "only that subagent is deleted"
    assert await store.load(_MAIN) == [_entry()], "the session stays"
    if has.get("list_subkeys"):
        assert await store.list_subkeys(_SESSION) == ["subagents/agent-2"]


async def _subkeys(store: SessionStore) -> None:
    for key in (_MAIN, _sub("agent-1"), _sub("agent-2"), _sub("agent-x", "another")):
        await store.append(key, [_entry()])
    assert sorted(await store.list_subkeys(_SESSION)) == ["subagents/agent-1", "subagents/agent-2"]


async def _no_subkeys(store: SessionStore) -> None:
    await store.append(_MAIN, [_entry()])
    assert await store.list_subkeys(_SESSION) == [], "the session itself is no subkey"
    assert await store.list_subkeys({"project_key": _PROJECT, "session_id": "none"}) == []
