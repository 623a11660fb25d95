"""Every public name of the official package, compared by introspection.

What differs on purpose stands in `DIFFERENCES` with its reason, and is held to still differ.
"""

import abc
import dataclasses
import importlib
import inspect
import pickle
import types
import typing
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import claude_agent_sdk as official
import pytest

import towline

NAMES = sorted(official.__all__)

SUBMODULES = ("types", "_errors", "_version", "query", "client", "testing")

# What classes here have beside the official ones: `raw`, and more control requests.
OWN_BASES = {"_Received", "_Text", "_Undecoded", "AsyncControls"}

DIFFERENCES = {
    "__version__": "the version of this package; the other's is _version.COMPATIBLE_WITH",
    "ToolAnnotations": "no class of mcp, whose import alone would take longer than a session's start",
    "types.McpServer": "no name of the package but a stand-in for mcp's class",
    "types.ClaudeAgentOptions.debug_stderr": "the same stream, which pytest replaces meanwhile",
}


def described(value: Any) -> Any:
    """What is to be compared of a value: plain data that is equal if the two mean the same."""
    if typing.is_typeddict(value):
        return {
            "typeddict": value.__name__,
            "required": sorted(value.__required_keys__),
            "optional": sorted(value.__optional_keys__),
            "keys": list(value.__annotations__),
            "types": {key: annotation(hint) for key, hint in hints(value).items()},
        }
    if inspect.isclass(value):
        return {
            "class": value.__name__,
            "bases": [base.__name__ for base in value.__mro__ if base.__name__ not in OWN_BASES],
            "fields": fields(value) if dataclasses.is_dataclass(value) else None,
            "dataclass": dataclass_arguments(value),
            "constructor": None if value.__name__ == "SessionStore" else parameters(value),
            "methods": methods(value),
            "abstract": sorted(getattr(value, "__abstractmethods__", ())),
            "protocol": getattr(value, "_is_protocol", False),
            "generic": len(getattr(value, "__parameters__", ())),
        }
    if inspect.isfunction(value):
        return {
            "function": value.__name__,
            "parameters": parameters(value),
            "returns": annotation(hints(value).get("return")),
            "coroutine": inspect.iscoroutinefunction(value),
            "generator": inspect.isasyncgenfunction(value),
        }
    if get_origin(value) is not None:
        return annotation(value)
    return sorted(value) if isinstance(value, frozenset) else repr(value)


def hints(value: Any) -> dict[str, Any]:
    """Resolved annotations; those under TYPE_CHECKING only are `Any`."""
    types_of = importlib.import_module("claude_agent_sdk.types")
    names = {**vars(types_of), "McpServer": Any, "Transport": official.Transport}
    return get_type_hints(value, localns=names, include_extras=True)


def annotation(hint: Any) -> Any:
    """A type by its structure and the names of its classes, wherever they are defined."""
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return ("union", tuple(sorted(map(repr, map(annotation, get_args(hint))))))
    if origin is typing.Literal:
        return ("literal", tuple(get_args(hint)))
    if origin is not None:
        parts = tuple(
            tuple(map(annotation, part)) if isinstance(part, list) else annotation(part)
            for part in get_args(hint)
        )
        return (getattr(origin, "__name__", repr(origin)), parts)
    if isinstance(hint, typing.TypeVar):
        return "TypeVar"
    return getattr(hint, "__name__", repr(hint))


def fields(value: Any) -> list[Any]:
    found = hints(value)
    return [
        {
            "name": field.name,
            "type": annotation(found[field.name]),
            "default": default(field.default),
            "factory": getattr(field.default_factory, "__name__", None),
            "init": field.init,
            "repr": field.repr,
            "compare": field.compare,
            "kw_only": field.kw_only,
        }
        for field in dataclasses.fields(value)
        if field.name != "debug_stderr"
    ]


def default(value: Any) -> str:
    return "none" if value is dataclasses.MISSING else repr(value)


def dataclass_arguments(value: Any) -> Any:
    if not dataclasses.is_dataclass(value):
        return None
    used: Any = vars(value)["__dataclass_params__"]
    return {name: getattr(used, name) for name in ("init", "repr", "eq", "order", "frozen")}


def parameters(value: Any) -> Any:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return None
    found = hints(value.__init__ if inspect.isclass(value) else value)
    return [
        (
            parameter.name,
            parameter.kind.name,
            repr(parameter.default),
            annotation(found[parameter.name]) if parameter.name in found else None,
        )
        for parameter in signature.parameters.values()
        if parameter.name != "debug_stderr"
    ]


def methods(value: Any) -> dict[str, Any]:
    """Public methods, and those that make an object a context manager."""
    found = {}
    for name, member in inspect.getmembers(value):
        own = any(name in vars(base) for base in value.__mro__ if base.__module__ != "builtins")
        if not own or (name.startswith("_") and name not in ("__aenter__", "__aexit__")):
            continue
        if callable(member) and getattr(member, "__module__", "").split(".")[0] in (
            "claude_agent_sdk",
            "towline",
        ):
            found[name] = {
                "parameters": [
                    (parameter.name, parameter.kind.name, repr(parameter.default))
                    for parameter in inspect.signature(member).parameters.values()
                ],
                "coroutine": inspect.iscoroutinefunction(member),
                "generator": inspect.isasyncgenfunction(member),
            }
    return found


def differing(name: str, ours: Any, theirs: Any) -> None:
    if name in DIFFERENCES:
        assert ours != theirs, f"{name} differs no more: take it out of DIFFERENCES"
    else:
        assert ours == theirs, name


def test_the_official_package_is_the_one_that_is_meant() -> None:
    from towline._version import COMPATIBLE_WITH

    assert official.__version__ == COMPATIBLE_WITH
    assert len(NAMES) == 159


def test_every_name_is_there() -> None:
    assert set(NAMES) <= set(towline.__all__)
    assert set(towline.__all__) <= set(dir(towline))
    assert len(set(towline.__all__)) == len(towline.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_name(name: str) -> None:
    ours, theirs = getattr(towline, name), getattr(official, name)
    differing(name, described_plainly(name, ours), described_plainly(name, theirs))


def described_plainly(name: str, value: Any) -> Any:
    found = described(value)
    if name == "query":
        # The official one is an async generator; here it returns an iterator with the same methods.
        found.pop("returns", None)
    if name == "ClaudeSDKClient":
        # More methods may be there.
        kept = {method for method in dir(official.ClaudeSDKClient) if not method.startswith("_")}
        kept |= {"__aenter__", "__aexit__"}
        found["methods"] = {
            method: about for method, about in found["methods"].items() if method in kept
        }
    return found


def type_names() -> list[str]:
    module = importlib.import_module("claude_agent_sdk.types")
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", module.__name__) in (module.__name__, "typing", "types")
        and value not in (Any, typing.Protocol, typing.Literal, typing.Final, typing.TypeAlias)
        and name not in ("NotRequired", "Required", "TypedDict", "TYPE_CHECKING", "dataclass")
    )


@pytest.mark.parametrize("name", type_names())
def test_type(name: str) -> None:
    from claude_agent_sdk import types as their_types

    from towline import types as our_types

    differing(
        f"types.{name}", described(getattr(our_types, name)), described(getattr(their_types, name))
    )


def test_the_default_of_debug_stderr_is_stderr() -> None:
    import subprocess
    import sys

    program = "import sys, towline; assert towline.ClaudeAgentOptions().debug_stderr is sys.stderr"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("module", SUBMODULES)
def test_submodule(module: str) -> None:
    theirs = importlib.import_module(f"claude_agent_sdk.{module}")
    ours = importlib.import_module(f"towline.{module}")
    defined = [
        name
        for name, value in vars(theirs).items()
        if getattr(value, "__module__", None) == theirs.__name__ and not name.startswith("_")
    ]
    for name in [*defined, *getattr(theirs, "__all__", ())]:
        assert hasattr(ours, name), f"{module}.{name}"


def errors() -> list[str]:
    from claude_agent_sdk import _errors

    return sorted(
        name
        for name, value in vars(_errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    )


RESULTS: list[Any] = [
    None,
    {},
    {"subtype": "error_max_turns", "errors": ["a", " b ", "", 3], "session_id": "s"},
    {"subtype": "success", "errors": "one", "result": "API Error", "api_error_status": 529},
    {"subtype": 3, "errors": {"no": "list"}, "result": [], "terminal_reason": "api_error"},
    "no dict",
]

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "ClaudeSDKError": [(), ("text",)],
    "CLIConnectionError": [("text",)],
    "CLINotFoundError": [(), ("text",), ("text", "/x/claude"), ("text", "")],
    "ProcessError": [("text",), ("text", 1), ("text", 0, "words"), ("text", None, "words")],
    "ResultError": [("text", result, status) for result in RESULTS for status in (None, 1)],
    "CLIJSONDecodeError": [("x" * 200, ValueError("bad"))],
    "MessageParseError": [("text",), ("text", {"type": "x"})],
}


@pytest.mark.parametrize("name", errors())
def test_error(name: str) -> None:
    from claude_agent_sdk import _errors as theirs

    from towline import _errors as ours

    our_class, their_class = getattr(ours, name), getattr(theirs, name)
    assert [base.__name__ for base in our_class.__mro__] == [
        base.__name__ for base in their_class.__mro__
    ]
    assert parameters(our_class) == parameters(their_class)
    for arguments in ARGUMENTS[name]:
        mine, theirs_made = our_class(*arguments), their_class(*arguments)
        assert str(mine) == str(theirs_made)
        assert vars(mine) == vars(theirs_made)


@pytest.mark.parametrize("name", ["ProcessError", "ResultError", "MessageParseError"])
def test_errors_can_be_pickled(name: str) -> None:
    from towline import _errors

    for arguments in ARGUMENTS[name]:
        error = getattr(_errors, name)(*arguments)
        again = pickle.loads(pickle.dumps(error))
        assert vars(again) == vars(error)


def test_transport_is_abstract() -> None:
    assert isinstance(towline.Transport, abc.ABCMeta)
    with pytest.raises(TypeError):
        towline.Transport()  # type: ignore[abstract]


UPDATES: list[dict[str, Any]] = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Read"}],
        "behavior": "allow",
    },
    {"type": "removeRules", "rules": [], "behavior": "deny", "destination": "localSettings"},
    {"type": "replaceRules", "rules": [{"toolName": "X", "ruleContent": ""}], "behavior": "ask"},
    {"type": "setMode", "mode": "plan", "destination": "session"},
    {"type": "addDirectories", "directories": ["/a"]},
    {"type": "removeDirectories", "directories": [], "destination": "userSettings"},
    {"type": "addRules"},
    {"type": "addRules", "rules": []},
    {"type": "setMode"},
    {"type": "addDirectories"},
    {"type": "else"},
]


@pytest.mark.parametrize("data", UPDATES)
def test_permission_updates_travel_alike(data: dict[str, Any]) -> None:
    def outcome(make: Callable[[dict[str, Any]], Any]) -> Any:
        update = make(data)
        try:
            return dataclasses.asdict(update), update.to_dict()
        except ValueError:
            return dataclasses.asdict(update), "refused"

    assert outcome(towline.PermissionUpdate.from_dict) == outcome(
        official.PermissionUpdate.from_dict
    )


def test_the_whole_class_of_a_message_has_raw() -> None:
    message = towline.ResultMessage("success", 1, 1, False, 1, "s")
    assert message.raw is None
    assert message == towline.ResultMessage("success", 1, 1, False, 1, "s")
    message._raw = {"type": "result", "new": 1}
    assert message.raw == {"type": "result", "new": 1}
    assert "raw" not in repr(message)
