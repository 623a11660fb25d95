"""The trace that a tool call belongs to, by OpenTelemetry if the program uses it."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._native import Request


class traced:  # noqa: N801
    """What is called inside belongs to the trace that the CLI names for the call. Otherwise it belongs
    to the one that was active when the session was started, as every callback does."""

    __slots__ = ("_request", "_token")

    def __init__(self, request: "Request") -> None:
        self._request = request
        self._token: Any = None

    def __enter__(self) -> None:
        if "opentelemetry" not in sys.modules:
            return
        carrier = self._request.trace_context
        if carrier is None:
            return
        try:
            from opentelemetry import context, propagate

            self._token = context.attach(propagate.extract(carrier))
        except Exception:
            from .log import logger

            logger().debug("no trace context", exc_info=True)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            from opentelemetry import context

            context.detach(self._token)
