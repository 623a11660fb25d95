"""What goes wrong: limits, the API, and launches that fail."""

import uuid
from typing import Any

import pytest

import towline

from .stage import Stage
from .talk import result, shell

both_versions = pytest.mark.both_versions


async def failing(stage: Stage, prompt: str, **options: Any) -> tuple[list[Any], Exception]:
    """The messages of a query, and what is raised behind them."""
    messages = []
    with pytest.raises(towline.ClaudeSDKError) as caught:
        async for message in towline.query(prompt=prompt, options=stage.options(**options)):
            messages.append(message)
    return messages, caught.value


async def test_too_many_turns(stage: Stage) -> None:
    messages, error = await failing(stage, shell("echo one"), max_turns=1, allowed_tools=["Bash"])
    assert result(messages).subtype == "error_max_turns"
    assert "maximum number of turns" in str(error)


async def test_too_expensive(stage: Stage) -> None:
    messages, error = await failing(stage, "USAGE 1000 1000", max_budget_usd=0.000_001)
    assert result(messages).subtype == "error_max_budget_usd"
    assert "budget" in str(error)


@both_versions
async def test_an_error_of_the_api(stage: Stage) -> None:
    messages, error = await failing(stage, "ERROR 400")
    last = result(messages)
    assert last.subtype == "success" and last.is_error
    assert "scripted failure" in str(error)


@both_versions
async def test_an_unknown_session(stage: Stage) -> None:
    unknown = str(uuid.uuid4())
    with pytest.raises(towline.ClaudeSDKError) as caught:
        async with stage.client(resume=unknown):
            pass
    said = f"{caught.value} {getattr(caught.value, 'stderr', '')}"
    assert "No conversation found" in said and unknown in said


@both_versions
async def test_an_unknown_flag(stage: Stage) -> None:
    with pytest.raises(towline.ProcessError) as caught:
        async with stage.client(extra_args={"no-such-flag": None}):
            pass
    assert caught.value.exit_code == 1
    assert "unknown option '--no-such-flag'" in str(caught.value.stderr)
