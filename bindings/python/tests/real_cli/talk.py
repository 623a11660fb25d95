"""What a conversation has brought, in short."""

import json
from typing import Any

import towline


def tool(name: str, arguments: dict[str, Any]) -> str:
    """A prompt that makes the scripted model call a tool."""
    return f"TOOL {name} {json.dumps(arguments)}"


def shell(command: str, **more: Any) -> str:
    return tool("Bash", {"command": command, "description": "d", **more})


async def turn(client: "towline.ClaudeSDKClient", prompt: str) -> list[Any]:
    """One prompt and everything up to its result."""
    await client.query(prompt)
    return [message async for message in client.receive_response()]


def result(messages: list[Any]) -> "towline.ResultMessage":
    (found,) = [message for message in messages if isinstance(message, towline.ResultMessage)]
    return found


def good(messages: list[Any]) -> str:
    """The text of a good result."""
    last = result(messages)
    assert not last.is_error, last
    assert last.result is not None
    return last.result


def tool_results(messages: list[Any]) -> list[tuple[str, bool]]:
    """The text of each tool's result, and whether it is an error."""
    found = []
    for message in messages:
        if not isinstance(message, towline.UserMessage) or isinstance(message.content, str):
            continue
        for block in message.content:
            if isinstance(block, towline.ToolResultBlock):
                content = block.content
                parts = [{"text": content}] if isinstance(content, str) else content or []
                text = "".join(part.get("text", "") for part in parts)
                found.append((text, bool(block.is_error)))
    return found


def kinds(messages: list[Any]) -> list[str]:
    return [type(message).__name__ for message in messages]
