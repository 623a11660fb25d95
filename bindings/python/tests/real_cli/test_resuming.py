"""Going on with an earlier session."""

import json
import uuid

import pytest

import towline

from .stage import Stage
from .talk import good, result, turn


async def earlier(stage: Stage) -> str:
    """A session with one prompt; its id."""
    async with stage.client() as client:
        return result(await turn(client, "remember me")).session_id


async def goes_on(stage: Stage, options: "towline.Options") -> str:
    async with towline.ClaudeSDKClient(options) as client:
        messages = await turn(client, "going on")
    assert good(messages) == "echo: going on"
    (body,) = stage.asked("going on")
    assert "remember me" in json.dumps(body["messages"])
    return result(messages).session_id


@pytest.mark.both_versions
async def test_resume(stage: Stage) -> None:
    session = await earlier(stage)
    assert await goes_on(stage, stage.options(resume=session)) == session


@pytest.mark.both_versions
async def test_continue(stage: Stage) -> None:
    session = await earlier(stage)
    assert await goes_on(stage, stage.options(continue_conversation=True)) == session


async def test_fork(stage: Stage) -> None:
    session = await earlier(stage)
    assert await goes_on(stage, stage.options(resume=session, fork_session=True)) != session


async def test_the_id_of_the_session_is_given(stage: Stage) -> None:
    session = str(uuid.uuid4())
    async with stage.client(session_id=session) as client:
        assert result(await turn(client, "hello")).session_id == session
