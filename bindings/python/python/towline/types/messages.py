"""Messages of the CLI and what they consist of (`protocol.md §5`)."""

from ._dataclass import Late, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .. import _native
from ._typing import NotRequired, Required, TypedDict
from .permissions import PermissionMode
from .stores import SessionKey


class _Received:
    """What every message has beside its fields."""

    # No field: it is neither printed nor compared, and not in `vars`.
    __slots__ = ("_raw",)

    _raw: dict[str, Any]

    @property
    def raw(self) -> dict[str, Any] | None:
        """The message as the CLI wrote it, with what has no field; `None` if it was made here."""
        return getattr(self, "_raw", None)

    # Pickles of the first two protocols need it where there are slots.
    def __getstate__(self) -> Any:
        raw = self.raw
        fields = dict(self.__dict__)
        return fields if raw is None else (fields, {"_raw": raw})


@dataclass
class TextBlock:
    """Text."""

    text: str


@dataclass
class ThinkingBlock:
    """Thinking before the answer."""

    thinking: str
    signature: str


@dataclass
class ToolUseBlock:
    """The model wants a tool to be used."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass
class ToolResultBlock:
    """What a tool gave."""

    tool_use_id: str
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None


ServerToolName = Literal[
    "advisor",
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
]


@dataclass
class ServerToolUseBlock:
    """The model uses a tool that the API runs itself."""

    id: str
    name: ServerToolName
    input: dict[str, Any]


@dataclass
class ServerToolResultBlock:
    """What a tool gave that the API runs itself, as the API tells it."""

    tool_use_id: str
    content: dict[str, Any]


ContentBlock = (
    TextBlock
    | ThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | ServerToolUseBlock
    | ServerToolResultBlock
)

AssistantMessageError = Literal[
    "authentication_failed",
    "billing_error",
    "rate_limit",
    "invalid_request",
    "server_error",
    "unknown",
]

MessageOriginKind = Literal[
    "human",
    "channel",
    "peer",
    "task-notification",
    "coordinator",
    "unclassified",
    "observer",
    "auto-continuation",
    "observer-activity",
]
"""Known kinds. One that is not here is not a human."""

TaskNotificationOriginSubkind = Literal["scheduled-trigger", "peer-send-message"]
"""Why a task of the CLI's own began a turn."""

MessageOrigin = TypedDict(
    "MessageOrigin",
    {
        "kind": Required[MessageOriginKind],
        # Of a channel: the MCP server it came by.
        "server": str,
        # Of a peer or an observer: what it calls itself. Good to answer to, no proof of anything.
        "from": str,
        # Of a peer: its name, cleaned by the CLI.
        "name": str,
        # Of a peer: its session, if its host tells.
        "fromSession": str,
        # Of a peer or an observer: the background agent it is.
        "senderTaskId": str,
        # Of a peer: the text without its envelope.
        "body": str,
        # Of a peer: the process that the system says is at the other end of the socket.
        "verifiedPeerPid": int,
        # Of a task's notification: what kind, unless an ordinary one.
        "subkind": TaskNotificationOriginSubkind,
    },
    total=False,
)
"""Where a prompt came from. `None` in its place: the CLI did not say, as for prompts of this program.

A session begins turns of its own, and a prompt that comes meanwhile may be answered inside such a
turn. So a result belongs to a prompt if `ResultMessage.user_message_uuids` has the uuid that the
prompt was sent with; `origin` only tells what began the turn."""


@dataclass
class UserMessage(_Received):
    """What stands on the user's side: results of tools, prompts that the CLI repeats or adds."""

    content: str | list[ContentBlock]
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    """The call that started the subagent it belongs to."""
    tool_use_result: dict[str, Any] | None = None
    """What the tool gave, in its own form."""
    origin: MessageOrigin | None = None
    """Of prompts only."""


@dataclass
class AssistantMessage(_Received):
    """What the model says. A reply of several blocks comes as several messages of one `message_id`."""

    content: list[ContentBlock]
    model: str
    parent_tool_use_id: str | None = None
    """The call that started the subagent it belongs to."""
    error: AssistantMessageError | None = None
    usage: dict[str, Any] | None = None
    message_id: str | None = None
    stop_reason: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    user_message_uuid: str | None = None
    """The prompt that is answered; on the first message after it has changed."""
    user_message_uuids: list[str] | None = None
    """The prompts that the turn has taken in by now; on the same messages."""


@dataclass
class SystemMessage(_Received):
    """What the CLI tells about itself. `init` begins every turn; its data is `SystemInitData`."""

    subtype: str
    data: dict[str, Any]
    """The whole message."""


class SystemInitMcpServer(TypedDict):
    """An MCP server at the start of a turn."""

    name: str
    status: str
    source: NotRequired[str]
    """`sdk`, `plugin` or the settings it comes from."""


class SystemInitPlugin(TypedDict):
    """A plugin that was loaded."""

    name: str
    path: str
    version: NotRequired[str]


class SystemInitPluginError(TypedDict):
    """A plugin that was not."""

    plugin: str
    """`name@marketplace`, or a place (`inline[0]`) if it did not get as far as a name."""
    type: str
    """What kind of failure (`path-not-found`, …)."""
    message: str
    path: NotRequired[str]
    """The directory, if nothing at all could be loaded from it."""


FastModeState = Literal["off", "cooldown", "on"]

FastModeDisabledReason = Literal[
    "free",
    "preference",
    "extra_usage_disabled",
    "network_error",
    "unknown",
    "not_first_party",
    "disabled_by_env",
    "model_not_allowed",
    "sdk_opt_in_required",
    "pending",
]


class SystemInitData(TypedDict):
    """`SystemMessage.data` of subtype `init`. It is passed on as it comes, unchecked."""

    type: Literal["system"]
    subtype: Literal["init"]
    uuid: str
    session_id: str
    agents: NotRequired[list[str]]
    apiKeySource: str
    """The variable or helper the key comes from, or `none`."""
    betas: NotRequired[list[str]]
    claude_code_version: str
    cwd: str
    tools: list[str]
    mcp_servers: list[SystemInitMcpServer]
    model: str
    permissionMode: PermissionMode
    slash_commands: list[str]
    terminal_slash_commands: NotRequired[list[str]]
    """Those that only a terminal can show."""
    output_style: str
    """The name of the style."""
    skills: list[str]
    plugins: list[SystemInitPlugin]
    plugin_errors: NotRequired[list[SystemInitPluginError]]
    fast_mode_state: NotRequired[FastModeState]
    fast_mode_disabled_reason: NotRequired[FastModeDisabledReason]
    capabilities: NotRequired[list[str]]
    """What this CLI can do (`interrupt_receipt_v1`, …); more to rely on than its version."""


class TaskUsage(TypedDict):
    """What a background task has used."""

    total_tokens: int
    tool_uses: int
    duration_ms: int


TaskNotificationStatus = Literal["completed", "failed", "stopped"]

TaskUpdatedStatus = Literal["pending", "running", "paused", "completed", "failed", "killed"]
"""A stopped task is `killed` here and `stopped` in a notification."""

TERMINAL_TASK_STATUSES: frozenset[str] = frozenset({"completed", "failed", "stopped", "killed"})
"""In which a task is over, in either message."""


@dataclass
class TaskStartedMessage(SystemMessage):
    """A task has started."""

    task_id: str
    description: str
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    task_type: str | None = None


@dataclass
class TaskProgressMessage(SystemMessage):
    """How far a task is."""

    task_id: str
    description: str
    usage: TaskUsage
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    last_tool_name: str | None = None


@dataclass
class TaskNotificationMessage(SystemMessage):
    """A task is over. Some only say so in a `TaskUpdatedMessage`."""

    task_id: str
    status: TaskNotificationStatus
    output_file: str
    summary: str
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    usage: TaskUsage | None = None


@dataclass
class TaskUpdatedMessage(SystemMessage):
    """A task has changed; it is over if `status` is one of `TERMINAL_TASK_STATUSES`."""

    task_id: str
    patch: dict[str, Any]
    """What has changed."""
    status: TaskUpdatedStatus | None = None
    session_id: str | None = None
    uuid: str | None = None


@dataclass
class MirrorErrorMessage(SystemMessage):
    """Something was not stored. It was tried three times, or once if that took too long, in which
    case it may still have arrived. The session and its local file are not touched by it."""

    key: "SessionKey | None" = None
    error: str = ""


@dataclass
class DeferredToolUse:
    """A call that a hook has put off, which ended the turn."""

    id: str
    name: str
    input: dict[str, Any]


class ModelUsage(TypedDict):
    """What a model has used, in the CLI's own keys."""

    inputTokens: int
    outputTokens: int
    cacheReadInputTokens: int
    cacheCreationInputTokens: int
    webSearchRequests: int
    costUSD: float
    contextWindow: int
    maxOutputTokens: int
    canonicalModel: NotRequired[str]
    """What the price goes by, if the key is an alias."""
    provider: NotRequired[str]
    """Who served it (`firstParty`, `bedrock`, …)."""


@dataclass
class ResultMessage(_Received):
    """A turn is over. Costs and `model_usage` are totals of the session, `usage` is the turn's."""

    subtype: str
    duration_ms: int
    duration_api_ms: int
    is_error: bool
    num_turns: int
    session_id: str
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: dict[str, Any] | None = None
    result: str | None = None
    structured_output: Any = None
    model_usage: dict[str, ModelUsage] | None = None
    permission_denials: list[Any] | None = None
    deferred_tool_use: DeferredToolUse | None = None
    errors: list[str] | None = None
    api_error_status: int | None = None
    """The API's status (429, 500, 529, …) if that is what went wrong; `subtype` is `success` then."""
    uuid: str | None = None
    terminal_reason: str | None = None
    """Why it is over (`completed`, `max_turns`, `aborted_streaming`, …), if the CLI says."""
    origin: MessageOrigin | None = None
    """What began the turn."""
    user_message_uuid: str | None = None
    """The prompt that began the turn, if it had a uuid."""
    user_message_uuids: list[str] | None = None
    """All prompts with a uuid that the turn took in, at most 64 of them."""


class _Field(_native.StreamField, Late):  # type: ignore[override]
    """A field of a `StreamEvent`. Most readers of a stream look at some of its events only, and at
    nothing but `event`: that is decoded when it is asked for, all fields when another one is."""


class _Undecoded(_Received):
    """A message that is a line until somebody looks at it: `_raw` is `bytes`. Once all fields are
    made, `_raw` is a tuple of the line."""

    @property
    def raw(self) -> dict[str, Any] | None:
        """The message as the CLI wrote it, with what has no field; `None` if it was made here."""
        raw: Any = getattr(self, "_raw", None)
        if type(raw) is tuple:
            (raw,) = raw
        if type(raw) is bytes:
            whole: dict[str, Any] = _native.loads(raw.decode())
            return whole
        kept: dict[str, Any] | None = raw
        return kept


_attributes: Any = vars(_Undecoded)["__dict__"].__get__


@dataclass
class StreamEvent(_Undecoded):
    """A piece of a reply on its way."""

    uuid: str
    session_id: str
    event: dict[str, Any]
    """The event of the Messages API as it is."""
    parent_tool_use_id: str | None = None
    user_message_uuid: str | None = None
    """The prompt that is answered; on the first event after it has changed."""
    user_message_uuids: list[str] | None = None
    """The prompts that the turn has taken in by now; on the same events."""

    if not TYPE_CHECKING:

        @property
        def __dict__(self):
            _native.fill(self)
            return _attributes(self)

        def __delattr__(self, name):
            # What is deleted must not be decoded again.
            _native.fill(self)
            object.__delattr__(self, name)


if not TYPE_CHECKING:
    for _name in ("uuid", "session_id", "event"):
        setattr(StreamEvent, _name, _Field(_name))
    for _name in ("parent_tool_use_id", "user_message_uuid", "user_message_uuids"):
        setattr(StreamEvent, _name, _Field(_name, None))


RateLimitStatus = Literal["allowed", "allowed_warning", "rejected"]
RateLimitType = Literal["five_hour", "seven_day", "seven_day_opus", "seven_day_sonnet", "overage"]


@dataclass
class RateLimitInfo:
    """How near the limit is. Times are seconds since 1970, `utilization` is from 0 to 1."""

    status: RateLimitStatus
    resets_at: int | None = None
    rate_limit_type: RateLimitType | None = None
    utilization: float | None = None
    overage_status: RateLimitStatus | None = None
    overage_resets_at: int | None = None
    overage_disabled_reason: str | None = None
    raw: dict[str, Any] = field(default_factory=dict)
    """All of it, in the CLI's keys."""


@dataclass
class RateLimitEvent(_Received):
    """The limits have changed."""

    rate_limit_info: RateLimitInfo
    uuid: str
    session_id: str


@dataclass
class ConversationResetMessage(_Received):
    """The conversation was thrown away, as by `/clear`; totals begin at zero.

    `session_id` is the session before; `new_conversation_id` is not the one after it, which the
    next message tells.
    """

    new_conversation_id: str
    uuid: str
    session_id: str


@dataclass
class HookEventMessage(SystemMessage):
    """A hook of the settings has started (`hook_started`) or ended (`hook_response`)."""

    hook_event_name: str = ""
    session_id: str | None = None
    uuid: str | None = None


@dataclass
class UnknownMessage(_Received):
    """A message of a type that has no class here; `raw` is all of it."""

    type: str
    """`type` on the wire."""


Message = (
    UserMessage
    | AssistantMessage
    | SystemMessage
    | ResultMessage
    | StreamEvent
    | RateLimitEvent
    | ConversationResetMessage
)
