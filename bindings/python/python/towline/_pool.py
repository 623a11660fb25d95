"""What both pools have in common."""

import os
from typing import TYPE_CHECKING, Any

from ._engine.launching import dumps
from ._errors import CLIConnectionError

if TYPE_CHECKING:
    import towline

    from . import _native

# Answered by every CLI at once: an older one refuses it, which is an answer too.
SIGN_OF_LIFE = "get_binary_version"


class Limits:
    """The limits of a pool, as the core takes them."""

    def __init__(
        self,
        size: int,
        max_sessions: int | None,
        idle_timeout: float | None,
        check_interval: float | None,
        check_timeout: float,
        take_timeout: float | None,
    ) -> None:
        def ms(seconds: float | None) -> int | None:
            return None if seconds is None else int(seconds * 1000)

        self._document: dict[str, Any] = {
            "size": size,
            "maxSessions": max_sessions,
            "idleTimeoutMs": ms(idle_timeout),
            "checkIntervalMs": ms(check_interval),
            "checkTimeoutMs": ms(check_timeout),
            "takeTimeoutMs": ms(take_timeout),
        }

    def document(self) -> str:
        return dumps(self._document)


def check_options(options: "towline.ClaudeAgentOptions") -> None:
    """Raises for options that name one conversation.

    Raises:
        ValueError: says which.
    """
    for name in ("resume", "continue_conversation", "session_id"):
        if getattr(options, name, None):
            raise ValueError(
                f"option {name} is for one session and not for those of a pool; take the session by "
                "its id instead"
            )
    record = getattr(options, "record", None)
    if record is not None and not os.path.isdir(record):
        raise ValueError(
            "option record names one file, and each session of a pool would write it anew; give a "
            "folder that is there"
        )


def put_back_key(session: "_native.Session") -> str | None:
    """The conversation of a session that is given back; `None` for one without any.

    Raises:
        CLIConnectionError: it cannot be kept.
    """
    if not session.is_usable():
        raise CLIConnectionError("the session cannot be parked: it has ended")
    if not session.was_prompted():
        return None
    if session.turn_open():
        raise CLIConnectionError("the session cannot be parked: a turn of it is not over")
    key = session.session_id
    if key is None:
        raise CLIConnectionError("the session cannot be parked: it has no session id yet")
    return key


def is_timeout(error: Exception) -> bool:
    """Whether a control request was not answered at all."""
    return str(error).startswith("Control request timeout")
