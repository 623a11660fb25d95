"""The log of this package. `logging` is imported when there is something to say."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger() -> "Logger":
    from logging import getLogger

    return getLogger("towline")
