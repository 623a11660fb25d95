"""Session stores: what they keep and what they can do (`protocol.md §10`)."""

from typing import Any, Literal, Protocol

from ._typing import NotRequired, Required, TypedDict


class SessionKey(TypedDict):
    """Names a transcript."""

    project_key: str
    """By default made of the working directory, see `project_key_for_directory`."""
    session_id: str
    subpath: NotRequired[str]
    """A subagent's transcript within the session (`subagents/agent-1`); absent, never empty, for
    the session's own."""


class SessionStoreEntry(TypedDict, total=False):
    """A line of a transcript. A store gives it back as it came, whatever it holds."""

    type: Required[str]
    uuid: str
    timestamp: str


class SessionStoreListEntry(TypedDict):
    """A session in a store."""

    session_id: str
    mtime: int
    """When it was last written, in milliseconds since 1970."""


class SessionSummaryEntry(TypedDict):
    """What a list of sessions has to know of one, kept up to date by `fold_session_summary`."""

    session_id: str
    mtime: int
    """When the summary was last written, in milliseconds since 1970, by the same clock as
    `SessionStoreListEntry.mtime`. The store sets it; the fold leaves it alone."""
    data: dict[str, Any]
    """Not for the store to read."""


class SessionListSubkeysKey(TypedDict):
    """Names a session."""

    project_key: str
    session_id: str


SessionStoreFlushMode = Literal["batched", "eager"]
"""When a store is written to: once a turn (or at 500 entries or 1 MiB), or as soon as it can be."""


class SessionStore(Protocol):
    """Keeps transcripts somewhere else as well; the CLI always writes its local files.

    `append` and `load` are needed. The others are found out by looking: a method that is missing,
    or that is still the one of this class, is not there.
    """

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Adds lines of a transcript, in the order of the calls.

        An entry that has a `uuid` may come again and must not be added twice; one that has none is
        always added. A failure is tried again, three times altogether, a timeout is not.
        """
        ...

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All lines of a transcript in their order; `None` if there never were any."""
        ...

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project in any order, without the transcripts of subagents."""
        raise NotImplementedError

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """The summaries of a project's sessions.

        Two `append` for one session must not read, fold and write their summary at the same time.
        """
        raise NotImplementedError

    async def delete(self, key: SessionKey) -> None:
        """Removes a transcript, with all of its subagents' if the key has no `subpath`."""
        raise NotImplementedError

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The subpaths there are in a session."""
        raise NotImplementedError


def store_implements(store: object, method: str) -> bool:
    """Whether a store has an optional method of its own, and not one that a protocol (this one, or
    that of the official package) lends to its subclasses."""
    if getattr(store, method, None) is None:
        return False
    own = getattr(type(store), method, None)
    return not any(
        getattr(base, "_is_protocol", False) and vars(base).get(method, store) is own
        for base in type(store).__mro__
    )
