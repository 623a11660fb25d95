#!/usr/bin/env python3
"""Measures towline-transcripts against the official Python package on generated sessions.

    measure.py PROGRAM [--sessions N] [--keep DIRECTORY]

PROGRAM is the binary ``towline-differential``, built for release. Times are the best of some runs,
with the files in the page cache, and include turning the answer into JSON and reading it. Exit code
1 if a bar is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

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


def best(function, runs: int) -> float:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times) * 1000


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
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

        os.environ["CLAUDE_CONFIG_DIR"] = str(config)
        question = {"ask": "list", "config": str(config)}
        assert len(ask(**question)) == len(claude_agent_sdk.list_sessions()) == arguments.sessions
        newest = best(lambda: ask(**question, limit=10), arguments.runs)
        ours = best(lambda: ask(**question), arguments.runs)
        memory = peak()
        theirs = best(claude_agent_sdk.list_sessions, 3)
        print(f"list, official package: {theirs:.1f} ms")
        bar("list", ours, 0.2 * theirs, "ms")
        bar("newest 10", newest, 10, "ms")
        bar("peak memory", memory, 32, "MiB")

        os.environ["CLAUDE_CONFIG_DIR"] = str(config.parent / "large")
        question = {"ask": "messages", "config": os.environ["CLAUDE_CONFIG_DIR"]}
        ours_found = ask(**question, session_id=large, limit=10, offset=5000)
        theirs_found = claude_agent_sdk.get_session_messages(large, limit=10, offset=5000)
        assert [one["uuid"] for one in ours_found] == [one.uuid for one in theirs_found]
        # One message of all, so that reading 20 MiB of JSON here is not measured.
        ours = best(lambda: ask(**question, session_id=large, limit=1), arguments.runs)
        theirs = best(lambda: claude_agent_sdk.get_session_messages(large, limit=1), 3)
        print(f"messages of 20 MiB, official package: {theirs:.1f} ms")
        bar("messages of 20 MiB, one given", ours, 0.25 * theirs, "ms")
        ours = best(lambda: ask(**question, session_id=large), arguments.runs)
        print(f"messages of 20 MiB, all given as JSON and read by Python: {ours:.1f} ms")
        process.stdin.close()
        process.wait(10)
    for name in missed:
        print(f"MISSED: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
