"""The fake CLI with a script of its own, and what it has seen."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import towline

from .programs import program
from .script import Step

Steps = Step | list[Any]


def flat(steps: Iterable[Steps]) -> list[Step]:
    """Steps may stand in lists of lists."""
    return [step for part in steps for step in (flat(part) if isinstance(part, list) else [part])]


class FakeCli:
    """One for each test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = program("fake-cli")
        self._log = folder / "log.jsonl"
        self._scripts = 0

    def env(self, *steps: Steps) -> dict[str, str]:
        """The environment of a CLI that does these steps."""
        self._scripts += 1
        script = self.folder / f"script-{self._scripts}.json"
        script.write_text(json.dumps(flat(steps)), encoding="utf-8")
        return {"FAKE_CLI_SCRIPT": str(script), "FAKE_CLI_LOG": str(self._log)}

    def options(self, *steps: Steps, **more: Any) -> "towline.ClaudeAgentOptions":
        """The options of a session with a CLI that does these steps."""
        env = {**self.env(*steps), **more.pop("env", {})}
        given = {"cli_path": self.path, "cwd": self.folder, "env": env, **more}
        return towline.ClaudeAgentOptions(**given)

    def log(self, event: str | None = None) -> list[dict[str, Any]]:
        if not self._log.exists():
            return []
        lines = self._log.read_bytes().splitlines()
        entries = [json.loads(line) for line in lines]
        return [entry for entry in entries if event in (None, entry["ev"])]

    def started(self) -> dict[str, Any]:
        """The first start: `pid`, `argv`, `cwd`, part of `env`."""
        return self.log("start")[0]

    def argv(self) -> list[str]:
        argv: list[str] = self.started()["argv"]
        return argv

    def received(self, type_: str | None = None) -> list[dict[str, Any]]:
        """The lines of the host, of one type or all."""
        lines = [entry["line"] for entry in self.log("in")]
        return [line for line in lines if type_ in (None, line["type"])]

    def initialize(self) -> dict[str, Any]:
        """The host's `initialize` request."""
        requests = [line["request"] for line in self.received("control_request")]
        first: dict[str, Any] = next(
            request for request in requests if request["subtype"] == "initialize"
        )
        return first

    def holds(self) -> None:
        """All that the script expects has come."""
        assert [entry["why"] for entry in self.log("fail")] == []
