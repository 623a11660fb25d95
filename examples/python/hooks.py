"""Looks at every shell command, and lets none delete anything: hooks.py [PROMPT]"""

import asyncio
import sys

from towline import (
    ClaudeAgentOptions,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    ResultMessage,
    query,
)


async def guard(
    hook_input: HookInput, tool_use_id: str | None, context: HookContext
) -> HookJSONOutput:
    if hook_input["hook_event_name"] != "PreToolUse":
        return {}
    command = str(hook_input["tool_input"].get("command", ""))
    print(f"about to run: {command}")
    if "rm " not in command:
        return {}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "Nothing is deleted here.",
        }
    }


async def main() -> None:
    prompt = " ".join(sys.argv[1:]) or "Delete all temporary files in this folder"
    options = ClaudeAgentOptions(
        allowed_tools=["Bash"],
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[guard])]},
    )
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
