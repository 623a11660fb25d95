"""Sessions that cannot be started, and what their errors say."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, asked, result, system, turn

import towline
from towline._options import bundled_cli


async def ask(options: "towline.ClaudeAgentOptions") -> list[Any]:
    return [message async for message in towline.query(prompt="hi", options=options)]


async def test_a_missing_working_directory_is_named(cli: FakeCli, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    with pytest.raises(towline.CLIConnectionError) as caught:
        await ask(cli.options(turn(), cwd=missing))
    assert not isinstance(caught.value, towline.CLINotFoundError)
    assert str(missing) in str(caught.value)


async def test_a_missing_cli_is_named(cli: FakeCli, tmp_path: Path) -> None:
    missing = tmp_path / "no-cli"
    with pytest.raises(towline.CLINotFoundError, match="no-cli"):
        await ask(cli.options(turn(), cli_path=missing))


async def test_a_cli_that_cannot_be_executed(cli: FakeCli, tmp_path: Path) -> None:
    plain = tmp_path / "plain-file"
    plain.write_text("nothing to run")
    with pytest.raises(towline.CLIConnectionError, match="plain-file") as caught:
        await ask(cli.options(turn(), cli_path=plain))
    assert not isinstance(caught.value, towline.CLINotFoundError)


def test_making_a_client_looks_for_nothing(cli: FakeCli, tmp_path: Path) -> None:
    towline.ClaudeSDKClient(cli.options(turn(), cli_path=tmp_path / "no-cli"))


async def test_the_cli_is_found_on_the_path(
    cli: FakeCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "claude").symlink_to(cli.path)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    messages = await ask(cli.options(turn(), cli_path=None))
    assert messages[-1].subtype == "success"


def test_the_cli_of_the_official_package_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = tmp_path / "claude_agent_sdk/_bundled/claude"
    bundled.parent.mkdir(parents=True)
    bundled.touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(tmp_path)])
    assert bundled_cli() == str(bundled)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none")])
    assert bundled_cli() is None


@pytest.mark.parametrize("status", [0, 1, 3])
async def test_an_exit_before_the_session_is_open(cli: FakeCli, status: int) -> None:
    started = time.monotonic()
    options = cli.options(asked("initialize"), {"stderr": "no such model\n"}, {"exit": status})
    with pytest.raises(towline.ClaudeSDKError) as caught:
        async with towline.ClaudeSDKClient(options):
            pass
    assert time.monotonic() - started < 5
    if sys.modules["towline"].__name__ == "towline":
        assert isinstance(caught.value, towline.ProcessError)
        assert caught.value.exit_code == status
        assert "no such model" in (caught.value.stderr or "")


async def test_a_cli_that_dies_at_once_is_told_by_its_status(cli: FakeCli, tmp_path: Path) -> None:
    """Also where the prompt was to be written when it had gone already."""
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\necho no such model >&2\nexit 3\n")
    dying.chmod(0o755)
    for _ in range(20):
        with pytest.raises(towline.ClaudeSDKError) as caught:
            await ask(cli.options(turn(), cli_path=dying))
        if sys.modules["towline"].__name__ == "towline":
            assert isinstance(caught.value, towline.ProcessError)
            assert caught.value.exit_code == 3
            assert "no such model" in (caught.value.stderr or "")


async def test_initialize_is_refused(cli: FakeCli) -> None:
    options = cli.options(asked("initialize"), {"answer_error": "not today"})
    with pytest.raises(Exception, match="not today"):
        async with towline.ClaudeSDKClient(options):
            pass


async def test_a_result_before_the_session_is_open_is_the_reason(cli: FakeCli) -> None:
    reason = "No conversation found with session ID: x"
    failed = result(subtype="error_during_execution", is_error=True, result=None, errors=[reason])
    options = cli.options(asked("initialize"), failed, {"exit": 1})
    with pytest.raises(towline.ClaudeSDKError, match="No conversation found"):
        async with towline.ClaudeSDKClient(options):
            pass


#: What a CLI says that is too old to report its version.
OLD = system("init", cwd="/w", tools=[], mcp_servers=[])


async def test_an_old_cli_is_warned_of(cli: FakeCli, caplog: pytest.LogCaptureFixture) -> None:
    await ask(cli.options(PROMPT, OLD, RESULT))
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "2.0.0" in said and str(cli.path) in said


async def test_the_warning_can_be_skipped(
    cli: FakeCli, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK", "1")
    await ask(cli.options(PROMPT, OLD, RESULT))
    assert "2.0.0" not in " ".join(record.getMessage() for record in caplog.records)


async def test_messages_before_the_session_is_open_are_kept(cli: FakeCli) -> None:
    early = system("hook_started", hook_id="h", hook_name="n", hook_event="SessionStart")
    options = cli.options(
        asked("initialize"), early, {"answer": {"commands": []}}, PROMPT, INIT, RESULT
    )
    messages = await ask(options)
    assert [getattr(message, "subtype", None) for message in messages] == [
        "hook_started",
        "init",
        "success",
    ]


async def test_the_answer_to_initialize_is_the_server_info(cli: FakeCli) -> None:
    options = cli.options(asked("initialize"), {"answer": {"commands": [], "output_style": "mine"}})
    async with towline.ClaudeSDKClient(options) as client:
        info = await client.get_server_info()
    assert info is not None and info["output_style"] == "mine"


async def test_nothing_works_before_connect_and_after_disconnect(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    for _ in range(2):
        with pytest.raises(towline.CLIConnectionError):
            await client.query("hi")
        with pytest.raises(towline.CLIConnectionError):
            await client.interrupt()
        with pytest.raises(towline.CLIConnectionError):
            async for _message in client.receive_messages():
                pass
        await client.connect()
        await client.disconnect()


async def test_a_client_can_be_connected_again(cli: FakeCli) -> None:
    client = towline.ClaudeSDKClient(cli.options(turn()))
    for _ in range(2):
        await client.connect()
        await client.query("hi")
        messages = [message async for message in client.receive_response()]
        assert messages[-1].subtype == "success"
        await client.disconnect()
