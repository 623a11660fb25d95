"""Session stores: one in memory, those of the core by URL, and what every store needs."""

import json
import time
from typing import Any

from . import _native
from .types.stores import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

__all__ = ["InMemorySessionStore", "fold_session_summary", "open_store"]


def fold_session_summary(
    prev: SessionSummaryEntry | None, key: SessionKey, entries: list[SessionStoreEntry]
) -> SessionSummaryEntry:
    """The summary of a session after entries were added.

    A store calls this in `append`, for keys without a `subpath` only, and keeps what it gives with
    `mtime` set to the time of storing.

    Args:
        prev: The summary before, `None` at the first time.
        key: The session.
        entries: What was added.
    """
    data = None if prev is None else json.dumps(prev["data"])
    folded = _native.fold(data, key["session_id"], json.dumps(entries))
    return {
        "session_id": key["session_id"] if prev is None else prev["session_id"],
        "mtime": 0 if prev is None else prev["mtime"],
        "data": folded,
    }


def open_store(url: str) -> SessionStore:
    """Opens a store by its URL, creating what is not there yet.

    - `memory:` is gone with this process;
    - `sqlite:PATH` is one file;
    - `dir:PATH` is a folder of JSON lines files;
    - `postgres://user@host/database` is a database that many machines share.

    Its methods may be called in any event loop; what blocks is done in a thread.

    Raises:
        ValueError: the URL is none of these, or what it names cannot be opened.
    """
    return _UrlStore(_native.Store.open(url))


class _UrlStore(SessionStore):
    """One of the core's stores."""

    def __init__(self, store: "_native.Store") -> None:
        self._native_store = store

    async def _call(self, call: str, **arguments: Any) -> Any:
        from ._store_tasks import to_thread

        return await to_thread(self._native_store.call, json.dumps({"call": call, **arguments}))

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        await self._call("append", key=key, entries=entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        entries: list[SessionStoreEntry] | None = await self._call("load", key=key)
        return entries

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        sessions: list[SessionStoreListEntry] = await self._call(
            "list_sessions", project_key=project_key
        )
        return sessions

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        summaries: list[SessionSummaryEntry] = await self._call(
            "list_session_summaries", project_key=project_key
        )
        return summaries

    async def delete(self, key: SessionKey) -> None:
        await self._call("delete", key=key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        subkeys: list[str] = await self._call("list_subkeys", key=key)
        return subkeys


_Name = tuple[str, str, str]


def _name(key: SessionKey) -> _Name:
    return key["project_key"], key["session_id"], key.get("subpath") or ""


class _Transcript:
    """The entries under one key."""

    def __init__(self) -> None:
        self.entries: list[SessionStoreEntry] = []
        self.uuids: set[str] = set()
        self.mtime = 0


class InMemorySessionStore(SessionStore):
    """A store in this process, for tests and to begin with."""

    def __init__(self) -> None:
        self._transcripts: dict[_Name, _Transcript] = {}
        self._summaries: dict[tuple[str, str], SessionSummaryEntry] = {}
        self._last_mtime = 0

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        if not entries:
            return
        name = _name(key)
        transcript = self._transcripts.setdefault(name, _Transcript())
        fresh: list[SessionStoreEntry] = []
        for entry in entries:
            uuid = entry.get("uuid")
            if isinstance(uuid, str) and uuid:
                if uuid in transcript.uuids:
                    continue
                transcript.uuids.add(uuid)
            fresh.append(entry)
        transcript.entries.extend(fresh)
        # Two writes never have the same time, so that a summary is known to be current.
        self._last_mtime = max(self._last_mtime + 1, int(time.time() * 1000))
        transcript.mtime = self._last_mtime
        if not name[2]:
            session = name[:2]
            summary = fold_session_summary(self._summaries.get(session), key, fresh)
            summary["mtime"] = self._last_mtime
            self._summaries[session] = summary

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        transcript = self._transcripts.get(_name(key))
        return None if transcript is None else list(transcript.entries)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [
            {"session_id": session, "mtime": transcript.mtime}
            for (project, session, subpath), transcript in self._transcripts.items()
            if project == project_key and not subpath
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        return [
            summary for (project, _), summary in self._summaries.items() if project == project_key
        ]

    async def delete(self, key: SessionKey) -> None:
        name = _name(key)
        self._transcripts.pop(name, None)
        if name[2]:
            return
        self._summaries.pop(name[:2], None)
        for other in [other for other in self._transcripts if other[:2] == name[:2]]:
            del self._transcripts[other]

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        session = (key["project_key"], key["session_id"])
        return [name[2] for name in self._transcripts if name[:2] == session and name[2]]

    def get_entries(self, key: SessionKey) -> list[SessionStoreEntry]:
        """All entries of a transcript; none if it never was written."""
        transcript = self._transcripts.get(_name(key))
        return [] if transcript is None else list(transcript.entries)

    @property
    def size(self) -> int:
        """How many sessions there are."""
        return sum(not subpath for _, _, subpath in self._transcripts)

    def clear(self) -> None:
        """Forgets everything."""
        self._transcripts.clear()
        self._summaries.clear()
        self._last_mtime = 0
