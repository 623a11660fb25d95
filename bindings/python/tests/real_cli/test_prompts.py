"""What prompts and answers can be beside plain text."""

import json
from typing import Any

import pytest

import towline

from .stage import Stage
from .talk import good, result, shell, turn

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_an_image(stage: Stage) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    blocks = [{"type": "image", "source": source}, {"type": "text", "text": "what is this"}]

    async def prompts() -> Any:
        yield {
            "type": "user",
            "message": {"role": "user", "content": blocks},
            "parent_tool_use_id": None,
        }

    messages = [
        message async for message in towline.query(prompt=prompts(), options=stage.options())
    ]
    assert good(messages) and len(stage.asked("what is this")) == 1
    assert '"image/png"' in json.dumps(stage.api.requests()), "the model is shown the image"


async def test_a_structured_answer(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with stage.client(output_format={"type": "json_schema", "schema": schema}) as client:
        assert result(await turn(client, 'STRUCTURED {"n": 5}')).structured_output == {"n": 5}


@pytest.mark.both_versions
async def test_replayed_prompts(stage: Stage) -> None:
    async def can_use_tool(*_: Any) -> Any:
        return towline.PermissionResultAllow()

    options = stage.options(can_use_tool=can_use_tool, replay_user_messages=True)
    async with towline.ClaudeSDKClient(options) as client:
        prompt = shell("touch made")
        messages = await turn(client, prompt)
    users = [message for message in messages if isinstance(message, towline.UserMessage)]
    replayed = [message.content for message in users if message.content == prompt]
    assert replayed == [prompt]
    assert good(messages) == "done"
