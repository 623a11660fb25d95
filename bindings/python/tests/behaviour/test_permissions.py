"""Permission callbacks."""

import asyncio
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.script import (
    INIT,
    PROMPT,
    RESULT,
    answered,
    permission,
    result,
    turn,
    unanswered,
    withdraw,
)

import towline
from towline.types import PermissionRuleValue


def ending(*steps: Any) -> list[Any]:
    return [PROMPT, INIT, *steps, RESULT, {"expect_eof": True}]


async def talk(options: "towline.ClaudeAgentOptions") -> None:
    async with towline.ClaudeSDKClient(options) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass


async def test_what_the_callback_is_told(cli: FakeCli) -> None:
    seen: list[Any] = []

    async def can_use_tool(tool: str, tool_input: dict[str, Any], context: Any) -> Any:
        seen.append((tool, tool_input, context))
        return towline.PermissionResultAllow()

    suggestion = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
        "behavior": "allow",
        "destination": "session",
    }
    request = permission(
        permission_suggestions=[suggestion],
        blocked_path="/etc",
        decision_reason="outside",
        title="Claude wants to list",
        display_name="List",
        description="lists",
        agent_id="a1",
    )
    await talk(cli.options(ending(request, answered("p1")), can_use_tool=can_use_tool))
    cli.holds()
    ((tool, tool_input, context),) = seen
    assert (tool, tool_input) == ("Bash", {"command": "ls"})
    assert isinstance(context, towline.ToolPermissionContext)
    (given,) = context.suggestions
    assert isinstance(given, towline.PermissionUpdate)
    assert given.type == "addRules" and given.destination == "session" and given.behavior == "allow"
    assert given.rules is not None and given.rules[0].tool_name == "Bash"
    assert (context.tool_use_id, context.blocked_path, context.agent_id) == (
        "toolu_p1",
        "/etc",
        "a1",
    )
    assert (context.title, context.display_name, context.description) == (
        "Claude wants to list",
        "List",
        "lists",
    )


async def test_allow_sends_the_input_back(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    wanted = {"behavior": "allow", "updatedInput": {"command": "ls"}}
    await talk(cli.options(ending(permission(), answered("p1", wanted)), can_use_tool=can_use_tool))
    cli.holds()


async def test_allow_with_another_input_and_new_rules(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        update = towline.PermissionUpdate(
            type="addRules",
            rules=[PermissionRuleValue(tool_name="Bash", rule_content="ls:*")],
            behavior="allow",
            destination="session",
        )
        return towline.PermissionResultAllow(
            updated_input={"command": "pwd"}, updated_permissions=[update]
        )

    rules = [{"toolName": "Bash", "ruleContent": "ls:*"}]
    update = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
    wanted = {
        "behavior": "allow",
        "updatedInput": {"command": "pwd"},
        "updatedPermissions": [update],
    }
    await talk(cli.options(ending(permission(), answered("p1", wanted)), can_use_tool=can_use_tool))
    cli.holds()


@pytest.mark.parametrize("interrupt", [False, True])
async def test_deny(cli: FakeCli, interrupt: bool) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultDeny(message="no", interrupt=interrupt)

    wanted = {"behavior": "deny", "message": "no", **({"interrupt": True} if interrupt else {})}
    await talk(cli.options(ending(permission(), answered("p1", wanted)), can_use_tool=can_use_tool))
    cli.holds()


async def test_a_callback_that_raises_allows_nothing(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        raise ValueError("the callback's own fault")

    await talk(
        cli.options(
            ending(permission(), answered("p1", subtype="error")), turn(), can_use_tool=can_use_tool
        )
    )
    assert "the callback's own fault" in str(cli.received("control_response"))


@pytest.mark.loops("asyncio", "uvloop")
async def test_what_is_no_exception_is_answered_though_somebody_keeps_it(cli: FakeCli) -> None:
    kept = asyncio.CancelledError()

    async def can_use_tool(*_: Any) -> Any:
        raise kept

    await talk(
        cli.options(
            ending(permission(), answered("p1", subtype="error")), can_use_tool=can_use_tool
        )
    )
    cli.holds()


@pytest.mark.loops("trio")
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
async def test_what_is_no_exception_does_not_break_trio(
    cli: FakeCli, nothing_logged: None, kind: type[BaseException]
) -> None:
    async def can_use_tool(*_: Any) -> Any:
        raise kind

    await talk(
        cli.options(
            ending(permission(), answered("p1", subtype="error")), can_use_tool=can_use_tool
        )
    )
    cli.holds()


async def test_a_callback_whose_answer_is_none_allows_nothing(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return None

    await talk(
        cli.options(
            ending(permission(), {"expect": {"type": "control_response"}}),
            can_use_tool=can_use_tool,
        )
    )
    assert "'allow'" not in str(cli.received("control_response"))


async def test_a_request_that_is_withdrawn_cancels_the_callback(cli: FakeCli) -> None:
    cancelled = []

    async def can_use_tool(*_: Any) -> Any:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            cancelled.append(True)
            raise

    steps = [permission(), {"sleep_ms": 200}, withdraw("p1"), unanswered("p1")]
    await talk(cli.options(ending(*steps), can_use_tool=can_use_tool))
    cli.holds()
    assert cancelled == [True]


async def test_a_request_nobody_knows_can_be_withdrawn(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    steps = [withdraw("no-such"), permission(), answered("p1"), withdraw("p1")]
    await talk(cli.options(ending(*steps), can_use_tool=can_use_tool))
    cli.holds()


async def test_requests_are_served_at_once_and_in_any_order(cli: FakeCli) -> None:
    second = anyio.Event()

    async def can_use_tool(tool: str, *_: Any) -> Any:
        if tool == "Second":
            second.set()
        else:
            await second.wait()
        return towline.PermissionResultAllow()

    steps = [permission("p1", "First"), permission("p2", "Second"), answered("p2"), answered("p1")]
    await talk(cli.options(ending(*steps), can_use_tool=can_use_tool))
    cli.holds()


async def test_a_callback_may_ask_the_cli(cli: FakeCli) -> None:
    clients: list[Any] = []

    async def can_use_tool(*_: Any) -> Any:
        await clients[0].set_model("claude-other")
        return towline.PermissionResultAllow()

    asked = {"expect": {"type": "control_request", "request": {"subtype": "set_model"}}}
    steps = [permission(), asked, {"answer": {}}, answered("p1")]
    async with towline.ClaudeSDKClient(
        cli.options(ending(*steps), can_use_tool=can_use_tool)
    ) as client:
        clients.append(client)
        await client.query("hi")
        async for _ in client.receive_response():
            pass
    cli.holds()


async def test_callbacks_run_while_nobody_reads(cli: FakeCli) -> None:
    answered_one = anyio.Event()

    async def can_use_tool(*_: Any) -> Any:
        answered_one.set()
        return towline.PermissionResultAllow()

    steps = [permission(), answered("p1")]
    async with towline.ClaudeSDKClient(
        cli.options(ending(*steps), can_use_tool=can_use_tool)
    ) as client:
        await client.query("hi")
        with anyio.fail_after(5):
            await answered_one.wait()
        messages = [message async for message in client.receive_response()]
    assert isinstance(messages[-1], towline.ResultMessage)


async def test_without_a_callback_nothing_is_allowed(cli: FakeCli) -> None:
    await talk(cli.options(ending(permission(), {"expect": {"type": "control_response"}})))
    cli.holds()
    assert "'allow'" not in str(cli.received("control_response"))


async def test_the_callback_makes_the_cli_ask_the_host(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    await talk(cli.options(turn(), can_use_tool=can_use_tool))
    line = " ".join(cli.argv()).replace("=", " ")
    assert "--permission-prompt-tool stdio" in line


async def test_a_callback_and_a_prompt_tool_exclude_each_other(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    options = cli.options(
        turn(), can_use_tool=can_use_tool, permission_prompt_tool_name="mcp__x__y"
    )
    with pytest.raises(ValueError, match="can_use_tool"):
        await talk(options)


async def test_rules_that_hide_the_callback_are_warned_of(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    options = cli.options(*ending(), can_use_tool=can_use_tool, allowed_tools=["Bash"])
    with pytest.warns(towline.CanUseToolShadowedWarning, match="Bash") as told:
        await talk(options)
    assert len(told) == 1


async def test_a_one_shot_query_keeps_its_input_open_for_the_callback(cli: FakeCli) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    steps = [{"expect_none": {"type": "never"}, "for_ms": 300}, permission(), answered("p1")]
    options = cli.options(
        PROMPT, INIT, steps, result(), {"expect_eof": True}, can_use_tool=can_use_tool
    )
    kinds = [
        type(message).__name__ async for message in towline.query(prompt="hi", options=options)
    ]
    assert kinds[-1] == "ResultMessage"
    cli.holds()


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), object()])
async def test_an_input_that_json_cannot_say_is_an_error_answer(cli: FakeCli, odd: Any) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow(updated_input={"value": odd})

    await talk(
        cli.options(
            ending(permission(), answered("p1", subtype="error")), can_use_tool=can_use_tool
        )
    )
    cli.holds()
    (answer,) = [line["response"] for line in cli.received("control_response")]
    assert "JSON" in answer["error"]


async def test_a_prompt_that_json_cannot_say_is_refused(cli: FakeCli) -> None:
    async with towline.ClaudeSDKClient(cli.options(turn())) as client:
        for odd in (float("nan"), object()):

            async def prompts(odd: Any = odd) -> Any:
                yield {"type": "user", "message": {"role": "user", "content": "hi", "odd": odd}}

            with pytest.raises((TypeError, ValueError), match="JSON"):
                await client.query(prompts())
        await client.query("hi")
        messages = [message async for message in client.receive_response()]
    assert isinstance(messages[-1], towline.ResultMessage)
