"""Options, as the CLI gets them from the official package and from Towline.

Both start a CLI that writes down its arguments, its variables and what it is told first. Towline
never puts what is secret or large on the command line; `launched` reads either form as what it means:

- `--system-prompt`, `--append-system-prompt`, `--json-schema` are fields of `initialize`;
- `--mcp-config` and `--settings` are the JSON they carry, whether inline or in a file;
- in-process servers are named in `--mcp-config`, in `initialize`, or in both;
- hooks of a matcher may stand in one entry or in one each.
"""

import asyncio
import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import claude_agent_sdk as official
import pytest

import towline
from towline._options import prepare

CLI = Path(__file__).with_name("recording_cli.py")

SWITCHES = {
    "--continue",
    "--fork-session",
    "--include-hook-events",
    "--include-partial-messages",
    "--session-mirror",
    "--strict-mcp-config",
    "--verbose",
}

# Of the machine, not of the options.
IGNORED_VARIABLES = {"RECORD", "LC_CTYPE", "_", "SHLVL", "OLDPWD"}

# By which the watchdog knows the processes of a session.
IGNORED_VARIABLES |= {"TOWLINE_SESSION"}

# Set by libreadline behind the back of `os.environ`, if something has imported it.
IGNORED_VARIABLES |= {"LINES", "COLUMNS"}

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def flags(argv: list[str], bare: set[str]) -> dict[str, list[str]]:
    """Flag to its values, whether they are given as one argument or as two."""
    found: dict[str, list[str]] = {}
    rest = iter(argv)
    for argument in rest:
        flag, equals, value = argument.partition("=")
        if equals:
            found.setdefault(flag, []).append(value)
        elif flag in SWITCHES or flag in bare:
            found.setdefault(flag, [])
        else:
            found.setdefault(flag, []).append(next(rest))
    return found


def carried(record: dict[str, Any], value: str) -> Any:
    """The JSON that a flag gives, inline or in a file."""
    for argument, contents in record["files"].items():
        if argument == value or argument.endswith(f"={value}"):
            return contents
    return json.loads(value)


def launched(record: dict[str, Any], bare: set[str]) -> dict[str, Any]:
    """What a start means, in whatever form it is said."""
    found = flags(record["argv"], bare)
    initialize = dict(record["lines"][0]["request"])
    for flag, field in (
        ("--system-prompt", "systemPrompt"),
        ("--append-system-prompt", "appendSystemPrompt"),
        ("--json-schema", "jsonSchema"),
    ):
        for value in found.pop(flag, ()):
            assert field not in initialize
            initialize[field] = value if flag != "--json-schema" else json.loads(value)
    if isinstance(initialize.get("systemPrompt"), list):
        initialize["systemPrompt"] = "\n\n".join(initialize["systemPrompt"])

    in_process: dict[str, Any] = {name: {} for name in initialize.pop("sdkMcpServers", ())}
    for name, limits in initialize.pop("sdkMcpServerConfigs", {}).items():
        in_process[name] = limits
    external: Any = None
    for value in found.pop("--mcp-config", ()):
        if Path(value).name == "given.json":
            external = value
            continue
        for name, configuration in carried(record, value)["mcpServers"].items():
            if configuration.get("type") == "sdk":
                in_process[name] = {
                    key: configuration[key] for key in ("timeout", "tools") if key in configuration
                }
            else:
                external = {**(external or {}), name: configuration}
    settings = [
        value if Path(value).name == "given.json" else carried(record, value)
        for value in found.pop("--settings", ())
    ]

    hooks = [
        (event, entry.get("matcher"), entry.get("timeout"), entry.get("onFailure"))
        for event, entries in (initialize.pop("hooks", None) or {}).items()
        for entry in entries
        for _ in entry["hookCallbackIds"]
    ]
    user = record["lines"][-1]
    return {
        "flags": found,
        "initialize": initialize,
        "in_process": in_process,
        "external": external,
        "settings": settings,
        "hooks": hooks,
        "cwd": record["cwd"],
        "env": {
            name: value
            for name, value in record["env"].items()
            if name not in IGNORED_VARIABLES and name != "CLAUDE_AGENT_SDK_VERSION"
        },
        "client_composed": user.get("client_composed"),
        "content": user["message"]["content"],
    }


async def allow(*_: Any) -> Any:
    raise AssertionError("nobody asks")


async def hook(*_: Any) -> Any:
    raise AssertionError("nothing happens")


class Store:
    async def append(self, key: Any, entries: Any) -> None: ...

    async def load(self, key: Any) -> Any:
        return None


def server(package: Any, **more: Any) -> Any:
    @package.tool("t", "does", {"a": int})  # type: ignore[untyped-decorator]
    async def t(arguments: Any) -> Any: ...

    return {**package.create_sdk_mcp_server("made", tools=[t]), **more}


Options = Callable[[Any, Path], dict[str, Any]]

STDIO = {"command": "x", "args": ["-y"], "env": {"TOKEN": "secret"}}
HTTP = {"type": "http", "url": "http://x", "headers": {"Authorization": "secret"}}
SSE = {"type": "sse", "url": "http://x"}


def given(folder: Path, text: str) -> str:
    path = folder / "given.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


def same(**options: Any) -> Options:
    return lambda package, folder: options


TABLE: dict[str, Options] = {
    "nothing": same(),
    "system prompt": same(system_prompt="Be brief.\nVery."),
    "system prompt with a dash": same(system_prompt="--help"),
    "empty system prompt": same(system_prompt=""),
    "system prompt of a file": same(system_prompt={"type": "file", "path": "/tmp/prompt.md"}),
    "custom system prompt": same(system_prompt={"type": "custom", "prompt": "p", "snapshot": True}),
    "preset": same(system_prompt={"type": "preset", "preset": "claude_code"}),
    "preset and more": same(
        system_prompt={
            "type": "preset",
            "preset": "claude_code",
            "append": "more",
            "exclude_dynamic_sections": True,
            "snapshot": False,
        }
    ),
    "preset with nothing in it": same(
        system_prompt={"type": "preset", "preset": "claude_code", "snapshot": None}
    ),
    "tools": same(tools=["Bash", "Read"]),
    "no tools": same(tools=[]),
    "preset of tools": same(tools={"type": "preset", "preset": "claude_code"}),
    "allowed and disallowed": same(allowed_tools=["Read", "Bash(ls:*)"], disallowed_tools=["Edit"]),
    "skills": same(skills=["pdf", "a:b"]),
    "all skills": same(skills="all", allowed_tools=["Read"]),
    "no skills": same(skills=[]),
    "skills and sources": same(skills=["pdf"], setting_sources=["local"]),
    "skills allowed already": same(skills="all", allowed_tools=["Skill"]),
    "turns": same(max_turns=3),
    "no limit of turns": same(max_turns=0),
    "budget": same(max_budget_usd=1.5),
    "no budget": same(max_budget_usd=0),
    "whole budget": same(max_budget_usd=2),
    "task budget": same(task_budget={"total": 1000}),
    "models": same(model="m", fallback_model="m"),
    "empty model": same(model="", fallback_model=""),
    "betas": same(betas=["context-1m-2025-08-07"]),
    "permission mode": same(permission_mode="plan"),
    "permission tool": same(permission_prompt_tool_name="mcp__x__ask"),
    "permission callback": same(can_use_tool=allow),
    "continue": same(continue_conversation=True),
    "resume": same(resume="--debug", fork_session=True),
    "resume at": same(resume="s", resume_session_at="u", resume_drops_turn=""),
    "session id": same(session_id="01234567-89ab-cdef-0123-456789abcdef"),
    "fork alone": same(fork_session=True),
    "settings": same(settings='{"permissions": {"deny": ["Bash"]}}'),
    "settings file": lambda package, folder: {"settings": given(folder, '{"model": "x"}')},
    "sandbox": same(sandbox={"enabled": True, "network": {"allowedDomains": ["x"]}}),
    "sandbox and settings": same(
        settings=' {"a": 1, "sandbox": {"old": true}} ', sandbox={"enabled": False}
    ),
    "sandbox and settings file": lambda package, folder: {
        "settings": given(folder, '\ufeff{"model": "x"}'),
        "sandbox": {"enabled": True},
    },
    "sandbox and relative settings file": lambda package, folder: {
        "settings": Path(given(folder, '{"model": "y"}')).name,
        "cwd": folder,
        "sandbox": {"enabled": True},
    },
    "empty sandbox": same(sandbox={}),
    "numbers as text": same(max_turns="3", max_budget_usd="0.25", max_thinking_tokens="7"),
    "empty numbers": same(max_turns=""),
    "switches by what is true": same(include_partial_messages=1, strict_mcp_config="yes"),
    "lists of other kinds": same(allowed_tools=("Read", "Edit"), betas={"b"}),
    "directories in a tuple": same(add_dirs=("/a", Path("/b"))),
    "a UUID": same(resume=UUID(int=1), fork_session=True, session_id=UUID(int=2)),
    "a plugin's path": same(plugins=[{"type": "local", "path": Path("/p")}]),
    "variables of other kinds": same(env={"A": b"bytes", "B": Path("/b")}),
    "directories": same(add_dirs=["/a", Path("/b c")]),
    "stdio server": same(mcp_servers={"x": STDIO}),
    "several servers": same(mcp_servers={"x": STDIO, "y": HTTP, "z": SSE}),
    "servers in a file": lambda package, folder: {"mcp_servers": given(folder, "{}")},
    "servers in a path": lambda package, folder: {"mcp_servers": Path(given(folder, "{}"))},
    "servers as text": same(mcp_servers=json.dumps({"mcpServers": {"x": STDIO}})),
    "server in this process": lambda package, folder: {"mcp_servers": {"in": server(package)}},
    "servers of both kinds": lambda package, folder: {
        "mcp_servers": {"in": server(package), "x": HTTP},
        "strict_mcp_config": True,
    },
    "server with a limit": lambda package, folder: {
        "mcp_servers": {"in": server(package, timeout=5000)}
    },
    "strict": same(strict_mcp_config=True),
    "partial messages": same(include_partial_messages=True, include_hook_events=True),
    "subagent text": same(forward_subagent_text=True),
    "verbatim": same(verbatim_prompts=True),
    "sources": same(setting_sources=["user", "project"]),
    "no sources": same(setting_sources=[]),
    "plugins": same(plugins=[{"type": "local", "path": "/p"}, {"type": "local", "path": "/q"}]),
    "extra arguments": same(extra_args={"debug-to-stderr": None, "custom": "v", "dash": "-x"}),
    "extra numbers": same(extra_args={"number": 3}),
    "thinking": same(thinking={"type": "adaptive", "display": "summarized"}),
    "thinking with a budget": same(thinking={"type": "enabled", "budget_tokens": 2048}),
    "no thinking": same(thinking={"type": "disabled"}, max_thinking_tokens=5),
    "thinking tokens": same(max_thinking_tokens=0),
    "effort": same(effort="high"),
    "output format": same(output_format={"type": "json_schema", "schema": SCHEMA}),
    "output format of another type": same(output_format={"type": "text", "schema": SCHEMA}),
    "output format without a schema": same(output_format={"type": "json_schema"}),
    "checkpoints": same(enable_file_checkpointing=True),
    "store": same(session_store=Store(), session_store_flush="eager"),
    "client": same(client_app="app/1"),
    "no client": same(client_app=""),
    "variables": same(env={"A": "1", "CLAUDE_CODE_ENTRYPOINT": "mine", "CLAUDECODE": "kept"}),
    "version variable": same(env={"CLAUDE_AGENT_SDK_VERSION": "9"}),
    "session state variable": same(env={"claude_code_sdk_reads_session_state": "0"}),
    "derived client": same(env={"CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP": "x"}),
    "working directory": lambda package, folder: {"cwd": folder},
    "working directory as text": lambda package, folder: {"cwd": str(folder)},
    "agents": lambda package, folder: {
        "agents": {
            "a": package.AgentDefinition("d", "p"),
            "b": package.AgentDefinition(
                "d", "p", tools=[], maxTurns=3, mcpServers=["x", {"y": STDIO}], background=False
            ),
        }
    },
    "hooks": lambda package, folder: {
        "hooks": {
            "PreToolUse": [
                package.HookMatcher("Bash", [hook, hook], timeout=1.5),
                package.HookMatcher(None, [hook], on_failure="block"),
            ],
            "Stop": [package.HookMatcher(hooks=[hook])],
            "Notification": [],
        }
    },
}


def record(package: Any, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    out = folder / "record.json"
    options = dict(options)
    environment = {"RECORD": str(out), **options.pop("env", {})}

    async def main() -> None:
        made = package.ClaudeAgentOptions(cli_path=CLI, env=environment, **options)
        async for _ in package.query(prompt="hello", options=made):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(main())
    found: dict[str, Any] = json.loads(out.read_text())
    out.unlink()
    return found


@pytest.mark.parametrize("name", TABLE)
def test_both_start_the_cli_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    for variable in ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP"):
        monkeypatch.setenv(variable, "inherited")
    bare = {
        f"--{flag}"
        for flag, value in TABLE[name](towline, tmp_path).get("extra_args", {}).items()
        if value is None
    }
    theirs = record(official, tmp_path, TABLE[name](official, tmp_path))
    ours = record(towline, tmp_path, TABLE[name](towline, tmp_path))
    assert launched(ours, bare) == launched(theirs, bare)
    assert theirs["env"]["CLAUDE_AGENT_SDK_VERSION"] == official.__version__
    assert ours["env"]["CLAUDE_AGENT_SDK_VERSION"] == towline.__version__
    assert "secret" not in " ".join(ours["argv"])


class WithoutListing(Store):
    """Cannot tell which sessions it has."""


async def unused(*_: Any) -> Any: ...


REFUSED: dict[str, Options] = {
    "two answerers": same(can_use_tool=unused, permission_prompt_tool_name="mcp__x__ask"),
    "skills as a string": same(skills="pdf"),
    "skills as a tuple": same(skills=("pdf",)),
    "a skill that is no string": same(skills=[3]),
    "an empty skill": same(skills=[" "]),
    "a skill with a comma": same(skills=["a,b"]),
    "a skill with a parenthesis": same(skills=["a(b)"]),
    "a skill with a star": same(skills=["a:*"]),
    "all skills in a list": same(skills=["*"]),
    "a skill with a slash": same(skills=["/a"]),
    "a skill with backslashes": same(skills=["a\\\\b"]),
    "a plugin of another type": same(plugins=[{"type": "remote", "path": "x"}]),
    "a store that cannot list": same(session_store=WithoutListing(), continue_conversation=True),
    "a store and checkpoints": same(session_store=Store(), enable_file_checkpointing=True),
    "settings that are not there": same(settings="/no/such/file.json", sandbox={"enabled": True}),
    "settings that are no JSON": same(settings="{no}", sandbox={"enabled": True}),
    "a directory that is not there": same(cwd="/no/such/place"),
    "a CLI that is not there": same(cli_path="/no/such/claude"),
}

UNUSABLE: dict[str, dict[str, Any]] = {
    "a variable that is a number": {"env": {"A": 5}},
    "a variable named by a number": {"env": {5: "A"}},
    "variables that are none": {"env": 5},
    "NUL in a variable": {"env": {"A": "b\0c"}},
    "a name with an equals sign": {"env": {"A=B": "c"}},
    "a model that is a number": {"model": 5},
    "a model that is an object": {"model": object()},
    "NUL in a model": {"model": "a\0b"},
    "NUL in a directory": {"cwd": "a\0b"},
    "a directory that is a number": {"cwd": 5},
    "a CLI that is a number": {"cli_path": 5},
    "NUL in a CLI": {"cli_path": "a\0b"},
    "NUL in an argument": {"extra_args": {"x": "a\0"}},
    "settings that are a number": {"settings": 5},
    "an effort that is a number": {"effort": 5},
    "a fallback that is a number": {"fallback_model": 5},
    "a mode that is a number": {"permission_mode": 5},
    "a prompt with a number": {"system_prompt": {"type": "preset", "append": 5}},
    "a tool that is a number": {"allowed_tools": [5]},
    "a source that is a number": {"setting_sources": [5]},
}
REFUSED |= {name: same(**options) for name, options in UNUSABLE.items()}


def refusal(package: Any, folder: Path, options: dict[str, Any]) -> Any:
    async def main() -> None:
        made = package.ClaudeAgentOptions(**{"cli_path": CLI, **options})
        async for _ in package.query(prompt="hello", options=made):
            pass

    try:
        asyncio.run(main())
    except Exception as error:
        return type(error).__name__
    return None


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_alike(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setenv("RECORD", str(tmp_path / "record.json"))
    theirs = refusal(official, tmp_path, REFUSED[name](official, tmp_path))
    assert theirs is not None
    assert refusal(towline, tmp_path, REFUSED[name](towline, tmp_path)) == theirs
    assert not (tmp_path / "record.json").exists()


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("synchronous", [False, True])
def test_an_option_that_cannot_be_used_is_named(name: str, synchronous: bool) -> None:
    made = towline.ClaudeAgentOptions(**{"cli_path": CLI, **UNUSABLE[name]})

    async def main() -> None:
        async for _ in towline.query(prompt="hello", options=made):
            pass

    with pytest.raises((towline.CLIConnectionError, TypeError)) as raised:
        if synchronous:
            towline.Session(made).connect()
        else:
            asyncio.run(main())
    (option,) = UNUSABLE[name]
    assert option in str(raised.value)
    assert isinstance(raised.value.__cause__, (TypeError, ValueError))


NAN, INFINITY = float("nan"), float("inf")

# What the official package passes on, so that the CLI does something else than was meant, or
# nothing and nobody is told.
STRICTER: dict[str, dict[str, Any]] = {
    "turns that are no number": {"max_turns": NAN},
    "half a turn": {"max_turns": 1.5},
    "an endless budget": {"max_budget_usd": INFINITY},
    "a task's budget that is no number": {"task_budget": {"total": NAN}},
    "thinking that is no number": {"thinking": {"type": "enabled", "budget_tokens": NAN}},
    "thinking that is a number": {"thinking": 5},
    "a schema with no number": {"output_format": {"type": "json_schema", "schema": {"a": NAN}}},
    "a server with no number": {"mcp_servers": {"a": {"command": "x", "env": {"A": NAN}}}},
    "a sandbox with no number": {"sandbox": {"enabled": INFINITY}},
    "an agent that is a number": {"agents": {"a": 5}},
    "one directory as text": {"add_dirs": "/a"},
    "a number as a directory": {"add_dirs": [5]},
    "no directory": {"add_dirs": [None]},
    "a limit below zero": {"max_buffer_size": -1},
    "a limit of no number": {"max_buffer_size": NAN},
    "a limit of words": {"max_buffer_size": "much"},
    "tools as text": {"allowed_tools": "Read"},
    "hooks that wait for words": {
        "hooks": {"Stop": [towline.HookMatcher(hooks=[unused], timeout="x")]}  # type: ignore[arg-type]
    },
    "hooks that wait for no number": {
        "hooks": {"Stop": [towline.HookMatcher(hooks=[unused], timeout=NAN)]}
    },
    "hooks for a number": {"hooks": {"Stop": [towline.HookMatcher(5, [unused])]}},  # type: ignore[arg-type]
    "a flush that is a number": {"session_store_flush": 5},
}


@pytest.mark.parametrize("name", STRICTER)
def test_what_can_mean_nothing_is_refused_by_name(name: str) -> None:
    made = towline.ClaudeAgentOptions(**{"cli_path": CLI, **STRICTER[name]})
    with pytest.raises((towline.CLIConnectionError, TypeError, ValueError)) as raised:
        towline.Session(made).connect()
    (option,) = STRICTER[name]
    assert option in str(raised.value)


@pytest.mark.parametrize("limit", [10, "10"])
def test_both_tell_of_a_limit_that_the_first_answer_exceeds(
    limit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setenv("RECORD", str(tmp_path / "record.json"))
    assert refusal(official, tmp_path, {"max_buffer_size": 10}) == "CLIJSONDecodeError"
    assert refusal(towline, tmp_path, {"max_buffer_size": limit}) == "CLIJSONDecodeError"
    made = towline.ClaudeAgentOptions(cli_path=CLI, max_buffer_size=limit)
    with pytest.raises(towline.CLIJSONDecodeError, match="max_buffer_size") as raised:
        towline.Session(made).connect()
    assert isinstance(raised.value.original_error, ValueError)


def test_bytes_are_paths_too() -> None:
    launch = prepare(towline.ClaudeAgentOptions(cwd=b"/c", cli_path=b"/x", add_dirs=[b"/d"]))  # type: ignore[arg-type, list-item]
    found = [launch.document[name] for name in ("cwd", "cli_path", "add_dirs")]
    assert found == ["/c", "/x", ["/d"]]
    assert prepare(towline.ClaudeAgentOptions(user=5)).document["user"] == "5"  # type: ignore[arg-type]


def test_text_that_is_no_number_is_refused() -> None:
    given: list[dict[str, Any]]
    given = [{"max_turns": "many"}, {"max_budget_usd": "nan"}, {"max_buffer_size": "x"}]
    for options in given:
        made = towline.ClaudeAgentOptions(cli_path=CLI, **options)
        with pytest.raises(towline.CLIConnectionError, match=next(iter(options))):
            towline.Session(made).connect()


SHADOWED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, []),
    "bypass": ({"permission_mode": "bypassPermissions"}, ["bypassPermissions"]),
    "whole tools": ({"allowed_tools": ["Read", "Bash()", "Edit(*)", "Read"]}, ["Read, Bash, Edit"]),
    "parts": ({"allowed_tools": ["Bash(ls:*)", "(x)", "Bash(", " ", "x)"]}, ["x)"]),
    "all skills": ({"skills": "all"}, ["Skill"]),
    "some skills": ({"skills": ["pdf"]}, []),
}


@pytest.mark.parametrize("name", SHADOWED)
def test_both_warn_alike(name: str) -> None:
    from claude_agent_sdk.types import _configure_can_use_tool

    options, words = SHADOWED[name]

    def warned(package: Any, work: Callable[[Any], Any]) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            work(package.ClaudeAgentOptions(can_use_tool=unused, **options))
        assert all(w.category is package.CanUseToolShadowedWarning for w in caught)
        return [str(w.message) for w in caught]

    ours, theirs = warned(towline, prepare), warned(official, _configure_can_use_tool)
    assert len(ours) == len(theirs) == len(words)
    for text, word in zip([*ours, *theirs], words * 2, strict=True):
        assert word in text


def test_more_than_the_official_options() -> None:
    options = towline.Options(
        launcher=["docker", "exec", "-i", "box"],
        idle_timeout_ms=0,
        persist_session=False,
        project_config_root=Path("/x"),
        on_elicitation=unused,
        on_dialog={"confirm": unused},
        unknown_messages=True,
    )
    launch = prepare(options)
    assert launch.document == {
        "dialect": "python",
        "launcher": ["docker", "exec", "-i", "box"],
        "idle_timeout_ms": 0,
        "persist_session": False,
        "project_config_root": "/x",
    }
    assert launch.elicitation is unused and launch.dialogs == {"confirm": unused}
    assert launch.unknown_messages and launch.other is None


def test_a_whole_number_may_be_a_float() -> None:
    document = prepare(towline.ClaudeAgentOptions(max_buffer_size=1e6)).document  # type: ignore[arg-type]
    assert json.dumps(document["max_buffer_size"]) == "1000000"


def test_every_option_of_the_core_has_a_name() -> None:
    """What is in the options' schema can be said in Python, and the other way round."""
    import dataclasses
    import re

    root = Path(__file__).resolve().parents[3]
    schema = json.loads((root / "include/schema/options.json").read_text())
    renamed = {
        "additional_directories": "add_dirs",
        "continue": "continue_conversation",
        "max_line_bytes": "max_buffer_size",
        # What on_dialog answers.
        "supported_dialog_kinds": "on_dialog",
    }
    core = {re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", key) for key in schema["properties"]}
    ours = {field.name for field in dataclasses.fields(towline.Options)}
    assert {renamed.get(name, name) for name in core} - ours == set()
    not_of_the_core = {
        "can_use_tool",
        "debug_stderr",
        "hooks",
        "on_elicitation",
        "on_request",
        "stderr",
        "unknown_messages",
    }
    assert ours - {renamed.get(name, name) for name in core} == not_of_the_core


def test_an_active_span_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for OpenTelemetry, as in the official package's own tests."""
    import types

    from towline._options import trace_context

    for name in [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    assert trace_context() == []
    propagate: Any = types.ModuleType("opentelemetry.propagate")
    propagate.inject = lambda carrier: carrier.update(traceparent="00-a-b-01", tracestate="x=y")
    package: Any = types.ModuleType("opentelemetry")
    package.propagate = propagate
    monkeypatch.setitem(sys.modules, "opentelemetry", package)
    monkeypatch.setitem(sys.modules, "opentelemetry.propagate", propagate)
    monkeypatch.setenv("TRACEPARENT", "inherited")
    monkeypatch.setenv("TRACESTATE", "inherited")
    for env in ({}, {"TRACEPARENT": "mine"}):
        ours = record(towline, tmp_path, {"env": env})["env"]
        theirs = record(official, tmp_path, {"env": env})["env"]
        names = ("TRACEPARENT", "TRACESTATE")
        assert [ours.get(name) for name in names] == [theirs.get(name) for name in names]
        assert ours["TRACESTATE"] == "x=y"

    def broken(carrier: Any) -> None:
        raise RuntimeError("no propagation")

    propagate.inject = broken
    assert trace_context() == []


def test_hooks_that_must_block_need_a_cli_that_blocks() -> None:
    from towline._options import check_initialize

    must = towline.HookMatcher(hooks=[unused], on_failure="block")
    may = towline.HookMatcher(hooks=[unused], on_failure="continue")
    launch = prepare(towline.ClaudeAgentOptions(hooks={"PreToolUse": [may]}))
    check_initialize(launch, {})
    launch = prepare(towline.ClaudeAgentOptions(hooks={"PreToolUse": [may, must]}))
    check_initialize(launch, {"hook_on_failure_supported": True, "hooks_applied": True})
    for response in ({}, {"hook_on_failure_supported": True, "hooks_applied": False}):
        with pytest.raises(towline.CLIConnectionError):
            check_initialize(launch, response)
