"""The arguments, the environment and the working directory of the CLI."""

import os
from pathlib import Path
from typing import Any

import pytest
from support.fake import FakeCli
from support.script import turn

import towline


async def environment(cli: FakeCli, *names: str, **options: Any) -> dict[str, str | None]:
    """What a CLI sees of these variables."""
    async for _ in towline.query(
        prompt="hi", options=cli.options({"log_env": list(names)}, turn(), **options)
    ):
        pass
    (entry,) = cli.log("env")
    seen: dict[str, str | None] = entry["env"]
    return seen


async def test_the_entrypoint_names_python_unless_it_is_given(cli: FakeCli) -> None:
    seen = await environment(cli, "CLAUDE_CODE_ENTRYPOINT")
    assert seen == {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}


async def test_a_given_entrypoint_counts(cli: FakeCli) -> None:
    seen = await environment(cli, "CLAUDE_CODE_ENTRYPOINT", env={"CLAUDE_CODE_ENTRYPOINT": "mine"})
    assert seen == {"CLAUDE_CODE_ENTRYPOINT": "mine"}


async def test_the_version_of_the_package_cannot_be_given(cli: FakeCli) -> None:
    seen = await environment(
        cli, "CLAUDE_AGENT_SDK_VERSION", env={"CLAUDE_AGENT_SDK_VERSION": "9.9.9"}
    )
    assert seen["CLAUDE_AGENT_SDK_VERSION"] == towline.__version__


async def test_given_variables_are_added_to_the_inherited_ones(
    cli: FakeCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INHERITED", "i")
    monkeypatch.setenv("OVERRIDDEN", "before")
    seen = await environment(
        cli, "INHERITED", "OVERRIDDEN", "GIVEN", env={"OVERRIDDEN": "after", "GIVEN": "g"}
    )
    assert seen == {"INHERITED": "i", "OVERRIDDEN": "after", "GIVEN": "g"}


async def test_an_outer_session_is_not_inherited(
    cli: FakeCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert await environment(cli, "CLAUDECODE") == {"CLAUDECODE": None}


async def test_an_outer_session_can_be_given(cli: FakeCli) -> None:
    assert await environment(cli, "CLAUDECODE", env={"CLAUDECODE": "1"}) == {"CLAUDECODE": "1"}


async def test_the_working_directory(cli: FakeCli, tmp_path: Path) -> None:
    inner = tmp_path / "with blanks and ünïcode"
    inner.mkdir()
    seen = await environment(cli, "PWD", cwd=inner)
    assert seen == {"PWD": str(inner)}
    assert cli.started()["cwd"] == os.path.realpath(inner)


async def test_limits_of_mcp_output_pass_through(
    cli: FakeCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_MCP_OUTPUT_TOKENS", "12345")
    assert await environment(cli, "MAX_MCP_OUTPUT_TOKENS") == {"MAX_MCP_OUTPUT_TOKENS": "12345"}


async def test_file_checkpointing_is_a_variable(cli: FakeCli) -> None:
    name = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
    assert await environment(cli, name, enable_file_checkpointing=True) == {name: "true"}


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"model": "claude-opus"}, ("--model", "claude-opus")),
        ({"max_turns": 3}, ("--max-turns", "3")),
        ({"allowed_tools": ["Bash", "Read"]}, ("--allowedTools", "Bash,Read")),
        ({"permission_mode": "plan"}, ("--permission-mode", "plan")),
        ({"continue_conversation": True}, ("--continue", None)),
        ({"fork_session": True, "resume": "abc"}, ("--fork-session", None)),
        ({"resume": "-x"}, ("--resume", "-x")),
        ({"include_partial_messages": True}, ("--include-partial-messages", None)),
        ({"extra_args": {"flag-alone": None}}, ("--flag-alone", None)),
        ({"extra_args": {"with-value": "v"}}, ("--with-value", "v")),
    ],
)
async def test_options_become_arguments(
    cli: FakeCli, options: dict[str, Any], flag: tuple[str, str | None]
) -> None:
    async for _ in towline.query(prompt="hi", options=cli.options(turn(), **options)):
        pass
    name, value = flag
    argv = cli.argv()
    two_words = name in argv and (value is None or argv[argv.index(name) + 1] == value)
    assert two_words or f"{name}={value}" in argv, argv


async def test_a_session_is_in_stream_json_both_ways(cli: FakeCli) -> None:
    async for _ in towline.query(prompt="hi", options=cli.options(turn())):
        pass
    line = " ".join(cli.argv()).replace("=", " ")
    for part in ("--output-format stream-json", "--input-format stream-json", "--verbose"):
        assert part in line


async def test_an_active_span_is_passed_on(cli: FakeCli) -> None:
    from opentelemetry import context, trace

    span = trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
        )
    )
    token = context.attach(trace.set_span_in_context(span))
    try:
        seen = await environment(cli, "TRACEPARENT")
    finally:
        context.detach(token)
    assert seen["TRACEPARENT"] == f"00-{0xABC:032x}-{0xDEF:016x}-01"


async def test_a_given_trace_counts(cli: FakeCli) -> None:
    from opentelemetry import context, trace

    span = trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
        )
    )
    token = context.attach(trace.set_span_in_context(span))
    try:
        seen = await environment(cli, "TRACEPARENT", env={"TRACEPARENT": "mine"})
    finally:
        context.detach(token)
    assert seen == {"TRACEPARENT": "mine"}
