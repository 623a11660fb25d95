"""One measurement in a process of its own: `host.py MODULE SCENARIO CLI [N]` prints a JSON object.

`us` are microseconds an item by the clock, `cpu_us` by the processor time of this process; `rss_mb`
is its peak memory, `seconds` the whole.
"""

import asyncio
import importlib
import json
import os
import resource
import sys
import time


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Stopwatch:
    def __init__(self) -> None:
        self.clock = time.perf_counter()
        self.cpu = cpu()

    def each(self, count: int) -> dict[str, float]:
        return {
            "us": (time.perf_counter() - self.clock) * 1e6 / count,
            "cpu_us": (cpu() - self.cpu) * 1e6 / count,
        }


async def stream(sdk, cli: str, count: int) -> dict[str, float]:
    os.environ["FAKE_CLI_BENCH"] = f"stream:{count}"
    watch, seen = None, 0
    async for message in sdk.query(prompt="go", options=sdk.ClaudeAgentOptions(cli_path=cli)):
        if watch is None:
            watch = Stopwatch()
        seen += type(message) is sdk.StreamEvent
    assert watch is not None and seen == count, seen
    return watch.each(count)


async def stream_read(sdk, cli: str, count: int) -> dict[str, float]:
    """The same by a reader that looks at the text of every event."""
    os.environ["FAKE_CLI_BENCH"] = f"stream:{count}"
    watch, seen = None, 0
    async for message in sdk.query(prompt="go", options=sdk.ClaudeAgentOptions(cli_path=cli)):
        if watch is None:
            watch = Stopwatch()
        if type(message) is sdk.StreamEvent:
            seen += len(message.event["delta"]["text"]) > 0
    assert watch is not None and seen == count, seen
    return watch.each(count)


async def converse(sdk, options) -> Stopwatch:
    """A turn to warm up, then the measured one."""
    async with sdk.ClaudeSDKClient(options) as client:
        for _ in range(2):
            watch = Stopwatch()
            await client.query("go")
            async for _ in client.receive_response():
                pass
        watch.clock = time.perf_counter() - watch.clock
        watch.cpu = cpu() - watch.cpu
    return watch


def each(watch: Stopwatch, count: int) -> dict[str, float]:
    return {"us": watch.clock * 1e6 / count, "cpu_us": watch.cpu * 1e6 / count}


def callbacks(sdk, cli: str, kind: str, count: int, plain: bool = False):
    os.environ["FAKE_CLI_BENCH"] = f"{kind}:{count}"
    options = {"cli_path": cli}
    if kind == "permission":
        if plain:

            def can_use_tool(name, given, context):
                return sdk.PermissionResultAllow()
        else:

            async def can_use_tool(name, given, context):
                return sdk.PermissionResultAllow()

        options["can_use_tool"] = can_use_tool
    elif kind == "hook":
        if plain:

            def hook(given, tool_use_id, context):
                return {}
        else:

            async def hook(given, tool_use_id, context):
                return {}

        options["hooks"] = {"PreToolUse": [sdk.HookMatcher(hooks=[hook])]}
    else:
        os.environ["FAKE_CLI_BENCH_ARGUMENTS"] = '{"a":1,"b":2}'

        @sdk.tool("add", "adds", {"a": int, "b": int})
        async def add(arguments):
            return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

        options["mcp_servers"] = {"calc": sdk.create_sdk_mcp_server("calc", tools=[add])}
    return sdk.ClaudeAgentOptions(**options)


async def round_trip(sdk, cli: str, kind: str, count: int) -> dict[str, float]:
    return each(await converse(sdk, callbacks(sdk, cli, kind, count)), count)


def blocking(sdk, cli: str, kind: str, count: int) -> dict[str, float]:
    with sdk.Session(callbacks(sdk, cli, kind, count, plain=True)) as session:
        session.ask("go")
        watch = Stopwatch()
        session.ask("go")
        return watch.each(count)


async def whole(sdk, cli: str, _: int) -> dict[str, float]:
    options = sdk.ClaudeAgentOptions(cli_path=cli, setting_sources=[])
    results = []
    async for message in sdk.query(prompt="TEXT hello", options=options):
        if isinstance(message, sdk.ResultMessage):
            results.append(message.result)
    assert results == ["hello"], results
    return {}


async def big(sdk, cli: str, mebibytes: int) -> dict[str, float]:
    options = sdk.ClaudeAgentOptions(cli_path=cli, max_buffer_size=(mebibytes + 1) << 20)
    longest = 0
    async for message in sdk.query(prompt="go", options=options):
        if isinstance(message, sdk.AssistantMessage):
            longest = len(message.content[0].text)
    assert longest == mebibytes << 20, longest
    return {}


async def many(sdk, cli: str, sessions: int) -> dict[str, float]:
    os.environ["FAKE_CLI_BENCH"] = "stream:200"
    open_now = asyncio.Semaphore(sessions)
    clients = []

    async def one() -> None:
        client = sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions(cli_path=cli))
        await client.connect()
        clients.append(client)

    watch = Stopwatch()
    await asyncio.gather(*[one() for _ in range(sessions)])

    async def talk(client) -> int:
        async with open_now:
            await client.query("go")
            return len([None async for _ in client.receive_response()])

    counts = await asyncio.gather(*[talk(client) for client in clients])
    assert counts == [201] * sessions
    measured = watch.each(sessions)
    with open("/proc/self/statm") as statm:
        measured["rss_mb"] = int(statm.read().split()[1]) * 4096 / 1e6
    await asyncio.gather(*[client.disconnect() for client in clients])
    return measured


SCENARIOS = {
    "stream": stream,
    "stream-read": stream_read,
    "whole": whole,
    "big": big,
    "many": many,
}


def main() -> None:
    module, scenario, cli, *rest = sys.argv[1:]
    count = int(rest[0]) if rest else 0
    if scenario == "import":
        sdk = importlib.import_module(module)
        sdk.query(prompt="go", options=sdk.ClaudeAgentOptions())
        measured = {"cpu_us": cpu() * 1e6}
        print(json.dumps({**measured, "us": measured["cpu_us"]}))
        return
    sdk = importlib.import_module(module)
    begun = time.perf_counter()
    if scenario.startswith("sync-"):
        measured = blocking(sdk, cli, scenario[5:], count)
    elif scenario in SCENARIOS:
        measured = asyncio.run(SCENARIOS[scenario](sdk, cli, count))
    else:
        measured = asyncio.run(round_trip(sdk, cli, scenario, count))
    measured["seconds"] = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    measured.setdefault("rss_mb", peak)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
