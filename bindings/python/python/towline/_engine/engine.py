"""One session under an event loop."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from .. import _native
from .._errors import CLIConnectionError, ProcessError, ResultError
from .._options import check_initialize
from . import serving
from .calls import Call
from .diagnostics import diagnose, report_stderr
from .launching import Start, dumps, starting
from .log import report
from .signals import CancelSignal
from .tracing import traced

if TYPE_CHECKING:
    from .._mcp_bridge import Bridge
    from .._options import Launch
    from .._transport import Transport
    from .loops import Event, Loop, Task
    from .wire import Wire

BATCH = 512
"""Events that are taken at once, so that one session does not keep the loop to itself."""

UNREAD = 8 << 20
"""Bytes of unread messages above which the CLI has to wait, unless somebody waits for it."""


STORE_GRACE = 1.0
"""Seconds that a call of the store is waited for once the program does not wait any more."""


class Engine:
    """Drives a native session: gives out its messages, serves its requests, ends it."""

    __slots__ = (
        "__weakref__",
        "_answers",
        "_bridges",
        "_bridges_over",
        "_hurried",
        "_input",
        "_readers",
        "_serving",
        "_small",
        "_store_call",
        "_store_left",
        "_tools",
        "_wire",
        "error",
        "inbox",
        "launch",
        "loop",
        "opened",
        "over",
        "session",
        "single",
        "turns",
    )

    def __init__(
        self, launch: "Launch", loop: "Loop", transport: "Transport | None" = None
    ) -> None:
        self.launch = launch
        self.loop = loop
        self.inbox = _native.Inbox()
        self.single = False
        """Whether one reader reads it, to its end."""
        self.error: BaseException | None = None
        self.opened: Event = loop.event()
        self.over: Event = loop.event()
        self.turns: dict[int, Any] = {}
        self._answers: dict[int, tuple[Event, list[Any]]] = {}
        self._serving: dict[int, tuple[Task, CancelSignal]] = {}
        self._input: Task | None = None
        self._readers = 0
        self._tools = {
            (name, entry.name): entry.handler
            for name, server in launch.servers.items()
            for entry in server.entries
        }
        self._bridges: dict[str, Bridge] = {}
        self._bridges_over: Event | None = None
        # Event loops keep tasks only weakly.
        self._small: list[Task] = []
        self._wire: Wire | None = None
        self._store_call: tuple[_native.StoreCall, Task] | None = None
        """The last one; there is one at a time."""
        self._store_left = False
        self._hurried = False
        if transport is None:
            with starting(launch):
                self.session = _native.Session(Start(launch), self.inbox)
        else:
            from . import wire

            with starting(launch):
                self.session, pipe = _native.Session.over(Start(launch), self.inbox)
            self._wire = wire.Wire(transport, pipe, loop)
        loop.watch(self)

    # What the session tells.

    def drain(self) -> None:
        """Takes what is ready."""
        events = self.session.drain(BATCH)
        if events is not None:
            for event in events:
                self._event(event)

    def crowded(self) -> bool:
        """Whether the CLI should be left waiting, because nobody reads."""
        return not self._readers and not self._answers and self.inbox.bytes > UNREAD

    def _event(self, event: tuple[Any, ...]) -> None:
        kind = event[0]
        if kind == "hook":
            signal = CancelSignal()
            work = self._hook(signal, *event[1:])
            self._serving[event[2]] = (self.loop.spawn(work), signal)
        elif kind == "permission":
            signal = CancelSignal()
            work = self._permission(signal, *event[1:])
            self._serving[event[2]] = (self.loop.spawn(work), signal)
        elif kind == "request":
            self._request(event[1])
        elif kind == "response":
            answer = self._answers.pop(event[1], None)
            if answer is not None:
                answer[1].extend(event[2:])
                answer[0].set()
        elif kind == "cancelled":
            self._cancel(event[1], event[2])
        elif kind == "turn":
            # At the end of the session, the turn ends with what ended that.
            turn = None if event[2] == "session_ended" else self.turns.pop(event[1], None)
            if turn is not None:
                self.session.forget_turn(event[1])
                turn.over(event[2], event[3])
            elif event[2] == "timed_out" and self.single:
                # Its reader is told by an exception.
                self.inbox.close()
                self.abandon()
            if event[2] == "timed_out" and self._wire is not None:
                self._wire.turn_timed_out()
        elif kind == "initialized":
            self.opened.set()
        elif kind == "stderr":
            report_stderr(self.launch, event[1])
        elif kind == "diagnostic":
            diagnose(event[1], event[2])
        elif kind == "log":
            report(*event[1:])
        elif kind == "closed":
            self._closed(event[1])
        elif kind == "notification":
            self._keep(self.loop.spawn(self._notify(event[1], event[2].get("message"))))
        elif kind == "store":
            self._mirror(event[1])

    def _mirror(self, call: "_native.StoreCall") -> None:
        from .._store_tasks import LEFT, mirror

        if self._store_left:
            call.give_up(LEFT)
            return
        task = self.loop.spawn(mirror(call, self.launch.store))
        self._keep(task)
        self._store_call = call, task

    async def _leave_store(self) -> None:
        """Gives the store's calls no more time than nobody minds."""
        while not self.over.is_set():
            open_call = self._store_call
            with self.loop.scope(STORE_GRACE):
                await self.over.wait()
            if self.over.is_set() or open_call is None or self._store_call is not open_call:
                continue
            from .._store_tasks import LEFT

            call, task = open_call
            self._store_left = True
            call.give_up(LEFT)
            task.cancel()
            return

    def hurry(self) -> None:
        """Nobody has time for the end any more."""
        if self.launch.store is not None and not self._hurried and not self.over.is_set():
            self._hurried = True
            self._keep(self.loop.spawn(self._leave_store()))

    def _keep(self, task: "Task") -> None:
        self._small = [kept for kept in self._small if not kept.done()]
        self._small.append(task)

    def _closed(self, error: BaseException | None) -> None:
        if self._wire is not None and not isinstance(error, ResultError):
            error = self._wire.error or (error and self._wire.unended) or error
        self.error = error
        self.loop.unwatch()
        for key in list(self._serving):
            self._cancel(key, "session_ended")
        if self._input is not None:
            self._input.cancel()
            self._input = None
        for turn in list(self.turns.values()):
            turn.inbox.close(error)
            turn.over("session_ended", None)
        self.turns.clear()
        for ended, answer in list(self._answers.values()):
            answer.extend((None, error or CLIConnectionError("the session has ended")))
            ended.set()
        self._answers.clear()
        if self._bridges:
            self._bridges_over = self.loop.event()
            self._keep(self.loop.spawn(self._end_bridges()))
        self.inbox.close(error)
        self.opened.set()
        self.over.set()

    # What the CLI asks.

    def _request(self, request: "_native.Request") -> None:
        signal = CancelSignal()
        kind = request.kind
        if kind == "tool":
            work = self._tool(request)
        elif kind == "mcp":
            work = self._mcp(request)
        else:
            work = self._other(request)
        self._serving[request.key] = (self.loop.spawn(work), signal)

    def _cancel(self, key: int, reason: str) -> None:
        serving_it = self._serving.pop(key, None)
        if serving_it is not None:
            task, signal = serving_it
            signal.abort(reason)
            task.cancel()

    def _failed(self, request: "_native.Request", error: BaseException) -> bool:
        """Answers for a callback that leaves by what is no `Exception`. Whether that is its own
        doing; otherwise it goes on its way. Whoever keeps that keeps the frames it came through, and
        with them the request."""
        # A coroutine that is collected may be so in a child of fork(), or when nothing is left.
        if isinstance(error, GeneratorExit) and not self.loop.is_running():
            return False
        serving.refuse(request, error)
        return request.key in self._serving and serving.is_end_of_task(error)

    async def _permission(
        self,
        signal: CancelSignal,
        request: "_native.Request",
        key: int,
        tool: str,
        given: Any,
        context: Any,
    ) -> None:
        try:
            callback: Any = self.launch.permission
            context = serving.permission_context(tool, given, context, signal)
            result = callback(tool, given, context)
            if hasattr(result, "__await__"):
                result = await result
            serving.permission_answer(request, result)
        except Exception as error:
            serving.refuse(request, error)
        except BaseException as error:
            if not self._failed(request, error):
                raise
        finally:
            self._serving.pop(key, None)

    async def _hook(
        self,
        signal: CancelSignal,
        request: "_native.Request",
        key: int,
        number: int,
        given: Any,
        tool_use_id: str | None,
    ) -> None:
        try:
            callback: Any = self.launch.hooks[number].callback
            output = callback(given, tool_use_id, {"signal": signal})
            if hasattr(output, "__await__"):
                output = await output
            serving.hook_answer(request, output)
        except Exception as error:
            serving.refuse(request, error)
        except BaseException as error:
            if not self._failed(request, error):
                raise
        finally:
            self._serving.pop(key, None)

    async def _tool(self, request: "_native.Request") -> None:
        # A program without tools does without.
        from .._mcp import call_failure, call_result

        try:
            handler = self._tools[request.target or "", request.name or ""]
            try:
                with traced(request):
                    value = handler(request.arguments())
                    if hasattr(value, "__await__"):
                        value = await value
            except Exception as error:
                result = call_failure(error)
            else:
                result = call_result(value)
            request.finish(dumps(result))
        except Exception as error:
            serving.refuse(request, error)
        except BaseException as error:
            if not self._failed(request, error):
                raise
        finally:
            self._serving.pop(request.key, None)

    async def _other(self, request: "_native.Request") -> None:
        try:
            callback = serving.handler(self.launch, request, request.kind)
            if callback is None:
                raise LookupError(f"this program does not serve {request.kind} requests")
            payload = callback(request.data)
            if hasattr(payload, "__await__"):
                payload = await payload
            request.answer(dumps(payload))
        except Exception as error:
            serving.refuse(request, error)
        except BaseException as error:
            if not self._failed(request, error):
                raise
        finally:
            self._serving.pop(request.key, None)

    async def _mcp(self, request: "_native.Request") -> None:
        try:
            answer = await self._bridge(request.target or "").handle(request.data["message"])
            request.rpc(dumps(answer))
        except Exception as error:
            serving.refuse(request, error)
        except BaseException as error:
            if not self._failed(request, error):
                raise
        finally:
            self._serving.pop(request.key, None)

    def _bridge(self, server: str) -> "Bridge":
        bridge = self._bridges.get(server)
        if bridge is None:
            from .._mcp_bridge import Bridge

            async def outgoing(message: dict[str, Any]) -> None:
                self.session.mcp_send(server, dumps(message))

            bridge = self._bridges[server] = Bridge(server, self.launch.bridged[server], outgoing)
        return bridge

    async def _notify(self, server: str, message: dict[str, Any]) -> None:
        try:
            await self._bridge(server).handle(message)
        except Exception:
            from .log import logger

            logger().warning("MCP server %r failed at a notification", server, exc_info=True)

    async def _end_bridges(self) -> None:
        try:
            while self._bridges:
                _, bridge = self._bridges.popitem()
                await bridge.aclose()
        finally:
            if self._bridges_over is not None:
                self._bridges_over.set()

    # What the program wants.

    def check_loop(self, closing: bool = False) -> None:
        """Refuses callers in another event loop than the session's; what is to be closed may have
        outlived its own.

        Raises:
            CLIConnectionError: says so, and what to do.
        """
        loop = self.loop
        if loop.is_running():
            return
        # In a child of fork() that is what went wrong.
        if not self.over.is_set():
            self.session.wake()
        if not (closing and loop.is_over()):
            raise CLIConnectionError(
                "This session was connected in another event loop, or in another thread's, and can "
                "be used in that one only. Hand the call over to it (asyncio.run_coroutine_threadsafe, "
                "anyio.from_thread.run), connect another client in this one, or use "
                "towline.Session, which needs no event loop."
            )

    async def request(self, subtype: str, payload: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a control request and waits for its answer."""
        self.check_loop()
        return await self._answer(self.session.request(subtype, dumps(payload) if payload else ""))

    async def cancel_turn(self, turn: int) -> dict[str, Any]:
        """Takes back a prompt whose turn has not begun."""
        self.check_loop()
        return await self._answer(self.session.cancel_turn(turn))

    async def _answer(self, number: int) -> dict[str, Any]:
        answered = self.loop.event()
        answer: list[Any] = []
        self._answers[number] = (answered, answer)
        self.loop.resume()
        try:
            await answered.wait()
        except BaseException:
            if self._answers.pop(number, None) is not None and not self.over.is_set():
                self.session.cancel_request(number)
            raise
        result, error = answer
        if error is not None:
            if isinstance(error, CLIConnectionError) and self._wire is not None:
                error = self._wire.error or error
            raise error
        return result if isinstance(result, dict) else {}

    def blocks_on_failure(self) -> bool:
        """Whether a hook must not fail open, which the CLI has to promise first."""
        return any(hook.on_failure not in (None, "continue") for hook in self.launch.hooks)

    async def connected(self) -> None:
        """Waits until the session is open, and raises if it does not get there."""
        async with self.reading():
            await self.opened.wait()
        if self.error is not None:
            raise self.error
        capabilities = self.session.capabilities()
        if capabilities is None:
            raise CLIConnectionError("the CLI ended before the session was open")
        check_initialize(self.launch, capabilities)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """While this lasts, the CLI is not made to wait for readers."""
        self.check_loop()
        self._readers += 1
        self.loop.resume()
        try:
            yield
        finally:
            self._readers -= 1

    def end_input_when_settled(self) -> None:
        """Ends the input as soon as the CLI needs nothing more of this program."""
        self.session.end_input_when_settled()

    async def send(self, message: dict[str, Any], inbox: "_native.Inbox | None" = None) -> int:
        """Sends a user message; the number of its turn. Waits while the CLI does not read."""
        self.check_loop()
        if self.launch.document.get("verbatim_prompts"):
            message = {**message, "client_composed": True}
        text = dumps(message)
        while True:
            try:
                return self.session.send(text, inbox)
            except BlockingIOError:
                await self.loop.sleep(0.01)
            except ProcessError as error:
                # A CLI that was never there to be written to is told of by its own end.
                if self.session.capabilities() is None:
                    raise
                raise CLIConnectionError(
                    f"Cannot write to process that exited with error: {error}"
                ) from error
            except CLIConnectionError:
                if self._wire is not None and self._wire.error is not None:
                    raise self._wire.error from None
                raise

    async def reached(self) -> None:
        """Waits until a transport of the program's own is connected, and raises what that failed
        with."""
        wire = self._wire
        if wire is None:
            return
        await wire.opened.wait()
        if wire.error is not None:
            raise wire.error
        if not wire.connected:
            await self.connected()

    async def written(self) -> None:
        """Waits until a transport of the program's own has taken what was sent, and raises what
        that failed with."""
        if self._wire is not None:
            await self._wire.written()

    def feed(self, prompts: AsyncIterable[dict[str, Any]]) -> None:
        """Sends prompts as they come, in a task of its own, and then ends the input."""
        self._input = self.loop.spawn(self._feed(prompts))

    async def _feed(self, prompts: AsyncIterable[dict[str, Any]]) -> None:
        call = Call()
        try:
            async for message in prompts:
                await self.send(message)
        except BaseException as error:
            if not call.failed(error):
                raise
            # The CLI must not wait for what will never come.
            from .log import logger

            logger().error(
                "Prompt stream failed; closing stdin: %s", str(error) or type(error).__name__
            )
        self._input = None
        if not self.over.is_set():
            self.end_input_when_settled()

    async def more(self, inbox: "_native.Inbox") -> None:
        """Waits until something is in an inbox, or it is closed."""
        self.check_loop()
        arrived = self.loop.event()
        wake = arrived.set
        inbox.wait(wake)
        self._readers += 1
        self.loop.resume()
        try:
            await arrived.wait()
        finally:
            self._readers -= 1
            inbox.forget(wake)

    async def close(self, hurry: bool = False) -> None:
        """Ends the session and waits for the end, also when the waiting is cancelled. Then, or with
        `hurry`, the store has no more than moments."""
        self.check_loop(closing=True)
        if not self.loop.is_running():
            # Its loop is over, so nothing else of it runs any more.
            self.loop.unwatch()
            self.session.close()
            return
        self.abandon()
        if hurry:
            self.hurry()
        try:
            try:
                await self.loop.until(self.over, self.hurry)
            finally:
                if self._wire is not None:
                    await self.loop.until(self._wire.done)
        finally:
            if self._bridges_over is not None:
                await self.loop.until(self._bridges_over)
            elif self._bridges:
                await self._end_bridges()

    def abandon(self) -> None:
        """Begins to end the session; the loop sees it through."""
        if not self.over.is_set():
            try:
                self.session.begin_close()
            except CLIConnectionError:
                pass
            if self._wire is not None:
                self._wire.close()
            self.loop.resume()
