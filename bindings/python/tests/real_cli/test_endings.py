"""How sessions end, and that nothing of them is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.leftovers import is_gone

import towline

from .stage import Stage
from .talk import good, shell, tool, turn

both_versions = pytest.mark.both_versions


def family(text: str, home: Path) -> set[int]:
    """The running processes with this home and this text on their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment, line = (entry / "environ").read_bytes(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"HOME={home}".encode() in environment and text.encode() in line:
            found.add(int(entry.name))
    return found


@both_versions
async def test_idle(stage: Stage) -> None:
    client = stage.client()
    await client.connect()
    await turn(client, "hello")
    started = time.monotonic()
    await client.disconnect()
    assert time.monotonic() - started < 4
    with pytest.raises(towline.CLIConnectionError):
        await client.query("too late")


@both_versions
async def test_in_mid_turn(stage: Stage) -> None:
    client = stage.client(close_grace_ms=300)
    await client.connect()
    await client.query("GATE never")
    await stage.api.stands_at("never")
    started = time.monotonic()
    await client.disconnect()
    assert time.monotonic() - started < 4


async def test_in_mid_turn_with_patience(stage: Stage) -> None:
    client = stage.client()
    await client.connect()
    one = await client.send("GATE soon")
    await stage.api.stands_at("soon")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.disconnect)
        await anyio.wait_all_tasks_blocked()
        stage.api.release("soon")
    assert one.outcome in ("result", "session_ended")


async def test_before_the_session_is_open(stage: Stage) -> None:
    client = stage.client()
    with anyio.move_on_after(0.05):
        await client.connect()
    await client.disconnect()


@both_versions
async def test_a_query_that_is_left_in_mid_turn(stage: Stage) -> None:
    messages: Any = towline.query(prompt="DELTAS 3 1", options=stage.options(close_grace_ms=300))
    async for _ in messages:
        break
    await messages.aclose()
    with anyio.fail_after(5):
        while family("claude", stage.home):
            await anyio.sleep(0.05)


@both_versions
async def test_a_background_shell_goes_with_the_session(stage: Stage) -> None:
    client = stage.client(allowed_tools=["Bash"], close_grace_ms=300)
    await client.connect()
    assert good(await turn(client, shell("sleep 987", run_in_background=True))) == "done"
    shells = family("sleep 987", stage.home)
    assert shells
    await client.query("GATE never")
    await stage.api.stands_at("never")
    await client.disconnect()
    assert [pid for pid in shells if not is_gone(pid)] == []
    assert family("claude", stage.home) == set()


HOST = """
import asyncio, json, sys, towline
async def main():
    options = towline.Options(**json.loads(sys.argv[1]))
    async with towline.ClaudeSDKClient(options) as client:
        await client.query(sys.argv[2])
        async for _ in client.receive_response():
            pass
        await client.query("GATE never")
        await asyncio.sleep(600)
asyncio.run(main())
"""


@both_versions
@pytest.mark.loops("asyncio")
async def test_a_host_that_is_killed_leaves_nothing(stage: Stage) -> None:
    options = json.dumps(
        {
            "cli_path": str(stage.cli),
            "cwd": str(stage.project),
            "env": stage.env,
            "setting_sources": [],
            "allowed_tools": ["Bash"],
        }
    )
    prompt = shell("sleep 987", run_in_background=True)
    host = subprocess.Popen([sys.executable, "-c", HOST, options, prompt])
    try:
        await stage.api.stands_at("never")
        everything = family("", stage.home) - {os.getpid()}
        assert family("sleep 987", stage.home) <= everything and len(everything) >= 3
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    assert [pid for pid in everything if not is_gone(pid)] == []
    assert family("", stage.home) == set()


async def test_a_subagent_in_the_background_keeps_a_query_open(stage: Stage) -> None:
    async def can_use_tool(*_: Any) -> Any:
        await anyio.sleep(0.2)
        return towline.PermissionResultAllow()

    job = {
        "description": "a job",
        "subagent_type": "general-purpose",
        "run_in_background": True,
        "prompt": shell("touch made"),
    }
    options = stage.options(can_use_tool=can_use_tool)
    messages = [
        message async for message in towline.query(prompt=tool("Agent", job), options=options)
    ]
    results = [message for message in messages if isinstance(message, towline.ResultMessage)]
    assert results[0].result == "done" and len(results) == 2
    assert (stage.project / "made").exists()


async def test_a_subagent_in_the_foreground(stage: Stage) -> None:
    job = {
        "description": "a job",
        "subagent_type": "general-purpose",
        "run_in_background": False,
        "prompt": shell("echo from-within"),
    }
    async with stage.client(allowed_tools=["Bash", "Agent"]) as client:
        messages = await turn(client, tool("Agent", job))
    assert good(messages) == "done"
    inner = [message for message in messages if getattr(message, "parent_tool_use_id", None)]
    assert any(isinstance(message, towline.AssistantMessage) for message in inner)
    assert "from-within" in str(inner)
