"""A conversation: prompts, messages and control requests at any time."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any, Literal

import towline

from . import _native
from ._engine.controls import AsyncControls
from ._errors import CLIConnectionError
from ._generators import Generator, generator

if TYPE_CHECKING:
    from ._engine.engine import Engine

_NOT_CONNECTED = "Not connected. Call connect() first."


class ClaudeSDKClient(AsyncControls):
    """A session with a CLI, under asyncio or trio.

    It belongs to the event loop it was connected in; any task of that loop may use it, and close it.

        async with ClaudeSDKClient() as client:
            await client.query("What is 2 + 2?")
            async for message in client.receive_response():
                print(message)
    """

    if TYPE_CHECKING:
        _engine: Engine | None
    _engine = None

    def __init__(
        self,
        options: "towline.ClaudeAgentOptions | None" = None,
        transport: "towline.Transport | None" = None,
    ):
        """
        Args:
            options: What to start the CLI with.
            transport: Another way to a CLI; the options that are arguments or variables of a process
                do not reach it.
        """
        if options is None:
            from .types import ClaudeAgentOptions

            options = ClaudeAgentOptions()
        self.options = options
        self._custom_transport = transport

    async def connect(self, prompt: "str | AsyncIterable[dict[str, Any]] | None" = None) -> None:
        """Starts the CLI and waits until the session is open.

        Args:
            prompt: Sent then; an asynchronous iterable goes on in the background.

        Raises:
            CLINotFoundError: there is no CLI.
            CLIConnectionError: it could not be started.
            ProcessError: it ended at once.
        """
        from ._engine.opening import open_engine

        if self._engine is not None:
            await self.disconnect()
        engine = await open_engine(self.options, self._custom_transport)
        self._engine = engine
        try:
            await engine.connected()
            if isinstance(prompt, str):
                await self.query(prompt)
            elif prompt is not None:
                engine.feed(prompt)
        except BaseException as error:
            await self._disconnect(not isinstance(error, Exception))
            raise

    def _connected(self) -> "Engine":
        engine = self._engine
        if engine is None:
            raise CLIConnectionError(_NOT_CONNECTED)
        return engine

    @generator
    def receive_messages(self) -> "AsyncIterator[towline.Message]":
        """All messages, until the session ends. Those of turns that `send` has started go to these."""
        return _Messages(self._engine, False)

    @generator
    def receive_response(self) -> "AsyncIterator[towline.Message]":
        """Messages up to the next result, and that one."""
        return _Messages(self._engine, True)

    async def query(
        self, prompt: "str | AsyncIterable[dict[str, Any]]", session_id: str = "default"
    ) -> None:
        """Sends a prompt.

        Args:
            prompt: A text, or an asynchronous iterable of user messages, which is waited for.
            session_id: For messages that have none; the CLI has but one session.
        """
        engine = self._connected()
        if isinstance(prompt, str):
            await engine.send(_message(prompt, session_id))
            await engine.written()
            return
        async for message in prompt:
            if "session_id" not in message:
                message["session_id"] = session_id
            await engine.send(message)
            await engine.written()

    async def send(self, prompt: "str | dict[str, Any]") -> "towline.Turn":
        """Sends a prompt and gives the turn that comes of it.

        The messages of that turn are read from it, and not from `receive_messages`.
        """
        from .turns import start_turn

        message = _message(prompt, "default") if isinstance(prompt, str) else prompt
        return await start_turn(self._connected(), message)

    async def request(self, subtype: str, /, **payload: Any) -> dict[str, Any]:
        """Sends any control request; the payload of its answer."""
        return await self._connected().request(subtype, payload)

    async def _control(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        return await self._connected().request(subtype, fields)

    async def interrupt(self) -> None:
        """Ends the running turn; its result follows."""
        await self._connected().request("interrupt")

    async def set_permission_mode(self, mode: "towline.PermissionMode") -> None:
        """Changes the permission mode for what follows."""
        await self._connected().request("set_permission_mode", {"mode": mode})

    async def set_model(self, model: str | None = None) -> None:
        """Changes the model for what follows; `None` is the default one."""
        await self._connected().request("set_model", {"model": model})

    async def rewind_files(self, user_message_id: str) -> None:
        """Puts the files back as they were at a user message; needs `enable_file_checkpointing`."""
        await self._connected().request("rewind_files", {"user_message_id": user_message_id})

    async def reconnect_mcp_server(self, server_name: str) -> None:
        """Connects an MCP server again."""
        await self._connected().request("mcp_reconnect", {"serverName": server_name})

    async def toggle_mcp_server(self, server_name: str, enabled: bool) -> None:
        """Turns an MCP server on or off."""
        payload = {"serverName": server_name, "enabled": enabled}
        await self._connected().request("mcp_toggle", payload)

    async def stop_task(self, task_id: str) -> None:
        """Ends a background task; a `task_notification` follows."""
        await self._connected().request("stop_task", {"task_id": task_id})

    async def get_mcp_status(self) -> "towline.McpStatusResponse":
        """How the MCP servers are."""
        answer: Any = await self._connected().request("mcp_status")
        return answer  # type: ignore[no-any-return]

    async def get_context_usage(self) -> "towline.ContextUsageResponse":
        """What the context window is filled with."""
        answer: Any = await self._connected().request("get_context_usage")
        return answer  # type: ignore[no-any-return]

    async def get_server_info(self) -> dict[str, Any] | None:
        """The CLI's answer to `initialize`: commands, agents, models, …"""
        return self._connected().session.capabilities()

    @property
    def startup(self) -> "towline.Startup":
        """How long the session took to start, by phase."""
        from ._startup import Startup

        return Startup(*self._connected().session.startup)

    async def disconnect(self) -> None:
        """Ends the session, within the grace periods of the options, and waits until a session store
        has everything; when that is cancelled, no longer than moments."""
        await self._disconnect(False)

    async def _disconnect(self, hurry: bool) -> None:
        engine = self._engine
        if engine is not None:
            engine.check_loop(closing=True)
            self._engine = None
            await engine.close(hurry)

    async def __aenter__(self) -> "ClaudeSDKClient":
        await self.connect()
        return self

    async def __aexit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Literal[False]:
        await self._disconnect(exc_type is not None and not issubclass(exc_type, Exception))
        return False

    def __del__(self) -> None:
        if self._engine is not None:
            self._engine.abandon()


def _message(prompt: str, session_id: str) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": prompt},
        "parent_tool_use_id": None,
        "session_id": session_id,
    }


class _Messages(Generator, _native.Stream):
    """Messages of a session, for one reader of perhaps several."""

    def __init__(self, engine: "Engine | None", until_result: bool) -> None:
        self._engine = engine
        self.until_result = until_result
        if engine is not None:
            self.inbox = engine.inbox

    async def _wait(self) -> "towline.Message":
        engine = self._engine
        if engine is None:
            raise CLIConnectionError(_NOT_CONNECTED)
        while True:
            message = self._take()
            if message is not None:
                return message
            if self.ended or engine.inbox.closed:
                self.ended = True
                raise StopAsyncIteration
            await engine.more(engine.inbox)

    async def aclose(self) -> None:
        """Ends this iteration; what was not read is for the next one."""
        self.ended = True

    async def asend(self, value: Any) -> "towline.Message":
        """The next message; `value` goes nowhere."""
        return await self.__anext__()

    async def athrow(self, error: BaseException, *_: Any) -> "towline.Message":
        """Ends this iteration and raises `error`."""
        self.ended = True
        raise error
