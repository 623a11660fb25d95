#!/usr/bin/env -S python3 -S -E
"""A CLI that writes down how it was started and what it was told first, answers and ends.

It writes one JSON object to the file that the variable RECORD names: `argv`, `env`, `files` (what
arguments that are paths of JSON files hold) and `lines` (what came on stdin).
"""

import json
import os
import sys
from typing import Any


def contents(argument: str) -> object:
    path = argument.partition("=")[2] or argument
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


record: dict[str, Any] = {
    "argv": sys.argv[1:],
    "env": dict(os.environ),
    "cwd": os.getcwd(),
    "files": {
        argument: found for argument in sys.argv[1:] if (found := contents(argument)) is not None
    },
    "lines": [],
}
for line in sys.stdin:
    message = json.loads(line)
    record["lines"].append(message)
    if message["type"] == "control_request":
        answer = {"hook_on_failure_supported": True, "claude_code_version": "2.1.332"}
        response = {"subtype": "success", "request_id": message["request_id"], "response": answer}
        say({"type": "control_response", "response": response})
    elif message["type"] == "user":
        with open(os.environ["RECORD"], "w", encoding="utf-8") as file:
            json.dump(record, file)
        say(
            {
                "type": "result",
                "subtype": "success",
                "duration_ms": 1,
                "duration_api_ms": 1,
                "is_error": False,
                "num_turns": 1,
                "session_id": "s",
                "total_cost_usd": 0,
                "usage": {},
                "uuid": "u",
            }
        )
