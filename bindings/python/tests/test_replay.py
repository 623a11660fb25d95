"""Recording a session and replaying it without a CLI."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

import towline

from conftest import Run

TRANSCRIPTS = Path(__file__).resolve().parents[3] / "tests" / "transcripts"


def _recording(path: Path, prompt: str, answer: str) -> Path:
    """A session of one prompt, written by hand."""
    entries = [
        (
            "in",
            {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}},
        ),
        (
            "out",
            {
                "type": "control_response",
                "response": {"subtype": "success", "request_id": "1", "response": {}},
            },
        ),
        ("in", {"type": "user", "message": {"role": "user", "content": prompt}}),
        (
            "out",
            {
                "type": "assistant",
                "message": {"model": "m", "content": [{"type": "text", "text": answer}]},
                "session_id": "s",
                "uuid": "u",
            },
        ),
        (
            "out",
            {
                "type": "result",
                "subtype": "success",
                "is_error": False,
                "duration_ms": 1,
                "duration_api_ms": 1,
                "num_turns": 1,
                "session_id": "s",
                "result": answer,
            },
        ),
    ]
    lines = (json.dumps({"t": 0, "dir": way, "line": line}) for way, line in entries)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


async def _answers(options: towline.Options, prompt: str) -> list[object]:
    return [message async for message in towline.query(prompt=prompt, options=options)]


def test_a_recording_takes_the_place_of_the_cli(run: Run, tmp_path: Path) -> None:
    recording = _recording(tmp_path / "a.jsonl", "hello", "hi there")
    again = tmp_path / "b.jsonl"
    for source, record in ((recording, again), (again, None)):
        options = towline.Options(replay=source, record=record)
        last = run(partial(_answers, options, "hello"))[-1]
        assert isinstance(last, towline.ResultMessage)
        assert last.result == "hi there"


def test_a_program_that_does_something_else_is_told_where(run: Run, tmp_path: Path) -> None:
    recording = _recording(tmp_path / "a.jsonl", "hello", "hi there")
    options = towline.Options(replay=recording)
    with pytest.raises(towline.ClaudeSDKError) as caught:
        run(lambda: _answers(options, "good morning"))
    for part in ("a.jsonl, line 3", "hello", "good morning"):
        assert part in str(caught.value)


def test_the_synchronous_session_replays_recordings_of_the_real_cli() -> None:
    options = towline.Options(replay=TRANSCRIPTS / "simple_turn.jsonl")
    prompt = next(
        line["line"]["message"]["content"]
        for line in map(json.loads, (TRANSCRIPTS / "simple_turn.jsonl").read_text().splitlines())
        if line["dir"] == "in" and line["line"]["type"] == "user"
    )
    with towline.Session(options) as session:
        messages = list(session.run(prompt))
    assert isinstance(messages[-1], towline.ResultMessage)
