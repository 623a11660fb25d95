"""The steps of a case through the synchronous client, which needs no event loop."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from . import sessions
from .package import sdk
from .record import Record, StepTimeout
from .setup import Setup

LIMIT_MS = 8000


class Host:
    def __init__(self, record: Record) -> None:
        self._record = record
        self._setup = Setup(record, self._policy)
        self._session: Any = None
        self._sources: list[Any] = []
        self._tasks: dict[str, threading.Thread] = {}

    def run(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if self._setup.take(step):
                continue
            if "exit_without_close" in step:
                return
            self._timed(step)
        if self._session is not None and not any("close" in step for step in steps):
            self._timed({"close": True, "timeout_ms": 25_000})

    def _timed(self, step: dict[str, Any]) -> None:
        started = time.monotonic()
        caught: list[BaseException] = []

        def act() -> None:
            try:
                self._step(step)
            except Exception as error:
                caught.append(error)

        if "cancel_after_ms" in step:
            act()
        else:
            # In a thread of its own, so that one that hangs is noticed.
            limit = step.get("timeout_ms", LIMIT_MS) / 1000
            thread = threading.Thread(target=act, daemon=True)
            thread.start()
            thread.join(limit)
            if thread.is_alive():
                caught = [StepTimeout(f"not done within {limit} s")]
        self._record.step(step, started, caught[0] if caught else None)

    def _step(self, step: dict[str, Any]) -> None:
        if sessions.take(step, self._record):
            return
        acts: dict[str, Callable[[dict[str, Any]], Any]] = {
            "connect": self._connect,
            "query": self._query,
            "send_user": self._send_user,
            "send_user_fill": lambda step: self._send("u" * step["send_user_fill"]),
            "recv_until": lambda step: self._receive(step["recv_until"]),
            "recv_n": lambda step: self._receive(None, step["recv_n"]),
            "interrupt": lambda _: self._session.interrupt(),
            "set_model": lambda step: self._session.set_model(model=step["set_model"]),
            "background": self._background,
            "join": lambda step: self._tasks[step["join"]].join(),
            "cancel_after_ms": self._given_up,
            "sleep_ms": lambda step: time.sleep(step["sleep_ms"] / 1000),
            "close": lambda _: self._session is not None and self._session.close(),
        }
        for name, act in acts.items():
            if name in step:
                act(step)
                return
        raise RuntimeError(f"unknown host step {step}")

    def _connect(self, _: dict[str, Any]) -> None:
        self._session = sdk.Session(self._setup.options())
        self._session.connect()
        self._sources = [self._session.messages()]

    def _query(self, step: dict[str, Any]) -> None:
        self._connect(step)
        self._send(step["query"])
        self._session.end_input()

    def _send_user(self, step: dict[str, Any]) -> None:
        message = {"role": "user", "content": step["send_user"]}
        more = {"session_id": step["session_id"]} if "session_id" in step else {}
        self._send({"type": "user", "message": message, "parent_tool_use_id": None, **more})

    def _send(self, prompt: Any) -> None:
        """The messages of a turn come first, and then those of none."""
        self._sources.insert(-1, iter(self._session.send(prompt)))

    def _receive(self, until: str | None, most: int | None = None) -> None:
        received = 0
        while self._sources:
            source = self._sources[0]
            for message in source:
                received += 1
                if self._record.message(message) == until or received == most:
                    return
            self._sources.remove(source)
        if until not in (None, "end"):
            raise RuntimeError(f"stream ended before {until}")

    def _background(self, step: dict[str, Any]) -> None:
        thread = threading.Thread(target=self._timed, args=[step["background"]], daemon=True)
        self._tasks[step["as"]] = thread
        thread.start()

    def _given_up(self, step: dict[str, Any]) -> None:
        """Gives a call up as a program without an event loop does: a signal's handler raises."""

        def give_up(*_: object) -> None:
            raise _GivenUp

        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, step["cancel_after_ms"] / 1000)
        try:
            self._step(step["step"])
        except _GivenUp:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    async def _policy(self, policy: Any, kind: str, tool: str) -> dict[str, Any]:
        """What a callback does before it answers; it waits as a plain function does."""
        while True:
            if "by_tool" in policy:
                policy = policy["by_tool"].get(tool, {"allow": True})
                continue
            if "sleep_ms" in policy:
                time.sleep(policy["sleep_ms"] / 1000)
            elif "call" in policy:
                self._step(policy["call"])
            else:
                break
            policy = policy["then"]
        if "raise" in policy:
            raise RuntimeError(policy["raise"])
        answer: dict[str, Any] = policy
        return answer


class _GivenUp(Exception):
    """The time for a call is up."""
