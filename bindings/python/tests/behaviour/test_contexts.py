"""Callbacks run in the context of whoever opened their session, as in the official package."""

from collections.abc import AsyncIterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import claude_agent_sdk as official
import pytest
from support.fake import FakeCli
from support.script import answered, mcp_call, mcp_handshake, permission, request, result

import towline

SESSIONS = 8
WHOSE: ContextVar[int | None] = ContextVar("whose", default=None)
STEPS = [
    {"expect": {"type": "user"}},
    permission("p"),
    answered("p"),
    request("h", "hook_callback", callback_id="hook_0", input={"hook_event_name": "Stop"}),
    answered("h"),
    mcp_handshake("s"),
    mcp_call("c", "s", "t", {}),
    {"stderr": "a line\n"},
    answered("c"),
    result(),
]


async def prompts() -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "message": {"role": "user", "content": "hi"},
        "parent_tool_use_id": None,
    }


@pytest.mark.parametrize("client", [False, True], ids=["query", "client"])
@pytest.mark.parametrize("package", [towline, official], ids=["towline", "official"])
async def test_callbacks_of_many_sessions(package: Any, client: bool, tmp_path: Path) -> None:
    seen: dict[int, dict[str, int | None]] = {}

    async def converse(number: int) -> None:
        WHOSE.set(number)
        noted = seen[number] = {}
        heard = anyio.Event()

        async def may_use(*_: Any) -> Any:
            noted["permission"] = WHOSE.get()
            return package.PermissionResultAllow()

        async def hook(*_: Any) -> Any:
            noted["hook"] = WHOSE.get()
            return {}

        @package.tool("t", "d", {})
        async def tool(_: Any) -> Any:
            noted["tool"] = WHOSE.get()
            await heard.wait()
            return {"content": []}

        def stderr(_: str) -> None:
            noted["stderr"] = WHOSE.get()
            heard.set()

        folder = tmp_path / str(number)
        folder.mkdir()
        cli = FakeCli(folder)
        options = package.ClaudeAgentOptions(
            cli_path=cli.path,
            env=cli.env(STEPS),
            can_use_tool=may_use,
            hooks={"Stop": [package.HookMatcher(hooks=[hook])]},
            mcp_servers={"s": package.create_sdk_mcp_server("s", tools=[tool])},
            stderr=stderr,
        )
        if client:
            async with package.ClaudeSDKClient(options) as session:
                WHOSE.set(-number)
                await session.query("hi")
                async for _ in session.receive_response():
                    pass
        else:
            async for _ in package.query(prompt=prompts(), options=options):
                pass
        cli.holds()

    async with anyio.create_task_group() as group:
        for number in range(1, SESSIONS + 1):
            group.start_soon(converse, number)
    callbacks = ["permission", "hook", "tool", "stderr"]
    assert seen == {number: dict.fromkeys(callbacks, number) for number in range(1, SESSIONS + 1)}
