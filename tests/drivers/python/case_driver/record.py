"""What a host saw, in the shape that the verdict is made from."""

import dataclasses
import gc
import hashlib
import json
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

TYPES = {
    "AssistantMessage": "assistant",
    "UserMessage": "user",
    "ResultMessage": "result",
    "StreamEvent": "stream_event",
    "RateLimitEvent": "rate_limit_event",
    "ConversationResetMessage": "conversation_reset",
}


def type_name(message: Any) -> str:
    return TYPES.get(type(message).__name__, "system")


class Record:
    """Filled by one case; any thread may write to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.messages: list[dict[str, Any]] = []
        self.calls = {"permission": 0, "hook": 0, "tool": 0}
        self.cancelled = 0
        self.stderr: list[str] = []
        self.steps: list[dict[str, Any]] = []
        self.values: list[Any] = []
        self.fail: list[str] = []
        self.loop_errors: list[str] = []

    def message(self, message: Any) -> str:
        """Keeps a message; returns its type."""
        entry = dataclasses.asdict(message)
        entry["type"] = type_name(message)
        if entry["type"] == "assistant":
            blocks = message.content
            text = "".join(block.text for block in blocks if type(block).__name__ == "TextBlock")
            raw = text.encode("utf-8", "surrogatepass")
            entry["text"] = text
            entry["text_len"] = len(text)
            entry["text_sha256"] = hashlib.sha256(raw).hexdigest()
            entry["blocks"] = [type(block).__name__ for block in blocks]
        self.messages.append(entry)
        return str(entry["type"])

    def called(self, kind: str) -> None:
        with self._lock:
            self.calls[kind] += 1

    def was_cancelled(self) -> None:
        with self._lock:
            self.cancelled += 1

    def watch_for_unhandled(self) -> None:
        """From now on, what nobody handles is noted: in threads, in finalisers, in coroutines."""

        def unraisable(hook: Any) -> None:
            self.loop_errors.append(f"{hook.err_msg} {hook.exc_value!r} in {hook.object!r}")

        def thread(hook: Any) -> None:
            self.loop_errors.append(f"{hook.exc_value!r} in {hook.thread}")

        sys.unraisablehook = unraisable
        threading.excepthook = thread

    def step(self, step: dict[str, Any], started: float, error: BaseException | None) -> None:
        """Judges a step by what the case says of it."""
        ms = round((time.monotonic() - started) * 1000)
        shown = {
            key: value
            for key, value in step.items()
            if key not in ("error", "max_ms", "timeout_ms")
        }
        name = json.dumps(shown)[:100]
        seen = None
        if error is not None:
            kind = "Timeout" if isinstance(error, StepTimeout) else type(error).__name__
            seen = {
                "type": kind,
                "text": str(error),
                "exit_code": getattr(error, "exit_code", None),
            }
        self.steps.append({"step": name, "ms": ms, "error": seen})
        self.fail.extend(f"{name}: {bad}" for bad in _judged(step, seen))
        if ms > step.get("max_ms", ms):
            self.fail.append(f"{name}: took {ms} ms (at most {step['max_ms']})")

    def write(self, path: Path) -> None:
        gc.collect()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        document = {key: value for key, value in vars(self).items() if not key.startswith("_")}
        document["cpu_ms"] = round((usage.ru_utime + usage.ru_stime) * 1000)
        path.write_text(json.dumps(document, default=str), encoding="utf-8")


class StepTimeout(Exception):
    """A step is not done within its time."""


def _judged(step: dict[str, Any], seen: dict[str, Any] | None) -> list[str]:
    wanted = step.get("error")
    if seen is None:
        return ["no error"] if wanted not in (None, "optional") else []
    shown = f"{seen['type']}: {seen['text'][:300]}"
    if wanted is None:
        return [f"unexpected {shown}"]
    bad = []
    if seen["type"] == "Timeout" and wanted != "optional":
        bad.append("hung instead of an error")
    if isinstance(wanted, dict):
        text = seen["text"]
        bad += [
            f"the error lacks {part!r}: {shown}"
            for part in wanted.get("contains", [])
            if part not in text
        ]
        bad += [
            f"the error has {part!r}: {shown}" for part in wanted.get("lacks", []) if part in text
        ]
        if "exit_code" in wanted and seen["exit_code"] != wanted["exit_code"]:
            bad.append(
                f"exit_code is {seen['exit_code']!r}, wanted {wanted['exit_code']!r}: {shown}"
            )
    return bad
