"""`ClaudeAgentOptions` taken apart: a document for the core, and what only Python can call.

For the engine:

    launch = prepare(options)             # ValueError, TypeError and CLIConnectionError as due
    launch.document                       # dict for towline::Options, ready for json.dumps
    launch.permission                     # options.can_use_tool or None
    launch.hooks                          # list of Hook(event, matcher, timeout, on_failure, callback)
    launch.servers                        # dict name -> _mcp.ToolServer: the core's in-process servers
    launch.bridged                        # dict name -> mcp.server.Server: bridged, see _mcp_bridge
    launch.stderr                         # callable taking a line, or None
    launch.elicitation, .dialogs, .other  # callables (dialogs: kind -> callable), or None
    launch.unknown_messages               # whether UnknownMessage is delivered
    launch.store                          # the session store or None; .store_flush: when it is written to
    launch.materialized                   # the session to resume, set by _store_tasks.resume
    launch.trace_context                  # [(header, value)] of the active span: HostSide::trace_context
    check_initialize(launch, response)    # after the handshake; raises CLIConnectionError

`prepare` gives the warnings that are due. It takes no decision about the command line, the variables
or the handshake: all that is the core's (`core/protocol/src/launch`).
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import CLIConnectionError, CLINotFoundError
from .types.options import ClaudeAgentOptions
from .types.permissions import warn_if_shadowed
from .types.stores import SessionStore, store_implements

if TYPE_CHECKING:
    from ._mcp import ToolServer
    from ._native import Materialized
    from .types.extended import Options


class Hook(NamedTuple):
    """One callback for some of the events of a kind."""

    event: str
    matcher: str | None
    timeout: float | None
    """In seconds."""
    on_failure: str | None
    callback: Callable[..., Any]


class Launch:
    """What a session is started with; see the module."""

    __slots__ = (
        "bridged",
        "dialogs",
        "document",
        "elicitation",
        "hooks",
        "materialized",
        "other",
        "permission",
        "servers",
        "stderr",
        "store",
        "store_flush",
        "trace_context",
        "unknown_messages",
    )

    document: dict[str, Any]
    permission: Callable[..., Any] | None
    hooks: list[Hook]
    servers: "dict[str, ToolServer]"
    bridged: dict[str, Any]
    stderr: Callable[[str], None] | None
    elicitation: Callable[..., Any] | None
    dialogs: dict[str, Callable[..., Any]]
    other: Callable[..., Any] | None
    unknown_messages: bool
    store: SessionStore | None
    store_flush: str
    materialized: "Materialized | None"
    trace_context: list[tuple[str, str]]


# Passed on as they are when they are not at their default.
_PLAIN = (
    "effort",
    "fallback_model",
    "model",
    "permission_mode",
    "permission_prompt_tool_name",
    "resume_drops_turn",
    "resume_session_at",
    "sandbox",
    "client_app",
)

# Set by whatever is true.
_SWITCHES = (
    "continue_conversation",
    "enable_file_checkpointing",
    "fork_session",
    "forward_subagent_text",
    "include_hook_events",
    "include_partial_messages",
    "strict_mcp_config",
    "verbatim_prompts",
)

# Which may be given as text, as they come from the environment.
_NUMBERS = ("max_turns", "max_budget_usd", "max_buffer_size", "max_thinking_tokens")

# Of which any iterable will do.
_LISTS = ("allowed_tools", "betas", "disallowed_tools", "setting_sources")

# Whose text counts, as that of a UUID.
_NAMES = ("resume", "session_id")

# Fields of Options that do not go into the document.
_CALLABLES = ("on_elicitation", "on_dialog", "on_request", "unknown_messages")

_PROMPT_KEYS: dict[str, dict[str, Any]] = {
    "file": {"path": str},
    "custom": {"prompt": (str, list), "snapshot": bool},
    "preset": {"append": str, "exclude_dynamic_sections": bool, "snapshot": bool},
}


def prepare(options: ClaudeAgentOptions) -> Launch:
    """Takes options apart; see the module.

    Raises:
        TypeError: an option has a value of the wrong kind.
        ValueError: options contradict one another.
        CLIConnectionError: a path or variable is none.
    """
    check_store(options)
    launch = Launch()
    document: dict[str, Any] = {"dialect": "python"}
    launch.document = document

    _plain(options, document)
    _shaped(options, document)

    launch.servers = {}
    launch.bridged = {}
    if options.mcp_servers:
        document["mcp_servers"] = _servers(options.mcp_servers, launch)

    _permission(options, launch)
    launch.hooks = [
        hook
        for event, matchers in (options.hooks or {}).items()
        for matcher in matchers or ()
        for hook in _hooks(event, matcher)
    ]
    launch.stderr = options.stderr

    launch.store = options.session_store
    launch.store_flush = options.session_store_flush
    if launch.store_flush not in ("batched", "eager"):
        raise ValueError(
            f'session_store_flush: {launch.store_flush!r} is neither "batched" nor "eager"'
        )
    launch.materialized = None
    if launch.store is not None:
        document["session_store"] = True
        document["load_timeout_ms"] = options.load_timeout_ms

    launch.elicitation = launch.other = None
    launch.dialogs = {}
    launch.unknown_messages = False
    extended = sys.modules.get(f"{__package__}.types.extended")
    if extended is not None and isinstance(options, extended.Options):
        more: Any = options
        _extended(more, launch)
    if not {"cli_path", "launcher", "replay"} & document.keys():
        bundled = bundled_cli()
        if bundled is not None:
            document["cli_path"] = bundled
    launch.trace_context = trace_context()
    return launch


def _extended(options: "Options", launch: Launch) -> None:
    from .types.extended import Options

    launch.elicitation = options.on_elicitation
    launch.dialogs = dict(options.on_dialog or {})
    launch.other = options.on_request
    launch.unknown_messages = options.unknown_messages
    for name in Options.__annotations__:
        value = getattr(options, name)
        if value is not None and name not in _CALLABLES:
            launch.document[name] = os.fspath(value) if isinstance(value, os.PathLike) else value


def _plain(options: ClaudeAgentOptions, document: dict[str, Any]) -> None:
    """The options whose values look the same in the document, or nearly so."""
    for name in _PLAIN:
        value = getattr(options, name)
        if value is not None and value is not False:
            document[name] = value
    for name in _SWITCHES:
        if getattr(options, name):
            document[name] = True
    for name in _NUMBERS:
        value = getattr(options, name)
        if isinstance(value, str):
            value = _number(value)
            if value == "":
                continue
        elif isinstance(value, float) and value.is_integer() and name != "max_budget_usd":
            value = int(value)
        if value is not None and value is not False:
            document[name] = value
    for name in _LISTS:
        value = getattr(options, name)
        if value or (value is not None and name == "setting_sources"):
            document[name] = _list(value)
    for name in _NAMES:
        value = getattr(options, name)
        if value is not None:
            document[name] = str(value)
    user: Any = options.user
    if user is not None:
        document["user"] = str(user) if type(user) is int else user


def _list(value: Any) -> Any:
    """An iterable as a list, but a text, which is one only by its letters."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return list(value)
    return value


def _number(text: str) -> Any:
    """A number that is given as text, or the text, if it is none."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def _path(name: str, value: Any, kind: type[CLIConnectionError] = CLIConnectionError) -> Any:
    try:
        return os.fsdecode(value)
    except TypeError as error:
        raise kind(f"Failed to start Claude Code: {name} must be a path: {error}") from error


def _env(env: Any) -> Any:
    """Variables as text; what the system takes besides is decoded as it would be."""
    if not isinstance(env, Mapping):
        return env
    for name in env:
        if not isinstance(name, str):
            raise CLIConnectionError(
                f"Failed to start Claude Code: env: {name!r} cannot be the name of a variable"
            ) from TypeError(f"expected str, not {type(name).__name__}")
    return {
        name: os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else value
        for name, value in env.items()
    }


def _shaped(options: ClaudeAgentOptions, document: dict[str, Any]) -> None:
    """The options whose values look different in the document."""
    prompt = options.system_prompt
    if prompt is not None:
        document["system_prompt"] = prompt if isinstance(prompt, str) else _prompt(prompt)
    tools = options.tools
    if tools is not None:
        document["tools"] = (
            {"type": "preset", "preset": "claude_code"}
            if isinstance(tools, Mapping)
            else _list(tools)
        )
    skills = options.skills
    if skills is not None:
        if not isinstance(skills, list) and skills != "all":
            hint = f" Did you mean [{skills!r}]?" if isinstance(skills, str) else ""
            raise TypeError(
                "ClaudeAgentOptions.skills must be a list of skill names or "
                f'"all", got {skills!r}.{hint}'
            )
        for skill in skills:
            if not isinstance(skill, str):
                raise TypeError(
                    f"Skill names must be strings, got {type(skill).__name__}: {skill!r}"
                )
        document["skills"] = skills
    if options.task_budget is not None:
        document["task_budget"] = {"total": options.task_budget["total"]}
    if options.thinking is not None:
        thinking = _mapping("thinking", options.thinking)
        document["thinking"] = {
            key: thinking[key] for key in ("type", "budget_tokens", "display") if key in thinking
        }
    form = options.output_format
    if isinstance(form, dict) and form.get("type") == "json_schema":
        schema = form.get("schema")
        if schema is not None:
            document["output_format"] = {"type": "json_schema", "schema": schema}
    if options.agents:
        document["agents"] = {name: _agent(agent) for name, agent in options.agents.items()}
    if options.plugins:
        document["plugins"] = [_plugin(plugin) for plugin in options.plugins]
    settings: Any = options.settings
    if settings:
        document["settings"] = (
            os.fspath(settings) if isinstance(settings, os.PathLike) else settings
        )
    if options.add_dirs:
        directories = _list(options.add_dirs)
        if not isinstance(directories, list):
            raise CLIConnectionError(
                "Failed to start Claude Code: add_dirs must be a list of paths, "
                f"not {type(directories).__name__}"
            ) from TypeError(f"expected list, not {type(directories).__name__}")
        document["add_dirs"] = [_path("add_dirs", directory) for directory in directories]
    if options.cwd:
        document["cwd"] = _path("cwd", options.cwd)
    if options.cli_path is not None:
        document["cli_path"] = _path("cli_path", options.cli_path, CLINotFoundError)
    if options.env:
        document["env"] = _env(options.env)
    if options.extra_args:
        document["extra_args"] = {
            flag: None if value is None else str(value)
            for flag, value in options.extra_args.items()
        }


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    return value


_PLUGIN_KEYS = ("type", "path", "skipMcpDiscovery", "skip_mcp_discovery")


def _prompt(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """A long form of the system prompt; one of an unknown type is the preset."""
    kind = prompt.get("type")
    if kind not in ("file", "custom"):
        kind = "preset"
    form: dict[str, Any] = {"type": kind}
    if kind == "preset":
        form["preset"] = "claude_code"
    for key, wanted in _PROMPT_KEYS[kind].items():
        value = prompt.get(key)
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(value, wanted):
            form[key] = value
        elif value is not None and wanted is not bool:
            raise CLIConnectionError(
                f"Failed to start Claude Code: system_prompt: {key} must be text, "
                f"not {type(value).__name__}"
            ) from TypeError(f"expected str, not {type(value).__name__}")
    return form


def _plugin(plugin: Any) -> dict[str, Any]:
    if plugin["type"] != "local":
        raise ValueError(f"Unsupported plugin type: {plugin['type']}")
    return {
        key: os.fspath(plugin[key]) if isinstance(plugin[key], os.PathLike) else plugin[key]
        for key in _PLUGIN_KEYS
        if key in plugin
    }


def _agent(agent: Any) -> dict[str, Any]:
    if not isinstance(agent, dict) and not hasattr(agent, "__dict__"):
        raise TypeError(f"agents must be a dict of AgentDefinition, not of {type(agent).__name__}")
    definition: dict[str, Any] = agent if isinstance(agent, dict) else vars(agent)
    return {key: value for key, value in definition.items() if value is not None}


def _servers(servers: Any, launch: Launch) -> Any:
    if not isinstance(servers, dict):
        return _path("mcp_servers", servers)
    configurations: dict[str, Any] = {}
    for name, configuration in servers.items():
        if not isinstance(configuration, dict) or configuration.get("type") != "sdk":
            configurations[name] = configuration
            continue
        from ._mcp import untouched

        instance = configuration["instance"]
        if untouched(instance):
            launch.servers[name] = instance
        else:
            launch.bridged[name] = instance
        configurations[name] = {
            key: value for key, value in configuration.items() if key != "instance"
        }
    return configurations


def _permission(options: ClaudeAgentOptions, launch: Launch) -> None:
    launch.permission = options.can_use_tool
    if not options.can_use_tool:
        launch.permission = None
        return
    if options.permission_prompt_tool_name:
        raise ValueError(
            "can_use_tool callback cannot be used with permission_prompt_tool_name. "
            "Please use one or the other."
        )
    allowed = options.allowed_tools
    if options.skills == "all" and "Skill" not in allowed:
        allowed = [*allowed, "Skill"]
    warn_if_shadowed(options.permission_mode, allowed)


def _hooks(event: str, matcher: Any) -> list[Hook]:
    get: Callable[[str], Any] = (
        matcher.get if isinstance(matcher, dict) else lambda name: getattr(matcher, name, None)
    )
    pattern, timeout = get("matcher"), get("timeout")
    if pattern is not None and not isinstance(pattern, str):
        raise TypeError(f"hooks: matcher must be a str, not {type(pattern).__name__}")
    if timeout is not None and not isinstance(timeout, (int, float)):
        raise TypeError(f"hooks: timeout must be seconds, not {type(timeout).__name__}")
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"hooks: timeout must be seconds, 0 or more, not {timeout}")
    return [
        Hook(event, pattern, timeout, get("on_failure"), callback)
        for callback in get("hooks") or ()
    ]


def check_store(options: ClaudeAgentOptions) -> None:
    """Refuses what cannot be done with a store.

    Raises:
        ValueError: says which option.
    """
    store = options.session_store
    if store is None:
        return
    if (
        options.continue_conversation
        and options.resume is None
        and not store_implements(store, "list_sessions")
    ):
        raise ValueError(
            "continue_conversation with session_store requires the store to implement "
            "list_sessions()"
        )
    if options.enable_file_checkpointing:
        raise ValueError(
            "session_store cannot be combined with enable_file_checkpointing (checkpoints stay on "
            "the local disk, so that they and the mirrored transcript would part)"
        )


def check_initialize(launch: Launch, response: Mapping[str, Any]) -> None:
    """Refuses a CLI with which hooks that must block would not.

    Raises:
        CLIConnectionError: says why.
    """
    if not any(hook.on_failure not in (None, "continue") for hook in launch.hooks):
        return
    if not response.get("hook_on_failure_supported"):
        raise CLIConnectionError(
            "The process answering initialize does not honor on_failure on hook matchers: a hook "
            'that fails would not block. Update Claude Code, or take on_failure="block" away.'
        )
    if response.get("hooks_applied") is False:
        raise CLIConnectionError(
            "The session was already running and did not register the hooks: one with "
            'on_failure="block" would never run. Start a new session, or take it away.'
        )


def bundled_cli() -> str | None:
    """The CLI that an installed `claude_agent_sdk` has brought along, which comes before those in
    `PATH`. The package itself is not imported."""
    name = "claude.exe" if sys.platform == "win32" else "claude"
    for entry in sys.path:
        path = os.path.join(entry, "claude_agent_sdk", "_bundled", name)
        if os.path.isfile(path):
            return path
    return None


def trace_context() -> list[tuple[str, str]]:
    """The active OpenTelemetry span as propagation headers; empty without one.

    There can be no active span before the program has imported OpenTelemetry.
    """
    if "opentelemetry" not in sys.modules:
        return []
    try:
        from opentelemetry import propagate

        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return [(str(name), str(value)) for name, value in carrier.items()]
    except Exception:
        import logging

        logging.getLogger("towline").debug("no trace context", exc_info=True)
        return []
