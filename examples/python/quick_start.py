"""One question: quick_start.py [PROMPT]"""

import asyncio
import sys

from towline import AssistantMessage, ResultMessage, TextBlock, query


async def main() -> None:
    prompt = " ".join(sys.argv[1:]) or "What is 2 + 2?"
    async for message in query(prompt=prompt):
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, TextBlock):
                    print(block.text)
        elif isinstance(message, ResultMessage):
            print(f"({message.duration_ms / 1000:.1f} s, ${message.total_cost_usd or 0:.4f})")


asyncio.run(main())
