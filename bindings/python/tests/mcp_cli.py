#!/usr/bin/env -S python3 -S -E
"""A CLI that speaks MCP to a server inside the host, and writes down the answers.

`CALLS` is JSON: the name of the server, and the messages that are sent to it, one after another.
`RECORD` names the file that gets what each was answered with.
"""

import json
import os
import sys

server, messages = json.loads(os.environ["CALLS"])
answers: list[object] = []


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def ask() -> None:
    """The next message, or the result when there is none."""
    number = len(answers)
    if number < len(messages):
        request = {"subtype": "mcp_message", "server_name": server, "message": messages[number]}
        say({"type": "control_request", "request_id": f"r{number}", "request": request})
        return
    with open(os.environ["RECORD"], "w", encoding="utf-8") as file:
        json.dump(answers, file)
    result = {"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1}
    say({**result, "is_error": False, "num_turns": 1, "session_id": "s", "uuid": "u"})


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        say({"type": "control_response", "response": response})
    elif message["type"] == "user":
        ask()
    elif message["type"] == "control_response":
        response = message["response"]
        answers.append(response.get("response", {}).get("mcp_response", response.get("error")))
        ask()
