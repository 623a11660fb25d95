"""An answer in a shape of this program's choice: structured_output.py [PROMPT]"""

import asyncio
import sys

from towline import ClaudeAgentOptions, ResultMessage, query

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "inhabitants": {"type": "integer"}},
    "required": ["city", "inhabitants"],
}


async def main() -> None:
    prompt = " ".join(sys.argv[1:]) or "Name a large city"
    options = ClaudeAgentOptions(output_format={"type": "json_schema", "schema": SCHEMA})
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            answer = message.structured_output
            print(
                f"{answer['city']} has {answer['inhabitants']:,} inhabitants"
                if answer
                else message.result
            )


asyncio.run(main())
