"""How a callback learns that its answer is not wanted any more."""

from collections.abc import Callable


class CancelSignal:
    """The `signal` of a permission or hook callback.

    The callback's task is cancelled too; this is for what it has handed on: a dialog on a screen,
    a message in a chat. Callbacks of the synchronous client, which cannot be cancelled, look at
    `aborted`.
    """

    # Values of the class, since there is a signal for every request and hardly one is used.
    _aborted = False
    _listeners: "list[Callable[[], object]] | None" = None
    reason: str | None = None
    """`withdrawn` by the CLI, `timed_out`, or `session_ended`; `None` before."""

    @property
    def aborted(self) -> bool:
        """Whether nobody waits for the answer."""
        return self._aborted

    def on_abort(self, listener: Callable[[], object]) -> None:
        """Calls `listener` when that happens, or now if it has."""
        if self._aborted:
            listener()
        elif self._listeners is None:
            self._listeners = [listener]
        else:
            self._listeners.append(listener)

    def abort(self, reason: str) -> None:
        """Says so. What a listener raises is logged."""
        if self._aborted:
            return
        self._aborted = True
        self.reason = reason
        listeners, self._listeners = self._listeners, None
        for listener in listeners or ():
            try:
                listener()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:
                from .log import logger

                logger().exception("a listener of a cancel signal failed")

    def __repr__(self) -> str:
        return f"<CancelSignal {self.reason if self._aborted else 'open'}>"
