"""What both pools have in common."""

from typing import TYPE_CHECKING, Any

from ._engine.launching import dumps
from ._errors import CLIConnectionError

if TYPE_CHECKING:
    from . import _native

# Answered by every CLI at once: an older one refuses it, which is an answer too.
SIGN_OF_LIFE = "get_binary_version"


# Longer than anything lasts, in seconds: no limit.
FOR_EVER = 1e12


def milliseconds(option: str, seconds: float | None) -> int | None:
    """A time limit as the core takes it; infinity is none.

    Raises:
        TypeError: it is no number.
        ValueError: it is negative, or not a number.
    """
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{option}: a number of seconds or None, not {type(seconds).__name__}")
    if not seconds >= 0:
        raise ValueError(f"{option}: {seconds} is no number of seconds")
    return None if seconds >= FOR_EVER else int(seconds * 1000)


def _count(option: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{option}: a whole number, not {type(value).__name__}")
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{option}: {value} is no number of sessions")
    return value


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
        check = milliseconds("check_timeout", check_timeout)
        if check is None:
            raise ValueError(
                "check_timeout: a check has to have an end; check_interval=None is none"
            )
        self._document: dict[str, Any] = {
            "size": _count("size", size),
            "maxSessions": None if max_sessions is None else _count("max_sessions", max_sessions),
            "idleTimeoutMs": milliseconds("idle_timeout", idle_timeout),
            "checkIntervalMs": milliseconds("check_interval", check_interval),
            "checkTimeoutMs": check,
            "takeTimeoutMs": milliseconds("take_timeout", take_timeout),
        }

    def document(self) -> str:
        return dumps(self._document)


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
