"""A tool of this program's own: tools.py [PROMPT]"""

import asyncio
import sys
from typing import Any

from towline import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool


@tool("weather", "The weather in a city", {"city": str})
async def weather(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"Sunny and 21 °C in {arguments['city']}"}]}


async def main() -> None:
    prompt = " ".join(sys.argv[1:]) or "What is the weather in Paris?"
    options = ClaudeAgentOptions(
        mcp_servers={"demo": create_sdk_mcp_server("demo", tools=[weather])},
        allowed_tools=["mcp__demo__weather"],
    )
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
