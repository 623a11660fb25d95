"""A conversation without an event loop: synchronous.py [PROMPT]..."""

import sys
from typing import Any

from towline import (
    AssistantMessage,
    Options,
    PermissionResult,
    PermissionResultAllow,
    Session,
    TextBlock,
    ToolPermissionContext,
)


async def allow(
    tool: str, tool_input: dict[str, Any], context: ToolPermissionContext
) -> PermissionResult:
    print(f"{tool} runs: {tool_input}")
    return PermissionResultAllow()


def main() -> None:
    prompts = sys.argv[1:] or ["What is 2 + 2?", "And doubled?"]
    with Session(Options(can_use_tool=allow)) as session:
        for prompt in prompts:
            for message in session.run(prompt):
                if isinstance(message, AssistantMessage):
                    print(
                        *(block.text for block in message.content if isinstance(block, TextBlock))
                    )


main()
