"""The client without an event loop."""

import asyncio
import threading
from typing import Any

import anyio
import pytest
from support.fake import FakeCli
from support.leftovers import is_gone
from support.script import (
    INIT,
    PROMPT,
    RESULT,
    answered,
    asked,
    mcp_call,
    mcp_handshake,
    permission,
    turn,
)

import towline


def test_turns(cli: FakeCli) -> None:
    with towline.Session(cli.options(turn("one"), turn("two"))) as session:
        for wanted in ("one", "two"):
            messages = list(session.run("hi"))
            assert messages[1].content == [towline.TextBlock(text=wanted)]
            assert isinstance(messages[-1], towline.ResultMessage)
    assert is_gone(cli.started()["pid"], 0)


def test_a_result_alone(cli: FakeCli) -> None:
    with towline.Session(cli.options(turn())) as session:
        assert session.ask("hi").result == "ok"


def test_a_loop_that_is_left_early(cli: FakeCli) -> None:
    with towline.Session(cli.options(turn(), turn("again"))) as session:
        for _ in session.run("hi"):
            break
        assert list(session.run("hi"))[1].content == [towline.TextBlock(text="again")]


def test_callbacks_are_plain_functions(cli: FakeCli) -> None:
    seen: list[str] = []

    def can_use_tool(name: str, *_: Any) -> Any:
        seen.append(name)
        return towline.PermissionResultAllow()

    @towline.tool("count", "Counts.", {"n": int})
    async def count(arguments: dict[str, Any]) -> dict[str, Any]:
        seen.append(f"counted to {arguments['n']}")
        return {"content": []}

    server = towline.create_sdk_mcp_server("kit", tools=[count])
    call = [mcp_call("m2", "kit", "count", {"n": 2}), answered("m2")]
    steps = [PROMPT, mcp_handshake("kit"), INIT, permission(), answered("p1"), call, RESULT]
    options: Any = cli.options(steps, can_use_tool=can_use_tool, mcp_servers={"kit": server})
    with towline.Session(options) as session:
        session.ask("hi")
    cli.holds()
    assert seen == ["Bash", "counted to 2"]


def test_a_callback_uses_the_session(cli: FakeCli) -> None:
    sessions: list[Any] = []

    def can_use_tool(*_: Any) -> Any:
        sessions[0].request("mcp_status")
        return towline.PermissionResultAllow()

    steps = [
        PROMPT,
        INIT,
        permission(),
        asked("mcp_status"),
        {"answer": {}},
        answered("p1"),
        RESULT,
    ]
    options: Any = cli.options(steps, can_use_tool=can_use_tool)
    with towline.Session(options) as session:
        sessions.append(session)
        session.ask("hi")
    cli.holds()


def test_errors_are_those_of_the_asynchronous_client(cli: FakeCli) -> None:
    with pytest.raises(towline.ProcessError) as caught:
        towline.Session(
            cli.options(asked("initialize"), {"stderr": "no licence\n"}, {"exit": 3})
        ).connect()
    assert caught.value.exit_code == 3 and "no licence" in str(caught.value.stderr)
    with pytest.raises(towline.CLIConnectionError):
        towline.Session(cli.options(turn())).ask("not connected")


def test_several_threads_share_one(cli: FakeCli) -> None:
    answers: list[Any] = []
    with towline.Session(cli.options([PROMPT, INIT, RESULT] * 3)) as session:
        threads = [
            threading.Thread(target=lambda: answers.append(session.ask("hi").result))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == ["ok"] * 3


def test_it_works_where_a_loop_is_running(cli: FakeCli) -> None:
    import asyncio

    async def cell() -> Any:
        with towline.Session(cli.options(turn())) as session:
            return session.ask("hi").result

    assert asyncio.run(cell()) == "ok"


def test_a_forgotten_session_leaves_nothing(cli: FakeCli) -> None:
    session = towline.Session(cli.options(turn()))
    session.connect()
    session.ask("hi")
    pid = cli.started()["pid"]
    del session
    assert is_gone(pid, 10)


def test_asynchronous_tools_wait_in_a_notebook_too(cli: FakeCli) -> None:
    """A thread whose event loop runs, as that of a notebook."""
    seen: list[Any] = []

    @towline.tool("count", "Counts.", {"n": int})
    async def count(arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        seen.append(asyncio.current_task())
        with anyio.fail_after(5):
            await anyio.sleep(0.01)
        return {"content": [{"type": "text", "text": f"counted to {arguments['n']}"}]}

    server = towline.create_sdk_mcp_server("kit", tools=[count])
    call = [mcp_call("m2", "kit", "count", {"n": 2}), answered("m2")]
    steps = [PROMPT, mcp_handshake("kit"), INIT, call, RESULT]

    async def cell() -> None:
        task = asyncio.current_task()
        later = asyncio.create_task(asyncio.sleep(0.01, "later"))
        with towline.Session(cli.options(steps, mcp_servers={"kit": server})) as session:
            assert session.ask("hi").result == "ok"
        assert asyncio.current_task() is task and seen[0] is not task
        assert await later == "later"

    asyncio.run(cell())
    cli.holds()
    (answer,) = [
        line for line in cli.received("control_response") if line["response"]["request_id"] == "m2"
    ]
    assert "counted to 2" in str(answer)
