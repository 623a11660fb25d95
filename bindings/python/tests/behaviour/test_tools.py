"""In-process tools."""

import time
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, answered, mcp, mcp_call, mcp_handshake

import towline


def server(*tools: Any) -> dict[str, Any]:
    return {"mcp_servers": {"kit": towline.create_sdk_mcp_server("kit", "1.2.3", list(tools))}}


@towline.tool("count", "Counts.", {"n": int})
async def count(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"counted to {arguments['n']}"}]}


def ending(*steps: Any) -> list[Any]:
    return [PROMPT, mcp_handshake("kit"), INIT, *steps, RESULT, {"expect_eof": True}]


async def talk(options: "towline.ClaudeAgentOptions") -> None:
    async with towline.ClaudeSDKClient(options) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass


def result_of(cli: FakeCli, request_id: str) -> dict[str, Any]:
    answers = [line["response"] for line in cli.received("control_response")]
    (answer,) = [answer for answer in answers if answer["request_id"] == request_id]
    response: dict[str, Any] = answer["response"]["mcp_response"]
    return response


async def test_the_handshake_and_the_list(cli: FakeCli) -> None:
    steps = ending(mcp("m2", "kit", "tools/list", 1, {}), answered("m2"))
    await talk(cli.options(steps, **server(count)))
    cli.holds()
    about = result_of(cli, "m0")["result"]
    assert about["serverInfo"]["name"] == "kit" and about["serverInfo"]["version"] == "1.2.3"
    assert "tools" in about["capabilities"]
    (tool,) = result_of(cli, "m2")["result"]["tools"]
    assert (tool["name"], tool["description"]) == ("count", "Counts.")
    schema = tool["inputSchema"]
    assert schema["type"] == "object" and schema["required"] == ["n"]
    assert schema["properties"]["n"]["type"] == "integer"


async def test_the_cli_is_told_of_the_server(cli: FakeCli) -> None:
    await talk(cli.options(ending(), **server(count)))
    told = " ".join(cli.argv()) + str(cli.initialize().get("sdkMcpServers"))
    assert "kit" in told and "counted" not in told


async def test_a_call(cli: FakeCli) -> None:
    steps = ending(mcp_call("m2", "kit", "count", {"n": 3}), answered("m2"))
    await talk(cli.options(steps, **server(count)))
    answer = result_of(cli, "m2")
    assert answer["id"] == 7
    assert answer["result"]["content"] == [{"type": "text", "text": "counted to 3"}]
    assert not answer["result"].get("isError")


async def test_bad_arguments_do_not_reach_the_tool(cli: FakeCli) -> None:
    steps = ending(mcp_call("m2", "kit", "count", {"n": "three"}), answered("m2"))
    await talk(cli.options(steps, **server(count)))
    assert result_of(cli, "m2")["result"]["isError"] is True


async def test_a_tool_that_raises(cli: FakeCli) -> None:
    @towline.tool("fail", "Fails.", {})
    async def fail(_: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("the tool's own fault")

    steps = ending(mcp_call("m2", "kit", "fail", {}), answered("m2"))
    await talk(cli.options(steps, **server(fail)))
    answer = result_of(cli, "m2")["result"]
    assert answer["isError"] is True and "the tool's own fault" in str(answer["content"])


async def test_a_tool_that_says_it_failed(cli: FakeCli) -> None:
    @towline.tool("fail", "Fails.", {})
    async def fail(_: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "no"}], "is_error": True}

    steps = ending(mcp_call("m2", "kit", "fail", {}), answered("m2"))
    await talk(cli.options(steps, **server(fail)))
    assert result_of(cli, "m2")["result"]["isError"] is True


async def test_calls_run_at_once(cli: FakeCli) -> None:
    second = anyio.Event()

    @towline.tool("meet", "Meets.", {"first": bool})
    async def meet(arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments["first"]:
            await second.wait()
        else:
            second.set()
        return {"content": [{"type": "text", "text": str(arguments["first"])}]}

    steps = ending(
        mcp_call("m2", "kit", "meet", {"first": True}, 2),
        mcp_call("m3", "kit", "meet", {"first": False}, 3),
        answered("m3"),
        answered("m2"),
    )
    await talk(cli.options(steps, **server(meet)))
    cli.holds()
    assert "True" in str(result_of(cli, "m2")) and "False" in str(result_of(cli, "m3"))


async def test_a_repeated_handshake(cli: FakeCli) -> None:
    again = [{"repeat": 1, "steps": mcp_handshake("kit")}]
    steps = ending(again, mcp_call("m5", "kit", "count", {"n": 1}), answered("m5"))
    await talk(cli.options(steps, **server(count)))
    cli.holds()


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/call", {"name": "no-such", "arguments": {}}), ("no/such/method", {})],
)
async def test_what_the_server_does_not_know(
    cli: FakeCli, method: str, params: dict[str, Any]
) -> None:
    steps = ending(mcp("m2", "kit", method, 5, params), answered("m2"))
    await talk(cli.options(steps, **server(count)))
    answer = result_of(cli, "m2")
    assert "error" in answer or answer["result"]["isError"] is True


async def test_an_unknown_server_is_an_error(cli: FakeCli) -> None:
    steps = [
        PROMPT,
        INIT,
        mcp("m2", "other", "tools/list", 5, {}),
        {"expect": {"type": "control_response"}},
        RESULT,
    ]
    await talk(cli.options(steps, **server(count)))
    assert "error" in str(cli.received("control_response"))
    cli.holds()


async def test_a_call_that_is_cancelled(cli: FakeCli) -> None:
    cancelled = anyio.Event()

    @towline.tool("wait", "Waits.", {})
    async def wait(_: dict[str, Any]) -> dict[str, Any]:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise
        return {"content": []}

    stop = mcp(
        "m3", "kit", "notifications/cancelled", None, {"requestId": 7, "reason": "interrupt"}
    )
    steps = ending(mcp_call("m2", "kit", "wait", {}), {"sleep_ms": 200}, stop, answered("m3"))
    async with towline.ClaudeSDKClient(cli.options(steps, **server(wait))) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass
        with anyio.fail_after(5):
            await cancelled.wait()


async def test_a_tool_that_is_running_does_not_hold_up_the_end(cli: FakeCli) -> None:
    running = anyio.Event()

    @towline.tool("wait", "Waits.", {})
    async def wait(_: dict[str, Any]) -> dict[str, Any]:
        running.set()
        await anyio.sleep(60)
        return {"content": []}

    steps = [
        PROMPT,
        *mcp_handshake("kit"),
        INIT,
        mcp_call("m2", "kit", "wait", {}),
        {"expect_eof": True},
    ]
    async with towline.ClaudeSDKClient(cli.options(steps, **server(wait))) as client:
        await client.query("hi")
        with anyio.fail_after(10):
            await running.wait()
        started = time.monotonic()
    assert time.monotonic() - started < 8


def test_a_server_with_mcp_installed_is_one_of_it(nothing_left: None) -> None:
    import mcp.server

    config = towline.create_sdk_mcp_server("kit", "1.0.0", [count])
    assert config["type"] == "sdk" and config["name"] == "kit"
    assert isinstance(config["instance"], mcp.server.Server)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), object()])
async def test_a_result_that_json_cannot_say_is_a_failed_call(cli: FakeCli, odd: Any) -> None:
    @towline.tool("measure", "Measures.", {})
    async def measure(_: dict[str, Any]) -> dict[str, Any]:
        return {
            "content": [{"type": "text", "text": "measured"}],
            "structuredContent": {"value": odd},
        }

    steps = ending(mcp_call("m2", "kit", "measure", {}), answered("m2"))
    await talk(cli.options(steps, **server(measure)))
    cli.holds()
    result = result_of(cli, "m2")["result"]
    assert result["isError"] is True
    assert "JSON" in result["content"][0]["text"]
