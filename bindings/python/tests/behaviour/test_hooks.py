"""Hook callbacks."""

from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, Step, answered, request, unanswered, withdraw

import towline


def call(request_id: str, callback_id: str, **more: Any) -> Step:
    given = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "session_id": "s",
    }
    tool_use_id = more.pop("tool_use_id", "toolu_1")
    return request(
        request_id,
        "hook_callback",
        callback_id=callback_id,
        input={**given, **more},
        tool_use_id=tool_use_id,
    )


def before_a_tool(*callbacks: Any, **more: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [towline.HookMatcher(hooks=list(callbacks), **more)]}}


def ids(cli: FakeCli) -> list[str]:
    """The ids that `initialize` has given the callbacks of the event."""
    matchers = cli.initialize()["hooks"]["PreToolUse"]
    return [callback for matcher in matchers for callback in matcher["hookCallbackIds"]]


async def talk(options: "towline.ClaudeAgentOptions") -> None:
    async with towline.ClaudeSDKClient(options) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass


#: The ids that the package gives, in order.
FIRST, SECOND = "hook_0", "hook_1"


def ending(*steps: Any) -> list[Any]:
    return [PROMPT, INIT, *steps, RESULT, {"expect_eof": True}]


async def test_registration(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    hooks = {
        "PreToolUse": [
            towline.HookMatcher(matcher="Bash", hooks=[callback, callback], timeout=2.5),
            towline.HookMatcher(hooks=[callback]),
        ],
        "Stop": [towline.HookMatcher(hooks=[callback])],
    }
    await talk(cli.options(ending(), hooks=hooks))
    registered = cli.initialize()["hooks"]
    before = [
        (entry.get("matcher"), entry.get("timeout"), len(entry["hookCallbackIds"]))
        for entry in registered["PreToolUse"]
    ]
    # Whether callbacks of one matcher stand together makes no difference to the CLI.
    assert before in (
        [("Bash", 2.5, 2), (None, None, 1)],
        [("Bash", 2.5, 1), ("Bash", 2.5, 1), (None, None, 1)],
    )
    every = [
        callback
        for entries in registered.values()
        for entry in entries
        for callback in entry["hookCallbackIds"]
    ]
    assert list(registered) == ["PreToolUse", "Stop"] and len(set(every)) == 4


async def test_what_the_callback_is_told_and_its_answer(cli: FakeCli) -> None:
    seen: list[Any] = []

    async def callback(given: Any, tool_use_id: str | None, context: Any) -> Any:
        seen.append((given, tool_use_id, context))
        return {
            "continue_": False,
            "async_": True,
            "stopReason": "enough",
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"},
        }

    wanted = {
        "continue": False,
        "async": True,
        "stopReason": "enough",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"},
    }
    await talk(
        cli.options(ending(call("h1", FIRST), answered("h1", wanted)), **before_a_tool(callback))
    )
    cli.holds()
    assert ids(cli) == [FIRST]
    ((given, tool_use_id, context),) = seen
    assert given["tool_input"] == {"command": "ls"} and tool_use_id == "toolu_1"
    assert context["signal"] is None or hasattr(context["signal"], "aborted")
    answer = str(cli.received("control_response"))
    assert "continue_" not in answer and "async_" not in answer


async def test_an_empty_answer_is_no_opinion(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    await talk(
        cli.options(ending(call("h1", FIRST), answered("h1", {})), **before_a_tool(callback))
    )
    cli.holds()


async def test_a_callback_that_raises_is_an_error_answer(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        raise ValueError("the hook's own fault")

    steps = [call("h1", FIRST), answered("h1", subtype="error")]
    await talk(cli.options(ending(*steps), **before_a_tool(callback)))
    cli.holds()
    assert "the hook's own fault" in str(cli.received("control_response"))


async def test_an_id_nobody_has_registered_is_an_error_answer(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    steps = [
        call("h1", "no_such_hook"),
        answered("h1", subtype="error"),
        call("h2", FIRST),
        answered("h2", {}),
    ]
    await talk(cli.options(ending(*steps), **before_a_tool(callback)))
    cli.holds()


async def test_callbacks_of_one_event_run_at_once(cli: FakeCli) -> None:
    second = anyio.Event()

    async def waits(*_: Any) -> Any:
        await second.wait()
        return {"reason": "first"}

    async def wakes(*_: Any) -> Any:
        second.set()
        return {"reason": "second"}

    steps = [
        call("h1", FIRST),
        call("h2", SECOND),
        answered("h2", {"reason": "second"}),
        answered("h1", {"reason": "first"}),
    ]
    await talk(cli.options(ending(*steps), **before_a_tool(waits, wakes)))
    cli.holds()


async def test_a_call_that_is_withdrawn_cancels_the_callback(cli: FakeCli) -> None:
    cancelled = []

    async def callback(*_: Any) -> Any:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            cancelled.append(True)
            raise

    steps = [call("h1", FIRST), {"sleep_ms": 200}, withdraw("h1"), unanswered("h1")]
    await talk(cli.options(ending(*steps), **before_a_tool(callback)))
    cli.holds()
    assert cancelled == [True]


async def test_a_hook_of_the_start_is_served_before_the_session_is_open(cli: FakeCli) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    start = {
        "expect": {"type": "control_request", "request": {"subtype": "initialize"}},
        "save": "1",
    }
    reply = {
        "emit": {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": "$1", "response": {"commands": []}},
        }
    }
    steps = [start, call("h1", FIRST), answered("h1", {}), reply]
    await talk(cli.options(steps, ending(), **before_a_tool(callback)))
    cli.holds()


@pytest.mark.parametrize("event", ["SessionEnd", "FromTheFuture"])
async def test_any_event_can_have_hooks(cli: FakeCli, event: str) -> None:
    async def callback(*_: Any) -> Any:
        return {}

    hooks: Any = {event: [towline.HookMatcher(hooks=[callback])]}
    steps = [call("h1", FIRST, hook_event_name=event), answered("h1", {})]
    await talk(cli.options(ending(*steps), hooks=hooks))
    cli.holds()
    assert list(cli.initialize()["hooks"]) == [event]


@pytest.mark.parametrize("odd", [float("nan"), float("-inf"), object()])
async def test_an_output_that_json_cannot_say_is_an_error_answer(cli: FakeCli, odd: Any) -> None:
    async def callback(*_: Any) -> Any:
        return {
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"value": odd}}
        }

    await talk(
        cli.options(
            ending(call("h1", FIRST), answered("h1", subtype="error")), **before_a_tool(callback)
        )
    )
    cli.holds()
    (answer,) = [line["response"] for line in cli.received("control_response")]
    assert "JSON" in answer["error"]
