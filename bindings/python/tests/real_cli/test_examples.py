"""The programs of `examples/python`, as a user runs them: with the `claude` that is on the path."""

import ast
import asyncio
import inspect
import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from support.programs import REPOSITORY

from .stage import Stage
from .talk import shell, tool

EXAMPLES = REPOSITORY / "examples/python"


def environment(stage: Stage) -> dict[str, str]:
    folder = stage.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "claude").symlink_to(stage.cli)
    return {**os.environ, **stage.env, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def run(stage: Stage, name: str, *arguments: str, typed: str = "") -> str:
    ran = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        input=typed,
        text=True,
        capture_output=True,
        env=environment(stage),
        cwd=stage.project,
        timeout=60,
    )
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    return ran.stdout


def test_quick_start(stage: Stage) -> None:
    assert run(stage, "quick_start.py", "hello there").startswith("echo: hello there\n(")


def test_streaming_chat(stage: Stage) -> None:
    said = run(stage, "streaming_chat.py", typed="DELTAS 3\nTEXT bye\n\n")
    assert "tok tok tok" in said and "bye" in said


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("n", False), ("a", True)])
def test_permission_prompt(stage: Stage, answer: str, made: bool) -> None:
    said = run(stage, "permission_prompt.py", shell("touch made"), typed=f"{answer}\n")
    assert "touch made" in said and "done" in said
    assert (stage.project / "made").exists() is made


def test_hooks(stage: Stage) -> None:
    (stage.project / "kept").touch()
    said = run(stage, "hooks.py", shell("rm kept"))
    assert "about to run: rm kept" in said
    assert (stage.project / "kept").exists()


def test_tools(stage: Stage) -> None:
    run(stage, "tools.py", tool("mcp__demo__weather", {"city": "Paris"}))
    assert "Sunny and 21 °C in Paris" in str(stage.api.requests())


def test_structured_output(stage: Stage) -> None:
    said = run(
        stage, "structured_output.py", 'STRUCTURED {"city": "Tokyo", "inhabitants": 37000000}'
    )
    assert said == "Tokyo has 37,000,000 inhabitants\n"


def test_sessions(stage: Stage) -> None:
    assert "There is none yet." in run(stage, "sessions.py")
    (stage.home / "bin/claude").unlink()
    run(stage, "quick_start.py", "remember me")
    (stage.home / "bin/claude").unlink()
    said = run(stage, "sessions.py", "and now")
    assert "remember me" in said and "2 messages so far" in said and "echo: and now" in said


def test_synchronous(stage: Stage) -> None:
    said = run(stage, "synchronous.py", shell("touch made"), "again")
    assert "Bash runs: {" in said and (stage.project / "made").exists()


def test_observability(stage: Stage) -> None:
    said = run(stage, "observability.py", "hello there")
    assert "echo: hello there" in said
    assert "INFO:towline.session:the session has started" in said
    assert '"turns_succeeded":1' in said


def test_server(stage: Stage) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments: list[str | Path] = [
        "-m",
        "uvicorn",
        "--app-dir",
        EXAMPLES,
        "--port",
        str(port),
        "--log-level",
        "info",
        "server:app",
    ]
    server = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment(stage),
        cwd=stage.project,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        for line in server.stderr:
            if "running on" in line:
                break
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/ask?prompt=DELTAS+3", timeout=30
        ) as answer:
            events = answer.read().decode()
    finally:
        server.terminate()
        server.communicate(timeout=30)
    assert events.count('data: "tok "') == 3 and "event: done" in events


#: Runs the cells of a notebook one after another in one loop, as a kernel does.
def run_cells(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    loop = asyncio.new_event_loop()
    names: dict[str, Any] = {}

    async def cell(code: CodeType) -> None:
        value = eval(code, names)
        if inspect.iscoroutine(value):
            await value

    try:
        for number, source in enumerate(cells):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code = compile("".join(source["source"]), f"cell {number}", "exec", flags=flags)
            loop.run_until_complete(cell(code))
    finally:
        loop.close()


def test_notebook(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(stage).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(stage.project)
    run_cells(EXAMPLES / "notebook.ipynb")
    said = capsys.readouterr().out
    for part in ("echo: What is 2 + 2?", "echo: What is my name?", "echo: And what is 3 + 3?"):
        assert part in said


def test_every_example_is_run(stage: Stage) -> None:
    tests = Path(__file__).read_text()
    for example in EXAMPLES.iterdir():
        if example.suffix in (".py", ".ipynb"):
            assert f"def test_{example.stem}" in tests
