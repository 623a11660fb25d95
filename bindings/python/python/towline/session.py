"""A session without an event loop: everything happens in the calls."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import towline

from ._engine.controls import Controls
from ._errors import CLIConnectionError

if TYPE_CHECKING:
    from ._engine.blocking import BlockingEngine


class Session(Controls):
    """A session with a CLI, for programs and notebooks without asyncio.

        with towline.Session() as session:
            for message in session.run("What is 2 + 2?"):
                print(message)

    Callbacks are plain functions; they run in the thread that reads or waits, and may use the session
    themselves. Several threads may share it. A child of `fork` cannot; it starts its own.
    """

    if TYPE_CHECKING:
        _engine: BlockingEngine | None
    _engine = None

    def __init__(self, options: "towline.ClaudeAgentOptions | None" = None) -> None:
        """
        Args:
            options: What to start the CLI with.
        """
        self.options = options

    def connect(self) -> None:
        """Starts the CLI and waits until the session is open.

        Raises:
            CLINotFoundError: there is no CLI.
            CLIConnectionError: it could not be started.
            ProcessError: it ended at once.
        """
        from ._engine.blocking import BlockingEngine
        from ._options import prepare

        options = self.options
        if options is None:
            from .types import ClaudeAgentOptions

            options = ClaudeAgentOptions()
        if self._engine is not None:
            self.close()
        engine = BlockingEngine(prepare(options))
        self._engine = engine
        try:
            engine.connected()
        except BaseException:
            self.close()
            raise

    def _connected(self) -> "BlockingEngine":
        if self._engine is None:
            raise CLIConnectionError("Not connected. Call connect() first.")
        return self._engine

    def run(self, prompt: "str | dict[str, Any]") -> "Iterator[towline.Message]":
        """Sends a prompt; the messages of its turn, the result last."""
        return iter(self.send(prompt))

    def ask(self, prompt: "str | dict[str, Any]") -> "towline.ResultMessage":
        """Sends a prompt and waits for its result.

        Raises:
            CLIConnectionError: the turn ended without one.
        """
        return self.send(prompt).result()

    def send(self, prompt: "str | dict[str, Any]") -> "SessionTurn":
        """Sends a prompt, a text or a user message, and gives the turn that comes of it."""
        engine = self._connected()
        if isinstance(prompt, str):
            prompt = {
                "type": "user",
                "message": {"role": "user", "content": prompt},
                "parent_tool_use_id": None,
                "session_id": "",
            }
        turn = SessionTurn(engine)
        engine.send(prompt, turn)
        return turn

    def messages(self) -> "Iterator[towline.Message]":
        """The messages that belong to no turn of this program, until the session ends."""
        engine = self._connected()
        return engine.read(engine.inbox)

    def end_input(self) -> None:
        """No more prompts: what was sent is worked through, then the CLI ends by itself."""
        self._connected().session.end_input_when_settled()

    def request(self, subtype: str, /, **fields: Any) -> dict[str, Any]:
        """Sends any control request; the payload of its answer."""
        return self._control(subtype, fields)

    def _control(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        return self._connected().request(subtype, fields)

    def get_mcp_status(self) -> "towline.McpStatusResponse":
        """How the MCP servers are."""
        answer: Any = self._control("mcp_status", {})
        return answer  # type: ignore[no-any-return]

    def reconnect_mcp_server(self, server_name: str) -> None:
        """Connects an MCP server again."""
        self._control("mcp_reconnect", {"serverName": server_name})

    def toggle_mcp_server(self, server_name: str, enabled: bool) -> None:
        """Turns an MCP server on or off."""
        self._control("mcp_toggle", {"serverName": server_name, "enabled": enabled})

    def get_server_info(self) -> dict[str, Any] | None:
        """As `info`."""
        return self._connected().session.capabilities()

    @property
    def info(self) -> dict[str, Any]:
        """The CLI's answer to `initialize`: commands, agents, models, …"""
        return self._connected().session.capabilities() or {}

    @property
    def session_id(self) -> str | None:
        """The session's id, once known."""
        return self._connected().session.session_id

    @property
    def startup(self) -> "towline.Startup":
        """How long the session took to start, by phase."""
        from ._startup import Startup

        return Startup(*self._connected().session.startup)

    @property
    def pid(self) -> int | None:
        """The process id of the CLI, while it is known."""
        return self._connected().session.pid

    def close(self) -> None:
        """Ends the session, within the grace periods of the options."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def __enter__(self) -> "Session":
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SessionTurn:
    """A turn of a `Session`: `for message in turn`."""

    outcome: str | None = None
    """`result`, `cancelled`, `timed_out` or `session_ended`, once it is over."""

    number: int = 0

    def __init__(self, engine: Any) -> None:
        from . import _native

        self._engine: BlockingEngine = engine
        self._result: towline.ResultMessage | None = None
        self.inbox = _native.Inbox()

    def over(self, outcome: str, result: Any) -> None:
        """Called by the engine."""
        self.outcome = outcome
        self._result = result
        self.inbox.close()

    def __iter__(self) -> "Iterator[towline.Message]":
        return self._engine.read(self.inbox)

    def result(self) -> "towline.ResultMessage":
        """Waits for the turn's result. Its messages can still be read afterwards.

        Raises:
            ClaudeSDKError: what ended the session before there was a result.
            CLIConnectionError: the turn ended without one; `outcome` says how.
        """
        self._engine.until(lambda: self.outcome is not None)
        if self._result is None:
            raise self._engine.error or CLIConnectionError(
                f"the turn has no result: {self.outcome}"
            )
        return self._result

    def interrupt(self) -> None:
        """Ends the turn, if it is the running one; its result follows."""
        if self.outcome is None:
            self._engine.request("interrupt", {})

    def cancel(self) -> bool:
        """Takes the prompt back. `False` when the turn has begun already."""
        if self.outcome is not None:
            return False
        return bool(self._engine.cancel_turn(self.number).get("cancelled"))
