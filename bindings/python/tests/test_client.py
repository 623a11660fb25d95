"""`ClaudeSDKClient`: conversations, control requests, callbacks."""

import asyncio

import pytest
from conftest import (
    USER,
    FakeCli,
    Run,
    answered,
    ask,
    assistant,
    result,
    run_asyncio,
    run_trio,
)
from towline import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)

PERMISSION = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


def options(cli: FakeCli, **more) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(cli_path=cli.path, **more)


async def converse(cli: FakeCli, **more) -> list:
    async with ClaudeSDKClient(options(cli, **more)) as client:
        await client.query("hi")
        return [message async for message in client.receive_response()]


def test_two_turns(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("one"), result("1"), USER, assistant("two"), result("2"))

    async def main():
        texts = []
        async with ClaudeSDKClient(options(cli)) as client:
            for prompt in ("a", "b"):
                await client.query(prompt, session_id="mine")
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        texts.append(message.result)
            info = await client.get_server_info()
        return texts, info

    texts, info = run(main)
    assert texts == ["1", "2"]
    assert info["output_style"] == "default"
    assert [line["session_id"] for line in cli.received("user")] == ["mine", "mine"]


def test_without_connection(cli: FakeCli, run: Run) -> None:
    async def main():
        client = ClaudeSDKClient(options(cli))
        with pytest.raises(CLIConnectionError, match="Not connected"):
            await client.query("hi")
        with pytest.raises(CLIConnectionError, match="Not connected"):
            await client.interrupt()
        with pytest.raises(CLIConnectionError, match="Not connected"):
            async for _ in client.receive_messages():
                pass
        await client.disconnect()

    run(main)


def test_control_requests_and_their_errors(cli: FakeCli, run: Run) -> None:
    def expect(subtype: str, **fields):
        return {"expect": {"type": "control_request", "request": {"subtype": subtype, **fields}}}

    cli.script(
        expect("set_model", model="m2"),
        {"answer": {}},
        expect("mcp_status"),
        {"answer": {"mcpServers": []}},
        expect("rewind_files", user_message_id="u"),
        {"answer_error": "no checkpoint"},
        expect("stop_task", task_id="t"),
        {"answer": {}},
    )

    async def main():
        async with ClaudeSDKClient(options(cli)) as client:
            await client.set_model("m2")
            assert await client.get_mcp_status() == {"mcpServers": []}
            with pytest.raises(Exception, match="^no checkpoint$"):
                await client.rewind_files("u")
            await client.stop_task("t")

    run(main)
    assert cli.failures() == []


def test_permission(cli: FakeCli, run: Run) -> None:
    cli.script(
        USER,
        ask("can_use_tool", "p1", **PERMISSION, permission_suggestions=[{"type": "later"}]),
        answered("p1", behavior="allow", updatedInput={"command": "ls"}),
        ask("can_use_tool", "p2", **PERMISSION),
        answered("p2", behavior="allow", updatedInput={"command": "pwd"}),
        ask("can_use_tool", "p3", **PERMISSION),
        answered("p3", behavior="deny", message="no", interrupt=True),
        ask("can_use_tool", "p4", **PERMISSION),
        {"expect": {"response": {"subtype": "error", "request_id": "p4", "error": "broken"}}},
        result(),
    )
    answers = iter(
        [
            PermissionResultAllow(),
            PermissionResultAllow(updated_input={"command": "pwd"}),
            PermissionResultDeny(message="no", interrupt=True),
            RuntimeError("broken"),
        ]
    )
    asked = []

    async def can_use_tool(name, given, context):
        asked.append((name, given, context))
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    run(lambda: converse(cli, can_use_tool=can_use_tool))
    assert cli.failures() == []
    assert [call[:2] for call in asked] == [("Bash", {"command": "ls"})] * 4
    context = asked[0][2]
    assert context.tool_use_id == "t1"
    assert context.suggestions[0].type == "later"
    assert context.signal.aborted is False


@pytest.mark.parametrize("run_in", [run_asyncio, run_trio])
def test_a_withdrawn_question_cancels_its_callback(cli: FakeCli, run_in) -> None:
    cli.script(
        USER,
        ask("can_use_tool", "p1", **PERMISSION),
        ask("can_use_tool", "p2", **{**PERMISSION, "tool_use_id": "t2"}),
        answered("p2", behavior="deny"),
        {"emit": {"type": "control_cancel_request", "request_id": "p1"}},
        result(),
    )
    signals = {}
    ended = []

    async def can_use_tool(name, given, context):
        signals[context.tool_use_id] = context.signal
        if context.tool_use_id == "t2":
            return PermissionResultDeny(message="")
        try:
            if run_in is run_trio:
                import trio

                await trio.sleep_forever()
            await asyncio.Event().wait()
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    run_in(lambda: converse(cli, can_use_tool=can_use_tool))
    assert ended in (["CancelledError"], ["Cancelled"])
    assert signals["t1"].aborted and signals["t1"].reason == "withdrawn"
    assert not signals["t2"].aborted
    responses = [line["response"]["request_id"] for line in cli.received("control_response")]
    assert responses == ["p2"]


def test_hooks(cli: FakeCli, run: Run) -> None:
    given = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    cli.script(
        USER,
        ask("hook_callback", "h1", callback_id="hook_0", input=given, tool_use_id="t1"),
        answered("h1", **{"continue": False, "suppressOutput": True}),
        ask("hook_callback", "h2", callback_id="hook_1", input=given, tool_use_id=None),
        {"expect": {"response": {"subtype": "error", "request_id": "h2"}}},
        result(),
    )
    seen = []

    async def stop(hook_input, tool_use_id, context):
        seen.append((hook_input, tool_use_id, context["signal"].aborted))
        return {"continue_": False, "suppressOutput": True}

    async def nothing(hook_input, tool_use_id, context):
        return None

    hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[stop, nothing], timeout=7)]}
    run(lambda: converse(cli, hooks=hooks))
    assert cli.failures() == []
    assert seen == [(given, "t1", False)]
    [initialize] = cli.received("control_request")
    matchers = initialize["request"]["hooks"]["PreToolUse"]
    assert {matcher["matcher"] for matcher in matchers} == {"Bash"}
    assert {matcher["timeout"] for matcher in matchers} == {7}


def test_tools(cli: FakeCli, run: Run) -> None:
    def rpc(request_id: str, number: int, method: str, **params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return ask("mcp_message", request_id, server_name="calc", message=message)

    def expect(request_id: str, **result):
        return answered(request_id, mcp_response={"result": result})

    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    cli.script(
        USER,
        rpc("m1", 0, "initialize", **initialize),
        expect("m1", serverInfo={"name": {"$any": True}}),
        rpc("m2", 1, "tools/call", name="add", arguments={"a": 2, "b": 3}),
        expect("m2", content=[{"type": "text", "text": "5"}]),
        rpc("m3", 2, "tools/call", name="add", arguments={"a": "two"}),
        expect("m3", isError=True),
        rpc("m4", 3, "tools/call", name="fail", arguments={}),
        expect("m4", isError=True, content=[{"type": "text", "text": "out of order"}]),
        result(),
    )
    calls = []

    @tool("add", "adds", {"a": int, "b": int})
    async def add(args):
        calls.append(args)
        return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}

    @tool("fail", "fails", {})
    async def fail(args):
        raise RuntimeError("out of order")

    servers = {"calc": create_sdk_mcp_server("calc", tools=[add, fail])}
    run(lambda: converse(cli, mcp_servers=servers))
    assert cli.failures() == []
    assert calls == [{"a": 2, "b": 3}]


def test_stderr(cli: FakeCli, run: Run) -> None:
    cli.script(USER, {"stderr": "one\ntw"}, {"stderr": "o\n"}, result())
    lines = []

    def failing(line: str) -> None:
        lines.append(line)
        raise ValueError("no")

    run(lambda: converse(cli, stderr=failing))
    assert lines == ["one", "two"]


def test_turns(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("one"), result("1"), USER, assistant("two"), result("2"))

    async def main():
        async with ClaudeSDKClient(options(cli)) as client:
            first = await client.send("a")
            kinds = [type(message).__name__ async for message in first]
            second = await client.send("b")
            outcome = await second.result()
            left = [type(message).__name__ async for message in second]
            return kinds, (await first.result()).result, outcome.result, left, first.outcome

    both = ["AssistantMessage", "ResultMessage"]
    assert run(main) == (both, "1", "2", both, "result")


def test_a_turn_that_never_ends_well(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("one"), {"exit": 0})

    async def main():
        async with ClaudeSDKClient(options(cli)) as client:
            turn = await client.send("a")
            with pytest.raises(CLIConnectionError):
                await turn.result()
            return turn.outcome

    assert run(main) == "session_ended"


def test_several_tasks_share_a_client(cli: FakeCli) -> None:
    expect = {"expect": {"type": "control_request", "request": {"subtype": "mcp_status"}}}
    cli.script(*[step for number in range(8) for step in (expect, {"answer": {"n": number}})])

    async def main():
        async with ClaudeSDKClient(options(cli)) as client:
            answers = await asyncio.gather(*[client.get_mcp_status() for _ in range(8)])
            return sorted(answer["n"] for answer in answers)

    assert run_asyncio(main) == list(range(8))


def test_a_reader_is_woken_by_the_close_of_another_task(cli: FakeCli) -> None:
    cli.script({"expect_eof": 1, "timeout_ms": 9000})

    async def main():
        client = ClaudeSDKClient(options(cli))
        await client.connect()

        async def read():
            return [message async for message in client.receive_messages()]

        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        await client.disconnect()
        return await reading

    assert run_asyncio(main) == []


def test_unread_messages_outlive_the_session(cli: FakeCli, run: Run) -> None:
    cli.script(USER, *[assistant(str(number)) for number in range(50)], result())

    async def main():
        client = ClaudeSDKClient(options(cli))
        await client.connect("hi")
        messages = client.receive_messages()
        await anext(messages)
        await client.get_server_info()
        while len(messages.inbox) < 50:
            await client._engine.more(messages.inbox)
        await client.disconnect()
        return [message async for message in messages]

    assert len(run(main)) == 50
