#!/usr/bin/env python3
"""Measures towline-transcripts against the official packages on generated sessions.

    measure.py PROGRAM [--sessions N] [--runs N] [--python DIRECTORY]
               [--typescript PACKAGE] [--node PACKAGE]

PROGRAM is the binary ``towline-differential``, built for release; DIRECTORY holds the Python package
``towline``, built for release; the PACKAGEs are the ``sdk.mjs`` of the official TypeScript package
and the ``index.mjs`` of the Node package ``towline``, its addon built for release. Runs take turns,
with the files in the page cache; the least and the median time of each is told, and the least one
counts. Times of PROGRAM include turning the answer into JSON and reading it. Exit code 1 if a bar is
missed.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from typescript import Official

try:
    import claude_agent_sdk
except ImportError:
    sys.exit("measure.py needs the official package: pip install claude-agent-sdk==0.2.189")

MIB = 1 << 20


def line(kind: str, number: int, parent: str | None, session: str, size: int) -> tuple[str, str]:
    own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}{number}"))
    text = (f"line {number} says \"something\"\n" * (size // 27 + 1))[:size]
    content: object = text if kind == "user" else [{"type": "text", "text": text}]
    entry = {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "message": {"id": f"msg_{number}", "role": kind, "content": content},
        "uuid": own,
        "timestamp": f"2026-01-02T03:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "userType": "external",
        "cwd": "/home/somebody/project",
        "sessionId": session,
        "version": "2.1.332",
        "gitBranch": "main",
    }
    return json.dumps(entry, separators=(",", ":")), own


def write_session(file: Path, session: str, size: int) -> None:
    """First a request record, as the CLI writes it, then a conversation."""
    request = {"type": "api-request", "sessionId": session, "body": "y" * min(size // 4, 100_000)}
    lines = [json.dumps({"type": "mode", "mode": "default", "sessionId": session})]
    parent = None
    number = 0
    length = 0
    while length < size:
        kind = "assistant" if number % 2 else "user"
        text, parent = line(kind, number, parent, session, 200 + number * 37 % 3000)
        lines.append(text)
        length += len(text)
        number += 1
        if number == 2:
            lines.append(json.dumps(request, separators=(",", ":")))
            length += len(lines[-1])
    lines.append(json.dumps({"type": "last-prompt", "lastPrompt": "the end", "sessionId": session}))
    file.write_text("\n".join(lines) + "\n")


def build(config: Path, sessions: int) -> str:
    """Returns the id of the session of 20 MiB, which lies in a project of its own."""
    for number in range(sessions):
        folder = config / "projects" / f"-home-somebody-project{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        session = str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))
        file = folder / f"{session}.jsonl"
        write_session(file, session, 520_000)
        modified = (1_767_000_000 + number) * 1_000_000_000
        os.utime(file, ns=(modified, modified))
    large = str(uuid.uuid5(uuid.NAMESPACE_OID, "large"))
    folder = config.parent / "large" / "projects" / "-large"
    folder.mkdir(parents=True)
    write_session(folder / f"{large}.jsonl", large, 20 * MIB)
    return large


def taken(functions: dict, runs: int) -> dict[str, list[float]]:
    """The milliseconds of each function; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(runs):
        for name, function in functions.items():
            started = time.perf_counter()
            told = function()
            took = (time.perf_counter() - started) * 1000
            # Some tell themselves how long the call took.
            times[name].append(told if isinstance(told, float) else took)
            del told
    return times


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--python", help="the folder of the package towline")
    parser.add_argument("--typescript", help="sdk.mjs of the official package")
    parser.add_argument("--node", help="index.mjs of the package towline")
    arguments = parser.parse_args()
    towline = None
    if arguments.python:
        sys.path.insert(0, arguments.python)
        towline = importlib.import_module("towline")
    missed = []
    with tempfile.TemporaryDirectory() as root:
        config = Path(root) / "config"
        large = build(config, arguments.sessions)
        size = sum(file.stat().st_size for file in config.glob("projects/*/*.jsonl"))
        print(f"{arguments.sessions} sessions, {size / MIB:.0f} MiB")
        process = subprocess.Popen(
            [arguments.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

        def ask(**question: object) -> list:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["ok"]

        def bar(name: str, measured: float, limit: float, unit: str) -> None:
            print(f"{name}: {measured:.1f} {unit} (bar {limit:.1f})")
            if measured > limit:
                missed.append(name)

        def peak() -> float:
            status = Path(f"/proc/{process.pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) / 1024

        def in_node(package: str | None, place: Path, call: str, *given: object):
            if package is None:
                return None
            peer = Official(package, place)

            def run() -> float:
                return float(peer.ask(call=call, arguments=list(given), timed=True)["ms"])

            run()
            return run

        def measure(functions: dict) -> dict[str, float]:
            given = {name: function for name, function in functions.items() if function}
            times = taken(given, arguments.runs)
            for name, took in times.items():
                print(f"  {name}: {min(took):.1f} ms, median {statistics.median(took):.1f}")
            return {name: min(took) for name, took in times.items()}

        os.environ["CLAUDE_CONFIG_DIR"] = str(config)
        question = {"ask": "list", "config": str(config)}
        assert len(ask(**question)) == len(claude_agent_sdk.list_sessions()) == arguments.sessions
        newest = measure(
            {
                "newest 10": lambda: ask(**question, limit=10),
                "newest 10, towline for Node": in_node(
                    arguments.node, config, "listSessions", {"limit": 10}
                ),
            }
        )
        found = measure(
            {
                "list": lambda: ask(**question),
                "list, towline for Python": towline and towline.list_sessions,
                "list, official Python": claude_agent_sdk.list_sessions,
                "list, towline for Node": in_node(arguments.node, config, "listSessions", {}),
                "list, official TypeScript": in_node(
                    arguments.typescript, config, "listSessions", {}
                ),
            }
        )
        bar("list", found["list"], 0.2 * found["list, official Python"], "ms")
        if towline:
            of_python = found["list, towline for Python"]
            bar("list in Python", of_python, 0.2 * found["list, official Python"], "ms")
        if arguments.typescript:
            limit = 0.1 * found["list, official TypeScript"]
            bar("list", found["list"], limit, "ms")
            if arguments.node:
                bar("list in Node", found["list, towline for Node"], limit, "ms")
        for name, took in newest.items():
            bar(name, took, 10, "ms")
        bar("peak memory", peak(), 32, "MiB")

        place = config.parent / "large"
        os.environ["CLAUDE_CONFIG_DIR"] = str(place)
        question = {"ask": "messages", "config": str(place), "session_id": large}
        ours_found = ask(**question, limit=10, offset=5000)
        theirs_found = claude_agent_sdk.get_session_messages(large, limit=10, offset=5000)
        assert [one["uuid"] for one in ours_found] == [one.uuid for one in theirs_found]
        timed = {**question, "ask": "messages_time"}

        def looked_at(package):
            return lambda: [one.message for one in package.get_session_messages(large)]

        found = measure(
            {
                # So that reading 20 MiB of JSON here is not measured.
                "one message of 20 MiB": lambda: ask(**question, limit=1),
                "one, official Python": lambda: claude_agent_sdk.get_session_messages(large, limit=1),
                "all messages, the Rust function": lambda: ask(**timed)[0],
                "all, towline for Python": towline and (lambda: towline.get_session_messages(large)),
                "all, official Python": lambda: claude_agent_sdk.get_session_messages(large),
                "all and each looked at, towline for Python": towline and looked_at(towline),
                "all and each looked at, official Python": looked_at(claude_agent_sdk),
                "all, towline for Node": in_node(
                    arguments.node, place, "getSessionMessages", large, {}
                ),
                "all, official TypeScript": in_node(
                    arguments.typescript, place, "getSessionMessages", large, {}
                ),
            }
        )
        bar("one message", found["one message of 20 MiB"], 0.25 * found["one, official Python"], "ms")
        limit = 0.25 * found["all, official Python"]
        bar("all messages, Rust", found["all messages, the Rust function"], limit, "ms")
        if towline:
            bar("all messages in Python", found["all, towline for Python"], limit, "ms")
            of_towline, of_official = (
                found[f"all and each looked at, {package}"]
                for package in ("towline for Python", "official Python")
            )
            bar("all messages in Python, each looked at", of_towline, of_official, "ms")
        if arguments.node and arguments.typescript:
            limit = found["all, official TypeScript"]
            bar("all messages in Node", found["all, towline for Node"], limit, "ms")
        process.stdin.close()
        process.wait(10)
    for name in missed:
        print(f"MISSED: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
