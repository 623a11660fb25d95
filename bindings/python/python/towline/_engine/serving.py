"""Answers to what the CLI asks, by the callbacks of the program.

A callback that fails becomes an error answer, which the CLI takes as "no": nothing fails open.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..types.permissions import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionRuleValue,
    PermissionUpdate,
    ToolPermissionContext,
)
from .launching import dumps
from .signals import CancelSignal

if TYPE_CHECKING:
    from .._native import Request
    from .._options import Launch


def permission_context(
    tool: str | None, given: Any, context: ToolPermissionContext, signal: CancelSignal
) -> ToolPermissionContext:
    """The context of a permission callback, from what the native module has of it."""
    if tool is None or given is None:
        raise KeyError("tool_name" if tool is None else "input")
    context.signal = signal
    if context.suggestions:
        given_: Any = context.suggestions
        context.suggestions = [_suggestion(update) for update in given_]
    return context


def _suggestion(data: dict[str, Any]) -> PermissionUpdate:
    """A suggested update. A question is asked even if this version does not understand all of it."""
    try:
        return PermissionUpdate.from_dict(data)
    except Exception:
        rules = data.get("rules")
        known = [rule for rule in rules if isinstance(rule, dict)] if rules else []
        return PermissionUpdate(
            type=data.get("type") or "",  # type: ignore[arg-type]
            rules=[
                PermissionRuleValue(rule.get("toolName") or "", rule.get("ruleContent"))
                for rule in known
            ]
            or None,
            behavior=data.get("behavior"),
            mode=data.get("mode"),
            directories=data.get("directories"),
            destination=data.get("destination"),
        )


def permission_answer(request: "Request", result: Any) -> None:
    """Sends what a permission callback decided."""
    if isinstance(result, PermissionResultAllow):
        given = result.updated_input
        request.allow(
            None if given is None else dumps(given),
            _updates(result.updated_permissions),
        )
    elif isinstance(result, PermissionResultDeny):
        request.deny(result.message, bool(result.interrupt))
    else:
        raise TypeError(
            "Tool permission callback must return PermissionResult (PermissionResultAllow or "
            f"PermissionResultDeny), got {type(result)}"
        )


def _updates(updates: list[PermissionUpdate] | None) -> str | None:
    """Changes to the permissions as JSON text: all of them, or none if one cannot be sent, since
    that one may be the restriction that the others were meant to come with."""
    if updates is None:
        return None
    wire = []
    for index, update in enumerate(updates):
        try:
            wire.append(update.to_dict())
        except ValueError as error:
            from .log import logger

            logger().warning(
                "The tool call is allowed, but no permission update was applied: "
                "updated_permissions[%d] cannot be sent: %s",
                index,
                error,
            )
            return None
    return dumps(wire)


_HOOK_KEYS = {"async_": "async", "continue_": "continue"}


def hook_answer(request: "Request", output: Any) -> None:
    """Sends the output of a hook callback."""
    # No opinion is what most hooks have, and encoding it would cost as much as all else here.
    if not output and type(output) is dict:
        request.answer("{}")
        return
    if not isinstance(output, dict):
        raise TypeError(
            f"A hook callback must return a dict ({{}} for no opinion), got {type(output).__name__}"
        )
    request.answer(dumps({_HOOK_KEYS.get(key, key): value for key, value in output.items()}))


def refuse(request: "Request", error: BaseException) -> None:
    """Sends the error of a callback."""
    text = str(error) or type(error).__name__
    if request.kind == "tool":
        request.fail(text)
    else:
        request.error(text)


def is_end_of_task(error: BaseException) -> bool:
    """Whether this is raised in tasks that are cancelled, and coroutines that are collected; a
    callback may raise it all the same."""
    kinds: list[type[BaseException]] = [GeneratorExit]
    for library, name in (("asyncio", "CancelledError"), ("trio", "Cancelled")):
        if library in sys.modules:
            kinds.append(getattr(sys.modules[library], name))
    return isinstance(error, tuple(kinds))


def handler(launch: "Launch", request: "Request", kind: str) -> Callable[..., Any] | None:
    """The callback for a request of a kind that is seldom."""
    if kind == "elicitation":
        return launch.elicitation
    if kind == "dialog":
        return launch.dialogs.get(request.data.get("dialog_kind", ""))
    return launch.other
