"""A chat in the terminal that shows the answer as it is written; an empty line ends it."""

import asyncio

from towline import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, StreamEvent


async def main() -> None:
    options = ClaudeAgentOptions(include_partial_messages=True)
    async with ClaudeSDKClient(options) as client:
        while prompt := await asyncio.to_thread(input, "> "):
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, StreamEvent):
                    delta = message.event.get("delta", {})
                    print(delta.get("text", ""), end="", flush=True)
                elif isinstance(message, ResultMessage):
                    print()


asyncio.run(main())
