"""Hooks."""

from typing import Any

import pytest

import towline

from .stage import Stage
from .talk import good, kinds, result, shell, tool, tool_results, turn

both_versions = pytest.mark.both_versions


def hooks(event: str, callback: Any, matcher: str | None = None) -> dict[str, Any]:
    return {event: [towline.HookMatcher(matcher=matcher, hooks=[callback])]}


@both_versions
async def test_before_and_after_a_tool(stage: Stage) -> None:
    called: list[Any] = []

    async def note(given: Any, *_: Any) -> Any:
        called.append(given)
        return {}

    both = {**hooks("PreToolUse", note, "Bash"), **hooks("PostToolUse", note)}
    async with stage.client(allowed_tools=["Bash"], hooks=both) as client:
        messages = await turn(client, shell("echo hooked"))
    assert tool_results(messages) == [("hooked", False)]
    before, after = called
    assert (before["hook_event_name"], after["hook_event_name"]) == ("PreToolUse", "PostToolUse")
    assert before["tool_input"]["command"] == "echo hooked"
    assert before["tool_use_id"] == after["tool_use_id"]
    assert after["tool_response"]["stdout"] == "hooked"


async def test_a_matcher_picks_tools(stage: Stage) -> None:
    called: list[str] = []

    async def note(given: Any, *_: Any) -> Any:
        called.append(given["tool_name"])
        return {}

    (stage.project / "note").write_text("text")
    options = {"allowed_tools": ["Bash", "Read"], "hooks": hooks("PreToolUse", note, "Read")}
    async with stage.client(**options) as client:
        await turn(client, shell("echo unhooked"))
        await turn(client, tool("Read", {"file_path": str(stage.project / "note")}))
    assert called == ["Read"]


@both_versions
async def test_one_that_denies_a_tool(stage: Stage) -> None:
    async def deny(*_: Any) -> Any:
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "the hook says no",
            }
        }

    async with stage.client(allowed_tools=["Bash"], hooks=hooks("PreToolUse", deny)) as client:
        messages = await turn(client, shell("touch made"))
    ((text, is_error),) = tool_results(messages)
    assert is_error and "the hook says no" in text
    assert not (stage.project / "made").exists() and good(messages) == "done"


async def test_one_that_changes_the_input(stage: Stage) -> None:
    async def change(given: Any, *_: Any) -> Any:
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": {**given["tool_input"], "command": "echo changed"},
            }
        }

    async with stage.client(hooks=hooks("PreToolUse", change)) as client:
        assert tool_results(await turn(client, shell("touch made"))) == [("changed", False)]


async def test_one_that_blocks_a_prompt(stage: Stage) -> None:
    async def guard(given: Any, *_: Any) -> Any:
        return (
            {"decision": "block", "reason": "not that"} if given["prompt"] == "the secret" else {}
        )

    async with stage.client(hooks=hooks("UserPromptSubmit", guard)) as client:
        assert result(await turn(client, "the secret")).num_turns == 0
        assert good(await turn(client, "something else")) == "echo: something else"
    assert stage.asked("the secret") == []


@both_versions
async def test_one_at_the_stop_that_continues(stage: Stage) -> None:
    active: list[bool] = []

    async def stop(given: Any, *_: Any) -> Any:
        active.append(given["stop_hook_active"])
        return {} if active[-1] else {"decision": "block", "reason": "say more"}

    async with stage.client(hooks=hooks("Stop", stop)) as client:
        messages = await turn(client, "hello")
    assert active == [False, True]
    assert kinds(messages).count("ResultMessage") == 1
    assert len(stage.asked("say more")) == 1


async def test_one_that_fails_does_not_stop_the_tool(stage: Stage) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the hook's own fault")

    async with stage.client(allowed_tools=["Bash"], hooks=hooks("PreToolUse", fail)) as client:
        assert tool_results(await turn(client, shell("echo anyway"))) == [("anyway", False)]


async def test_one_that_fails_blocks_when_it_is_to(stage: Stage) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the hook's own fault")

    matcher = towline.HookMatcher(hooks=[fail], on_failure="block")
    async with stage.client(allowed_tools=["Bash"], hooks={"PreToolUse": [matcher]}) as client:
        messages = await turn(client, shell("touch made"))
    assert tool_results(messages)[0][1] and not (stage.project / "made").exists()
