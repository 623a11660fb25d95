"""The log of this package. `logging` is imported when there is something to say.

What happens in a session goes to loggers named after its subject, such as `towline.turn`, if they are
enabled for it when the session starts; each record has `towline`, a dict with its fields.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from logging import Logger

_SUBJECTS = ("session", "turn", "request", "callback", "store", "stderr", "wire")

_WIRE = 5

_Tell = TypeVar("_Tell", bound=Callable[..., None])


def disturbing_nothing(tell: _Tell) -> _Tell:
    """Whoever is told may fail, as a handler of `logging` does: the session goes on."""

    def told(*arguments: Any) -> None:
        try:
            tell(*arguments)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            from traceback import print_exc

            print_exc()

    return told  # type: ignore[return-value]


def logger() -> "Logger":
    from logging import getLogger

    return getLogger("towline")


def wanted_level(document: "dict[str, Any]") -> int:
    """Up to which level of the core's the program wants records: 0 for none, 3 for what a session
    does as a whole, 4 for turns and requests, 5 for lines of the wire."""
    if document.get("wire_log") == "log":
        return _WIRE
    # A program that has configured a logger has imported it.
    logging = sys.modules.get("logging")
    if logging is None:
        return 0
    loggers = [logging.getLogger(f"towline.{subject}") for subject in _SUBJECTS]
    for level, number in ((logging.DEBUG, 4), (logging.INFO, 3)):
        if any(logger.isEnabledFor(level) for logger in loggers):
            return number
    return 0


@disturbing_nothing
def report(
    level: int, target: str, message: str, fields: str, session_id: str | None, turn: int | None
) -> None:
    """Logs a record of the core's. Diagnostics are told otherwise."""
    if target == "towline.diagnostic":
        return
    import logging
    from json import loads

    number = (
        (logging.ERROR, logging.WARNING, logging.INFO)[level - 1] if level < 4 else logging.DEBUG
    )
    logger = logging.getLogger(target)
    if not logger.isEnabledFor(number):
        return
    more: dict[str, Any] = {**loads(fields), "session_id": session_id, "turn": turn}
    if fields == "{}":
        logger.log(number, "%s", message, extra={"towline": more})
    else:
        logger.log(number, "%s %s", message, fields, extra={"towline": more})
