"""The way to a CLI that a program brings itself."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any


class Transport(ABC):
    """Lines to and from a CLI, wherever it runs.

    Any object with these methods does. The options that are arguments or variables of a process are
    up to the transport; everything else works as with a process of Towline's own.

    What does not return within the limits of the session is cancelled, and the session ends with an
    error that names the method.
    """

    @abstractmethod
    async def connect(self) -> None:
        """Opens the way."""

    @abstractmethod
    async def write(self, data: str) -> None:
        """Sends one or more whole lines."""

    @abstractmethod
    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Every message of the CLI, decoded; the end of it is the end of the CLI."""

    @abstractmethod
    async def close(self) -> None:
        """Ends it; whoever leaves a session waits for this, as long as its graces are."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether it is open."""

    @abstractmethod
    async def end_input(self) -> None:
        """Nothing more will be written."""
