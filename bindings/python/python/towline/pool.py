"""Sessions started ahead, and conversations kept open."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import towline

from . import _native
from ._errors import ClaudeSDKError, CLIConnectionError, ProcessError
from ._pool import SIGN_OF_LIFE, Limits, is_timeout, milliseconds, put_back_key

if TYPE_CHECKING:
    from ._engine.engine import Engine
    from ._engine.loops import Event, Loop, Task


class _Place:
    """A session of a pool, from its start to its end."""

    __slots__ = ("closing", "engine")

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.closing = False


class Pool:
    """Sessions that are started before anybody needs them, so that a first prompt costs no start-up,
    and conversations that are kept open for their next prompt; under asyncio or trio.

        async with Pool(options, size=2) as pool:
            async with pool.client() as client:
                await client.query("What is 2 + 2?")
                async for message in client.receive_response():
                    print(message)

    It belongs to the event loop it is first used in. Callbacks of the options are those of all its
    sessions.
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
            size: Sessions that are open and wait for a first prompt.
            max_sessions: Most sessions at a time: those that start, wait, are parked, in use or end.
                When it is reached, the parked conversation that was used least recently is closed; it
                is resumed when it is asked for.
            idle_timeout: Seconds after which a session that nobody has used is closed; a warm one is
                replaced.
            check_interval: Seconds between two checks of a session that waits.
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
        self._policy = _native.PoolPolicy(limits.document(), options)
        self._bound: Loop | None = None
        self._places: dict[int, _Place] = {}
        self._tickets: dict[int, tuple[Event, list[Any]]] = {}
        self._fillers: list[tuple[Event, list[BaseException]]] = []
        self._tasks: list[Task] = []
        self._alarm: Task | None = None
        self._ended: Event | None = None

    def _loop(self) -> "Loop":
        loop = self._bound
        if loop is None:
            from ._engine.loops import running

            loop = self._bound = running()
            self._ended = loop.event()
        if not loop.is_running():
            raise CLIConnectionError(
                "This pool belongs to another event loop, or another thread's; each needs its own."
            )
        return loop

    async def take(
        self, session_id: str | None = None, *, timeout: float | None = -1.0
    ) -> "towline.ClaudeSDKClient":
        """A client that is connected: of a warm session at once, else of one that is started.

        Args:
            session_id: The conversation to go on with: the parked session, else one that resumes it.
                While somebody else has it, it is waited for.
            timeout: Seconds to wait; what `take_timeout` says unless given, `None` for ever.

        Raises:
            CLIConnectionError: all sessions are in use, or the pool is closed.
            ValueError: `timeout` is no time.
            ClaudeSDKError: what the start failed with.
        """
        loop = self._loop()
        if timeout == -1.0:
            timeout = self._take_timeout
        limit = milliseconds("timeout", timeout)
        served = loop.event()
        outcome: list[Any] = []
        ticket = self._policy.take(session_id, limit)
        self._tickets[ticket] = (served, outcome)
        self._settle()
        try:
            await served.wait()
        except BaseException:
            if self._tickets.pop(ticket, None) is not None:
                self._policy.cancel(ticket)
            elif outcome and not isinstance(outcome[0], BaseException):
                self.discard(outcome[0])
            raise
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        client: towline.ClaudeSDKClient = outcome[0]
        return client

    def put_back(self, client: "towline.ClaudeSDKClient") -> None:
        """Gives a session back. One with a conversation is parked under its session id, for
        `take(session_id)`; one that never had a prompt is warm again, for anybody. The client is
        disconnected by that; messages that were not read are dropped.

        Raises:
            CLIConnectionError: a turn of it is open, it has ended or has no id yet; it stays the
                caller's.
            ValueError: it is not of this pool.
        """
        self._loop()
        number, engine = self._member(client)
        key = put_back_key(engine.session)
        while engine.inbox.take() is not None:
            pass
        client._engine = None
        self._policy.put_back(number, key)
        self._settle()

    def discard(self, client: "towline.ClaudeSDKClient") -> None:
        """Ends a session that was taken, without waiting; the pool sees it through."""
        self._loop()
        number, _ = self._member(client)
        client._engine = None
        self._policy.discard(number)
        self._settle()

    def _member(self, client: "towline.ClaudeSDKClient") -> "tuple[int, Engine]":
        engine = client._engine
        for number, place in self._places.items():
            if engine is not None and place.engine is engine:
                return number, engine
        raise ValueError("the client is not of this pool, or its session has ended")

    @asynccontextmanager
    async def client(
        self, session_id: str | None = None, *, park: bool = False
    ) -> "AsyncIterator[towline.ClaudeSDKClient]":
        """A client for the time of an `async with`. Its session is ended after that, or with `park`
        put back if it can be."""
        client = await self.take(session_id)
        parked = False
        try:
            yield client
            if park:
                try:
                    self.put_back(client)
                    parked = True
                except (CLIConnectionError, ValueError):
                    pass
        finally:
            if not parked and client._engine is not None:
                try:
                    self.discard(client)
                except ValueError:
                    # It has ended by itself.
                    client._engine = None

    async def query(
        self, prompt: str, *, session_id: str | None = None, park: bool = False
    ) -> "AsyncIterator[towline.Message]":
        """Sends one prompt; the messages of its turn, the result last. As with `client`, the session is
        ended after that unless `park` is set."""
        async with self.client(session_id, park=park) as client:
            await client.query(prompt)
            async for message in client.receive_response():
                yield message

    async def fill(self) -> None:
        """Waits until as many sessions are warm as shall be, or there is no room for more.

        Raises:
            ClaudeSDKError: what a start failed with.
        """
        full = self._loop().event()
        failed: list[BaseException] = []
        self._fillers.append((full, failed))
        self._settle()
        await full.wait()
        if failed:
            raise failed[0]

    def stats(self) -> dict[str, int]:
        """Counters: `warm`, `parked`, `starting`, `handed_out`, `closing`, `waiting` of this moment;
        `started`, `resumed`, `hits`, `misses`, `failed`, `exited`, `unhealthy`, `idle`, `evicted` so
        far; `failures`: starts that have failed in a row."""
        return self._policy.stats()

    async def close(self) -> None:
        """Ends all sessions that nobody has, at the same time, within the graces of the options.
        Those in use are their users'. Whoever waits for one gets a `CLIConnectionError`."""
        loop = self._loop()
        self._policy.close()
        self._settle()
        if self._ended is not None:
            await loop.until(self._ended)

    async def __aenter__(self) -> "Pool":
        self._loop()
        self._settle()
        return self

    async def __aexit__(self, *_: object) -> Literal[False]:
        await self.close()
        return False

    # What the policy wants.

    def _settle(self) -> None:
        policy = self._policy
        while (action := policy.next()) is not None:
            kind = action[0]
            if kind == "start":
                self._places[action[1]] = _Place()
                self._spawn(self._run(action[1], action[2]))
            elif kind == "check":
                self._spawn(self._check(action[1]))
            elif kind == "close":
                self._end(action[1])
            elif kind == "give":
                self._give(action[1], action[2])
            else:
                self._serve(action[1], action[2])
        if policy.is_full() or policy.is_closed():
            for full, _ in self._fillers:
                full.set()
            self._fillers.clear()
        if policy.is_closed() and policy.is_empty() and self._ended is not None:
            self._ended.set()
        self._set_alarm()

    def _spawn(self, work: Any) -> None:
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(self._loop().spawn(work))

    def _set_alarm(self) -> None:
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            alarm.cancel()
        seconds = self._policy.timeout()
        if seconds is not None:
            self._alarm = self._loop().spawn(self._sleep(seconds))

    async def _sleep(self, seconds: float) -> None:
        await self._loop().sleep(seconds)
        self._alarm = None
        self._settle()

    async def _run(self, number: int, resume: str | None) -> None:
        """Starts a session and sees it to its end."""
        from ._engine.opening import open_engine

        place = self._places[number]
        options = self.options if resume is None else replace(self.options, resume=resume)
        try:
            engine = place.engine = await open_engine(options, None)
            try:
                if place.closing:
                    engine.abandon()
                await engine.connected()
            except BaseException:
                await engine.close()
                raise
        except Exception as error:
            self._failed(number, error)
            return
        self.last_failure = None
        self._policy.opened(number)
        self._settle()
        try:
            await engine.over.wait()
        except BaseException:
            # The program ends without closing the pool.
            engine.abandon()
            raise
        self._policy.lost(number)
        await engine.close()
        self._gone(number)

    def _failed(self, number: int, error: Exception) -> None:
        place = self._places[number]
        if not place.closing:
            self.last_failure = error
            for full, failed in self._fillers:
                failed.append(error)
                full.set()
            self._fillers.clear()
        ticket = self._policy.failed(number)
        if ticket is not None:
            self._serve(ticket, error)
        self._gone(number)

    def _gone(self, number: int) -> None:
        self._places.pop(number, None)
        self._policy.gone(number)
        self._settle()

    async def _check(self, number: int) -> None:
        place = self._places.get(number)
        if place is None or place.engine is None:
            return
        try:
            await place.engine.request(SIGN_OF_LIFE)
        except (CLIConnectionError, ProcessError):
            # Its end, which follows, tells more.
            return
        except ClaudeSDKError as error:
            # A refusal is a sign of life too.
            if is_timeout(error):
                return
        self._policy.answered(number)
        self._settle()

    def _end(self, number: int) -> None:
        place = self._places.get(number)
        if place is None:
            self._policy.gone(number)
            return
        place.closing = True
        if place.engine is not None:
            place.engine.abandon()

    def _give(self, ticket: int, number: int) -> None:
        engine = self._places[number].engine
        if engine is None or engine.over.is_set() or not engine.session.is_usable():
            self._policy.lost(number)
            return
        engine.session.note_taken()
        client = towline.ClaudeSDKClient(self.options)
        client._engine = engine
        self._policy.given(ticket, number)
        self._serve(ticket, client)

    def _serve(self, ticket: int, outcome: Any) -> None:
        waiting = self._tickets.pop(ticket, None)
        if waiting is not None:
            waiting[1].append(outcome)
            waiting[0].set()
