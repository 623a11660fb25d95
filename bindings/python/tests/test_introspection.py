"""What programs find out about the package while they run: kinds of functions, annotations, copies."""

import ast
import asyncio
import copy
import dataclasses
import importlib
import inspect
import pickle
import subprocess
import sys
import types
import typing
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import claude_agent_sdk as official
import pytest
from conftest import USER, FakeCli, Run, assistant, result

import towline

HINTS = """
import inspect, typing, towline
from towline import types
package = towline if {package!r} == "towline" else types
value = getattr(package, {name!r})
members = vars(value).items() if inspect.isclass(value) else ()
for about in [value, *(member for name, member in members if not name.startswith("_") or name == "__init__")]:
    if isinstance(about, (staticmethod, classmethod)):
        about = about.__func__
    if inspect.isclass(about) or inspect.isfunction(about):
        typing.get_type_hints(about, include_extras=True)
"""


def test_annotations_mean_something_before_anything_else_was_imported() -> None:
    for name in ("query", "ClaudeSDKClient", "Session", "SessionTurn", "Turn", "Options", "tool"):
        program = HINTS.format(package="towline", name=name)
        subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("package", ["towline", "types"])
def test_annotations_of_everything(package: str) -> None:
    names = towline.__all__ if package == "towline" else towline.types.__all__
    for name in names:
        exec(HINTS.format(package=package, name=name), {})


def kinds(value: Any) -> dict[str, bool]:
    tests = (
        "isfunction",
        "isroutine",
        "iscoroutinefunction",
        "isasyncgenfunction",
        "isgeneratorfunction",
    )
    return {test: getattr(inspect, test)(value) for test in tests}


@pytest.mark.parametrize(
    "name", [n for n in official.__all__ if inspect.isfunction(getattr(official, n))]
)
def test_functions_are_of_the_official_kind(name: str) -> None:
    assert kinds(getattr(towline, name)) == kinds(getattr(official, name))


@pytest.mark.parametrize(
    "name", [n for n in dir(official.ClaudeSDKClient) if not n.startswith("_")]
)
def test_methods_are_of_the_official_kind(name: str) -> None:
    ours, theirs = towline.ClaudeSDKClient(), official.ClaudeSDKClient()
    assert kinds(getattr(ours, name)) == kinds(getattr(theirs, name))
    assert kinds(getattr(type(ours), name)) == kinds(getattr(type(theirs), name))
    assert inspect.ismethod(getattr(ours, name)) and getattr(ours, name).__self__ is ours


def test_the_function_is_one_to_every_tool() -> None:
    from unittest.mock import create_autospec

    asked = towline.query
    assert pickle.loads(pickle.dumps(asked)) is asked
    assert copy.deepcopy(asked) is asked and "query" in repr(asked)
    assert inspect.getdoc(asked) and "def query" in inspect.getsource(asked)
    assert asked.__name__ == asked.__qualname__ == "query" and asked.__module__ == "towline.query"
    assert isinstance(asked, types.FunctionType)
    spec = create_autospec(asked)
    with pytest.raises(TypeError):
        spec("not by name")
    with pytest.raises(TypeError):
        asked("not by name")  # type: ignore[call-arg, misc]


def iterators(package: Any) -> list[Any]:
    client = package.ClaudeSDKClient()
    return [package.query(prompt="hi"), client.receive_messages(), client.receive_response()]


def test_what_they_give_is_a_generator() -> None:
    async def main() -> None:
        for ours, theirs in zip(iterators(towline), iterators(official), strict=True):
            values: tuple[Any, ...] = (ours, theirs)
            for value in values:
                generator: Any = inspect.isasyncgen(value)
                assert generator is True
                assert isinstance(value, AsyncGenerator) and isinstance(value, AsyncIterator)
                assert getattr(value, "ag_running") is False  # noqa: B009
                if sys.version_info >= (3, 12):
                    assert inspect.getasyncgenstate(value) != inspect.AGEN_RUNNING
                await value.aclose()
                with pytest.raises(StopAsyncIteration):
                    await value.asend(None)
                if sys.version_info >= (3, 12):
                    assert inspect.getasyncgenstate(value) == inspect.AGEN_CLOSED

    asyncio.run(main())


def test_generators_are_sent_to_and_thrown_into(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("a"), assistant("b"), result(), {"expect_eof": True})
    options = towline.ClaudeAgentOptions(cli_path=cli.path)

    async def main() -> None:
        messages: Any = towline.query(prompt="hi", options=options)
        assert isinstance(await messages.asend(None), towline.AssistantMessage)
        with pytest.raises(ZeroDivisionError):
            await messages.athrow(ZeroDivisionError())
        with pytest.raises(StopAsyncIteration):
            await messages.__anext__()
        async with towline.ClaudeSDKClient(options) as client:
            await client.query("hi")
            messages = client.receive_messages()
            assert isinstance(await messages.asend(None), towline.AssistantMessage)
            with pytest.raises(ZeroDivisionError):
                await messages.athrow(ZeroDivisionError())
            with pytest.raises(StopAsyncIteration):
                await messages.__anext__()
            rest = [message async for message in client.receive_response()]
        assert len(rest) == 2

    run(main)


def value_for(hint: Any) -> Any:
    """Something a field may hold; what its type is does not matter to copies."""
    origin = typing.get_origin(hint)
    if origin is list or hint is list:
        return [{"a": [1]}]
    if origin is dict or hint is dict or typing.is_typeddict(hint):
        return {"a": {"b": [None]}}
    return {str: "text", int: 3, float: 1.5, bool: True}.get(hint, ["any"])


DATACLASSES = sorted(
    name
    for name in towline.types.__all__
    if dataclasses.is_dataclass(getattr(towline.types, name)) and "Options" not in name
)


def made(package: Any, name: str) -> Any:
    kind = getattr(package.types, name)
    ours = getattr(towline.types, name)
    names = {field.name for field in dataclasses.fields(kind)}
    hints = typing.get_type_hints(ours)
    return kind(**{key: value_for(hint) for key, hint in hints.items() if key in names})


@pytest.mark.parametrize("name", DATACLASSES)
def test_copies_of(name: str) -> None:
    one = made(towline, name)
    for again in (
        pickle.loads(pickle.dumps(one)),
        copy.copy(one),
        copy.deepcopy(one),
        dataclasses.replace(one),
    ):
        assert type(again) is type(one) and again == one and again is not one
        assert vars(again) == vars(one) and repr(again) == repr(one)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) == one
    assert dataclasses.asdict(one) == {
        f.name: getattr(one, f.name) for f in dataclasses.fields(one)
    }
    first = dataclasses.fields(one)[0].name
    assert dataclasses.replace(one, **{first: "other"}) != one
    assert one != dataclasses.asdict(one)
    with pytest.raises(TypeError):
        hash(one)
    if hasattr(official.types, name):
        theirs = made(official, name)
        assert repr(one) == repr(theirs)
        assert dataclasses.asdict(one) == dataclasses.asdict(theirs)
        assert type(one).__match_args__ == type(theirs).__match_args__
        assert list(vars(one)) == list(vars(theirs))


LINES: list[dict[str, Any]] = [
    {
        "type": "assistant",
        "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "t"}]},
        "new": {"a": 1},
    },
    {"type": "user", "message": {"role": "user", "content": "hi"}, "new": 1},
    {"type": "system", "subtype": "init", "session_id": "s", "new": 1},
    {
        "type": "system",
        "subtype": "task_started",
        "task_id": "t",
        "description": "d",
        "uuid": "u",
        "session_id": "s",
    },
    {"type": "stream_event", "uuid": "u", "session_id": "s", "event": {"type": "ping"}, "new": 1},
    result()["emit"],
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.get("subtype", line["type"]))
def test_copies_of_a_message_keep_what_the_cli_wrote(line: dict[str, Any]) -> None:
    from towline import _native

    message = _native.parse_message(line)
    assert message.raw == line
    for again in (pickle.loads(pickle.dumps(message)), copy.copy(message), copy.deepcopy(message)):
        assert again == message and again.raw == line


@dataclasses.dataclass
class MyOptions(towline.ClaudeAgentOptions):
    mine: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class MyResult(towline.ResultMessage):
    mine: str = "mine"


class MyClient(towline.ClaudeSDKClient):
    def __init__(self, options: MyOptions) -> None:
        super().__init__(options)
        self.asked: list[Any] = []

    async def query(self, prompt: Any, session_id: str = "default") -> None:
        self.asked.append(prompt)
        await super().query(prompt, session_id)

    async def receive_response(self) -> Any:
        async for message in super().receive_response():
            yield message


def test_classes_can_be_derived_from(cli: FakeCli, run: Run) -> None:
    cli.script(USER, assistant("a"), result())
    options = MyOptions(cli_path=cli.path, mine=["x"])
    assert options.mine == ["x"] and MyOptions().mine == []
    assert options != towline.ClaudeAgentOptions(cli_path=cli.path)
    assert MyResult("success", 1, 1, False, 1, "s").mine == "mine"

    async def main() -> None:
        client = MyClient(options)
        async with client:
            await client.query("hi")
            seen = [message async for message in client.receive_response()]
        assert len(seen) == 2 and client.asked == ["hi"]

    run(main)


def listed(package: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Name to module, as type checkers are told and as it is imported."""
    told: dict[str, str] = {}
    for block in ast.parse(inspect.getsource(package)).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                assert isinstance(line, ast.ImportFrom) and line.level == 1 and line.module
                told |= {name.asname or name.name: line.module for name in line.names}
    imported = {
        name: module for module, names in package._MODULES.items() for name in names.split()
    }
    return told, imported


@pytest.mark.parametrize("package", [towline, towline.types], ids=["towline", "types"])
def test_names_are_the_same_wherever_they_are_listed(package: Any) -> None:
    told, imported = listed(package)
    assert told == imported
    # Classes that only turn up in annotations are there for those, and not for `import *`.
    unnamed = (
        {
            "CancelSignal",
            "Pool",
            "Session",
            "SessionPool",
            "SessionTurn",
            "Startup",
            "Turn",
        }
        if package is towline
        else set()
    )
    assert set(package.__all__) | unnamed == set(imported) | (
        {"__version__"} & set(package.__all__)
    )
    for name, module in imported.items():
        where = sys.modules.get(f"{package.__name__}.{module}") or importlib.import_module(
            f"{package.__name__}.{module}"
        )
        assert getattr(package, name) is getattr(where, name)
