"""Saved sessions: those of this machine, and those in a store.

Functions without `store` in their names read and change the files of the CLI, below
`CLAUDE_CONFIG_DIR` or `~/.claude`, and block meanwhile (other threads go on). `directory` is the
working directory that a session ran in; `None` is any. The others are asynchronous, for asyncio and
trio, and work on the store alone; there `directory` names the project, `None` being the current
directory's.
"""

import json
import os
from pathlib import Path
from typing import Any

from . import _native
from ._store_tasks import operation
from .types._dataclass import dataclass
from .types.sessions import SDKSessionInfo, SessionMessage
from .types.stores import SessionStore

__all__ = [
    "ForkSessionResult",
    "delete_session",
    "delete_session_via_store",
    "fork_session",
    "fork_session_via_store",
    "get_session_info",
    "get_session_info_from_store",
    "get_session_messages",
    "get_session_messages_from_store",
    "get_subagent_messages",
    "get_subagent_messages_from_store",
    "import_session_to_store",
    "list_sessions",
    "list_sessions_from_store",
    "list_subagents",
    "list_subagents_from_store",
    "project_key_for_directory",
    "rename_session",
    "rename_session_via_store",
    "tag_session",
    "tag_session_via_store",
]


@dataclass
class ForkSessionResult:
    """A new session."""

    session_id: str


# The core tells more than the dataclasses have room for.
_INFO = tuple(SDKSessionInfo.__annotations__)
_MESSAGE = tuple(SessionMessage.__annotations__)


def _saved(operation: str, directory: str | None, **arguments: Any) -> Any:
    """Does one of the core's functions over saved sessions (`towline::transcripts::SavedOperation`)."""
    return _native.saved(_document(operation, directory, arguments))


def _saved_messages(
    operation: str, directory: str | None, **arguments: Any
) -> list[SessionMessage]:
    """As `_saved`, of one that gives messages."""
    return _native.messages_of_saved(_document(operation, directory, arguments))


def _document(operation: str, directory: str | None, arguments: dict[str, Any]) -> str:
    if isinstance(directory, os.PathLike):
        directory = os.fspath(directory)
    return json.dumps({"operation": operation, "directory": directory, **arguments})


def _info(found: dict[str, Any]) -> SDKSessionInfo:
    return SDKSessionInfo(**{name: found[name] for name in _INFO})


def _infos(found: list[dict[str, Any]]) -> list[SDKSessionInfo]:
    return [_info(info) for info in found]


def _messages(found: list[dict[str, Any]]) -> list[SessionMessage]:
    return [SessionMessage(**{name: message[name] for name in _MESSAGE}) for message in found]


def project_key_for_directory(directory: str | Path | None = None) -> str:
    """The project that sessions of a directory belong to: the name of its folder of transcripts, and
    their `project_key` in stores. `None` is the current directory."""
    return _native.project_key(directory)


def list_sessions(
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    include_worktrees: bool = True,
) -> list[SDKSessionInfo]:
    """The saved sessions, newest first.

    Files are not read whole: what is told of a session stands at their beginnings and ends.

    Args:
        limit: Most sessions; `None` and 0 are all.
        offset: How many of the newest are left out.
        include_worktrees: Whether a directory also stands for the other worktrees of its repository.
    """
    return _infos(
        _saved(
            "list_sessions",
            directory,
            limit=limit,
            offset=offset,
            include_worktrees=include_worktrees,
        )
    )


def get_session_info(session_id: str, directory: str | None = None) -> SDKSessionInfo | None:
    """What a list tells of one session; `None` if there is none."""
    info = _saved("get_session_info", directory, session_id=session_id)
    return None if info is None else _info(info)


def get_session_messages(
    session_id: str, directory: str | None = None, limit: int | None = None, offset: int = 0
) -> list[SessionMessage]:
    """The conversation of a session, oldest message first; none if there is no such session."""
    return _saved_messages(
        "get_session_messages", directory, session_id=session_id, limit=limit, offset=offset
    )


def list_subagents(session_id: str, directory: str | None = None) -> list[str]:
    """The ids of a session's subagents."""
    subagents: list[str] = _saved("list_subagents", directory, session_id=session_id)
    return subagents


def get_subagent_messages(
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """The conversation of a subagent, oldest message first; none if there is no such subagent."""
    return _saved_messages(
        "get_subagent_messages",
        directory,
        session_id=session_id,
        agent_id=agent_id,
        limit=limit,
        offset=offset,
    )


def rename_session(session_id: str, title: str, directory: str | None = None) -> None:
    """Gives a session a title; the last one counts.

    Raises:
        ValueError: the id is no UUID, or the title is empty.
        FileNotFoundError: there is no such session.
    """
    _saved("rename_session", directory, session_id=session_id, title=title)


def tag_session(session_id: str, tag: str | None, directory: str | None = None) -> None:
    """Tags a session; `None` takes its tag away. Characters that cannot be seen are left out.

    Raises:
        ValueError: the id is no UUID, or nothing is left of the tag.
        FileNotFoundError: there is no such session.
    """
    _saved("tag_session", directory, session_id=session_id, tag=tag)


def delete_session(session_id: str, directory: str | None = None) -> None:
    """Deletes a session's file, and its folder with the subagents'.

    Raises:
        ValueError: the id is no UUID.
        FileNotFoundError: there is no such session.
    """
    _saved("delete_session", directory, session_id=session_id)


def fork_session(
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """Copies a session as a new one, which can be resumed.

    Args:
        up_to_message_id: The last message that is copied; `None` copies all.
        title: The copy's title; `None` is the old one's with ` (fork)` behind it.

    Raises:
        ValueError: an id is no UUID, or there is nothing to copy.
        FileNotFoundError: there is no such session.
    """
    made = _saved(
        "fork_session",
        directory,
        session_id=session_id,
        up_to_message_id=up_to_message_id,
        title=title,
    )
    return ForkSessionResult(made["session_id"])


async def list_sessions_from_store(
    session_store: SessionStore,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SDKSessionInfo]:
    """The sessions of a project in a store, newest first.

    A store with `list_session_summaries` is asked for those and for the list of sessions, and loads
    only the sessions whose summary is missing or old; one without loads every session, 16 at once.

    Raises:
        ValueError: the store can list neither sessions nor summaries.
    """
    return _infos(
        await operation(
            session_store, "list_sessions", directory=directory, limit=limit, offset=offset
        )
    )


async def get_session_info_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> SDKSessionInfo | None:
    """What a list tells of one session in a store; `None` if there is none."""
    info = await operation(
        session_store, "get_session_info", session_id=session_id, directory=directory
    )
    return None if info is None else _info(info)


async def get_session_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """The conversation of a session in a store, oldest message first."""
    return _messages(
        await operation(
            session_store,
            "get_session_messages",
            session_id=session_id,
            directory=directory,
            limit=limit,
            offset=offset,
        )
    )


async def list_subagents_from_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> list[str]:
    """The ids of a session's subagents in a store.

    Raises:
        ValueError: the store has no `list_subkeys`.
    """
    subagents: list[str] = await operation(
        session_store, "list_subagents", session_id=session_id, directory=directory
    )
    return subagents


async def get_subagent_messages_from_store(
    session_store: SessionStore,
    session_id: str,
    agent_id: str,
    directory: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[SessionMessage]:
    """The conversation of a subagent in a store, oldest message first."""
    return _messages(
        await operation(
            session_store,
            "get_subagent_messages",
            session_id=session_id,
            agent_id=agent_id,
            directory=directory,
            limit=limit,
            offset=offset,
        )
    )


async def rename_session_via_store(
    session_store: SessionStore, session_id: str, title: str, directory: str | None = None
) -> None:
    """Gives a session in a store a title.

    Raises:
        ValueError: the id is no UUID, or the title is empty.
    """
    await operation(
        session_store, "rename_session", session_id=session_id, title=title, directory=directory
    )


async def tag_session_via_store(
    session_store: SessionStore, session_id: str, tag: str | None, directory: str | None = None
) -> None:
    """Tags a session in a store; `None` takes its tag away.

    Raises:
        ValueError: the id is no UUID, or nothing is left of the tag.
    """
    await operation(
        session_store, "tag_session", session_id=session_id, tag=tag, directory=directory
    )


async def delete_session_via_store(
    session_store: SessionStore, session_id: str, directory: str | None = None
) -> None:
    """Deletes a session from a store; nothing happens if the store has no `delete`.

    Raises:
        ValueError: the id is no UUID.
    """
    await operation(session_store, "delete_session", session_id=session_id, directory=directory)


async def fork_session_via_store(
    session_store: SessionStore,
    session_id: str,
    directory: str | None = None,
    up_to_message_id: str | None = None,
    title: str | None = None,
) -> ForkSessionResult:
    """Copies a session within a store; see `fork_session`.

    Raises:
        ValueError: an id is no UUID, or there is nothing to copy.
        FileNotFoundError: there is no such session.
    """
    made = await operation(
        session_store,
        "fork_session",
        session_id=session_id,
        directory=directory,
        up_to_message_id=up_to_message_id,
        title=title,
    )
    return ForkSessionResult(made["session_id"])


async def import_session_to_store(
    session_id: str,
    store: SessionStore,
    *,
    directory: str | None = None,
    include_subagents: bool = True,
    batch_size: int = 500,
) -> None:
    """Copies a saved session into a store, as mirroring it would have.

    Args:
        directory: Where the session ran; `None` looks in all projects.
        include_subagents: Whether its subagents come along.
        batch_size: Most entries of one `append`, which is not much larger than 1 MiB either.

    Raises:
        ValueError: the id is no UUID.
        FileNotFoundError: there is no such session.
    """
    await operation(
        store,
        "import_session",
        session_id=session_id,
        directory=directory,
        include_subagents=include_subagents,
        batch_size=batch_size,
    )
