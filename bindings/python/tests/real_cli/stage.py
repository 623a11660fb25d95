"""Where a test runs: a CLI, a home and a project folder of its own, and a scripted Messages API."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import anyio
from support.programs import REPOSITORY, program

import towline

CURRENT = "2.1.332"
OLDER = "2.1.197"

_PACKAGES = {CURRENT: "claude-agent-sdk-linux-x64", OLDER: "claude-code-linux-x64"}
_ALLOWED = "TOWLINE_ALLOW_UNISOLATED"


def require_isolation() -> str | None:
    """What to do about it when more than loopback can be reached."""
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not others or os.environ.get(_ALLOWED) == "1":
        return None
    return (
        f"the real CLI is tested in a network namespace with loopback alone, and here are {', '.join(others)}. "
        "Run the tests under the `isolated` program of tests/testkit, as `make test` does; or set "
        f"{_ALLOWED}=1 to run them without a namespace"
    )


def locate(version: str) -> Path:
    folder = REPOSITORY / "tests/real-cli/node_modules/@anthropic-ai" / _PACKAGES[version]
    path = folder / "claude"
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(
            f"Claude Code CLI {version}: no executable {path}. Install the CLIs with `make cli`"
        )
    return path


class Api:
    """The scripted API, a process that ends with its stdin."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "api.jsonl"
        arguments: list[str | Path] = [program("scripted-api"), "--control", "--log", self._log]
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def release(self, gate: str) -> None:
        """Lets the reply at a gate go on."""
        self._tell(f"release {gate}")
        assert self._line() == f"released {gate}"

    async def stands_at(self, gate: str) -> None:
        """Waits until a reply stands at a gate."""
        assert self._process.stdout is not None
        self._tell(f"await {gate}")
        await anyio.wait_readable(self._process.stdout)
        assert self._line() == f"at {gate}"

    def requests(self) -> list[dict[str, Any]]:
        """The requests for a message, oldest first: `model`, `messages`, `system`, …"""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        entries = [json.loads(line) for line in lines]
        return [entry for entry in entries if entry["path"].split("?")[0].endswith("/messages")]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Stage:
    def __init__(self, version: str, folder: Path) -> None:
        self.version = version
        self.cli = locate(version)
        self.project = folder / "project"
        self.home = folder / "home"
        for path in (self.project, self.home, folder / "tmp"):
            path.mkdir()
        self.api = Api(folder)
        self.env = {
            "HOME": str(self.home),
            "TMPDIR": str(folder / "tmp"),
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "dummy-not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "IS_SANDBOX": "1",
        }

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: Any) -> None:
        self.api.close()

    @property
    def is_current(self) -> bool:
        return self.version == CURRENT

    def options(self, **more: Any) -> "towline.Options":
        """What every session here needs, with `more` over it."""
        env = {**self.env, **more.pop("env", {})}
        given: dict[str, Any] = {
            "cli_path": self.cli,
            "cwd": self.project,
            "model": "claude-sonnet-4-5",
            "setting_sources": [],
            "env": env,
            **more,
        }
        return towline.Options(**given)

    def client(self, **more: Any) -> "towline.ClaudeSDKClient":
        return towline.ClaudeSDKClient(self.options(**more))

    def asked(self, text: str) -> list[dict[str, Any]]:
        """The requests for a message whose last user text has this in it."""
        found = []
        for request in self.api.requests():
            users = [message for message in request["messages"] if message["role"] == "user"]
            if text in json.dumps(users[-1]):
                found.append(request)
        return found
