"""Asks the fake CLI one question, with the package that is installed: `python ask.py FAKE_CLI`."""

import asyncio
import json
import os
import sys
import tempfile

import towline

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 1,
    "duration_api_ms": 1,
    "num_turns": 1,
    "result": "an answer",
    "session_id": "s",
    "uuid": "u",
}


async def ask(options: "towline.ClaudeAgentOptions") -> None:
    async for message in towline.query(prompt="a question", options=options):
        assert isinstance(message, towline.ResultMessage)
        print(
            f"towline {towline.__version__} of {os.path.dirname(towline.__file__)}:", message.result
        )


with tempfile.TemporaryDirectory() as folder:
    script = os.path.join(folder, "script.json")
    with open(script, "w") as file:
        json.dump([{"expect": {"type": "user"}}, {"emit": RESULT}], file)
    options = towline.ClaudeAgentOptions(cli_path=sys.argv[1], env={"FAKE_CLI_SCRIPT": script})
    asyncio.run(ask(options))
    with towline.Session(options) as session:
        assert session.ask("again").result == "an answer"
