"""Tools: what the CLI is told of them, what becomes of their results, servers of the mcp package."""

import dataclasses
import enum
import functools
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import anyio
import claude_agent_sdk as official
import jsonschema
import mcp.types
import pydantic
import pytest
from claude_agent_sdk._internal.sdk_mcp_bridge import SdkMcpBridge
from mcp.server import Server

import towline
from towline._mcp import ToolServer, call_failure, call_result, untouched
from towline._mcp_bridge import Bridge
from towline._schema import input_schema

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required, TypedDict
else:
    from typing_extensions import NotRequired, Required, TypedDict

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Inner(TypedDict):
    x: int


class Arguments(TypedDict):
    text: Annotated[str, "what to say"]
    times: NotRequired[Annotated[int, 3, "how often", "ignored"]]
    inner: Inner
    many: list[Inner]


class Partial(TypedDict, total=False):
    a: Required[str]
    b: float


class Derived(Arguments):
    more: bool


SCHEMAS: list[Any] = [
    {},
    {"a": str, "b": int, "c": float, "d": bool},
    {"a": Annotated[str, "words"], "b": Annotated[list[int], "numbers"]},
    {"a": list, "b": list[str], "c": list[list[int]], "d": dict, "e": dict[str, int]},
    {"a": Optional[str], "b": str | None, "c": Union[int, str], "d": int | str | None},
    {"a": Annotated[str | None, "maybe"]},
    {"a": Inner, "b": list[Inner]},
    {"type": str, "properties": int},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {}, "additionalProperties": False, "$defs": {"x": {}}},
    Arguments,
    Partial,
    Derived,
    Inner,
    str,
    type("Plain", (), {}),
]

Make = Callable[[Any], Any]


async def nothing(arguments: Any) -> dict[str, Any]:
    return {"content": []}


def handshake(identity: int = 0) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }


READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(method: str, identity: Any = 7, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def call(name: str, arguments: dict[str, Any], identity: Any = 7) -> dict[str, Any]:
    return request("tools/call", identity, name=name, arguments=arguments)


def asked(instance: Any, *messages: dict[str, Any], bridge: Any = SdkMcpBridge) -> list[Any]:
    """What a server answers, over a bridge."""

    async def main() -> list[Any]:
        held = bridge("server", instance)
        await held.handle(handshake())
        await held.handle(READY)
        answers = [await held.handle(message) for message in messages]
        await held.aclose()
        return answers

    return anyio.run(main)


def listed(package: Any, schema: Any, annotations: Any = None) -> Any:
    made = package.tool("t", "does", schema, annotations)(nothing)
    instance = package.create_sdk_mcp_server("server", "3.2", [made])["instance"]
    return asked(instance, request("tools/list"))[0]["result"]["tools"]


@pytest.mark.parametrize("described", SCHEMAS, ids=repr)
def test_schemas_are_those_of_the_official_package(described: Any) -> None:
    (theirs,) = listed(official, described)
    assert input_schema(described) == theirs["inputSchema"]
    assert listed(towline, described) == [theirs]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)


class Model(pydantic.BaseModel):
    name: str
    size: int = 3


BETTER: list[tuple[Any, Any]] = [
    ({"a": Literal["x", "y"]}, {"type": "string", "enum": ["x", "y"]}),
    ({"a": Literal[1, "y"]}, {"enum": [1, "y"]}),
    ({"a": Any}, {}),
    ({"a": Colour}, {"type": "string", "enum": ["red", "blue"]}),
    ({"a": tuple[int, ...]}, {"type": "array", "items": {"type": "integer"}}),
    ({"a": set[str]}, {"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
    ({"a": {"type": "string", "minLength": 2}}, {"type": "string", "minLength": 2}),
    (
        {"a": Point},
        {
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "y": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["x"],
        },
    ),
    ({"a": Model}, Model.model_json_schema()),
]


@pytest.mark.parametrize(("described", "expected"), BETTER, ids=repr)
def test_what_the_official_package_takes_for_a_string(described: Any, expected: Any) -> None:
    (theirs,) = listed(official, described)
    assert theirs["inputSchema"]["properties"]["a"] == {"type": "string"}
    assert input_schema(described)["properties"]["a"] == expected


def test_either_kind_of_typed_dict() -> None:
    import typing_extensions

    class Other(typing_extensions.TypedDict):
        a: typing_extensions.Required[int]
        b: typing_extensions.NotRequired[str]

    expected = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
    }
    assert input_schema(Other) == expected
    assert input_schema({"other": Other})["properties"]["other"] == expected


@pytest.mark.parametrize("described", [Point, Model])
def test_classes_describe_all_arguments(described: Any) -> None:
    assert listed(official, described)[0]["inputSchema"] == {"type": "object", "properties": {}}
    assert input_schema(described)["required"] in (["x"], ["name"])


class Item(pydantic.BaseModel):
    count: int
    parts: "list[Item]" = []


class Order(pydantic.BaseModel):
    first: Item
    others: list[Item] = []


class Bill(TypedDict):
    order: Order


@pytest.mark.parametrize("described", [{"order": Order}, Bill, {"order": Order | int}, Order])
def test_models_in_models(described: Any) -> None:
    """References are from the whole schema on, wherever the model stands in it."""
    found = input_schema(described)
    arguments: Any = {"first": {"count": 1, "parts": [{"count": 2}]}}
    wrong: Any = {"first": {"count": 1, "parts": [{"count": "x"}]}}
    if described is not Order:
        arguments, wrong = {"order": arguments}, {"order": wrong}
    jsonschema.validate(arguments, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, found)


def test_models_of_one_name() -> None:
    def made(kind: Any) -> Any:
        inner = pydantic.create_model("Inner", value=(kind, ...))
        outer = pydantic.create_model("Outer", inner=(inner, ...))
        return pydantic.create_model("Whole", outer=(outer, ...))

    found = input_schema({"a": made(int), "b": made(str), "c": made(int)})
    values: dict[str, Any] = {"a": 1, "b": "x", "c": 2}
    arguments = {name: {"outer": {"inner": {"value": value}}} for name, value in values.items()}
    jsonschema.validate(arguments, found)
    assert len(found["$defs"]) == 4


class Branch(TypedDict):
    name: str
    branches: "list[Branch]"


@dataclasses.dataclass
class Tree:
    name: str
    trees: "list[Tree]"


@pytest.mark.parametrize(("described", "inner"), [(Branch, "branches"), (Tree, "trees")])
def test_what_is_a_part_of_itself(described: Any, inner: str) -> None:
    parts = input_schema(described)["properties"][inner]
    assert parts == {"type": "array", "items": {"type": "object"}}


def test_a_schema_without_properties_is_a_schema() -> None:
    assert input_schema({"type": "object"}) == {"type": "object"}
    assert listed(official, {"type": "object"})[0]["inputSchema"]["required"] == ["type"]


ANNOTATIONS: list[dict[str, Any]] = [
    {},
    {"readOnlyHint": True, "title": "T"},
    {"read_only_hint": True, "destructive_hint": False},
    {"readOnlyHint": False, "read_only_hint": True},
    {"idempotentHint": True, "openWorldHint": False, "maxResultSizeChars": 5},
    {"max_result_size_chars": 500_000},
    {"somethingNew": [1]},
]


@pytest.mark.parametrize("given", ANNOTATIONS, ids=repr)
def test_annotations(given: dict[str, Any]) -> None:
    theirs = listed(official, {}, official.ToolAnnotations(**given))
    mine = towline.ToolAnnotations(**given)
    assert listed(towline, {}, mine) == theirs
    made = towline.create_sdk_mcp_server("s", tools=[towline.tool("t", "does", {}, mine)(nothing)])
    (entry,) = made["instance"].entries  # type: ignore[attr-defined]
    assert entry.definition() == theirs[0]
    assert mine == towline.ToolAnnotations(**given)
    assert mine.read_only_hint == mine.readOnlyHint


def test_annotations_of_mcp_and_dicts_do_as_well() -> None:
    theirs = mcp.types.ToolAnnotations.model_validate({"readOnlyHint": True})
    expected = listed(official, {}, theirs)
    assert listed(towline, {}, theirs) == expected
    assert listed(towline, {}, {"readOnlyHint": True}) == expected


RESULTS: list[Any] = [
    {},
    {"content": []},
    {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "extra": 1}]},
    {"content": [{"type": "image", "data": "eA==", "mimeType": "image/png"}], "is_error": True},
    {"content": [{"type": "resource_link", "uri": "file:///x", "name": "n", "description": "d"}]},
    {"content": [{"type": "resource_link"}]},
    {"content": [{"type": "resource", "resource": {"uri": "u", "text": "words"}}]},
    {"content": [{"type": "resource", "resource": {"uri": "u", "blob": "eA=="}}]},
    {"content": [{"type": "audio"}, {"type": "text", "text": "left"}]},
    {"content": [{"type": "text"}]},
    {"is_error": False, "content": [{"type": "text", "text": ""}]},
]


def answered(package: Any, result: Any) -> Any:
    async def handler(arguments: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    made = package.tool("t", "does", {})(handler)
    instance = package.create_sdk_mcp_server("server", tools=[made])["instance"]
    return asked(instance, call("t", {}))[0]["result"]


@pytest.mark.parametrize("result", RESULTS, ids=repr)
def test_results(result: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    assert {"isError": False, **call_result(result)} == answered(official, result)
    assert answered(towline, result) == answered(official, result)


def test_failures() -> None:
    error = ValueError("it broke")
    assert call_failure(error) == answered(official, error) == answered(towline, error)


def test_structured_results_and_mcps_own() -> None:
    assert call_result({"structuredContent": {"a": 1}})["structuredContent"] == {"a": 1}
    assert call_result({"isError": True})["isError"] is True
    own = mcp.types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": "x"}], "isError": True, "structuredContent": {"b": 2}}
    )
    assert call_result(own) == {
        "content": [{"type": "text", "text": "x"}],
        "isError": True,
        "structuredContent": {"b": 2},
    }


@pytest.mark.parametrize("result", [None, 3, "text", [1]])
def test_a_result_that_is_none_is_an_error_for_the_model(result: Any) -> None:
    made = call_result(result)
    assert made["isError"] is True
    assert type(result).__name__ in made["content"][0]["text"]


def calculator(package: Any) -> Any:
    @package.tool("add", "Adds", {"a": float, "b": float})  # type: ignore[untyped-decorator]
    async def add(arguments: Any) -> Any:
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    return package.create_sdk_mcp_server("calculator", "2.0", [add])


def test_the_instance_is_a_server_of_mcp_to_whoever_looks() -> None:
    made = calculator(towline)
    assert made["type"] == "sdk" and made["name"] == "calculator"
    instance = made["instance"]
    assert isinstance(instance, Server)
    assert untouched(instance), "looking at the class makes no server"
    assert (instance.name, instance.version) == ("calculator", "2.0")
    messages = [call("add", {"a": 1, "b": 2}), call("add", {"a": "x"}, 8), call("no", {}, 9)]
    expected = asked(calculator(official)["instance"], *messages)
    assert asked(instance, *messages) == expected
    assert not untouched(instance)
    assert asked(calculator(towline)["instance"], *messages, bridge=Bridge) == expected


def test_making_a_server_imports_no_mcp() -> None:
    import subprocess

    program = """
import sys
import towline
from towline._options import prepare

@towline.tool("t", "does", {"a": int}, towline.ToolAnnotations(readOnlyHint=True))
async def t(arguments): ...

made = towline.create_sdk_mcp_server("s", tools=[t])
launch = prepare(towline.ClaudeAgentOptions(mcp_servers={"x": made}))
assert list(launch.servers) == ["x"] and not launch.bridged
assert isinstance(made["instance"], object) and not isinstance(made["instance"], dict)
loaded = {name.split(".")[0] for name in sys.modules}
assert not loaded & {"mcp", "pydantic", "anyio", "jsonschema", "asyncio"}, loaded

sys.modules["mcp"] = None
try:
    made["instance"].run
except AttributeError as error:
    assert "mcp is not installed" in str(error)
else:
    raise AssertionError("there is no mcp")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_touched_server_is_served_as_mcps() -> None:
    from towline._options import prepare

    made = calculator(towline)
    made["instance"].create_initialization_options()
    foreign: Any = Server("own")
    servers = {"touched": made, "own": {"type": "sdk", "name": "own", "instance": foreign}}
    launch = prepare(towline.ClaudeAgentOptions(mcp_servers=servers))
    assert not launch.servers
    assert set(launch.bridged) == {"touched", "own"}
    assert launch.document["mcp_servers"] == {
        "touched": {"type": "sdk", "name": "calculator"},
        "own": {"type": "sdk", "name": "own"},
    }


def test_of_two_tools_of_a_name_the_later_counts() -> None:
    first = towline.tool("t", "first", {})(nothing)
    second = towline.tool("t", "second", {"a": int})(nothing)
    server = ToolServer("s", "1", [first, second])
    assert [entry.description for entry in server.entries] == ["second"]


class Own:
    """A server of the mcp package with a lifespan, a slow tool and one that talks by itself."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.entered = anyio.Event()
        self.server: Any = Server(
            "own",
            lifespan=self.lifespan,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    @asynccontextmanager
    async def lifespan(self, server: Any) -> AsyncIterator[None]:
        self.events.append("begin")
        yield
        self.events.append("end")

    async def list_tools(self, context: Any, params: Any) -> mcp.types.ListToolsResult:
        return mcp.types.ListToolsResult(tools=[])

    async def call_tool(self, context: Any, params: Any) -> mcp.types.CallToolResult:
        if params.name == "slow":
            self.entered.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.events.append("cancelled")
        if params.name == "crash":
            raise KeyError("crash")
        return mcp.types.CallToolResult.model_validate(
            {"content": [{"type": "text", "text": params.name}], "isError": False}
        )


@BACKENDS
def test_one_run_whatever_comes(backend: str) -> None:
    async def main() -> None:
        own = Own()
        bridge = Bridge("own", own.server)
        assert "result" in (await bridge.handle(handshake()) or {})
        assert await bridge.handle(READY) is None
        assert "result" in (await bridge.handle(handshake(1)) or {})
        async with anyio.create_task_group() as group:
            answers: list[Any] = []

            async def ask(identity: int) -> None:
                answers.append(await bridge.handle(call(f"t{identity}", {}, identity)))

            for identity in range(20):
                group.start_soon(ask, identity)
        found = {answer["id"]: answer["result"]["content"][0]["text"] for answer in answers}
        assert found == {identity: f"t{identity}" for identity in range(20)}
        assert own.events == ["begin"]
        await bridge.aclose()
        await bridge.aclose()
        assert own.events == ["begin", "end"]
        with pytest.raises(RuntimeError, match="closed"):
            await bridge.handle(request("tools/list"))

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_cancelled_call_is_answered_and_closing_is_prompt(backend: str) -> None:
    async def main() -> None:
        own = Own()
        bridge = Bridge("own", own.server)
        await bridge.handle(handshake())
        await bridge.handle(READY)
        async with anyio.create_task_group() as group:
            outcomes: list[Any] = []

            async def slow(identity: int) -> None:
                try:
                    outcomes.append(await bridge.handle(call("slow", {}, identity)))
                except RuntimeError as error:
                    outcomes.append(error)

            group.start_soon(slow, 1)
            await own.entered.wait()
            cancelled = {"requestId": 1, "reason": "no more"}
            await bridge.handle(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}
            )
            with anyio.fail_after(2):
                while not outcomes:
                    await anyio.lowlevel.checkpoint()
            assert outcomes[0]["error"]["code"] == -32800
            own.entered = anyio.Event()
            group.start_soon(slow, 2)
            await own.entered.wait()
            with anyio.fail_after(2):
                await bridge.aclose()
        assert own.events == ["begin", "cancelled", "cancelled", "end"]
        assert len(outcomes) == 2

    anyio.run(main, backend=backend)


@BACKENDS
def test_the_waiter_may_go_and_its_id_stays_taken(backend: str) -> None:
    async def main() -> None:
        own = Own()
        bridge = Bridge("own", own.server)
        await bridge.handle(handshake())
        await bridge.handle(READY)
        with anyio.move_on_after(0.05):
            await bridge.handle(call("slow", {}, 1))
        with pytest.raises(RuntimeError, match="in use"):
            await bridge.handle(call("t", {}, 1))
        assert (await bridge.handle(call("t", {}, 2)) or {})["id"] == 2
        await bridge.aclose()

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_server_that_fails_says_why_and_starts_anew_with_a_handshake(
    backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)

    class Failing:
        runs = 0

        def create_initialization_options(self) -> None:
            return None

        async def run(self, read: Any, write: Any, options: Any, **_: Any) -> None:
            Failing.runs += 1
            async for _item in read:
                raise KeyError("broken inside")

    async def main() -> None:
        bridge = Bridge("own", Failing())
        for runs in (1, 2):
            with pytest.raises(RuntimeError):
                await bridge.handle(handshake())
            with pytest.raises(RuntimeError, match="broken inside"):
                await bridge.handle(request("tools/list"))
            assert Failing.runs == runs
        await bridge.aclose()

    anyio.run(main, backend=backend)


@BACKENDS
def test_a_server_that_does_not_end_is_left_behind(
    backend: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("towline._mcp_bridge.GRACE_SECONDS", 0.2)

    class Stubborn:
        def __init__(self) -> None:
            self.reached = anyio.Event()

        def create_initialization_options(self) -> None:
            return None

        async def run(self, read: Any, write: Any, options: Any, **_: Any) -> None:
            async for _item in read:
                break
            with anyio.CancelScope(shield=True):
                self.reached.set()
                await anyio.sleep(1)

    async def main() -> None:
        stubborn = Stubborn()
        bridge = Bridge("own", stubborn)
        outcomes: list[str] = []

        async def ask() -> None:
            try:
                await bridge.handle(handshake())
            except RuntimeError as error:
                outcomes.append(str(error))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await stubborn.reached.wait()
            start = anyio.current_time()
            await bridge.aclose()
            assert anyio.current_time() - start < 0.9
        assert outcomes == ["MCP server 'own' is closed"]

    anyio.run(main, backend=backend)
    assert "has not ended" in caplog.text


@BACKENDS
def test_what_a_server_says_by_itself(backend: str) -> None:
    class Talking:
        def create_initialization_options(self) -> None:
            return None

        async def run(self, read: Any, write: Any, options: Any, **_: Any) -> None:
            from mcp.shared.message import SessionMessage

            adapter = mcp.types.jsonrpc_message_adapter
            parse = functools.partial(adapter.validate_python, by_name=False)

            async for item in read:
                got = item.message.model_dump(by_alias=True, exclude_none=True)
                if got.get("method") == "go":
                    for said in (
                        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
                        {"jsonrpc": "2.0", "id": 5, "method": "roots/list"},
                        {"jsonrpc": "2.0", "id": 6, "method": "ping"},
                    ):
                        await write.send(SessionMessage(parse(said)))
                    going = got["id"]
                elif "method" not in got:
                    heard.append(got)
                    if len(heard) == 2:
                        done = {"jsonrpc": "2.0", "id": going, "result": {}}
                        await write.send(SessionMessage(parse(done)))

    heard: list[Any] = []
    go = request("go", 1)

    async def alone() -> None:
        bridge = Bridge("own", Talking())
        await bridge.handle(go)
        await bridge.aclose()

    anyio.run(alone, backend=backend)
    by_id = {answer["id"]: answer for answer in heard}
    assert by_id[5]["error"]["code"] == -32601
    assert by_id[6]["result"] == {}

    heard.clear()
    said: list[Any] = []

    async def with_outgoing() -> None:
        async def outgoing(message: dict[str, Any]) -> None:
            said.append(message)
            if "id" in message:
                await bridge.handle(
                    {"jsonrpc": "2.0", "id": message["id"], "result": {"of": "cli"}}
                )

        bridge = Bridge("own", Talking(), outgoing)
        await bridge.handle(go)
        await bridge.aclose()

    anyio.run(with_outgoing, backend=backend)
    assert sorted(message["method"] for message in said) == [
        "notifications/tools/list_changed",
        "ping",
        "roots/list",
    ]
    assert [answer["result"] for answer in heard] == [{"of": "cli"}] * 2


CLI = Path(__file__).with_name("mcp_cli.py")

LIST = request("tools/list", 1)
PING = request("ping", 2)


def told(
    package: Any, server: Any, folder: Path, messages: list[Any], backend: str = "asyncio"
) -> Any:
    """What the CLI is answered by a server of a session."""
    out = folder / "answers.json"

    async def main() -> None:
        env = {"RECORD": str(out), "CALLS": json.dumps(["x", [handshake(), READY, *messages]])}
        options = package.ClaudeAgentOptions(cli_path=CLI, env=env, mcp_servers={"x": server})
        with anyio.fail_after(20):
            async for _ in package.query(prompt="go", options=options):
                pass

    anyio.run(main, backend=backend)
    return json.loads(out.read_text())


def toolbox(package: Any) -> Any:
    @package.tool("add", "Adds", {"a": float, "b": float})  # type: ignore[untyped-decorator]
    async def add(arguments: Any) -> Any:
        await anyio.sleep(0)
        return {"content": [{"type": "text", "text": f"{arguments['a'] + arguments['b']:g}"}]}

    @package.tool("fail", "Fails", Arguments, package.ToolAnnotations(readOnlyHint=True))  # type: ignore[untyped-decorator]
    async def fail(arguments: Any) -> Any:
        raise ValueError("it broke")

    @package.tool("odd", "Gives all there is", {})  # type: ignore[untyped-decorator]
    async def odd(arguments: Any) -> Any:
        content = [block for result in RESULTS[1:9] for block in result["content"]]
        return {"content": content, "is_error": True}

    return package.create_sdk_mcp_server("toolbox", "4.5", [add, fail, odd])


TALK: dict[str, list[Any]] = {
    "list": [LIST],
    "ping": [PING],
    "call": [call("add", {"a": 1, "b": 2})],
    "a failing tool": [call("fail", {"text": "x", "inner": {"x": 1}, "many": []})],
    "every kind of content": [call("odd", {})],
    "a handshake again": [handshake(5), READY, LIST],
    "ids that are texts": [call("add", {"a": 0.5, "b": 0.25}, "id-1"), LIST],
}


@BACKENDS
@pytest.mark.parametrize("name", TALK)
def test_the_cli_is_answered_alike(name: str, tmp_path: Path, backend: str) -> None:
    ours = told(towline, toolbox(towline), tmp_path, TALK[name], backend)
    theirs = told(official, toolbox(official), tmp_path, TALK[name], backend)
    assert without_extras(ours) == without_extras(theirs)


def without_extras(answers: list[Any]) -> list[Any]:
    """Answers but what either server adds to the handshake, and to acknowledgements."""
    found = []
    for answer in answers:
        answer = dict(answer)
        result = answer.get("result")
        if not result:
            answer.pop("id", None)
        elif "capabilities" in result:
            info = {name: result["serverInfo"][name] for name in ("name", "version")}
            tools = "tools" in result["capabilities"]
            answer["result"] = (result["protocolVersion"], info, tools)
        elif "tools" in result:
            answer["result"] = {"tools": result["tools"]}
        found.append(answer)
    return found


def test_what_the_model_did_wrong_is_told_to_it(tmp_path: Path) -> None:
    """Of an unknown tool by an error of the protocol, which the CLI tells the model as well."""
    messages = [call("add", {"a": "x"}), call("no", {}, 8)]
    *_, invalid, unknown = told(towline, toolbox(towline), tmp_path, messages)
    assert invalid["result"]["isError"] is True
    assert "add" in invalid["result"]["content"][0]["text"]
    assert "no" in unknown["error"]["message"]
    *_, invalid, unknown = told(official, toolbox(official), tmp_path, messages)
    assert invalid["result"]["isError"] is True and unknown["result"]["isError"] is True


@BACKENDS
def test_servers_of_ones_own_are_served(tmp_path: Path, backend: str) -> None:
    for package in (towline, official):
        own = Own()
        server = {"type": "sdk", "name": "own", "instance": own.server}
        answers = told(
            package, server, tmp_path, [LIST, call("hello", {}), call("crash", {})], backend
        )
        assert answers[0]["result"]["serverInfo"]["name"] == "own"
        assert answers[2]["result"]["tools"] == []
        assert answers[3]["result"]["content"] == [{"type": "text", "text": "hello"}]
        assert "crash" in json.dumps(answers[4]) or "error" in json.dumps(answers[4]).lower()
        assert own.events == ["begin", "end"]


def test_a_touched_server_is_still_served(tmp_path: Path) -> None:
    server = toolbox(towline)
    server["instance"].create_initialization_options()
    answers = told(towline, server, tmp_path, [call("add", {"a": 1, "b": 2})])
    assert answers[-1]["result"]["content"] == [{"type": "text", "text": "3"}]
