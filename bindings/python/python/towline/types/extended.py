"""Options that the official package has no names for."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from ._dataclass import dataclass
from .options import ClaudeAgentOptions


@dataclass(kw_only=True)
class Options(ClaudeAgentOptions):
    """`ClaudeAgentOptions` and what the official package has no names for.

    `None` is the default everywhere; a limit of 0 milliseconds is no limit.
    """

    dialect: Literal["python", "towline"] = "python"
    """With `towline`, `system_prompt=None` is Claude Code's own prompt, and more combinations of
    options are refused at once."""

    unknown_messages: bool = False
    """Whether messages without a class are delivered as `UnknownMessage` instead of dropped."""
    on_elicitation: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] | None = None
    """Called with what an MCP server asks of the user; gives `{"action": "accept", "content":
    {...}}`, `decline` or `cancel`."""
    on_dialog: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] | None = None
    """By kind of dialog, called with the request; gives the answer."""
    on_request: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] | None = None
    """Called with every other request of the CLI; gives the payload of the answer."""

    allow_dangerously_skip_permissions: bool | None = None
    """Permits `bypassPermissions`, now or later."""
    permission_prompts: Literal["host", "none"] | None = None
    """`none`: what would be asked is denied."""
    title: str | None = None
    """The session's title."""
    persist_session: bool | None = None
    """Whether the session is saved on disk; by default it is."""
    agent: str | None = None
    """The agent that the main thread runs as."""
    managed_settings: dict[str, Any] | None = None
    """Policy settings of the embedding program."""
    settings_delivery: Literal["argv", "initialize"] | None = None
    managed_settings_delivery: Literal["argv", "initialize"] | None = None
    mcp_servers_delivery: Literal["argv", "initialize"] | None = None
    plugin_delivery: Literal["argv", "initialize"] | None = None
    project_config_root: str | Path | None = None
    """The checkout that project settings come from in place of `cwd`."""
    tool_aliases: dict[str, str] | None = None
    """Tool to the name that is called instead."""
    tool_config: dict[str, Any] | None = None
    """Settings of single built-in tools."""
    replay_user_messages: bool | None = None
    """Whether prompts are echoed with their uuid."""
    prompt_suggestions: bool | None = None
    agent_progress_summaries: bool | None = None
    plan_mode_instructions: str | None = None
    per_task_stop_affordance: bool | None = None
    extra_initialize: dict[str, Any] | None = None
    """More fields of `initialize`; they win."""
    debug: bool | None = None
    """Whether the CLI writes a debug log."""
    debug_file: str | Path | None = None

    executable: str | None = None
    """What runs a CLI that is a script: `node`, `bun`, `deno` or a path."""
    executable_args: list[str] | None = None
    launcher: list[str] | None = None
    """What stands before the CLI (`["docker", "exec", "-i", "box"]`)."""
    launcher_shell: bool | None = None
    """Whether the launcher hands its arguments to a shell; by default only `ssh` does."""
    launcher_remote: bool | None = None
    """Whether the CLI behind the launcher sees neither the files nor the variables of this side."""

    record: str | Path | None = None
    """A file that both directions are written to, or a folder where each session gets one."""
    record_redacted: bool | None = None
    """Whether keys, tokens, account data and home folders are taken out of it; they are by default."""
    replay: str | Path | None = None
    """A recording that takes the CLI's place: nothing is started."""
    wire_log: str | Path | None = None
    """Where lines of both directions are noted, redacted and cut short: a file, a folder, `"stderr"`, or
    `"log"` for the logger `towline.wire`."""
    wire_log_line_bytes: int | None = None
    """How much of a line it shows; 2,048 bytes by default."""
    traceparent: str | None = None
    """The W3C trace context of the session; by default that of the active OpenTelemetry span."""
    tracestate: str | None = None
    """What tracing systems add to it."""

    connect_timeout_ms: int | None = None
    """From the start to the first byte."""
    initialize_timeout_ms: int | None = None
    """From the start to the answer to `initialize`; 60 s by default."""
    control_timeout_ms: int | None = None
    """Each other control request; 60 s by default."""
    first_message_timeout_ms: int | None = None
    """From a prompt to the first message of its turn."""
    idle_timeout_ms: int | None = None
    """Silence within a turn."""
    turn_timeout_ms: int | None = None
    """A whole turn."""
    handler_timeout_ms: int | None = None
    """A callback; then the safe answer is sent."""
    close_grace_ms: int | None = None
    """From the end of input to SIGTERM; 5 s by default."""
    terminate_grace_ms: int | None = None
    """From SIGTERM to SIGKILL; 5 s by default."""
    high_water_bytes: int | None = None
    """Bytes of undelivered messages above which reading stops."""
    max_queued_bytes: int | None = None
    """Most bytes that wait to be written."""
    stderr_tail_bytes: int | None = None
    """How much of the last stderr stands in errors."""
    watchdog: bool | None = None
    """Whether the CLI is ended by a watchdog when this process dies; by default it is."""
    process_group: bool | None = None
    """Whether the CLI has a process group of its own; by default it has."""
