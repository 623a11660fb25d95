"""The options that are more than a text, a number or a list of texts (`protocol.md §1.3`)."""

from ._dataclass import dataclass
from typing import Any, Literal, TypeAlias

from ._typing import NotRequired, TypedDict
from .permissions import PermissionMode

SdkBeta = Literal["context-1m-2025-08-07"]

SettingSource = Literal["user", "project", "local"]

EffortLevel: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]


class SystemPromptPreset(TypedDict):
    """Claude Code's own prompt."""

    type: Literal["preset"]
    preset: Literal["claude_code"]
    append: NotRequired[str]
    """Text that follows it."""
    exclude_dynamic_sections: NotRequired[bool]
    """Whether what differs between users (working directory, memory, state of git) moves into the
    first message, so that the prompt can be cached across users."""
    snapshot: NotRequired[bool]
    """Whether the session keeps the prompt of its first request, also when it is resumed, or makes
    it anew for each. Absent: the CLI decides; since 2.1.265 it keeps it."""


class SystemPromptCustom(TypedDict):
    """A prompt of one's own, with what a mere string cannot say."""

    type: Literal["custom"]
    prompt: str
    snapshot: NotRequired[bool]
    """As `SystemPromptPreset.snapshot`."""


class SystemPromptFile(TypedDict):
    """A prompt in a file that the CLI reads."""

    type: Literal["file"]
    path: str


class TaskBudget(TypedDict):
    """Tokens that the model knows it has, so that it can divide them."""

    total: int


class ToolsPreset(TypedDict):
    """The CLI's default set of tools."""

    type: Literal["preset"]
    preset: Literal["claude_code"]


@dataclass
class AgentDefinition:
    """A subagent. Fields have the names they have on the wire; those that are `None` are left out."""

    description: str
    """When it is to be used, for the model."""
    prompt: str
    """Its system prompt."""
    tools: list[str] | None = None
    """What it may use; `None` is everything its parent has."""
    disallowedTools: list[str] | None = None
    model: str | None = None
    """An alias (`sonnet`, `opus`, `haiku`, `inherit`) or a model."""
    skills: list[str] | None = None
    memory: Literal["user", "project", "local"] | None = None
    mcpServers: list[str | dict[str, Any]] | None = None
    """Names of servers, or a server each as `{name: config}`."""
    initialPrompt: str | None = None
    maxTurns: int | None = None
    background: bool | None = None
    effort: EffortLevel | int | None = None
    permissionMode: PermissionMode | None = None


class SdkPluginConfig(TypedDict):
    """A plugin in a directory."""

    type: Literal["local"]
    path: str


class SandboxNetworkConfig(TypedDict, total=False):
    """What sandboxed commands can reach."""

    allowedDomains: list[str]
    deniedDomains: list[str]
    """Win over `allowedDomains`."""
    allowManagedDomainsOnly: bool
    """Whether only the domains of managed settings count."""
    allowUnixSockets: list[str]
    """Paths of sockets (an SSH agent's)."""
    allowAllUnixSockets: bool
    allowLocalBinding: bool
    """Whether ports of the machine itself may be bound (macOS)."""
    allowMachLookup: list[str]
    """Names of XPC and Mach services, `*` at the end allowed (macOS)."""
    httpProxyPort: int
    socksProxyPort: int


SandboxIgnoreViolations: TypeAlias = dict[str, list[str]]
"""Violations that are not reported: part of a command (`*` is every one) to parts of violations.

They are looked for as they are, and nothing is allowed by them."""


class SandboxSettings(TypedDict, total=False):
    """How shell commands are kept apart from the machine (Linux and macOS).

    What the tools themselves may read, write and fetch is a matter of permission rules.
    """

    enabled: bool
    autoAllowBashIfSandboxed: bool
    """Whether commands inside need no permission; by default they do not."""
    excludedCommands: list[str]
    """Commands that run outside."""
    allowUnsandboxedCommands: bool
    """Whether a command may ask to run outside; by default it may."""
    network: SandboxNetworkConfig
    ignoreViolations: SandboxIgnoreViolations
    enableWeakerNestedSandbox: bool
    """A weaker one for unprivileged containers (Linux)."""


ThinkingDisplay = Literal["summarized", "omitted"]
"""Whether the text of the model's thinking comes along; newer models omit it unless asked."""


class ThinkingConfigAdaptive(TypedDict):
    """The model decides how much it thinks."""

    type: Literal["adaptive"]
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigEnabled(TypedDict):
    """The model thinks within a budget of tokens."""

    type: Literal["enabled"]
    budget_tokens: int
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigDisabled(TypedDict):
    """The model does not think before it answers."""

    type: Literal["disabled"]


ThinkingConfig = ThinkingConfigAdaptive | ThinkingConfigEnabled | ThinkingConfigDisabled


class ContextUsageCategory(TypedDict):
    """One kind of content of the context window."""

    name: str
    tokens: int
    color: str
    isDeferred: NotRequired[bool]


class ContextUsageResponse(TypedDict):
    """What fills the context window; the answer to `get_context_usage`."""

    categories: list[ContextUsageCategory]
    totalTokens: int
    maxTokens: int
    """What counts as full, which automatic compaction may lower."""
    rawMaxTokens: int
    """What the model takes."""
    percentage: float
    """From 0 to 100."""
    model: str
    isAutoCompactEnabled: bool
    memoryFiles: list[dict[str, Any]]
    mcpTools: list[dict[str, Any]]
    agents: list[dict[str, Any]]
    gridRows: list[list[dict[str, Any]]]
    """How the CLI draws it."""
    autoCompactThreshold: NotRequired[int]
    """Tokens at which the conversation is compacted."""
    deferredBuiltinTools: NotRequired[list[dict[str, Any]]]
    systemTools: NotRequired[list[dict[str, Any]]]
    systemPromptSections: NotRequired[list[dict[str, Any]]]
    slashCommands: NotRequired[dict[str, Any]]
    skills: NotRequired[dict[str, Any]]
    messageBreakdown: NotRequired[dict[str, Any]]
    apiUsage: NotRequired[dict[str, Any] | None]
