"""What is read of saved sessions (`protocol.md §10`)."""

from ._dataclass import Late, dataclass
from typing import TYPE_CHECKING, Any, Literal

from .. import _native


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


class _Message(_native.SavedField, Late):
    """The field `message`: many readers of a session look at some messages only."""


class _Text:
    """`_raw` is the text of a message that nobody has looked at, as `bytes`."""

    __slots__ = ("_raw",)


class _Undecoded(_Text):
    """Has attributes of its own."""


_attributes: Any = vars(_Undecoded)["__dict__"].__get__


@dataclass
class SessionMessage(_Undecoded):
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

    if not TYPE_CHECKING:

        @property
        def __dict__(self):
            _native.settle(self)
            return _attributes(self)

        def __delattr__(self, name):
            # What is deleted must not be decoded again.
            _native.settle(self)
            object.__delattr__(self, name)

        # Pickles of the first two protocols need it where there are slots.
        def __getstate__(self):
            return dict(self.__dict__)


if not TYPE_CHECKING:
    SessionMessage.message = _Message()
