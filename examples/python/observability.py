"""Spans of OpenTelemetry around a query and in a tool, in one trace with the CLI's own.

Where they go is said outside of the program (pip install opentelemetry-distro):

    OTEL_SERVICE_NAME=demo opentelemetry-instrument --traces_exporter console \
        python examples/python/observability.py
"""

import asyncio
import logging
import sys
from typing import Any

import towline
from opentelemetry import trace

tracer = trace.get_tracer("observability")


@towline.tool("weather", "The weather in a city.", {"city": str})
async def weather(arguments: dict[str, Any]) -> dict[str, Any]:
    with tracer.start_as_current_span("weather", attributes={"city": arguments["city"]}):
        return {"content": [{"type": "text", "text": f"Sunny in {arguments['city']}"}]}


async def ask(prompt: str, options: towline.ClaudeAgentOptions) -> None:
    with tracer.start_as_current_span("ask") as span:
        async for message in towline.query(prompt=prompt, options=options):
            if isinstance(message, towline.ResultMessage):
                span.set_attribute("turns", message.num_turns)
                print(message.result)


async def main() -> None:
    # The session's start and end, with its counters.
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    options = towline.ClaudeAgentOptions(
        mcp_servers={"demo": towline.create_sdk_mcp_server("demo", tools=[weather])},
        allowed_tools=["mcp__demo__weather"],
    )
    await ask(" ".join(sys.argv[1:]) or "What is the weather in Oslo?", options)


if __name__ == "__main__":
    asyncio.run(main())
