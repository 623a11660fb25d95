"""An `mcp.server.Server` that the host brings, spoken to in raw JSON-RPC.

For the engine, one bridge a server and session:

    bridge = Bridge(name, server, outgoing)   # server: what stands under `instance`
    answer = await bridge.handle(message)     # one message of the CLI: its answer, None for a
                                              # notification; raises what is to be a control error
    await bridge.aclose()                     # bounded; afterwards `handle` raises

`outgoing`, an asynchronous function of one message, gets what the server says by itself
(notifications, requests), for the CLI; the CLI's answers come through `handle`. Without it
notifications are dropped and requests refused.

The server is run once, from the first message on, whatever comes: a second handshake goes to the same
run, as mcp allows. A server that has ended is only started again by a new handshake.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from ._detached import Detached
from ._mcp import real_server
from ._mcp_server import can_cancel, is_mcp_2

GRACE_SECONDS = 5.0
"""How long a server may take to end; only one that does not heed cancellation takes longer."""

_METHOD_NOT_FOUND = -32601
_REQUEST_CANCELLED = {"code": -32800, "message": "Request cancelled"}

Message = dict[str, Any]
Outgoing = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("towline")


class Bridge:
    """The CLI's side of one server."""

    def __init__(self, name: str, server: Any, outgoing: Outgoing | None = None) -> None:
        self.name = name
        self._server = real_server(server)
        self._outgoing = outgoing
        self._run: _Run | None = None
        self._closed = False

    async def handle(self, message: Message) -> Message | None:
        """Gives the server a message; returns its answer."""
        if self._closed:
            raise RuntimeError(f"MCP server {self.name!r} is closed")
        run = self._run
        if run is None:
            run = self._run = _Run(self.name, self._server, self._outgoing)
        elif run.ended:
            if message.get("method") != "initialize":
                raise RuntimeError(
                    f"MCP server {self.name!r} has stopped: {run.failure or 'it ended by itself'}"
                )
            old, run = run, _Run(self.name, self._server, self._outgoing)
            self._run = run
            await old.aclose()
        waiting = await run.give(message)
        return None if waiting is None else await waiting.answer()

    async def aclose(self) -> None:
        """Ends the server, within the grace. Idempotent."""
        self._closed = True
        run, self._run = self._run, None
        if run is not None:
            await run.aclose()


class _Waiting:
    """A request without an answer. Its id stays taken even when nobody waits any more: the server
    may still answer."""

    def __init__(self, method: Any) -> None:
        self.method = method
        self._answered = anyio.Event()
        self._outcome: Message | Exception | None = None

    def settle(self, outcome: Message | Exception) -> None:
        if self._outcome is None:
            self._outcome = outcome
            self._answered.set()

    async def answer(self) -> Message:
        await self._answered.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome or {}


class _Run:
    """One run of a server between two in-memory streams."""

    def __init__(self, name: str, server: Any, outgoing: Outgoing | None) -> None:
        self._name = name
        self._server = server
        self._outgoing = outgoing
        self.failure: BaseException | None = None
        self._waiting: dict[Any, _Waiting] = {}
        self._write: Any = None
        self._group: Any = None
        self._started = anyio.Event()
        self._silent = False
        self._task = Detached(self._work())

    @property
    def ended(self) -> bool:
        """Whether no answer can come any more, though the server may still be winding down."""
        return self._silent or self._task.over

    async def _work(self) -> None:
        from mcp.shared.memory import create_client_server_memory_streams

        try:
            async with create_client_server_memory_streams() as (client, server):
                read, self._write = client
                finished = anyio.Event()
                async with anyio.create_task_group() as group:
                    self._group = group
                    group.start_soon(self._serve, server, finished)
                    self._started.set()
                    async for item in read:
                        await self._take(item)
                    self._silent = True
                    self._settle_all("has ended")
                    # Its lifespan may still have something to do.
                    with anyio.move_on_after(GRACE_SECONDS):
                        await finished.wait()
                    group.cancel_scope.cancel()
        except Exception as error:
            self.failure = self.failure or _cause(error)
            _log.exception("MCP server %r: its messages could not be passed on", self._name)
        finally:
            self._silent = True
            self._started.set()
            self._settle_all("has ended")

    async def _serve(self, streams: tuple[Any, Any], finished: anyio.Event) -> None:
        read, write = streams
        try:
            options = self._server.create_initialization_options()
            await self._server.run(read, write, options, raise_exceptions=False)
        except Exception as error:
            self.failure = _cause(error)
            _log.exception("MCP server %r has failed", self._name)
        finally:
            finished.set()
            # Not every mcp closes it; the reader above waits for that.
            await write.aclose()

    def _settle_all(self, what: str) -> None:
        for key in list(self._waiting):
            self._waiting.pop(key).settle(RuntimeError(f"MCP server {self._name!r} {what}"))

    async def _take(self, item: Any) -> None:
        """What the server wrote."""
        if isinstance(item, Exception):
            _log.debug("MCP server %r wrote no message", self._name, exc_info=item)
            return
        message = item.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        if "method" not in message:
            self._settle(message)
        elif self._outgoing is not None:
            # The reader must not wait for whom it reads from.
            self._group.start_soon(self._outgoing, message)
        elif "id" in message:
            self._group.start_soon(self._refuse, message)
        else:
            _log.debug("MCP server %r: %s goes nowhere", self._name, message["method"])

    def _settle(self, answer: Message) -> None:
        waiting = self._waiting.pop(answer.get("id"), None)
        if waiting is None:
            _log.debug("MCP server %r: an answer that nobody waits for", self._name)
        else:
            waiting.settle(answer)

    async def _refuse(self, request: Message) -> None:
        method = request["method"]
        answer: Message = {"jsonrpc": "2.0", "id": request["id"]}
        if method == "ping":
            answer["result"] = {}
        else:
            text = f"{method} is not supported for servers inside the host"
            answer["error"] = {"code": _METHOD_NOT_FOUND, "message": text}
        try:
            await self.give(answer)
        except RuntimeError:
            _log.debug("MCP server %r has ended before its request was refused", self._name)

    async def give(self, message: Message) -> _Waiting | None:
        """Gives the server a message; what is returned for a request waits for its answer."""
        await self._started.wait()
        if self._write is None:
            raise RuntimeError(f"MCP server {self._name!r} could not be started: {self.failure}")
        if message.get("method") == "notifications/cancelled" and not can_cancel(self._server):
            return None
        parsed, identity = self._parse(message)
        waiting = None
        if identity is not None:
            if identity in self._waiting:
                raise RuntimeError(f"Request id {identity!r} is in use already")
            waiting = self._waiting[identity] = _Waiting(message.get("method"))
        try:
            await self._write.send(parsed)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._waiting.pop(identity, None)
            raise RuntimeError(f"MCP server {self._name!r} has ended") from None
        return waiting

    def _parse(self, message: Message) -> tuple[Any, Any]:
        """The message as mcp has it, and its id if it is a request."""
        from mcp import types
        from mcp.shared import message as messages

        mcp_types: Any = types
        mcp_messages: Any = messages
        if not is_mcp_2():
            wrapped = mcp_types.JSONRPCMessage.model_validate(message)
            request = isinstance(wrapped.root, mcp_types.JSONRPCRequest)
            return mcp_messages.SessionMessage(wrapped), wrapped.root.id if request else None
        parsed = mcp_types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        if not isinstance(parsed, mcp_types.JSONRPCRequest):
            return mcp_messages.SessionMessage(parsed), None

        async def unanswered() -> None:
            # A server of mcp 2 leaves a cancelled request to its transport.
            self._settle({"jsonrpc": "2.0", "id": parsed.id, "error": _REQUEST_CANCELLED})

        metadata = mcp_messages.ServerMessageMetadata(on_request_unanswered=unanswered)
        return mcp_messages.SessionMessage(parsed, metadata=metadata), parsed.id

    async def aclose(self) -> None:
        await self._started.wait()
        deadline = anyio.current_time() + GRACE_SECONDS
        if self._write is not None:
            # Not every mcp cancels its tools when the stream ends.
            with anyio.CancelScope(deadline=deadline):
                if can_cancel(self._server):
                    await self._cancel_all()
            await self._write.aclose()
        with anyio.CancelScope(deadline=deadline):
            await self._task.wait()
        if not self._task.over:
            _log.warning(
                "MCP server %r has not ended within %g s (does a tool block?); it is left behind",
                self._name,
                GRACE_SECONDS,
            )
            self._task.cancel()
            self._settle_all("is closed")

    async def _cancel_all(self) -> None:
        for identity, waiting in list(self._waiting.items()):
            if waiting.method == "initialize":
                continue
            parameters = {"requestId": identity, "reason": "the session is closed"}
            try:
                await self.give(
                    {
                        "jsonrpc": "2.0",
                        "method": "notifications/cancelled",
                        "params": parameters,
                    }
                )
            except RuntimeError:
                return


def _cause(error: BaseException) -> BaseException:
    """The one exception in groups of one."""
    inner: Any = getattr(error, "exceptions", None)
    while inner is not None and len(inner) == 1:
        error = inner[0]
        inner = getattr(error, "exceptions", None)
    return error
