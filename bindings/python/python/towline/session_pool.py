"""Sessions started ahead, for programs without an event loop."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition
from typing import TYPE_CHECKING, Any

import towline

from . import _native
from ._errors import ClaudeSDKError, CLIConnectionError, ProcessError
from ._pool import SIGN_OF_LIFE, Limits, is_timeout, milliseconds, put_back_key

if TYPE_CHECKING:
    from ._engine.blocking import BlockingEngine

SLICE = 0.1
"""Seconds of one wait, between which Python sees to signals."""


class _Place:
    """A session of a pool, from its start to its end."""

    __slots__ = ("busy", "engine", "work")

    def __init__(self, engine: "BlockingEngine") -> None:
        self.engine = engine
        self.work: str | None = "open"
        """What has to be done with it, by whoever waits: `open`, `check` or `close`."""
        self.busy = False


class SessionPool:
    """As `Pool`, for `Session`s: everything happens in the calls, on the thread that calls.

        with SessionPool(options, size=2) as pool:
            with pool.session() as session:
                print(session.ask("What is 2 + 2?").result)

    Processes are started ahead by the calls too: by the time of the next `take` they are open. Health
    and age are looked at by `take` and `poll`. Several threads may share it.
    """

    def __init__(
        self,
        options: "towline.ClaudeAgentOptions | None" = None,
        *,
        size: int = 1,
        max_sessions: int | None = None,
        idle_timeout: float | None = 600.0,
        check_interval: float | None = 30.0,
        check_timeout: float = 5.0,
        take_timeout: float | None = 60.0,
    ) -> None:
        """
        Args:
            options: What to start each CLI with; none that name one conversation.
            size: Sessions that are started and wait for a first prompt.
            max_sessions: Most sessions at a time, as for `Pool`.
            idle_timeout: Seconds after which a session that nobody has used is closed.
            check_interval: Seconds after which one that waits is checked before it is given out.
            check_timeout: Seconds it has for the answer.
            take_timeout: Seconds that `take` waits at most.

        Raises:
            ValueError: these limits or options cannot be.
        """
        if options is None:
            from .types import ClaudeAgentOptions

            options = ClaudeAgentOptions()
        limits = Limits(
            size, max_sessions, idle_timeout, check_interval, check_timeout, take_timeout
        )
        self.options = options
        self.last_failure: BaseException | None = None
        """Why the last start failed, if none has succeeded since."""
        self._take_timeout = take_timeout
        self._check_timeout = check_timeout
        self._policy = _native.PoolPolicy(limits.document(), options)
        self._places: dict[int, _Place] = {}
        self._served: dict[int, Any] = {}
        self._forsaken: list[int] = []
        self._changed = Condition()
        with self._changed:
            self._settle()

    def take(
        self, session_id: str | None = None, *, timeout: float | None = -1.0
    ) -> "towline.Session":
        """A session that is connected: a warm one at once, else one that is started.

        Args:
            session_id: The conversation to go on with: the parked session, else one that resumes it.
            timeout: Seconds to wait; what `take_timeout` says unless given, `None` for ever. A start
                that is under way is waited for.

        Raises:
            CLIConnectionError: all sessions are in use, or the pool is closed.
            ValueError: `timeout` is no time.
            ClaudeSDKError: what the start failed with.
        """
        if timeout == -1.0:
            timeout = self._take_timeout
        limit = milliseconds("timeout", timeout)
        self._policy.is_closed()
        self._see_who_is_open()
        with self._changed:
            ticket = self._policy.take(session_id, limit)
        try:
            self._work(lambda: ticket in self._served)
        except BaseException:
            with self._changed:
                self._policy.cancel(ticket)
                unwanted = self._served.pop(ticket, None)
            if isinstance(unwanted, towline.Session):
                unwanted.close()
            raise
        with self._changed:
            outcome = self._served.pop(ticket)
        if isinstance(outcome, BaseException):
            raise outcome
        session: towline.Session = outcome
        return session

    def put_back(self, session: "towline.Session") -> None:
        """Gives a session back. One with a conversation is parked under its session id, for
        `take(session_id)`; one that never had a prompt is warm again, for anybody. The session is
        disconnected by that; messages that were not read are dropped.

        Raises:
            CLIConnectionError: a turn of it is open, it has ended or has no id yet; it stays the
                caller's.
            ValueError: it is not of this pool.
        """
        self._policy.is_closed()
        with self._changed:
            number, place = self._member(session)
            key = put_back_key(place.engine.session)
            while place.engine.inbox.take() is not None:
                pass
            session._engine = None
            self._policy.put_back(number, key)
            self._settle()

    def _member(self, session: "towline.Session") -> "tuple[int, _Place]":
        for number, place in self._places.items():
            if place.engine is session._engine:
                return number, place
        raise ValueError("the session is not of this pool, or has ended")

    @contextmanager
    def session(
        self, session_id: str | None = None, *, park: bool = False
    ) -> "Iterator[towline.Session]":
        """A session for the time of a `with`. It is ended after that, or with `park` put back if it
        can be."""
        session = self.take(session_id)
        try:
            yield session
            if park:
                try:
                    self.put_back(session)
                except (CLIConnectionError, ValueError):
                    pass
        finally:
            session.close()

    def poll(self) -> None:
        """Does what is due: opens, checks, replaces and ends sessions; for a thread that has time."""
        self._work(lambda: all(place.work is None or place.busy for place in self._places.values()))

    def stats(self) -> dict[str, int]:
        """Counters, as those of `Pool`."""
        return self._policy.stats()

    def close(self) -> None:
        """Ends all sessions that nobody has, at the same time, within the graces of the options.
        Those in use are their users'."""
        self._policy.is_closed()
        with self._changed:
            self._policy.close()
        self._work(self._policy.is_empty)

    def __enter__(self) -> "SessionPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What the policy wants.

    def _work(self, done: Any) -> None:
        """Does what there is to do until something is so, or waits for the threads that do."""
        # In a child of fork() this says so, where the lock might be held for ever.
        self._policy.is_closed()
        while True:
            with self._changed:
                self._settle()
                if done():
                    return
                found = next(
                    (
                        (number, place)
                        for number, place in self._places.items()
                        if place.work is not None and not place.busy
                    ),
                    None,
                )
                if found is None:
                    due = self._policy.timeout()
                    self._changed.wait(SLICE if due is None else min(due, SLICE))
                    continue
                number, place = found
                place.busy = True
            try:
                self._do(number, place)
            finally:
                with self._changed:
                    place.busy = False
                    self._changed.notify_all()

    def _see_who_is_open(self) -> None:
        """Notes those whose CLI has answered by now, so that they can be given at once."""
        with self._changed:
            found = [
                (number, place)
                for number, place in self._places.items()
                if place.work == "open" and not place.busy
            ]
            for _, place in found:
                place.busy = True
        try:
            for number, place in found:
                if place.engine.is_open():
                    self._do(number, place)
        finally:
            with self._changed:
                for _, place in found:
                    place.busy = False
                self._changed.notify_all()

    def _do(self, number: int, place: _Place) -> None:
        work, place.work = place.work, None
        if work == "open":
            try:
                place.engine.connected()
            except Exception as error:
                place.engine.close()
                with self._changed:
                    self._failed(number, error)
                    self._gone(number)
                return
            with self._changed:
                self.last_failure = None
                self._policy.opened(number)
        elif work == "check":
            if self._lives(place.engine):
                with self._changed:
                    self._policy.answered(number)
        else:
            self._see_to_end(number, place)

    def _see_to_end(self, number: int, place: _Place) -> None:
        """Sees all that are to end to it, at the same time: each wants its next step when its grace is
        over."""
        ending = {number: place}
        with self._changed:
            for other, its in self._places.items():
                if its.work == "close" and not its.busy:
                    its.busy, its.work = True, None
                    ending[other] = its
        try:
            while not all([its.engine.see_on() for its in ending.values()]):
                pass
        finally:
            with self._changed:
                for other, its in ending.items():
                    its.busy = False
                    its.engine.close()
                    self._gone(other)

    def _lives(self, engine: "BlockingEngine") -> bool:
        until = time.monotonic() + self._check_timeout
        try:
            return engine.answers(SIGN_OF_LIFE, lambda: time.monotonic() > until)
        except (CLIConnectionError, ProcessError):
            return False
        except ClaudeSDKError as error:
            return not is_timeout(error)

    def _failed(self, number: int, error: Exception) -> None:
        self.last_failure = error
        ticket = self._policy.failed(number)
        if ticket is not None:
            self._served[ticket] = error

    def _gone(self, number: int) -> None:
        self._places.pop(number, None)
        self._policy.gone(number)

    def _settle(self) -> None:
        policy = self._policy
        while self._forsaken:
            policy.discard(self._forsaken.pop())
        while (action := policy.next()) is not None:
            kind = action[0]
            if kind == "start":
                self._start(action[1], action[2])
            elif kind == "check":
                self._places[action[1]].work = "check"
            elif kind == "close":
                self._end(action[1])
            elif kind == "give":
                self._give(action[1], action[2])
            else:
                self._served[action[1]] = action[2]
        self._changed.notify_all()

    def _start(self, number: int, resume: str | None) -> None:
        from ._engine.blocking import BlockingEngine
        from ._options import prepare

        options = self.options if resume is None else replace(self.options, resume=resume)
        try:
            engine = BlockingEngine(prepare(options))
        except Exception as error:
            self._failed(number, error)
            self._gone(number)
            return
        self._places[number] = _Place(engine)

    def _end(self, number: int) -> None:
        place = self._places.get(number)
        if place is None:
            self._policy.gone(number)
            return
        place.work = "close"
        try:
            # All that are to end begin to at once.
            place.engine.session.begin_close()
        except CLIConnectionError:
            pass

    def _give(self, ticket: int, number: int) -> None:
        engine = self._places[number].engine
        if not engine.session.is_usable():
            self._policy.lost(number)
            return
        engine.session.note_taken()
        session = PooledSession(self, number)
        session._engine = engine
        self._policy.given(ticket, number)
        self._served[ticket] = session


class PooledSession(towline.Session):
    """A session that was taken from a pool; closing it makes room there."""

    def __init__(self, pool: SessionPool, number: int) -> None:
        super().__init__(pool.options)
        self._pool = pool
        self._number = number

    def close(self) -> None:
        """Ends the session, within the grace periods of the options."""
        if self._engine is None:
            return
        super().close()
        with self._pool._changed:
            self._pool._gone(self._number)
            self._pool._settle()

    def __del__(self) -> None:
        if self._engine is not None:
            # From wherever it is collected; whoever works next ends it.
            self._pool._forsaken.append(self._number)
