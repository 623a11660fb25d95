"""Limits of a turn that nobody holds: its reader is told, and nothing waits for ever."""

from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT

import towline

SILENT = {"expect": {"request": {"subtype": "interrupt"}}, "timeout_ms": 20_000}


def limited(cli: FakeCli, *steps: Any, **limits: Any) -> towline.Options:
    return towline.Options(cli_path=cli.path, cwd=cli.folder, env=cli.env(*steps), **limits)


@pytest.mark.parametrize(
    "option", ["turn_timeout_ms", "idle_timeout_ms", "first_message_timeout_ms"]
)
async def test_a_query_ends_and_names_the_limit(cli: FakeCli, option: str) -> None:
    begun = [] if option == "first_message_timeout_ms" else [INIT]
    options = limited(
        cli, PROMPT, *begun, {"on_eof": "ignore"}, close_grace_ms=100, **{option: 200}
    )
    with pytest.raises(towline.CLIConnectionError, match=option):
        async for _ in towline.query(prompt="hi", options=options):
            pass


async def test_a_client_is_told_once_and_goes_on(cli: FakeCli) -> None:
    steps: tuple[Any, ...] = (PROMPT, INIT, SILENT, {"answer": {}}, RESULT, PROMPT, RESULT)
    async with towline.ClaudeSDKClient(limited(cli, *steps, turn_timeout_ms=300)) as client:
        await client.query("one")
        with pytest.raises(towline.CLIConnectionError, match="turn_timeout_ms"):
            async for _ in client.receive_response():
                pass
        left = [message async for message in client.receive_response()]
        assert isinstance(left[-1], towline.ResultMessage)
        await client.query("two")
        answer = [message async for message in client.receive_response()]
        assert isinstance(answer[-1], towline.ResultMessage)
