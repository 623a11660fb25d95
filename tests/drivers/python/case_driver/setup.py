"""The options and callbacks that a case asks for."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from .package import sdk
from .record import Record

#: Follows a policy to its end: ``(policy, kind, tool)`` to the answer.
Policy = Callable[[Any, str, str], Awaitable[dict[str, Any]]]


class Setup:
    """Collects the steps that come before a session; ``options()`` makes of them what one is started with."""

    def __init__(self, record: Record, policy: Policy) -> None:
        self._record = record
        self._policy = policy
        self._options: dict[str, Any] = {}
        self._hooks: dict[str, list[Any]] = {}
        self._tools: dict[str, list[Any]] = {}

    def take(self, step: dict[str, Any]) -> bool:
        """Whether the step was one of these."""
        for name, take in (
            ("permission", self._permission),
            ("hook", self._hook),
            ("tool", self._tool),
            ("stderr_callback", self._stderr),
            ("options", self._more_options),
        ):
            if name in step:
                take(step[name])
                return True
        return False

    def options(self) -> Any:
        given = {
            "cli_path": os.environ["CASE_FAKE_CLI"],
            "cwd": os.environ["CASE_WORK"],
            **self._options,
        }
        if self._hooks:
            given["hooks"] = self._hooks
        if self._tools:
            servers = {
                name: sdk.create_sdk_mcp_server(name, "1.0.0", tools)
                for name, tools in self._tools.items()
            }
            given["mcp_servers"] = servers
        return sdk.ClaudeAgentOptions(**given)

    def _permission(self, policy: dict[str, Any]) -> None:
        async def can_use_tool(tool: str, _input: dict[str, Any], _context: Any) -> Any:
            self._record.called("permission")
            answer = await self._policy(policy, "permission", tool)
            if "return_raw" in answer:
                return answer["return_raw"]
            if "deny" in answer:
                return sdk.PermissionResultDeny(
                    message=answer["deny"], interrupt=answer.get("interrupt", False)
                )
            return sdk.PermissionResultAllow(updated_input=answer.get("updated_input"))

        self._options["can_use_tool"] = can_use_tool

    def _hook(self, hook: dict[str, Any]) -> None:
        async def callback(_input: Any, _tool_use_id: str | None, _context: Any) -> Any:
            self._record.called("hook")
            return (await self._policy(hook["do"], "hook", ""))["return"]

        limit = {"timeout": hook["timeout_s"]} if "timeout_s" in hook else {}
        matcher = sdk.HookMatcher(matcher=hook.get("matcher"), hooks=[callback], **limit)
        self._hooks.setdefault(hook["event"], []).append(matcher)

    def _tool(self, tool: dict[str, Any]) -> None:
        schema = tool.get("schema", {"type": "object", "properties": {}})
        notes = sdk.ToolAnnotations(**tool["annotations"]) if "annotations" in tool else None

        @sdk.tool(tool["name"], tool.get("description", "d"), schema, notes)  # type: ignore[untyped-decorator]
        async def run(_arguments: dict[str, Any]) -> Any:
            self._record.called("tool")
            answer = await self._policy(tool["do"], "tool", "")
            if "return_big" in answer:
                return {"content": [{"type": "text", "text": "y" * answer["return_big"]}]}
            return answer["return"]

        self._tools.setdefault(tool["server"], []).append(run)

    def _stderr(self, how: str) -> None:
        def line(text: str) -> None:
            self._record.stderr.append(text)
            if how == "raise":
                raise ValueError("the stderr callback's own fault")

        self._options["stderr"] = line

    def _more_options(self, options: dict[str, Any]) -> None:
        given = dict(options)
        if "agents" in given:
            given["agents"] = {
                name: sdk.AgentDefinition(**agent) for name, agent in given["agents"].items()
            }
        if "system_prompt_fill" in given:
            given["system_prompt"] = "p" * given.pop("system_prompt_fill")
        if "agents_fill" in given:
            prompt = "p" * (given.pop("agents_fill") // 4)
            agent = sdk.AgentDefinition(description="d", prompt=prompt)
            given["agents"] = {f"a{number}": agent for number in range(4)}
        self._options.update(given)
