"""Permission questions, the answers to them and changes of the rules (`protocol.md §7`)."""

import warnings
from collections.abc import Awaitable, Callable
from ._dataclass import dataclass, field
from typing import Any, Literal

PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]

PermissionUpdateDestination = Literal["userSettings", "projectSettings", "localSettings", "session"]

PermissionBehavior = Literal["allow", "deny", "ask"]

_RULE_TYPES = ("addRules", "replaceRules", "removeRules")
_DIRECTORY_TYPES = ("addDirectories", "removeDirectories")


@dataclass
class PermissionRuleValue:
    """A rule about one tool."""

    tool_name: str
    rule_content: str | None = None
    """Which calls of the tool (`npm test` of `Bash`); `None` is every call."""


@dataclass
class PermissionUpdate:
    """A change of the permission rules, the mode or the directories.

    Which fields count depends on `type`: `rules` and `behavior` for the three kinds of rules, `mode`
    for `setMode`, `directories` for the two kinds of directories.
    """

    type: Literal[
        "addRules",
        "replaceRules",
        "removeRules",
        "setMode",
        "addDirectories",
        "removeDirectories",
    ]
    rules: list[PermissionRuleValue] | None = None
    behavior: PermissionBehavior | None = None
    mode: PermissionMode | None = None
    directories: list[str] | None = None
    destination: PermissionUpdateDestination | None = None
    """The settings that keep it; `None` is this session only."""

    def to_dict(self) -> dict[str, Any]:
        """The update as it travels.

        The CLI drops all updates of an answer when one of them is malformed.

        Raises:
            ValueError: `type` is unknown, or a field that it needs is `None`.
        """
        wire: dict[str, Any] = {"type": self.type, "destination": self.destination or "session"}
        if self.type in _RULE_TYPES:
            wire["rules"] = [
                {"toolName": rule.tool_name}
                if rule.rule_content is None
                else {"toolName": rule.tool_name, "ruleContent": rule.rule_content}
                for rule in self._needed("rules", self.rules)
            ]
            wire["behavior"] = self._needed("behavior", self.behavior)
        elif self.type == "setMode":
            wire["mode"] = self._needed("mode", self.mode)
        elif self.type in _DIRECTORY_TYPES:
            wire["directories"] = self._needed("directories", self.directories)
        else:
            known = ", ".join((*_RULE_TYPES, "setMode", *_DIRECTORY_TYPES))
            raise ValueError(
                f"PermissionUpdate of type {self.type!r} cannot be sent; the types are {known}"
            )
        return wire

    def _needed(self, name: str, value: Any) -> Any:
        if value is None:
            raise ValueError(f"PermissionUpdate(type={self.type!r}) has no {name}, which it needs")
        return value

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "PermissionUpdate":
        """The update that travelled as `data`."""
        rules = data.get("rules")
        return cls(
            type=data["type"],
            rules=None
            if rules is None
            else [PermissionRuleValue(rule["toolName"], rule.get("ruleContent")) for rule in rules],
            behavior=data.get("behavior"),
            mode=data.get("mode"),
            directories=data.get("directories"),
            destination=data.get("destination"),
        )


@dataclass
class ToolPermissionContext:
    """What is known about a permission question beside the tool and its input."""

    signal: Any | None = None
    """Tells that the CLI has withdrawn the question."""
    suggestions: list[PermissionUpdate] = field(default_factory=list)
    """Updates that would settle questions like this one for good."""
    tool_use_id: str | None = None
    """The `tool_use` block that is asked about; always there in a callback."""
    agent_id: str | None = None
    """The subagent that wants to use the tool; `None` is the main thread."""
    blocked_path: str | None = None
    """The path that led to the question."""
    decision_reason: str | None = None
    """Why it is asked, in words; the reason of a hook that said `ask` among others."""
    title: str | None = None
    """The whole question, to be shown as it is."""
    display_name: str | None = None
    """The kind of action in a few words, for a label."""
    description: str | None = None
    """More about the action, for a second line."""


@dataclass
class PermissionResultAllow:
    """The tool may run."""

    behavior: Literal["allow"] = "allow"
    updated_input: dict[str, Any] | None = None
    """The input that it runs with; `None` leaves it as it was."""
    updated_permissions: list[PermissionUpdate] | None = None
    """Updates that take effect with it: all of them, or none (and a logged warning) when one of
    them is malformed. The call is allowed in either case."""


@dataclass
class PermissionResultDeny:
    """The tool must not run."""

    behavior: Literal["deny"] = "deny"
    message: str = ""
    """Why, for the model."""
    interrupt: bool = False
    """Whether the turn ends too."""


PermissionResult = PermissionResultAllow | PermissionResultDeny

CanUseTool = Callable[[str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResult]]
"""Called with the tool's name, its input and the context."""


class CanUseToolShadowedWarning(UserWarning):
    """`can_use_tool` is never asked about calls that other options allow already."""


def _whole_tool(rule: str) -> str | None:
    """The tool that a rule allows whatever its input (`Read`, `Read()`, `Read(*)`), else `None`."""
    if not rule.strip():
        return None
    name, parenthesis, rest = rule.partition("(")
    if not parenthesis:
        return rule
    return name if name and rest in (")", "*)") else None


def warn_if_shadowed(permission_mode: str | None, allowed_tools: list[str]) -> None:
    """Gives `CanUseToolShadowedWarning` when options settle calls before `can_use_tool`."""
    if permission_mode == "bypassPermissions":
        what = (
            "can_use_tool will not be invoked: permission_mode 'bypassPermissions' allows every "
            "call that no deny rule forbids"
        )
    else:
        tools = {name: None for rule in allowed_tools if (name := _whole_tool(rule)) is not None}
        if not tools:
            return
        what = (
            f"can_use_tool will not be invoked for: {', '.join(tools)}, since allowed_tools allows "
            "them whatever their input"
        )
    remedy = "use a PreToolUse hook to see every call"
    warnings.warn(f"{what}; {remedy}", CanUseToolShadowedWarning, stacklevel=3)
