"""How long a start took."""

from typing import NamedTuple


class Startup(NamedTuple):
    """Seconds since the session was asked for; `None` for what has not happened."""

    spawned: float | None
    """Until the CLI ran: the options were planned, the CLI was found."""
    initialized: float | None
    """Until its answer to `initialize` was read."""
    taken: float | None
    """Until it was taken from a pool for the first time."""
    first_message: float | None
    """Until the first message of a turn was given out."""
