"""Towline against the official package: the same scripted CLI, the same run, taking turns.

    bench.py [--rounds N] [--cli PATH] [--path FOLDER] [SCENARIO ...]

FOLDER holds Towline as it is released, the interpreter's own packages hold the official one. Every
measurement is a process of its own, pinned to one core with its CLI. A ratio is that of two that ran
one after the other; the least, the median and the largest of a scenario are told. The exit status is
1 if a median misses its bar.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
REAL_CLI = (
    HERE.parents[1] / "tests/real-cli/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude"
)
OFFICIAL = "claude_agent_sdk"

# Scenario: items, what is compared, the largest ratio, what towline runs if it is another scenario.
SCENARIOS: dict[str, tuple[int, str, float, str]] = {
    "import": (0, "cpu_us", 0.143, "import"),
    "whole": (1, "seconds", 0.5, "whole"),
    "stream": (200_000, "us", 1 / 8, "stream"),
    "stream-read": (200_000, "us", 1 / 8, "stream-read"),
    "permission": (2000, "us", 0.45, "permission"),
    "hook": (2000, "us", 0.45, "hook"),
    "tool": (500, "us", 1 / 25, "tool"),
    "sync-permission": (2000, "us", 0.15, "sync-permission"),
    "sync-hook": (2000, "us", 0.15, "sync-hook"),
    "big": (100, "rss_mb", 0.6, "big"),
    "many": (1000, "seconds", 0.4, "many"),
    "many-memory": (1000, "rss_mb", 0.4, "many"),
}


def whole(module: str, arguments: argparse.Namespace) -> dict:
    """A program that asks the real CLI once, from its start to its end, against the scripted API."""
    path = f"PYTHONPATH={arguments.path if module == 'towline' else ''}"
    command = [
        str(arguments.cli.with_name("isolated")),
        *("--env", path, "--env", "IS_SANDBOX=1", "--"),
        *(sys.executable, str(HERE / "host.py"), module, "whole", str(REAL_CLI)),
    ]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{module} whole: {done.stderr[-2000:]}")
    return {"seconds": time.perf_counter() - begun}


def measure(module: str, scenario: str, count: int, arguments: argparse.Namespace) -> dict:
    if scenario == "whole":
        return whole(module, arguments)
    environment = dict(os.environ)
    environment.pop("FAKE_CLI_SCRIPT", None)
    if module == "towline":
        environment["PYTHONPATH"] = str(arguments.path)
    else:
        scenario = scenario.removeprefix("sync-")
    if scenario == "big":
        environment["FAKE_CLI_SCRIPT"] = str(big_script(count))
    command = [
        sys.executable,
        str(HERE / "host.py"),
        module,
        scenario,
        str(arguments.cli),
        str(count),
    ]
    if arguments.core >= 0:
        command = ["taskset", "-c", str(arguments.core), *command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"{module} {scenario}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def big_script(mebibytes: int) -> Path:
    block = {"type": "text", "text": "@FILL@"}
    message = {"id": "m", "role": "assistant", "model": "x", "content": [block]}
    whole = {"type": "assistant", "message": message, "session_id": "s", "uuid": "u"}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 1,
        "duration_api_ms": 1,
        "num_turns": 1,
        "session_id": "s",
        "result": "",
    }
    steps = [
        {"expect": {"type": "user"}},
        {"emit_big": whole, "bytes": mebibytes << 20},
        {"emit": result},
    ]
    path = Path(tempfile.gettempdir()) / f"towline-bench-{os.getpid()}.json"
    path.write_text(json.dumps(steps))
    return path


def machine() -> str:
    model = "unknown processor"
    with open("/proc/cpuinfo") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load {load}"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=0, help="-1 pins to none")
    parser.add_argument("--cli", type=Path, default=TARGET / "release/fake-cli")
    parser.add_argument("--path", type=Path, default=TARGET / "python-bench")
    parser.add_argument("--count", type=int, help="items, in place of the scenario's own")
    parser.add_argument("scenarios", nargs="*", default=list(SCENARIOS))
    arguments = parser.parse_args()
    print(machine())
    print(
        f"{'scenario':16} {'of':8} {'official':>10} {'towline':>10}   ratio min/median/max      bar"
    )
    missed = []
    for name in arguments.scenarios:
        count, unit, bar, ours = SCENARIOS[name]
        count = arguments.count or count
        official = name if name != "many-memory" else "many"
        pairs = []
        for round_ in range(arguments.rounds):
            two = {}
            order = ("towline", OFFICIAL) if round_ % 2 else (OFFICIAL, "towline")
            for module in order:
                two[module] = measure(
                    module, ours if module == "towline" else official, count, arguments
                )
            pairs.append((two[OFFICIAL], two["towline"]))
        for measured in dict.fromkeys((unit, "cpu_us")):
            if measured not in pairs[0][0]:
                continue
            theirs = [pair[0][measured] for pair in pairs]
            mine = [pair[1][measured] for pair in pairs]
            ratios = [b / a for a, b in zip(theirs, mine, strict=True)]
            middle = statistics.median(ratios)
            kept = measured != unit or middle <= bar
            if not kept:
                missed.append(name)
            print(
                f"{name:16} {measured:8} {statistics.median(theirs):10.2f} "
                f"{statistics.median(mine):10.2f}   {min(ratios):.3f} {middle:.3f} {max(ratios):.3f}"
                + (f"   {bar:.3f} {'ok' if kept else 'MISSED'}" if measured == unit else ""),
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
