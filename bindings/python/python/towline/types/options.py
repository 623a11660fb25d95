"""The options of a session (`protocol.md §1.3`)."""

import sys
from collections.abc import Callable
from ._dataclass import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .hooks import HookEvent, HookMatcher
from .mcp import McpServerConfig
from .permissions import CanUseTool, PermissionMode
from .settings import (
    AgentDefinition,
    EffortLevel,
    SandboxSettings,
    SdkBeta,
    SdkPluginConfig,
    SettingSource,
    SystemPromptCustom,
    SystemPromptFile,
    SystemPromptPreset,
    TaskBudget,
    ThinkingConfig,
    ToolsPreset,
)
from .stores import SessionStore, SessionStoreFlushMode


@dataclass
class ClaudeAgentOptions:
    """What a session is started with: the names, defaults and meaning of `claude_agent_sdk`.

    `Options` has everything else that Towline can do.
    """

    tools: list[str] | ToolsPreset | None = None
    """The built-in tools there are at all; an empty list is none, the preset the default set."""
    allowed_tools: list[str] = field(default_factory=list)
    """Tools and rules that need no permission (`Read`, `Bash(git log:*)`)."""
    system_prompt: str | SystemPromptPreset | SystemPromptCustom | SystemPromptFile | None = None
    """What the model is told first. `None` is an empty prompt, not Claude Code's own: that is
    `{"type": "preset", "preset": "claude_code"}`."""
    mcp_servers: dict[str, McpServerConfig] | str | Path = field(default_factory=dict)
    """MCP servers by name, or a configuration file or its text for the CLI."""
    strict_mcp_config: bool = False
    """Whether no other MCP servers are used."""
    permission_mode: PermissionMode | None = None
    continue_conversation: bool = False
    """Whether the newest conversation of the working directory goes on."""
    resume: str | None = None
    """The session to go on with, by id or title."""
    session_id: str | None = None
    """The id of the new session, a UUID; beside `resume` only with `fork_session`."""
    max_turns: int | None = None
    """Most model turns of a prompt."""
    max_budget_usd: float | None = None
    """Most US dollars that may be spent."""
    disallowed_tools: list[str] = field(default_factory=list)
    """Tools and rules that are taken away."""
    model: str | None = None
    """`None` is the CLI's default."""
    fallback_model: str | None = None
    """Used when the model is overloaded or gone."""
    betas: list[SdkBeta] = field(default_factory=list)
    """Beta features of the API."""
    permission_prompt_tool_name: str | None = None
    """An MCP tool that answers permission questions; not beside `can_use_tool`."""
    cwd: str | Path | None = None
    """The working directory; `None` is this process's."""
    cli_path: str | Path | None = None
    """The CLI; `None`: it is looked for."""
    settings: str | None = None
    """Settings above those of the files: a path, or JSON text."""
    add_dirs: list[str | Path] = field(default_factory=list)
    """More directories the tools may use."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables for the CLI, over the inherited ones."""
    extra_args: dict[str, str | None] = field(default_factory=dict)
    """More flags, without their dashes; `None` for one without a value."""
    max_buffer_size: int | None = None
    """The longest line that is read, in bytes. A longer one is skipped and logged."""
    debug_stderr: Any = sys.stderr
    """Not used; see `stderr`."""
    stderr: Callable[[str], None] | None = None
    """Called with each line of the CLI's stderr."""
    can_use_tool: CanUseTool | None = None
    """Asked before a tool runs that no rule allows or denies. To see every call, use a `PreToolUse`
    hook; `CanUseToolShadowedWarning` tells of options that leave nothing to ask."""
    hooks: dict[HookEvent, list[HookMatcher]] | None = None
    """Callbacks by event. All callbacks of an event are called at once."""
    user: str | None = None
    """The user of the system that the CLI runs as."""
    include_partial_messages: bool = False
    """Whether replies come piece by piece as well, as `StreamEvent`."""
    include_hook_events: bool = False
    """Whether hooks of the settings are told of, as `HookEventMessage`."""
    forward_subagent_text: bool = False
    """Whether subagents' text and thinking come along, not only their tool calls."""
    verbatim_prompts: bool = False
    """Whether prompts are delivered as written: no file mentions, no slash commands."""
    fork_session: bool = False
    """Whether a resumed session goes on under a new id."""
    resume_session_at: str | None = None
    """The last message of the resumed session to keep, by uuid."""
    resume_drops_turn: str | None = None
    """The prompt whose turn `resume_session_at` means to drop. The CLI refuses to resume if
    anything else would be lost with it."""
    agents: dict[str, AgentDefinition] | None = None
    """Subagents by name."""
    setting_sources: list[SettingSource] | None = None
    """The settings files that are read; an empty list is none, `None` is all."""
    skills: list[str] | Literal["all"] | None = None
    """Skills by exact name, or all of them; the tool and the settings files that they need are seen
    to. `None` leaves it to the CLI, an empty list hides them all."""
    sandbox: SandboxSettings | None = None
    """How shell commands are kept apart; goes into `settings`."""
    plugins: list[SdkPluginConfig] = field(default_factory=list)
    max_thinking_tokens: int | None = None
    """The older way to say `thinking`, which wins."""
    thinking: ThinkingConfig | None = None
    """How much the model thinks."""
    effort: EffortLevel | None = None
    """How hard it tries."""
    output_format: dict[str, Any] | None = None
    """The form of the final answer: `{"type": "json_schema", "schema": {...}}`."""
    enable_file_checkpointing: bool = False
    """Whether files can be put back to what they were at a prompt."""
    session_store: SessionStore | None = None
    """A store that transcripts are mirrored to, and resumed from."""
    session_store_flush: SessionStoreFlushMode = "batched"
    load_timeout_ms: int = 60_000
    """Limit of each call of the store while a session is loaded from it."""
    task_budget: TaskBudget | None = None
    """Tokens that the model knows it has."""
    client_app: str | None = None
    """Names the program to the API (`my-app/1.0`)."""
