"""What a session tells beside its messages."""

from typing import TYPE_CHECKING

from .log import disturbing_nothing

if TYPE_CHECKING:
    from .._options import Launch


@disturbing_nothing
def diagnose(kind: str, text: str) -> None:
    """Tells the program of something odd that does not end the session."""
    if kind == "options":
        from warnings import warn

        warn(text, stacklevel=3)
        return
    from .log import logger

    logger().warning("%s", text)


@disturbing_nothing
def report_stderr(launch: "Launch", line: str) -> None:
    """Gives the program a line of stderr. A callback that fails gets the next one all the same."""
    if launch.stderr is None:
        return
    try:
        launch.stderr(line)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        from .log import logger

        logger().warning("the stderr callback failed", exc_info=True)
