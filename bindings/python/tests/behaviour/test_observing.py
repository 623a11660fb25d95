"""What a session tells who watches it: `logging`, the wire log, trace contexts."""

import logging
from pathlib import Path
from typing import Any

import pytest

import towline
from support.fake import FakeCli
from support.script import RESULT, Step, answered, mcp, mcp_handshake, text, turn

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CALLS_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
KEY = "sk-ant-api03-0123456789abcdef"


def extended(cli: FakeCli, *steps: Any, **more: Any) -> towline.Options:
    env = {**cli.env(*steps), **more.pop("env", {})}
    return towline.Options(cli_path=cli.path, cwd=cli.folder, env=env, **more)


async def talk(options: towline.ClaudeAgentOptions) -> None:
    async for _ in towline.query(prompt=f"the key is {KEY}", options=options):
        pass


def chatty() -> list[Step]:
    return [{"stderr": f"using {KEY}\n"}, *turn()]


async def test_a_session_is_logged_where_that_is_enabled(
    cli: FakeCli, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "towline")
    await talk(cli.options(*chatty()))
    records = [record for record in caplog.records if record.name.startswith("towline.")]
    said = [(record.name, record.levelname, record.getMessage()) for record in records]
    for name, level, words in [
        ("towline.session", "INFO", "the session has started"),
        ("towline.session", "INFO", "the session is open"),
        ("towline.turn", "DEBUG", "has ended: success"),
        ("towline.stderr", "DEBUG", "using [redacted]"),
        ("towline.session", "INFO", "the session has ended"),
    ]:
        assert any(record[:2] == (name, level) and words in record[2] for record in said), (
            f"{words} is not in {said}"
        )
    fields: Any = next(r for r in records if "has ended: success" in r.getMessage())
    assert fields.towline["total_cost_usd"] == 0.25
    assert fields.towline["turn"] == 1 and fields.towline["session_id"]
    assert KEY not in caplog.text


async def test_a_handler_that_raises_disturbs_nothing(
    cli: FakeCli, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "towline")

    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("the log is broken")

    logger = logging.getLogger("towline")
    broken = Broken()
    logger.addHandler(broken)
    odd = {"emit_raw": "no message\n"}
    try:
        options = cli.options(odd, *chatty())
        messages = [m async for m in towline.query(prompt="x", options=options)]
    finally:
        logger.removeHandler(broken)
    assert isinstance(messages[-1], towline.ResultMessage)
    assert "the log is broken" in capsys.readouterr().err


async def test_a_session_is_not_logged_otherwise(
    cli: FakeCli, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    await talk(cli.options(*chatty()))
    assert [record for record in caplog.records if record.name.startswith("towline")] == []


async def test_the_wire_goes_to_a_logger(cli: FakeCli, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "towline.wire")
    await talk(extended(cli, *chatty(), wire_log="log"))
    wire: list[Any] = [record for record in caplog.records if record.name == "towline.wire"]
    ways = {record.towline["direction"] for record in wire}
    assert ways == {"in", "out", "err"}
    assert "[redacted]" in caplog.text and KEY not in caplog.text


async def test_the_wire_goes_to_a_file(cli: FakeCli, tmp_path: Path) -> None:
    path = tmp_path / "wire.log"
    await talk(extended(cli, *chatty(), wire_log=path, wire_log_line_bytes=80))
    lines = path.read_text().splitlines()
    assert {line.split(" ")[2] for line in lines} == {">", "<", "!"}
    assert max(len(line) for line in lines) < 160
    assert "[redacted]" in path.read_text() and KEY not in path.read_text()


def test_the_synchronous_client_logs_too(cli: FakeCli, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "towline")
    with towline.Session(cli.options(*turn())) as session:
        session.ask("hi")
    assert "the session is open" in caplog.text
    assert "has ended: success" not in caplog.text


async def test_an_optioned_trace_context(cli: FakeCli) -> None:
    seen: list[Step] = [{"log_env": ["TRACEPARENT", "TRACESTATE"]}]
    options = extended(cli, seen, turn(), traceparent=PARENT, tracestate="a=1")
    await talk(options)
    assert cli.log("env")[0]["env"] == {"TRACEPARENT": PARENT, "TRACESTATE": "a=1"}


async def test_a_bad_trace_context_is_refused(cli: FakeCli) -> None:
    with pytest.raises(towline.CLIConnectionError, match="traceparent"):
        await talk(extended(cli, *turn(), traceparent="00-nonsense"))


async def test_callbacks_belong_to_the_trace_of_the_session_or_call(cli: FakeCli) -> None:
    from opentelemetry import context, trace

    def current() -> tuple[str, bool]:
        active = trace.get_current_span().get_span_context()
        return f"{active.trace_id:032x}", active.is_remote

    seen: list[tuple[str, bool]] = []

    @towline.tool("peek", "Looks.", {})
    async def peek(_: dict[str, Any]) -> dict[str, Any]:
        seen.append(current())
        return {"content": [{"type": "text", "text": "ok"}]}

    meta = {"traceparent": f"00-{CALLS_TRACE}-00f067aa0ba902b7-01"}
    call = {"name": "peek", "arguments": {}}
    steps: list[Any] = [
        {"expect": {"type": "user"}},
        mcp_handshake("kit"),
        mcp("c1", "kit", "tools/call", 1, {**call, "_meta": meta}),
        answered("c1"),
        mcp("c2", "kit", "tools/call", 2, {**call, "_meta": {"traceparent": "nonsense"}}),
        answered("c2"),
        text("ok"),
        RESULT,
    ]
    kit = towline.create_sdk_mcp_server("kit", tools=[peek])
    span = trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
        )
    )
    token = context.attach(trace.set_span_in_context(span))
    try:
        await talk(cli.options(*steps, mcp_servers={"kit": kit}))
    finally:
        context.detach(token)
    cli.holds()
    assert seen == [(CALLS_TRACE, True), (f"{0xABC:032x}", False)]
