"""Asks in the terminal before a tool runs: permission_prompt.py [PROMPT]"""

import asyncio
import sys
from typing import Any

from towline import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    ToolPermissionContext,
)


async def ask(
    tool: str, tool_input: dict[str, Any], context: ToolPermissionContext
) -> PermissionResult:
    print(f"{context.title or tool}: {tool_input}")
    # When the CLI does not want the answer any more, this task is cancelled.
    answer = await asyncio.to_thread(input, "Allow it? [y/n/a(lways)] ")
    if answer.startswith("a"):
        return PermissionResultAllow(updated_permissions=context.suggestions)
    if answer.startswith("y"):
        return PermissionResultAllow()
    return PermissionResultDeny(message="The user said no.")


async def main() -> None:
    prompt = " ".join(sys.argv[1:]) or "Make a file hello.txt with a greeting in it"
    async with ClaudeSDKClient(ClaudeAgentOptions(can_use_tool=ask)) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                print(message.result)


asyncio.run(main())
