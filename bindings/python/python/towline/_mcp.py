"""Tools inside this program, and the servers that offer them (`protocol.md §9`).

For the engine: the core's in-process server speaks MCP, checks arguments and keeps the books. From a
`ToolServer` it takes

    server.name, server.version
    server.entries                        # list of Entry
    entry.name                            # and the JSON-ready values of MCP's definition of a tool:
    entry.description, .input_schema, .annotations (dict or None), .meta (dict or None)
    entry.handler                         # async; called with the arguments, a dict

and makes the answer (an MCP `CallToolResult`, ready for json.dumps) of what comes of a call:

    call_result(value)                    # of what the handler returned; never raises
    call_failure(error)                   # of what it raised

`ToolServer` is what `create_sdk_mcp_server` puts under `instance`. To whoever looks at it it is an
`mcp.server.Server`, which is made, and mcp imported, when something of one is asked for. From then on
it is served as such (`untouched` tells), since it may have been given more than tools.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ._schema import input_schema as _input_schema
from .types._dataclass import dataclass
from .types.mcp import McpSdkServerConfig

if TYPE_CHECKING:
    from mcp.types import ToolAnnotations as _McpToolAnnotations

T = TypeVar("T")

_WIRE_NAMES = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
    "max_result_size_chars": "maxResultSizeChars",
}

# Those that MCP knows; a client drops others.
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class ToolAnnotations:
    """Hints about a tool, each taken and given by its name on the wire and by the one in snake case.

    `mcp.types.ToolAnnotations` and dicts do as well wherever annotations are taken.
    """

    def __init__(
        self,
        *,
        title: str | None = None,
        readOnlyHint: bool | None = None,
        read_only_hint: bool | None = None,
        destructiveHint: bool | None = None,
        destructive_hint: bool | None = None,
        idempotentHint: bool | None = None,
        idempotent_hint: bool | None = None,
        openWorldHint: bool | None = None,
        open_world_hint: bool | None = None,
        maxResultSizeChars: int | None = None,
        max_result_size_chars: int | None = None,
        **extra: Any,
    ) -> None:
        """
        Args:
            title: A name for people.
            readOnlyHint: Whether nothing is changed.
            destructiveHint: Whether something may be lost.
            idempotentHint: Whether a second call does nothing more.
            openWorldHint: Whether it reaches beyond this program's world.
            maxResultSizeChars: Up to how many characters Claude Code keeps a result in the
                conversation; a longer one goes to a file. It travels in the tool's `_meta`.
            extra: More attributes; they do not travel.
        """
        given = {
            "title": title,
            "readOnlyHint": readOnlyHint if readOnlyHint is not None else read_only_hint,
            "destructiveHint": destructiveHint if destructiveHint is not None else destructive_hint,
            "idempotentHint": idempotentHint if idempotentHint is not None else idempotent_hint,
            "openWorldHint": openWorldHint if openWorldHint is not None else open_world_hint,
            "maxResultSizeChars": maxResultSizeChars
            if maxResultSizeChars is not None
            else max_result_size_chars,
        }
        self.__dict__.update(given, **extra)

    if TYPE_CHECKING:
        title: str | None
        readOnlyHint: bool | None
        destructiveHint: bool | None
        idempotentHint: bool | None
        openWorldHint: bool | None
        maxResultSizeChars: int | None

    def __getattr__(self, name: str) -> Any:
        wire = _WIRE_NAMES.get(name)
        if wire is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__[wire]

    def model_dump(self, *, by_alias: bool = True, exclude_none: bool = False, **_: Any) -> Any:
        """As a dict; the parameters are those of pydantic's models."""
        snake = {} if by_alias else {wire: name for name, wire in _WIRE_NAMES.items()}
        return {
            snake.get(name, name): value
            for name, value in self.__dict__.items()
            if value is not None or not exclude_none
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolAnnotations):
            return NotImplemented
        return self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.model_dump(exclude_none=True).items())
        return f"ToolAnnotations({', '.join(given)})"


if not TYPE_CHECKING:
    _McpToolAnnotations = ToolAnnotations


@dataclass
class SdkMcpTool(Generic[T]):
    """A tool."""

    name: str
    description: str
    input_schema: type[T] | dict[str, Any]
    handler: Callable[[T], Awaitable[dict[str, Any]]]
    annotations: "_McpToolAnnotations | None" = None


def tool(
    name: str,
    description: str,
    input_schema: type | dict[str, Any],
    annotations: "_McpToolAnnotations | ToolAnnotations | None" = None,
) -> Callable[[Callable[[Any], Awaitable[dict[str, Any]]]], SdkMcpTool[Any]]:
    """Makes a tool of an asynchronous function.

        @tool("add", "Adds two numbers", {"a": float, "b": float})
        async def add(args):
            return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}

    The function gets the arguments as a dict, after they were held against the schema, and returns a
    dict: `content`, a list of blocks (`text`, `image`, `resource_link`, `resource`);
    `structuredContent`, an object; `is_error`, whether it went wrong. What it raises is an error
    result too.

    Args:
        name: The model calls it `mcp__SERVER__NAME`.
        description: What it does, for the model.
        input_schema: A dict of name to type, a `TypedDict`, a dataclass, a pydantic model or a JSON
            Schema; a text in `Annotated[type, "…"]` describes an argument.
        annotations: Hints; see `ToolAnnotations`.
    """

    def decorate(handler: Callable[[Any], Awaitable[dict[str, Any]]]) -> SdkMcpTool[Any]:
        return SdkMcpTool(name, description, input_schema, handler, annotations)  # type: ignore[arg-type]

    return decorate


class Entry(NamedTuple):
    """A tool, ready to be registered."""

    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, Any] | None
    meta: dict[str, Any] | None
    handler: Callable[[Any], Awaitable[Any]]

    def definition(self) -> dict[str, Any]:
        """The tool as MCP lists it."""
        definition: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        if self.annotations is not None:
            definition["annotations"] = self.annotations
        if self.meta is not None:
            definition["_meta"] = self.meta
        return definition


def _entry(tool: SdkMcpTool[Any]) -> Entry:
    annotations: Any = tool.annotations
    if annotations is not None and not isinstance(annotations, dict):
        annotations = annotations.model_dump(mode="json", by_alias=True, exclude_none=True)
    size = None if annotations is None else annotations.get("maxResultSizeChars")
    return Entry(
        tool.name,
        tool.description,
        _input_schema(tool.input_schema),
        annotations and {hint: annotations[hint] for hint in _HINTS if hint in annotations},
        None if size is None else {"anthropic/maxResultSizeChars": size},
        tool.handler,
    )


class ToolServer:
    """A server inside this program; see the module."""

    def __init__(self, name: str, version: str, tools: list[SdkMcpTool[Any]]) -> None:
        self.name = name
        self.version = version
        # Of two tools of one name the later one counts, at the place of the first.
        self.entries = list({tool.name: _entry(tool) for tool in tools}.values())
        self._server: Any = None

    @property
    def __class__(self) -> Any:
        # Whoever compares with mcp's class has imported it.
        module = sys.modules.get("mcp.server")
        return getattr(module, "Server", ToolServer)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of a ToolServer cannot be changed")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_server":
            raise AttributeError(name)
        if self._server is None:
            from ._mcp_server import make_server

            try:
                self._server = make_server(self)
            except ModuleNotFoundError as error:
                raise AttributeError(
                    f"{name!r} is part of mcp.server.Server, and mcp is not installed"
                ) from error
        return getattr(self._server, name)

    def __repr__(self) -> str:
        names = ", ".join(entry.name for entry in self.entries)
        return f"<tool server {self.name!r}: {names}>"


def untouched(instance: Any) -> bool:
    """Whether it is a `ToolServer`, and nothing of mcp's server was asked of it."""
    # Not isinstance: to whoever asks, a ToolServer is a server of mcp.
    return issubclass(type(instance), ToolServer) and instance._server is None


def real_server(instance: Any) -> Any:
    """The `mcp.server.Server` in what stands under `instance`."""
    if issubclass(type(instance), ToolServer):
        from ._mcp_server import make_server

        instance._server = instance._server or make_server(instance)
        return instance._server
    if not hasattr(instance, "create_initialization_options"):
        for name in ("_mcp_server", "_lowlevel_server"):
            inner = getattr(instance, name, None)
            if inner is not None:
                return inner
    return instance


def create_sdk_mcp_server(
    name: str, version: str = "1.0.0", tools: list[SdkMcpTool[Any]] | None = None
) -> McpSdkServerConfig:
    """Makes a server inside this program, for `mcp_servers`.

    Args:
        name: What the server calls itself. The model sees the name it has in `mcp_servers`.
        version: Its version, for information.
        tools: What `tool` has made.
    """
    return McpSdkServerConfig(
        type="sdk",
        name=name,
        instance=ToolServer(name, version, tools or []),  # type: ignore[typeddict-item]
    )


def call_result(value: Any) -> dict[str, Any]:
    """The answer to a call, of what the handler returned."""
    if not isinstance(value, dict):
        dump = getattr(value, "model_dump", None)
        if not callable(dump):
            return call_failure(
                TypeError(f"the tool returned {type(value).__name__}, not a dict with 'content'")
            )
        value = dump(mode="json", by_alias=True, exclude_none=True)
    try:
        result: dict[str, Any] = {
            "content": [block for item in value.get("content") or () for block in _blocks(item)],
            "isError": bool(value.get("is_error", value.get("isError", False))),
        }
    except Exception as error:
        return call_failure(error)
    structured = value.get("structuredContent", value.get("structured_content"))
    if structured is not None:
        result["structuredContent"] = structured
    if value.get("_meta") is not None:
        result["_meta"] = value["_meta"]
    return result


def call_failure(error: BaseException) -> dict[str, Any]:
    """The answer to a call whose handler has failed."""
    return {"content": [{"type": "text", "text": str(error)}], "isError": True}


def _blocks(item: Any) -> tuple[dict[str, Any], ...]:
    """What the CLI makes something of: resources become text, what it cannot show is left out."""
    if not isinstance(item, dict):
        item = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    kind = item.get("type")
    if kind == "text":
        return ({"type": "text", "text": item["text"]},)
    if kind == "image":
        return ({"type": "image", "data": item["data"], "mimeType": item["mimeType"]},)
    if kind == "resource_link":
        parts = [str(item[key]) for key in ("name", "uri", "description") if item.get(key)]
        return ({"type": "text", "text": "\n".join(parts) or "Resource link"},)
    if kind == "resource":
        resource = item.get("resource") or {}
        if "text" in resource:
            return ({"type": "text", "text": resource["text"]},)
        _warn("a binary resource in a tool's result cannot be shown; it is left out")
        return ()
    _warn(f"content of type {kind!r} in a tool's result is not known; it is left out")
    return ()


def _warn(text: str) -> None:
    import logging

    logging.getLogger("towline").warning(text)
