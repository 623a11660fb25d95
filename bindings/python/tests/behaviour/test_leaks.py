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
