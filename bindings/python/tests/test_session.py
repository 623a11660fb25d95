"""The synchronous `Session`."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import towline
from conftest import USER, FakeCli, answered, ask, assistant, result
from towline import (
    AssistantMessage,
    ClaudeAgentOptions,
    CLIConnectionError,
    HookMatcher,
    PermissionResultAllow,
    ProcessError,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)

PERMISSION = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}


def session(cli: FakeCli, **more) -> towline.Session:
    return towline.Session(ClaudeAgentOptions(cli_path=cli.path, **more))


def test_two_turns(cli: FakeCli) -> None:
    cli.script(USER, assistant("one"), result("1"), USER, assistant("two"), result("2"))
    with session(cli) as open_session:
        kinds = [type(message) for message in open_session.run("a")]
        assert open_session.ask("b").result == "2"
        assert open_session.info["output_style"] == "default"
    assert kinds == [AssistantMessage, ResultMessage]
    assert cli.failures() == []


def test_callbacks_run_in_the_calling_thread_and_may_use_the_session(cli: FakeCli) -> None:
    status = {"expect": {"type": "control_request", "request": {"subtype": "mcp_status"}}}
    cli.script(
        USER,
        ask("can_use_tool", "p1", **PERMISSION),
        status,
        {"answer": {"mcpServers": ["x"]}},
        answered("p1", behavior="allow"),
        ask("hook_callback", "h1", callback_id="hook_0", input={}, tool_use_id=None),
        answered("h1", **{"continue": True}),
        result(),
    )
    threads = []

    def can_use_tool(name, given, context):
        threads.append(threading.get_ident())
        assert open_session.mcp_status() == {"mcpServers": ["x"]}
        return PermissionResultAllow()

    def hook(given, tool_use_id, context):
        threads.append(threading.get_ident())
        return {"continue_": True}

    hooks = {"PreToolUse": [HookMatcher(hooks=[hook])]}
    with session(cli, can_use_tool=can_use_tool, hooks=hooks) as open_session:
        open_session.ask("go")
    assert threads == [threading.get_ident()] * 2
    assert cli.failures() == []


@pytest.mark.parametrize("waits", [False, True])
def test_asynchronous_tools(cli: FakeCli, waits: bool) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}
    cli.script(
        USER,
        ask("mcp_message", "m1", server_name="s", message=message),
        answered("m1", mcp_response={"result": {"content": [{"type": "text", "text": "x"}]}}),
        result(),
    )

    @tool("t", "d", {})
    async def x(args):
        if waits:
            await asyncio.sleep(0.01)
        return {"content": [{"type": "text", "text": "x"}]}

    with session(cli, mcp_servers={"s": create_sdk_mcp_server("s", tools=[x])}) as open_session:
        open_session.ask("go")
    assert cli.failures() == []


def test_under_a_running_event_loop(cli: FakeCli) -> None:
    cli.script(USER, result("1"))

    async def notebook_cell():
        with session(cli) as open_session:
            return open_session.ask("a").result

    assert asyncio.run(notebook_cell()) == "1"


def test_a_second_thread_may_ask_meanwhile(cli: FakeCli) -> None:
    interrupt = {"expect": {"type": "control_request", "request": {"subtype": "interrupt"}}}
    cli.script(USER, assistant("one"), interrupt, {"answer": {}}, result("1"))
    with session(cli) as open_session:
        turn = open_session.send("a")
        messages = iter(turn)
        next(messages)
        other = threading.Thread(target=turn.interrupt)
        other.start()
        assert [type(message) for message in messages] == [ResultMessage]
        other.join(5)
        assert not other.is_alive()


@pytest.fixture
def interrupts() -> Iterator[None]:
    """As in a terminal: a shell's background job ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_interrupts_a_wait(cli: FakeCli) -> None:
    cli.script(USER, {"expect_eof": 1, "timeout_ms": 9000})
    with session(cli) as open_session:
        turn = open_session.send("a")
        threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            turn.result()
        assert time.monotonic() - begun < 3


def test_errors(cli: FakeCli) -> None:
    with pytest.raises(CLIConnectionError, match="Not connected"):
        session(cli).ask("x")
    cli.script(USER, {"stderr": "oh\n"}, {"exit": 4})
    with session(cli) as open_session:
        with pytest.raises(ProcessError) as raised:
            open_session.ask("x")
        assert raised.value.exit_code == 4
        with pytest.raises((CLIConnectionError, ProcessError)):
            open_session.set_model("m")


def test_after_fork_the_child_is_told(cli: FakeCli) -> None:
    cli.script(USER, result("1"))
    with session(cli) as open_session:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                open_session.ask("a")
                text = "no error"
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
            os.write(writing, text.encode())
            os._exit(0)
        os.waitpid(child, 0)
        text = os.read(reading, 10_000).decode()
        os.close(reading)
        os.close(writing)
        assert text.startswith("CLIConnectionError") and "fork" in text
        assert open_session.ask("a").result == "1"


def test_it_has_the_requests_that_a_client_has() -> None:
    """By the same names, with the same parameters."""
    import inspect

    conversation = {
        "connect",
        "request",
        "query",
        "receive_messages",
        "receive_response",
        "disconnect",
    }
    for name in dir(towline.ClaudeSDKClient):
        if name.startswith("_") or name in conversation:
            continue
        theirs = getattr(towline.ClaudeSDKClient, name)
        ours = getattr(towline.Session, name)
        if callable(theirs):
            named = set(inspect.signature(theirs).parameters)
            assert named <= set(inspect.signature(ours).parameters), name


def test_mcp_requests_by_their_official_names(cli: FakeCli) -> None:
    def asked(subtype: str) -> list[Any]:
        return [{"expect": {"request": {"subtype": subtype}}}, {"answer": {"mcpServers": []}}]

    cli.script(
        *asked("mcp_status"),
        *asked("mcp_reconnect"),
        *asked("mcp_toggle"),
    )
    with towline.Session(towline.ClaudeAgentOptions(cli_path=cli.path)) as session:
        assert session.get_mcp_status() == {"mcpServers": []}
        session.reconnect_mcp_server("a")
        session.toggle_mcp_server("a", False)
        assert session.get_server_info() == session.info
    assert not cli.failures()
