#!/usr/bin/env -S python3 -S -E
"""A CLI that mirrors its transcript and writes down what it was started with.

`RECORD` names the file it writes: `argv`, and `files`, every file below `CLAUDE_CONFIG_DIR` with its
mode. `MIRROR` is JSON: `before` and `after` the result of a prompt, lists of `[path below projects,
entries]`.
"""

import json
import os
import pathlib
import sys

config = pathlib.Path(os.environ.get("CLAUDE_CONFIG_DIR") or pathlib.Path.home() / ".claude")
script = json.loads(os.environ.get("MIRROR", "{}"))


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def mirror(when: str) -> None:
    for path, entries in script.get(when, ()):
        file = str(config / "projects" / path)
        say({"type": "transcript_mirror", "filePath": file, "entries": entries})


files = {}
if "CLAUDE_CONFIG_DIR" in os.environ:
    for path in sorted(config.rglob("*")):
        if path.is_file():
            mode = oct(path.stat().st_mode & 0o777)
            files[str(path.relative_to(config))] = [mode, path.read_text()]
record = {"argv": sys.argv[1:], "files": files, "config": os.environ.get("CLAUDE_CONFIG_DIR")}
pathlib.Path(os.environ["RECORD"]).write_text(json.dumps(record))

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        say({"type": "control_response", "response": response})
    elif message["type"] == "user":
        mirror("before")
        result = {"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1}
        say({**result, "is_error": False, "num_turns": 1, "session_id": "s", "uuid": "u"})
        mirror("after")
