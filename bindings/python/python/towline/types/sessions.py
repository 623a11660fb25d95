"""What is read of saved sessions (`protocol.md §10`)."""

from ._dataclass import dataclass
from typing import Any, Literal


@dataclass
class SDKSessionInfo:
    """A saved session, as far as its file tells without being read whole. Times are milliseconds
    since 1970."""

    session_id: str
    summary: str
    """What to show: the title, else the last or the first prompt."""
    last_modified: int
    file_size: int | None = None
    """In bytes; of local files only."""
    custom_title: str | None = None
    first_prompt: str | None = None
    git_branch: str | None = None
    cwd: str | None = None
    tag: str | None = None
    created_at: int | None = None


@dataclass
class SessionMessage:
    """A message of a saved session."""

    type: Literal["user", "assistant"]
    uuid: str
    session_id: str
    message: Any
    """As the Messages API has it."""
    parent_tool_use_id: str | None = None
    """Of a subagent's messages: the call that started it."""
    parent_agent_id: str | None = None
    """Of a subagent's messages: the subagent that started it; `None` is the main thread."""
