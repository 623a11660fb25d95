"""Permission requests."""

import threading
from typing import Any

import anyio
import pytest

import towline

from .stage import Stage
from .talk import good, result, shell, tool_results, turn

both_versions = pytest.mark.both_versions
TOUCH = shell("touch made && echo made")


@both_versions
async def test_allowed(stage: Stage) -> None:
    asked: list[Any] = []

    async def can_use_tool(tool: str, given: dict[str, Any], context: Any) -> Any:
        asked.append((tool, given["command"], context.tool_use_id))
        return towline.PermissionResultAllow()

    async with stage.client(can_use_tool=can_use_tool) as client:
        messages = await turn(client, TOUCH)
    assert good(messages) == "done" and tool_results(messages) == [("made", False)]
    assert (stage.project / "made").exists()
    ((tool, command, tool_use_id),) = asked
    assert (tool, command) == ("Bash", "touch made && echo made") and tool_use_id


async def test_allowed_with_another_input(stage: Stage) -> None:
    async def can_use_tool(_: str, given: dict[str, Any], __: Any) -> Any:
        return towline.PermissionResultAllow(
            updated_input={**given, "command": "touch other && echo other"}
        )

    async with stage.client(can_use_tool=can_use_tool) as client:
        messages = await turn(client, TOUCH)
    assert tool_results(messages) == [("other", False)]
    assert (stage.project / "other").exists() and not (stage.project / "made").exists()


async def test_allowed_for_the_rest_of_the_session(stage: Stage) -> None:
    asked = 0

    async def can_use_tool(_: str, __: Any, context: Any) -> Any:
        nonlocal asked
        asked += 1
        assert context.suggestions
        return towline.PermissionResultAllow(updated_permissions=context.suggestions)

    async with stage.client(can_use_tool=can_use_tool) as client:
        await turn(client, shell("touch once"))
        await turn(client, shell("touch once"))
    assert asked == 1


@both_versions
async def test_denied(stage: Stage) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultDeny(message="not in this house")

    async with stage.client(can_use_tool=can_use_tool) as client:
        messages = await turn(client, TOUCH)
    ((text, is_error),) = tool_results(messages)
    assert is_error and "not in this house" in text
    assert good(messages) == "done", "the turn goes on after a denial"
    denials = result(messages).permission_denials
    assert denials is not None and len(denials) == 1
    assert not (stage.project / "made").exists()


@both_versions
async def test_denied_with_interrupt(stage: Stage) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultDeny(message="stop", interrupt=True)

    async with stage.client(can_use_tool=can_use_tool) as client:
        assert result(await turn(client, TOUCH)).subtype == "error_during_execution"
        assert not (stage.project / "made").exists()
        # The scripted model answers a prompt that follows a tool's result with that.
        assert good(await turn(client, "still there")) == "done"


@pytest.mark.loops("asyncio")
async def test_answered_by_another_thread(stage: Stage) -> None:
    import asyncio

    async def can_use_tool(*_: Any) -> Any:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        allow = towline.PermissionResultAllow()
        threading.Thread(target=lambda: loop.call_soon_threadsafe(answer.set_result, allow)).start()
        return await answer

    async with stage.client(can_use_tool=can_use_tool) as client:
        assert tool_results(await turn(client, TOUCH)) == [("made", False)]


async def test_a_callback_that_fails_denies(stage: Stage) -> None:
    async def can_use_tool(*_: Any) -> Any:
        raise RuntimeError("the callback's own fault")

    async with stage.client(can_use_tool=can_use_tool) as client:
        messages = await turn(client, TOUCH)
    assert tool_results(messages)[0][1]
    assert not (stage.project / "made").exists()


@both_versions
async def test_interrupted_while_pending(stage: Stage) -> None:
    asked, cancelled = anyio.Event(), anyio.Event()

    async def can_use_tool(*_: Any) -> Any:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with stage.client(can_use_tool=can_use_tool) as client:
        await client.query(TOUCH)
        await asked.wait()
        await client.interrupt()
        with anyio.fail_after(10):
            await cancelled.wait()
        messages = [message async for message in client.receive_response()]
        assert result(messages).subtype == "error_during_execution"
        assert not (stage.project / "made").exists()
        assert good(await turn(client, "still there")) == "done"
