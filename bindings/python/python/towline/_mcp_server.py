"""An `mcp.server.Server` with the tools of a `ToolServer`, for either major version of mcp."""

import inspect
import weakref
from typing import Any

from ._mcp import Entry, ToolServer, call_failure, call_result

# Servers made here, which never answer a call that was cancelled: see can_cancel.
_made: "weakref.WeakSet[Any]" = weakref.WeakSet()


def is_mcp_2() -> bool:
    """Whether the mcp that is installed is of the second major version."""
    import mcp.types

    return hasattr(mcp.types, "jsonrpc_message_adapter")


def make_server(tools: ToolServer) -> Any:
    """The server.

    Raises:
        ModuleNotFoundError: mcp is not installed.
    """
    from mcp import types
    from mcp.server import Server as _Server

    server_class: Any = _Server
    entries = {entry.name: entry for entry in tools.entries}
    listed = [types.Tool.model_validate(entry.definition()) for entry in tools.entries]

    async def call(name: str, arguments: dict[str, Any] | None) -> types.CallToolResult:
        found = await _call(entries.get(name), name, arguments or {})
        return types.CallToolResult.model_validate(found)

    if is_mcp_2():

        async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=listed)

        async def on_call_tool(context: Any, params: Any) -> types.CallToolResult:
            return await call(params.name, params.arguments)

        return server_class(
            tools.name,
            version=tools.version,
            on_list_tools=on_list_tools,
            on_call_tool=on_call_tool,
        )

    server = server_class(tools.name, version=tools.version)

    async def list_tools() -> list[types.Tool]:
        return listed

    async def call_tool(name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        result = await call(name, arguments)
        # The server has answered a cancelled call itself; a second answer would end it.
        from anyio.lowlevel import checkpoint_if_cancelled

        await checkpoint_if_cancelled()
        return result

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    _made.add(server)
    return server


def can_cancel(server: Any) -> bool:
    """Whether `notifications/cancelled` may reach a server.

    One of mcp 1 ends as a whole when a tool still answers after its call was cancelled.
    """
    return is_mcp_2() or server in _made


async def _call(entry: Entry | None, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if entry is None:
        return call_failure(LookupError(f"Tool '{name}' not found"))
    try:
        import jsonschema  # type: ignore[import-untyped]

        try:
            jsonschema.validate(arguments, entry.input_schema)
        except jsonschema.ValidationError as error:
            return call_failure(ValueError(f"Input validation error: {error.message}"))
        value = entry.handler(arguments)
        return call_result(await value if inspect.isawaitable(value) else value)
    except Exception as error:
        return call_failure(error)
