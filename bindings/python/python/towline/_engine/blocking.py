"""One session without an event loop: calls that wait do the I/O and run the callbacks."""

from _thread import get_ident
from collections.abc import Callable, Iterator
from threading import Condition
from typing import TYPE_CHECKING, Any

from .. import _native
from .._errors import CLIConnectionError
from .._options import check_initialize
from . import serving
from .diagnostics import diagnose, report_stderr
from .launching import Start, dumps, starting
from .log import report
from .signals import CancelSignal
from .tracing import traced

if TYPE_CHECKING:
    from .._options import Launch
    from ..session import SessionTurn
    from ..types import Message

BATCH = 512
"""Events that are taken at once."""

SLICE = 0.1
"""Seconds of one wait, between which Python sees to signals: Ctrl-C takes no longer."""


class BlockingEngine:
    """Drives a native session from whatever thread calls. One thread does the work for all that
    wait; a callback that waits does it itself."""

    def __init__(self, launch: "Launch") -> None:
        if launch.bridged:
            raise ValueError(
                f"{', '.join(launch.bridged)}: servers of the mcp package need an event loop; use "
                "create_sdk_mcp_server() or ClaudeSDKClient"
            )
        self.launch = launch
        self.inbox = _native.Inbox()
        self.error: BaseException | None = None
        self._open = False
        self._over = False
        self._answers: dict[int, tuple[Any, BaseException | None] | None] = {}
        self._signals: dict[int, CancelSignal] = {}
        self._turns: dict[int, SessionTurn] = {}
        self._tools = {
            (name, entry.name): entry.handler
            for name, server in launch.servers.items()
            for entry in server.entries
        }
        self._hooks: list[Callable[..., Any]] = [hook.callback for hook in launch.hooks]
        self._events: list[tuple[Any, ...]] = []
        self._early: dict[int, tuple[Any, ...]] = {}
        self._loop: Any = None
        self._store_left = False
        self._working = 0
        self._progress = Condition()
        self._waiting = 0
        if launch.store is not None:
            from .._store_tasks import resume

            self._value(resume(launch))
        with starting(launch):
            self.session = _native.Session(Start(launch), self.inbox)

    def until(self, ready: Callable[[], bool]) -> None:
        """Works until something is so, or lets another thread work."""
        me = get_ident()
        while not ready():
            if self._over:
                return
            if self._working == me:
                self._work()
                continue
            with self._progress:
                if self._working:
                    self._waiting += 1
                    self._progress.wait(SLICE)
                    self._waiting -= 1
                    continue
                self._working = me
            try:
                while not ready() and not self._over:
                    self._work()
            finally:
                with self._progress:
                    self._working = 0
                    self._progress.notify_all()

    def _work(self, limit: float = SLICE) -> None:
        events = self._events
        if not events:
            self.session.wait(limit, BATCH, events, self._hook, self._permission)
        while events:
            event = events.pop(0)
            kind = event[0]
            if kind == "hook":
                self._hook(*event[1:])
            elif kind == "permission":
                self._permission(*event[1:])
            elif kind == "request":
                self._request(event[1])
            else:
                self._event(event)
        if self._waiting:
            with self._progress:
                self._progress.notify_all()

    def _event(self, event: tuple[Any, ...]) -> None:
        kind = event[0]
        if kind == "response":
            if event[1] in self._answers:
                self._answers[event[1]] = event[2:]
        elif kind == "cancelled":
            signal = self._signals.pop(event[1], None)
            if signal is not None:
                signal.abort(event[2])
        elif kind == "turn":
            if event[2] == "session_ended":
                # The turn ends with what ended the session.
                return
            turn = self._turns.pop(event[1], None)
            if turn is None:
                # Its sender, in another thread, has not got its number yet.
                self._early[event[1]] = event
            else:
                self._turn_over(turn, event)
        elif kind == "initialized":
            self._open = True
        elif kind == "stderr":
            report_stderr(self.launch, event[1])
        elif kind == "diagnostic":
            diagnose(event[1], event[2])
        elif kind == "log":
            report(*event[1:])
        elif kind == "closed":
            self._closed(event[1])
        elif kind == "store":
            self._mirror(event[1])

    def _mirror(self, call: "_native.StoreCall") -> None:
        from .._store_tasks import LEFT, mirror

        if self._store_left:
            call.give_up(LEFT)
            return
        try:
            self._value(mirror(call, self.launch.store))
        except BaseException:
            # Ctrl-C: the end need not wait for it either.
            self._store_left = True
            call.give_up(LEFT)
            raise

    def _closed(self, error: BaseException | None) -> None:
        self.error = error
        self._over = True
        self.inbox.close(error)
        for turn in list(self._turns.values()):
            turn.inbox.close(error)
            turn.over("session_ended", None)
        self._turns.clear()
        for number, answer in self._answers.items():
            if answer is None:
                ended = error or CLIConnectionError("the session has ended")
                self._answers[number] = (None, ended)

    def _hook(
        self, request: "_native.Request", key: int, number: int, given: Any, tool_use_id: str | None
    ) -> None:
        signal = self._signals[key] = CancelSignal()
        try:
            output = self._hooks[number](given, tool_use_id, {"signal": signal})
            serving.hook_answer(request, output if type(output) is dict else self._value(output))
        except BaseException as error:
            serving.refuse(request, error)
            if not isinstance(error, Exception) and not serving.is_end_of_task(error):
                raise
        finally:
            self._signals.pop(key, None)

    def _permission(
        self, request: "_native.Request", key: int, tool: str, given: Any, context: Any
    ) -> None:
        signal = self._signals[key] = CancelSignal()
        try:
            callback: Any = self.launch.permission
            context = serving.permission_context(tool, given, context, signal)
            result = callback(tool, given, context)
            serving.permission_answer(request, self._value(result))
        except BaseException as error:
            serving.refuse(request, error)
            if not isinstance(error, Exception) and not serving.is_end_of_task(error):
                raise
        finally:
            self._signals.pop(key, None)

    def _request(self, request: "_native.Request") -> None:
        try:
            self._answer(request)
        except BaseException as error:
            serving.refuse(request, error)
            if not isinstance(error, Exception) and not serving.is_end_of_task(error):
                raise

    def _answer(self, request: "_native.Request") -> None:
        kind = request.kind
        if kind == "tool":
            # A program without tools does without.
            from .._mcp import call_failure, call_result

            try:
                handler = self._tools[request.target or "", request.name or ""]
                with traced(request):
                    value = self._value(handler(request.arguments()))
                result = call_result(value)
            except Exception as error:
                result = call_failure(error)
            request.finish(dumps(result))
            return
        callback: Any = serving.handler(self.launch, request, kind)
        if callback is None:
            raise LookupError(f"this program does not serve {kind} requests")
        request.answer(dumps(self._value(callback(request.data))))

    def _value(self, value: Any) -> Any:
        """What a callback gives. Asynchronous ones, which tools often are, run in a loop of their
        own, also in a thread that runs another one: a notebook's."""
        if not hasattr(value, "__await__"):
            return value
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        if asyncio._get_running_loop() is None:
            return self._loop.run_until_complete(value)
        from .nested import outside

        with outside():
            return self._loop.run_until_complete(value)

    # What the program wants.

    def is_open(self) -> bool:
        """Whether the session is open, by what has come by now; for who alone uses it."""
        if not self._open and not self._over:
            self._work(0.0)
        return self._open

    def connected(self) -> None:
        """Waits until the session is open, and raises if it does not get there."""
        self.until(lambda: self._open)
        if not self._open:
            raise self.error or CLIConnectionError("the CLI ended before the session was open")
        check_initialize(self.launch, self.session.capabilities() or {})

    def send(self, message: dict[str, Any], turn: "SessionTurn") -> None:
        """Sends a user message whose turn this is."""
        if self.launch.document.get("verbatim_prompts"):
            message = {**message, "client_composed": True}
        text = dumps(message)
        while True:
            try:
                turn.number = self.session.send(text, turn.inbox)
                break
            except BlockingIOError:
                # The CLI does not read; it may be waiting for an answer.
                self._step()
        self._turns[turn.number] = turn
        early = self._early.pop(turn.number, None)
        if early is not None and self._turns.pop(turn.number, None) is not None:
            self._turn_over(turn, early)

    def _turn_over(self, turn: "SessionTurn", event: tuple[Any, ...]) -> None:
        self.session.forget_turn(event[1])
        turn.over(event[2], event[3])

    def _step(self) -> None:
        """Works once."""
        # It is asked before it is known who works, and again by whoever does.
        done = iter((False, False))
        self.until(lambda: next(done, True))

    def request(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Sends a control request and waits for its answer."""
        return self._wait(self.session.request(subtype, dumps(fields) if fields else ""))

    def answers(self, subtype: str, given_up: Callable[[], bool]) -> bool:
        """Whether a control request is answered, by what it raises if it is refused."""
        number = self.session.request(subtype)
        self._answers[number] = None
        try:
            self.until(lambda: self._answers[number] is not None or given_up())
            answer = self._answers[number]
            if answer is None:
                self.session.cancel_request(number)
                return False
        finally:
            del self._answers[number]
        if answer[1] is not None:
            raise answer[1]
        return True

    def cancel_turn(self, turn: int) -> dict[str, Any]:
        """Takes back a prompt whose turn has not begun."""
        return self._wait(self.session.cancel_turn(turn))

    def _wait(self, number: int) -> dict[str, Any]:
        self._answers[number] = None
        try:
            self.until(lambda: self._answers[number] is not None)
            answer = self._answers[number]
        except BaseException:
            if not self._over:
                self.session.cancel_request(number)
            raise
        finally:
            del self._answers[number]
        if answer is None:
            raise self.error or CLIConnectionError("the session has ended")
        result, error = answer
        if error is not None:
            raise error
        return result if isinstance(result, dict) else {}

    def read(self, inbox: "_native.Inbox") -> "Iterator[Message]":
        """Messages as they come, until the inbox is closed."""
        take = inbox.take
        while True:
            message = take()
            if message is not None:
                yield message
            elif inbox.closed:
                return
            else:
                self.until(lambda: len(inbox) > 0 or inbox.closed)

    def see_on(self) -> bool:
        """Works once; whether the session has ended."""
        if not self._over:
            self._step()
        return self._over

    def close(self) -> None:
        """Ends the session and waits for the end."""
        if not self._over:
            try:
                self.session.begin_close()
            except CLIConnectionError:
                if not self._over:
                    raise
            self.until(lambda: self._over)
        if self._loop is not None:
            loop, self._loop = self._loop, None
            loop.close()
