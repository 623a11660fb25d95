"""The steps of a case through the asynchronous client and ``query``."""

import gc
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from . import sessions
from .loops import Loop
from .package import sdk
from .record import Record
from .setup import Setup

#: How long a step may take that does not say so, in milliseconds.
LIMIT_MS = 8000


class Host:
    def __init__(self, record: Record, loop: Loop) -> None:
        self._record = record
        self._loop = loop
        self._setup = Setup(record, self._policy)
        self._client: Any = None
        self._messages: Any = None
        self._tasks: dict[str, Any] = {}
        self._barriers: dict[str, tuple[list[None], Any]] = {}

    async def run(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if self._setup.take(step):
                continue
            if "exit_without_close" in step:
                return
            await self._timed(step)
        if self._client is not None and not any("close" in step for step in steps):
            await self._timed({"close": True, "timeout_ms": 25_000})

    async def _timed(self, step: dict[str, Any]) -> None:
        started = time.monotonic()
        error: BaseException | None = None
        try:
            await self._loop.within(
                step.get("timeout_ms", LIMIT_MS) / 1000, partial(self._step, step)
            )
        except Exception as caught:
            error = caught
        self._record.step(step, started, error)

    async def _step(self, step: dict[str, Any]) -> None:
        if sessions.take(step, self._record):
            return
        for name, act in self._steps().items():
            if name in step:
                await act(step)
                return
        raise RuntimeError(f"unknown host step {step}")

    def _steps(self) -> dict[str, Any]:
        return {
            "connect": self._connect,
            "query": self._query,
            "query_stream": self._query_stream,
            "send_user": self._send_user,
            "send_user_fill": lambda step: self._client.query("u" * step["send_user_fill"]),
            "recv_until": lambda step: self._receive(step["recv_until"]),
            "recv_n": lambda step: self._receive(None, step["recv_n"]),
            "drop_iterator": self._drop_iterator,
            "interrupt": lambda _: self._client.interrupt(),
            "set_model": lambda step: self._client.set_model(step["set_model"]),
            "set_permission_mode": lambda step: self._client.set_permission_mode(
                step["set_permission_mode"]
            ),
            "mcp_status": lambda _: self._value(self._client.get_mcp_status()),
            "server_info": lambda _: self._value(self._client.get_server_info()),
            "background": self._background,
            "join": lambda step: self._loop.join(self._tasks[step["join"]]),
            "parallel": self._parallel,
            "cancel_after_ms": lambda step: self._loop.cancelled_after(
                step["cancel_after_ms"] / 1000, partial(self._step, step["step"])
            ),
            "sleep_ms": lambda step: self._loop.sleep(step["sleep_ms"] / 1000),
            "close": self._close,
        }

    async def _connect(self, step: dict[str, Any]) -> None:
        self._client = sdk.ClaudeSDKClient(self._setup.options())
        self._messages = None
        await self._client.connect(step.get("prompt"))

    async def _query(self, step: dict[str, Any]) -> None:
        self._messages = sdk.query(prompt=step["query"], options=self._setup.options())

    async def _query_stream(self, step: dict[str, Any]) -> None:
        asked = step["query_stream"]

        async def prompts() -> AsyncIterator[dict[str, Any]]:
            for text in asked["texts"]:
                yield {
                    "type": "user",
                    "message": {"role": "user", "content": text},
                    "parent_tool_use_id": None,
                }
            if asked.get("then") == "raise":
                raise ValueError("the prompts' own fault")
            await self._loop.sleep(asked.get("hold_ms", 0) / 1000)

        self._messages = sdk.query(prompt=prompts(), options=self._setup.options())

    async def _send_user(self, step: dict[str, Any]) -> None:
        session = [step["session_id"]] if "session_id" in step else []
        await self._client.query(step["send_user"], *session)

    async def _receive(self, until: str | None, most: int | None = None) -> None:
        if self._messages is None:
            self._messages = self._client.receive_messages()
        received = 0
        try:
            async for message in self._messages:
                received += 1
                if self._record.message(message) == until or received == most:
                    return
        except BaseException:
            self._messages = None
            raise
        self._messages = None
        if until not in (None, "end"):
            raise RuntimeError(f"stream ended before {until}")

    async def _drop_iterator(self, step: dict[str, Any]) -> None:
        messages, self._messages = self._messages, None
        if step["drop_iterator"] == "aclose" and messages is not None:
            await messages.aclose()
        del messages
        gc.collect()

    async def _value(self, asked: Any) -> None:
        self._record.values.append(await asked)

    async def _background(self, step: dict[str, Any]) -> None:
        self._tasks[step["as"]] = self._loop.start(partial(self._timed, step["background"]))

    async def _parallel(self, step: dict[str, Any]) -> None:
        for task in [self._loop.start(partial(self._timed, inner)) for inner in step["parallel"]]:
            await self._loop.join(task)

    async def _close(self, _: dict[str, Any]) -> None:
        messages, self._messages = self._messages, None
        if self._client is not None:
            await self._client.disconnect()
        elif messages is not None:
            await messages.aclose()

    async def _policy(self, policy: Any, kind: str, tool: str) -> dict[str, Any]:
        """What a callback does before it answers."""
        try:
            while True:
                if "by_tool" in policy:
                    policy = policy["by_tool"].get(tool, {"allow": True})
                    continue
                if "barrier" in policy:
                    await self._barrier(policy.get("name", kind), policy["barrier"])
                elif "sleep_ms" in policy:
                    await self._loop.sleep(policy["sleep_ms"] / 1000)
                elif "call" in policy:
                    await self._step(policy["call"])
                else:
                    break
                policy = policy["then"]
        except self._loop.cancelled:
            self._record.was_cancelled()
            raise
        if "raise" in policy:
            raise RuntimeError(policy["raise"])
        answer: dict[str, Any] = policy
        return answer

    async def _barrier(self, name: str, count: int) -> None:
        come, opened = self._barriers.setdefault(name, ([], self._loop.event()))
        come.append(None)
        if len(come) >= count:
            opened.set()
        await self._loop.within(5, opened.wait)
