"""MCP servers: how they are given, and what the CLI tells about them (`protocol.md §8`, `§9`)."""

from typing import TYPE_CHECKING, Any, Literal

from ._typing import NotRequired, TypedDict

if TYPE_CHECKING:
    from mcp.server import Server

    McpServer = Server[Any]
else:
    # Importing mcp would take longer than everything else together.
    McpServer = Any


class McpStdioServerConfig(TypedDict):
    """A server that the CLI starts and speaks to over its standard input and output."""

    type: NotRequired[Literal["stdio"]]
    command: str
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]


class McpSSEServerConfig(TypedDict):
    """A server that answers with server-sent events."""

    type: Literal["sse"]
    url: str
    headers: NotRequired[dict[str, str]]


class McpHttpServerConfig(TypedDict):
    """A server that answers over HTTP."""

    type: Literal["http"]
    url: str
    headers: NotRequired[dict[str, str]]


class McpSdkServerConfig(TypedDict):
    """A server inside this program.

    `create_sdk_mcp_server` makes one from functions. An `mcp.server.Server` of one's own does as
    well: it is run once a session, so that its lifespan begins and ends once.
    """

    type: Literal["sdk"]
    name: str
    instance: "McpServer"


McpServerConfig = (
    McpStdioServerConfig | McpSSEServerConfig | McpHttpServerConfig | McpSdkServerConfig
)


class McpSdkServerConfigStatus(TypedDict):
    """A server inside this program, as the CLI tells of it."""

    type: Literal["sdk"]
    name: str


class McpClaudeAIProxyServerConfig(TypedDict):
    """A server that claude.ai stands in front of; the CLI tells of such, nobody configures one."""

    type: Literal["claudeai-proxy"]
    url: str
    id: str


McpServerStatusConfig = (
    McpStdioServerConfig
    | McpSSEServerConfig
    | McpHttpServerConfig
    | McpSdkServerConfigStatus
    | McpClaudeAIProxyServerConfig
)


class McpToolAnnotations(TypedDict, total=False):
    """What a tool's server says about it, as the CLI tells it."""

    readOnly: bool
    destructive: bool
    openWorld: bool


class McpToolInfo(TypedDict):
    """A tool of a server."""

    name: str
    description: NotRequired[str]
    annotations: NotRequired[McpToolAnnotations]


class McpServerInfo(TypedDict):
    """What a server calls itself."""

    name: str
    version: str


McpServerConnectionStatus = Literal["connected", "failed", "needs-auth", "pending", "disabled"]


class McpServerStatus(TypedDict):
    """A server and how it is."""

    name: str
    """As configured."""
    status: McpServerConnectionStatus
    serverInfo: NotRequired[McpServerInfo]
    """Once it is connected."""
    error: NotRequired[str]
    """Why it has failed."""
    config: NotRequired[McpServerStatusConfig]
    scope: NotRequired[str]
    """Where it was configured (`project`, `user`, `local`, `claudeai`, `managed`, …)."""
    tools: NotRequired[list[McpToolInfo]]
    """Once it is connected."""


class McpStatusResponse(TypedDict):
    """All servers; the answer to `get_mcp_status`."""

    mcpServers: list[McpServerStatus]
