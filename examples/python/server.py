"""Answers as server-sent events.

pip install fastapi uvicorn
uvicorn server:app
curl -N 'http://127.0.0.1:8000/ask?prompt=Tell+me+a+story'
"""

import json
from collections.abc import AsyncIterator

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from towline import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, StreamEvent

app = FastAPI()


async def events(prompt: str) -> AsyncIterator[str]:
    # When the browser goes away this is cancelled, and the CLI with it.
    async with ClaudeSDKClient(ClaudeAgentOptions(include_partial_messages=True)) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, StreamEvent):
                text = message.event.get("delta", {}).get("text")
                if text:
                    yield f"data: {json.dumps(text)}\n\n"
            elif isinstance(message, ResultMessage):
                yield f"event: done\ndata: {json.dumps(message.result)}\n\n"


@app.get("/ask")
async def ask(prompt: str) -> StreamingResponse:
    return StreamingResponse(events(prompt), media_type="text/event-stream")
