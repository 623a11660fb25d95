"""Hooks: what they are told, what they answer, how they are registered (`protocol.md §6`)."""

from collections.abc import Awaitable, Callable
from ._dataclass import dataclass, field
from typing import Any, Literal

from ._typing import NotRequired, TypedDict

HookEvent = (
    Literal["PreToolUse"]
    | Literal["PostToolUse"]
    | Literal["PostToolUseFailure"]
    | Literal["UserPromptSubmit"]
    | Literal["Stop"]
    | Literal["SubagentStop"]
    | Literal["PreCompact"]
    | Literal["Notification"]
    | Literal["SubagentStart"]
    | Literal["PermissionRequest"]
)
"""Events with types of their own. A hook can be registered for every event the CLI has."""


class HookEffort(TypedDict):
    """How hard the model tries."""

    level: str
    """`low`, `medium`, `high`, …, as far as the model supports it."""


class BaseHookInput(TypedDict):
    """What most events tell."""

    session_id: str
    transcript_path: str
    cwd: str
    permission_mode: NotRequired[str]
    prompt_id: NotRequired[str]
    """The prompt that is worked on; absent before the first one."""
    effort: NotRequired[HookEffort]
    """Given around tool calls and stops, for models that support it."""


class _SubagentFields(TypedDict, total=False):
    """Which subagent an event about a tool comes from; absent on the main thread."""

    agent_id: str
    agent_type: str
    """Also given, without `agent_id`, on the main thread of a session that runs as an agent."""


class PreToolUseHookInput(BaseHookInput, _SubagentFields):
    """A tool is about to be used."""

    hook_event_name: Literal["PreToolUse"]
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str


class PostToolUseHookInput(BaseHookInput, _SubagentFields):
    """A tool has been used."""

    hook_event_name: Literal["PostToolUse"]
    tool_name: str
    tool_input: dict[str, Any]
    tool_response: Any
    tool_use_id: str
    duration_ms: NotRequired[int]
    """Time of the tool alone, without permission questions and hooks."""


class PostToolUseFailureHookInput(BaseHookInput, _SubagentFields):
    """A tool has failed."""

    hook_event_name: Literal["PostToolUseFailure"]
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str
    error: str
    is_interrupt: NotRequired[bool]
    duration_ms: NotRequired[int]
    """Time of the tool alone, without permission questions and hooks."""


class UserPromptSubmitHookInput(BaseHookInput):
    """A prompt has come."""

    hook_event_name: Literal["UserPromptSubmit"]
    prompt: str


class BackgroundTaskSummary(TypedDict):
    """A task that runs on. `description` and `command` are cut at 1,000 characters, with a note."""

    id: str
    type: str
    """`shell`, `subagent`, `monitor`, `workflow` or another."""
    status: str
    description: str
    command: NotRequired[str]
    """Of a shell: its command line."""
    agent_type: NotRequired[str]
    """Of a subagent: its type."""
    server: NotRequired[str]
    """Of a monitor: the MCP server."""
    tool: NotRequired[str]
    """Of a monitor: the tool."""
    name: NotRequired[str]
    """Of a workflow: its name."""


class SessionCronSummary(TypedDict):
    """A time at which the session wakes up."""

    id: str
    schedule: str
    """In cron's notation (`0 9 * * 1-5`)."""
    recurring: bool
    """Whether it comes more than once."""
    prompt: str
    """What is then asked, cut at 1,000 characters, with a note."""


class StopHookInput(BaseHookInput):
    """The turn is about to end."""

    hook_event_name: Literal["Stop"]
    stop_hook_active: bool
    last_assistant_message: NotRequired[str]
    background_tasks: NotRequired[list[BackgroundTaskSummary]]
    session_crons: NotRequired[list[SessionCronSummary]]


class SubagentStopHookInput(BaseHookInput):
    """A subagent is about to end."""

    hook_event_name: Literal["SubagentStop"]
    stop_hook_active: bool
    agent_id: str
    agent_transcript_path: str
    agent_type: str
    last_assistant_message: NotRequired[str]
    background_tasks: NotRequired[list[BackgroundTaskSummary]]
    """Those of the session it belongs to."""
    session_crons: NotRequired[list[SessionCronSummary]]
    """Those of the session it belongs to."""


class PreCompactHookInput(BaseHookInput):
    """The conversation is about to be compacted."""

    hook_event_name: Literal["PreCompact"]
    trigger: Literal["manual", "auto"]
    custom_instructions: str | None


class NotificationHookInput(BaseHookInput):
    """The user is told something."""

    hook_event_name: Literal["Notification"]
    message: str
    title: NotRequired[str]
    notification_type: str


class SubagentStartHookInput(BaseHookInput):
    """A subagent starts."""

    hook_event_name: Literal["SubagentStart"]
    agent_id: str
    agent_type: str


class PermissionRequestHookInput(BaseHookInput, _SubagentFields):
    """A permission question has come up; whoever answers first decides."""

    hook_event_name: Literal["PermissionRequest"]
    tool_name: str
    tool_input: dict[str, Any]
    permission_suggestions: NotRequired[list[Any]]


HookInput = (
    PreToolUseHookInput
    | PostToolUseHookInput
    | PostToolUseFailureHookInput
    | UserPromptSubmitHookInput
    | StopHookInput
    | SubagentStopHookInput
    | PreCompactHookInput
    | NotificationHookInput
    | SubagentStartHookInput
    | PermissionRequestHookInput
)


class PreToolUseHookSpecificOutput(TypedDict):
    """What a hook says before a tool is used."""

    hookEventName: Literal["PreToolUse"]
    permissionDecision: NotRequired[Literal["allow", "deny", "ask", "defer"]]
    """`defer` ends the turn with the call in `ResultMessage.deferred_tool_use`."""
    permissionDecisionReason: NotRequired[str]
    updatedInput: NotRequired[dict[str, Any]]
    additionalContext: NotRequired[str]


class PostToolUseHookSpecificOutput(TypedDict):
    """What a hook says after a tool was used."""

    hookEventName: Literal["PostToolUse"]
    additionalContext: NotRequired[str]
    updatedToolOutput: NotRequired[Any]
    """What the model sees in place of the output. For a built-in tool it must have the shape of
    that tool's output, else the output stays."""
    updatedMCPToolOutput: NotRequired[Any]
    """The same for MCP tools only; `updatedToolOutput` does for all."""


class PostToolUseFailureHookSpecificOutput(TypedDict):
    """What a hook says after a tool has failed."""

    hookEventName: Literal["PostToolUseFailure"]
    additionalContext: NotRequired[str]


class UserPromptSubmitHookSpecificOutput(TypedDict):
    """What a hook says to a prompt."""

    hookEventName: Literal["UserPromptSubmit"]
    additionalContext: NotRequired[str]
    sessionTitle: NotRequired[str]
    suppressOriginalPrompt: NotRequired[bool]
    """Whether the message about a blocked prompt leaves the prompt out."""


class UserPromptExpansionHookSpecificOutput(TypedDict):
    """What a hook says to a prompt that is being expanded."""

    hookEventName: Literal["UserPromptExpansion"]
    additionalContext: NotRequired[str]
    suppressOriginalPrompt: NotRequired[bool]
    """Whether the message about a blocked prompt leaves the prompt out."""


class SessionStartHookSpecificOutput(TypedDict):
    """What a hook says when a session starts."""

    hookEventName: Literal["SessionStart"]
    additionalContext: NotRequired[str]
    initialUserMessage: NotRequired[str]
    """The first prompt."""
    sessionTitle: NotRequired[str]
    """Not heeded after `clear` and `compact`."""
    watchPaths: NotRequired[list[str]]
    """Absolute paths whose changes are `FileChanged` events."""
    reloadSkills: NotRequired[bool]
    """Whether skills and commands are looked for again, after the hook has added some."""


class NotificationHookSpecificOutput(TypedDict):
    """What a hook says to a notification."""

    hookEventName: Literal["Notification"]
    additionalContext: NotRequired[str]


class SubagentStartHookSpecificOutput(TypedDict):
    """What a hook says when a subagent starts."""

    hookEventName: Literal["SubagentStart"]
    additionalContext: NotRequired[str]


class PermissionRequestHookSpecificOutput(TypedDict):
    """How a hook answers a permission question."""

    hookEventName: Literal["PermissionRequest"]
    decision: dict[str, Any]


class PostToolBatchHookSpecificOutput(TypedDict):
    """What a hook says after several tools were used."""

    hookEventName: Literal["PostToolBatch"]
    additionalContext: NotRequired[str]


class StopHookSpecificOutput(TypedDict):
    """What a hook says when a turn is about to end; with context for the model it goes on."""

    hookEventName: Literal["Stop"]
    additionalContext: NotRequired[str]


class SubagentStopHookSpecificOutput(TypedDict):
    """What a hook says when a subagent is about to end; with context for it, it goes on."""

    hookEventName: Literal["SubagentStop"]
    additionalContext: NotRequired[str]


class PermissionDeniedHookSpecificOutput(TypedDict):
    """What a hook says to a denied call."""

    hookEventName: Literal["PermissionDenied"]
    retry: NotRequired[bool]
    """Whether the model may try again; only where a classifier has denied."""


class PreModelSwitchHookSpecificOutput(TypedDict):
    """What a hook says to a change of the model."""

    hookEventName: Literal["PreModelSwitch"]
    permissionDecision: NotRequired[Literal["allow", "deny", "ask"]]
    """`ask` is a refusal where nobody can be asked."""
    permissionDecisionReason: NotRequired[str]


class PostModelSwitchHookSpecificOutput(TypedDict):
    """What a hook says after a change of the model."""

    hookEventName: Literal["PostModelSwitch"]
    additionalContext: NotRequired[str]
    """Goes with the first request to the new model."""


class ElicitationHookSpecificOutput(TypedDict):
    """How a hook answers what an MCP server asks of the user."""

    hookEventName: Literal["Elicitation"]
    action: NotRequired[Literal["accept", "decline", "cancel"]]
    content: NotRequired[dict[str, Any]]
    """The fields of the form, with `accept`."""


class ElicitationResultHookSpecificOutput(TypedDict):
    """What a hook makes of an answer before the MCP server gets it."""

    hookEventName: Literal["ElicitationResult"]
    action: NotRequired[Literal["accept", "decline", "cancel"]]
    content: NotRequired[dict[str, Any]]


class CwdChangedHookSpecificOutput(TypedDict):
    """What a hook says when the working directory has changed."""

    hookEventName: Literal["CwdChanged"]
    watchPaths: NotRequired[list[str]]
    """Absolute paths whose changes are `FileChanged` events, in place of those before."""


class FileChangedHookSpecificOutput(TypedDict):
    """What a hook says when a file has changed."""

    hookEventName: Literal["FileChanged"]
    watchPaths: NotRequired[list[str]]
    """Absolute paths whose changes are `FileChanged` events, in place of those before."""


class WorktreeCreateHookSpecificOutput(TypedDict):
    """Where a hook has made a worktree."""

    hookEventName: Literal["WorktreeCreate"]
    worktreePath: str
    """Absolute."""


class MessageDisplayHookSpecificOutput(TypedDict):
    """What is shown in place of a piece of text; the stored message stays as it is."""

    hookEventName: Literal["MessageDisplay"]
    displayContent: NotRequired[str]
    """Absent: the text itself."""


HookSpecificOutput = (
    PreToolUseHookSpecificOutput
    | PostToolUseHookSpecificOutput
    | PostToolUseFailureHookSpecificOutput
    | UserPromptSubmitHookSpecificOutput
    | SessionStartHookSpecificOutput
    | NotificationHookSpecificOutput
    | SubagentStartHookSpecificOutput
    | PermissionRequestHookSpecificOutput
    | UserPromptExpansionHookSpecificOutput
    | PostToolBatchHookSpecificOutput
    | StopHookSpecificOutput
    | SubagentStopHookSpecificOutput
    | PermissionDeniedHookSpecificOutput
    | PreModelSwitchHookSpecificOutput
    | PostModelSwitchHookSpecificOutput
    | ElicitationHookSpecificOutput
    | ElicitationResultHookSpecificOutput
    | CwdChangedHookSpecificOutput
    | FileChangedHookSpecificOutput
    | WorktreeCreateHookSpecificOutput
    | MessageDisplayHookSpecificOutput
)


class AsyncHookJSONOutput(TypedDict):
    """The CLI does not wait for this hook."""

    async_: Literal[True]
    """`async` on the wire, which is no name in Python."""
    asyncTimeout: NotRequired[int]
    """How long the hook may go on, in milliseconds."""


class SyncHookJSONOutput(TypedDict):
    """What a hook decides; an empty one is no opinion."""

    continue_: NotRequired[bool]
    """`False` ends the turn. `continue` on the wire, which is no name in Python."""
    suppressOutput: NotRequired[bool]
    """Whether the output stays out of the transcript view."""
    stopReason: NotRequired[str]
    """Why the turn ends, for the user."""
    decision: NotRequired[Literal["block"]]
    systemMessage: NotRequired[str]
    """A warning for the user."""
    reason: NotRequired[str]
    """Why it is blocked, for the model."""
    hookSpecificOutput: NotRequired[HookSpecificOutput]


HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput


class HookContext(TypedDict):
    """What a hook is told beside its input."""

    signal: Any | None
    """Tells that the CLI has withdrawn the call."""


HookCallback = Callable[[HookInput, str | None, HookContext], Awaitable[HookJSONOutput]]
"""Called with the input, the id of the tool use (a random one for other events) and the context.

All hooks of an event are called at once; one that denies wins over one that allows.
"""


@dataclass
class HookMatcher:
    """Callbacks for some of the events of a kind."""

    matcher: str | None = None
    """Which ones: a tool (`Bash`) or several (`Edit|Write`); `None` is all."""
    hooks: list[HookCallback] = field(default_factory=list)
    timeout: float | None = None
    """How long the CLI waits for each of them, in seconds; `None` is its default."""
    on_failure: Literal["continue", "block"] | None = None
    """What a hook that raises, or whose answer is malformed, means; `None` is `continue`. With
    `block`, connecting fails with a CLI that does not know it."""
