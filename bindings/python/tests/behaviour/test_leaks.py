"""A thousand sessions, each with a callback and a tool, leave nothing in this process."""

import gc
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.leftovers import descriptors, threads
from support.script import INIT, PROMPT, RESULT, answered, mcp_call, mcp_handshake, permission

import towline

SESSIONS = 1000
AT_ONCE = 8
#: Bytes that nobody has read above which each session takes little.
MANY = 5_000_000
#: What the allocators of Rust, Python and libc may keep for later.
SLACK = 4 << 20


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.loops("asyncio")
@pytest.mark.timeout(300)
async def test_a_thousand_sessions(cli: FakeCli) -> None:
    called = {"tool": 0, "permission": 0}

    @towline.tool("count", "Counts.", {"n": int})
    async def count(_: dict[str, Any]) -> dict[str, Any]:
        called["tool"] += 1
        return {"content": [{"type": "text", "text": "counted"}]}

    async def can_use_tool(*_: Any) -> Any:
        called["permission"] += 1
        return towline.PermissionResultAllow()

    call = [mcp_call("m2", "kit", "count", {"n": 1}), answered("m2")]
    steps = [PROMPT, mcp_handshake("kit"), INIT, permission(), answered("p1"), call, RESULT]
    server = towline.create_sdk_mcp_server("kit", tools=[count])
    options = cli.options(steps, can_use_tool=can_use_tool, mcp_servers={"kit": server})
    del options.env["FAKE_CLI_LOG"]
    results = 0

    async def sessions(number: int) -> None:
        nonlocal results
        for _ in range(number):
            async with towline.ClaudeSDKClient(options) as client:
                await client.query("hi")
                async for message in client.receive_response():
                    results += isinstance(message, towline.ResultMessage)

    async def many(number: int) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(sessions, number // AT_ONCE)
        gc.collect()

    await many(AT_ONCE * 15)
    before = (len(descriptors()), threads(), len(gc.get_objects()), resident())
    await many(SESSIONS)
    after = (len(descriptors()), threads(), len(gc.get_objects()), resident())
    assert results == SESSIONS + AT_ONCE * 15
    assert called == {"tool": results, "permission": results}
    assert after[:2] == before[:2], "descriptors and threads"
    assert after[2] <= before[2] + SESSIONS // 10, "objects of Python"
    assert after[3] <= before[3] + SLACK, f"{after[3] - before[3]} bytes more memory"


@pytest.mark.loops("asyncio", "trio")
async def test_a_client_that_is_kept_holds_no_descriptor(cli: FakeCli) -> None:
    async def talk(count: int) -> list[Any]:
        clients = [towline.ClaudeSDKClient(cli.options(PROMPT, INIT, RESULT)) for _ in range(count)]
        engines = []
        for client in clients:
            await client.connect()
            await client.query("hi")
            engines.append(client._engine)
            assert [message async for message in client.receive_response()]
            await client.disconnect()
        return engines

    kept = await talk(1)
    before = len(descriptors())
    kept += await talk(5)
    assert len(descriptors()) == before
    assert len(kept) == 6


@pytest.mark.loops("asyncio")
async def test_what_many_sessions_take_at_once_is_bounded(cli: FakeCli) -> None:
    """What other sessions have not read leaves a little to each, again and again."""
    line = {"emit_big": {"type": "system", "subtype": "note", "fill": "@FILL@"}, "bytes": 1000}
    options = cli.options(PROMPT, {"repeat": 1000, "steps": [line]}, RESULT)
    clients = [towline.ClaudeSDKClient(options) for _ in range(10)]
    inboxes: list[Any] = []
    steps: list[int] = []

    def unread() -> int:
        return sum(inbox.bytes for inbox in inboxes)

    for client in clients:
        await client.connect()
        engine: Any = client._engine
        inboxes.append(engine.inbox)

        def ready(inbox: Any = engine.inbox, drain: Any = engine.loop._ready) -> None:
            total, before = unread(), inbox.bytes
            drain()
            if total > MANY and inbox.bytes > before:
                steps.append(inbox.bytes - before)

        engine.loop._loop.add_reader(engine.loop._fd, ready)
    for client in clients:
        await client.query("hi")
    while unread() < 10_000_000:
        await anyio.sleep(0.001)
    assert max(steps) <= 16_384
    for client in clients:
        assert len([message async for message in client.receive_response()]) > 1000
        await client.disconnect()
