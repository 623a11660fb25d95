"""Towline: a conversation with the Claude Code CLI, from `asyncio`, `trio` or no event loop.

Every public name of `claude_agent_sdk` is here with its meaning, so that moving over is one line:

    import towline as claude_agent_sdk

Modules are imported when something of them is first asked for.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ._lazy import lazy
from ._version import __version__

if TYPE_CHECKING:
    from ._errors import (
        ClaudeSDKError,
        CLIConnectionError,
        CLIJSONDecodeError,
        CLINotFoundError,
        MessageParseError,
        ProcessError,
        ResultError,
    )
    from ._mcp import (
        SdkMcpTool,
        ToolAnnotations,
        create_sdk_mcp_server,
        tool,
    )
    from ._transport import (
        Transport,
    )
    from .client import (
        ClaudeSDKClient,
    )
    from ._engine.signals import (
        CancelSignal as CancelSignal,
    )
    from .query import (
        query,
    )
    from ._startup import (
        Startup as Startup,
    )
    from .pool import (
        Pool as Pool,
    )
    from .session_pool import (
        SessionPool as SessionPool,
    )
    from .session import (
        Session as Session,
        SessionTurn as SessionTurn,
    )
    from .turns import (
        Turn as Turn,
    )
    from .sessions import (
        ForkSessionResult,
        delete_session,
        delete_session_via_store,
        fork_session,
        fork_session_via_store,
        get_session_info,
        get_session_info_from_store,
        get_session_messages,
        get_session_messages_from_store,
        get_subagent_messages,
        get_subagent_messages_from_store,
        import_session_to_store,
        list_sessions,
        list_sessions_from_store,
        list_subagents,
        list_subagents_from_store,
        project_key_for_directory,
        rename_session,
        rename_session_via_store,
        tag_session,
        tag_session_via_store,
    )
    from .stores import (
        InMemorySessionStore,
        fold_session_summary,
        open_store,
    )
    from .types.hooks import (
        BackgroundTaskSummary,
        BaseHookInput,
        CwdChangedHookSpecificOutput,
        ElicitationHookSpecificOutput,
        ElicitationResultHookSpecificOutput,
        FileChangedHookSpecificOutput,
        HookCallback,
        HookContext,
        HookEffort,
        HookInput,
        HookJSONOutput,
        HookMatcher,
        MessageDisplayHookSpecificOutput,
        NotificationHookInput,
        NotificationHookSpecificOutput,
        PermissionDeniedHookSpecificOutput,
        PermissionRequestHookInput,
        PermissionRequestHookSpecificOutput,
        PostModelSwitchHookSpecificOutput,
        PostToolBatchHookSpecificOutput,
        PostToolUseFailureHookInput,
        PostToolUseFailureHookSpecificOutput,
        PostToolUseHookInput,
        PostToolUseHookSpecificOutput,
        PreCompactHookInput,
        PreModelSwitchHookSpecificOutput,
        PreToolUseHookInput,
        PreToolUseHookSpecificOutput,
        SessionCronSummary,
        SessionStartHookSpecificOutput,
        StopHookInput,
        StopHookSpecificOutput,
        SubagentStartHookInput,
        SubagentStartHookSpecificOutput,
        SubagentStopHookInput,
        SubagentStopHookSpecificOutput,
        UserPromptExpansionHookSpecificOutput,
        UserPromptSubmitHookInput,
        UserPromptSubmitHookSpecificOutput,
        WorktreeCreateHookSpecificOutput,
    )
    from .types.mcp import (
        McpSdkServerConfig,
        McpServerConfig,
        McpServerConnectionStatus,
        McpServerInfo,
        McpServerStatus,
        McpServerStatusConfig,
        McpStatusResponse,
        McpToolAnnotations,
        McpToolInfo,
    )
    from .types.messages import (
        AssistantMessage,
        ContentBlock,
        ConversationResetMessage,
        DeferredToolUse,
        FastModeDisabledReason,
        FastModeState,
        HookEventMessage,
        Message,
        MessageOrigin,
        MessageOriginKind,
        MirrorErrorMessage,
        ModelUsage,
        RateLimitEvent,
        RateLimitInfo,
        RateLimitStatus,
        RateLimitType,
        ResultMessage,
        ServerToolName,
        ServerToolResultBlock,
        ServerToolUseBlock,
        StreamEvent,
        SystemInitData,
        SystemInitMcpServer,
        SystemInitPlugin,
        SystemInitPluginError,
        SystemMessage,
        TERMINAL_TASK_STATUSES,
        TaskNotificationMessage,
        TaskNotificationOriginSubkind,
        TaskNotificationStatus,
        TaskProgressMessage,
        TaskStartedMessage,
        TaskUpdatedMessage,
        TaskUpdatedStatus,
        TaskUsage,
        TextBlock,
        ThinkingBlock,
        ToolResultBlock,
        ToolUseBlock,
        UnknownMessage,
        UserMessage,
    )
    from .types.extended import (
        Options,
    )
    from .types.options import (
        ClaudeAgentOptions,
    )
    from .types.permissions import (
        CanUseTool,
        CanUseToolShadowedWarning,
        PermissionMode,
        PermissionResult,
        PermissionResultAllow,
        PermissionResultDeny,
        PermissionUpdate,
        ToolPermissionContext,
    )
    from .types.sessions import (
        SDKSessionInfo,
        SessionMessage,
    )
    from .types.settings import (
        AgentDefinition,
        ContextUsageCategory,
        ContextUsageResponse,
        EffortLevel,
        SandboxIgnoreViolations,
        SandboxNetworkConfig,
        SandboxSettings,
        SdkBeta,
        SdkPluginConfig,
        SettingSource,
        TaskBudget,
        ThinkingConfig,
        ThinkingConfigAdaptive,
        ThinkingConfigDisabled,
        ThinkingConfigEnabled,
    )
    from .types.stores import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStore,
        SessionStoreEntry,
        SessionStoreFlushMode,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )

__all__ = [
    "TERMINAL_TASK_STATUSES",
    "AgentDefinition",
    "AssistantMessage",
    "BackgroundTaskSummary",
    "BaseHookInput",
    "CLIConnectionError",
    "CLIJSONDecodeError",
    "CLINotFoundError",
    "CanUseTool",
    "CanUseToolShadowedWarning",
    "CancelSignal",
    "ClaudeAgentOptions",
    "ClaudeSDKClient",
    "ClaudeSDKError",
    "ContentBlock",
    "ContextUsageCategory",
    "ContextUsageResponse",
    "ConversationResetMessage",
    "CwdChangedHookSpecificOutput",
    "DeferredToolUse",
    "EffortLevel",
    "ElicitationHookSpecificOutput",
    "ElicitationResultHookSpecificOutput",
    "FastModeDisabledReason",
    "FastModeState",
    "FileChangedHookSpecificOutput",
    "ForkSessionResult",
    "HookCallback",
    "HookContext",
    "HookEffort",
    "HookEventMessage",
    "HookInput",
    "HookJSONOutput",
    "HookMatcher",
    "InMemorySessionStore",
    "McpSdkServerConfig",
    "McpServerConfig",
    "McpServerConnectionStatus",
    "McpServerInfo",
    "McpServerStatus",
    "McpServerStatusConfig",
    "McpStatusResponse",
    "McpToolAnnotations",
    "McpToolInfo",
    "Message",
    "MessageDisplayHookSpecificOutput",
    "MessageOrigin",
    "MessageOriginKind",
    "MessageParseError",
    "MirrorErrorMessage",
    "ModelUsage",
    "NotificationHookInput",
    "NotificationHookSpecificOutput",
    "Options",
    "PermissionDeniedHookSpecificOutput",
    "PermissionMode",
    "PermissionRequestHookInput",
    "PermissionRequestHookSpecificOutput",
    "PermissionResult",
    "PermissionResultAllow",
    "PermissionResultDeny",
    "PermissionUpdate",
    "PostModelSwitchHookSpecificOutput",
    "PostToolBatchHookSpecificOutput",
    "PostToolUseFailureHookInput",
    "PostToolUseFailureHookSpecificOutput",
    "PostToolUseHookInput",
    "PostToolUseHookSpecificOutput",
    "PreCompactHookInput",
    "PreModelSwitchHookSpecificOutput",
    "PreToolUseHookInput",
    "PreToolUseHookSpecificOutput",
    "ProcessError",
    "RateLimitEvent",
    "RateLimitInfo",
    "RateLimitStatus",
    "RateLimitType",
    "ResultError",
    "ResultMessage",
    "SDKSessionInfo",
    "SandboxIgnoreViolations",
    "SandboxNetworkConfig",
    "SandboxSettings",
    "SdkBeta",
    "SdkMcpTool",
    "SdkPluginConfig",
    "ServerToolName",
    "ServerToolResultBlock",
    "ServerToolUseBlock",
    "Session",
    "SessionCronSummary",
    "SessionKey",
    "SessionListSubkeysKey",
    "SessionMessage",
    "SessionStartHookSpecificOutput",
    "SessionStore",
    "SessionStoreEntry",
    "SessionStoreFlushMode",
    "SessionStoreListEntry",
    "SessionSummaryEntry",
    "SessionTurn",
    "SettingSource",
    "StopHookInput",
    "StopHookSpecificOutput",
    "StreamEvent",
    "SubagentStartHookInput",
    "SubagentStartHookSpecificOutput",
    "SubagentStopHookInput",
    "SubagentStopHookSpecificOutput",
    "SystemInitData",
    "SystemInitMcpServer",
    "SystemInitPlugin",
    "SystemInitPluginError",
    "SystemMessage",
    "TaskBudget",
    "TaskNotificationMessage",
    "TaskNotificationOriginSubkind",
    "TaskNotificationStatus",
    "TaskProgressMessage",
    "TaskStartedMessage",
    "TaskUpdatedMessage",
    "TaskUpdatedStatus",
    "TaskUsage",
    "TextBlock",
    "ThinkingBlock",
    "ThinkingConfig",
    "ThinkingConfigAdaptive",
    "ThinkingConfigDisabled",
    "ThinkingConfigEnabled",
    "ToolAnnotations",
    "ToolPermissionContext",
    "ToolResultBlock",
    "ToolUseBlock",
    "Transport",
    "Turn",
    "UnknownMessage",
    "UserMessage",
    "UserPromptExpansionHookSpecificOutput",
    "UserPromptSubmitHookInput",
    "UserPromptSubmitHookSpecificOutput",
    "WorktreeCreateHookSpecificOutput",
    "__version__",
    "create_sdk_mcp_server",
    "delete_session",
    "delete_session_via_store",
    "fold_session_summary",
    "fork_session",
    "fork_session_via_store",
    "get_session_info",
    "get_session_info_from_store",
    "get_session_messages",
    "get_session_messages_from_store",
    "get_subagent_messages",
    "get_subagent_messages_from_store",
    "import_session_to_store",
    "list_sessions",
    "list_sessions_from_store",
    "list_subagents",
    "list_subagents_from_store",
    "open_store",
    "project_key_for_directory",
    "query",
    "rename_session",
    "rename_session_via_store",
    "tag_session",
    "tag_session_via_store",
    "tool",
]

# Module to the names it has for this one.
_MODULES = {
    "_errors": (
        "CLIConnectionError CLIJSONDecodeError CLINotFoundError ClaudeSDKError MessageParseError "
        "ProcessError ResultError"
    ),
    "_mcp": "SdkMcpTool ToolAnnotations create_sdk_mcp_server tool",
    "_transport": "Transport",
    "client": "ClaudeSDKClient",
    "_engine.signals": "CancelSignal",
    "query": "query",
    "session": "Session SessionTurn",
    "pool": "Pool",
    "_startup": "Startup",
    "session_pool": "SessionPool",
    "turns": "Turn",
    "sessions": (
        "ForkSessionResult delete_session delete_session_via_store fork_session "
        "fork_session_via_store get_session_info get_session_info_from_store get_session_messages "
        "get_session_messages_from_store get_subagent_messages get_subagent_messages_from_store "
        "import_session_to_store list_sessions list_sessions_from_store list_subagents "
        "list_subagents_from_store project_key_for_directory rename_session "
        "rename_session_via_store tag_session tag_session_via_store"
    ),
    "stores": "InMemorySessionStore fold_session_summary open_store",
    "types.hooks": (
        "BackgroundTaskSummary BaseHookInput CwdChangedHookSpecificOutput "
        "ElicitationHookSpecificOutput ElicitationResultHookSpecificOutput "
        "FileChangedHookSpecificOutput HookCallback HookContext HookEffort HookInput HookJSONOutput "
        "HookMatcher MessageDisplayHookSpecificOutput NotificationHookInput "
        "NotificationHookSpecificOutput PermissionDeniedHookSpecificOutput "
        "PermissionRequestHookInput PermissionRequestHookSpecificOutput "
        "PostModelSwitchHookSpecificOutput PostToolBatchHookSpecificOutput "
        "PostToolUseFailureHookInput PostToolUseFailureHookSpecificOutput PostToolUseHookInput "
        "PostToolUseHookSpecificOutput PreCompactHookInput PreModelSwitchHookSpecificOutput "
        "PreToolUseHookInput PreToolUseHookSpecificOutput SessionCronSummary "
        "SessionStartHookSpecificOutput StopHookInput StopHookSpecificOutput SubagentStartHookInput "
        "SubagentStartHookSpecificOutput SubagentStopHookInput SubagentStopHookSpecificOutput "
        "UserPromptExpansionHookSpecificOutput UserPromptSubmitHookInput "
        "UserPromptSubmitHookSpecificOutput WorktreeCreateHookSpecificOutput"
    ),
    "types.mcp": (
        "McpSdkServerConfig McpServerConfig McpServerConnectionStatus McpServerInfo McpServerStatus "
        "McpServerStatusConfig McpStatusResponse McpToolAnnotations McpToolInfo"
    ),
    "types.messages": (
        "AssistantMessage ContentBlock ConversationResetMessage DeferredToolUse "
        "FastModeDisabledReason FastModeState HookEventMessage Message MessageOrigin "
        "MessageOriginKind MirrorErrorMessage ModelUsage RateLimitEvent RateLimitInfo "
        "RateLimitStatus RateLimitType ResultMessage ServerToolName ServerToolResultBlock "
        "ServerToolUseBlock StreamEvent SystemInitData SystemInitMcpServer SystemInitPlugin "
        "SystemInitPluginError SystemMessage TERMINAL_TASK_STATUSES TaskNotificationMessage "
        "TaskNotificationOriginSubkind TaskNotificationStatus TaskProgressMessage "
        "TaskStartedMessage TaskUpdatedMessage TaskUpdatedStatus TaskUsage TextBlock ThinkingBlock "
        "ToolResultBlock ToolUseBlock UnknownMessage UserMessage"
    ),
    "types.options": "ClaudeAgentOptions",
    "types.extended": "Options",
    "types.permissions": (
        "CanUseTool CanUseToolShadowedWarning PermissionMode PermissionResult PermissionResultAllow "
        "PermissionResultDeny PermissionUpdate ToolPermissionContext"
    ),
    "types.sessions": "SDKSessionInfo SessionMessage",
    "types.settings": (
        "AgentDefinition ContextUsageCategory ContextUsageResponse EffortLevel "
        "SandboxIgnoreViolations SandboxNetworkConfig SandboxSettings SdkBeta SdkPluginConfig "
        "SettingSource TaskBudget ThinkingConfig ThinkingConfigAdaptive ThinkingConfigDisabled "
        "ThinkingConfigEnabled"
    ),
    "types.stores": (
        "SessionKey SessionListSubkeysKey SessionStore SessionStoreEntry SessionStoreFlushMode "
        "SessionStoreListEntry SessionSummaryEntry"
    ),
}

__getattr__, __dir__ = lazy(
    __name__,
    _MODULES,
    ("_errors", "_version", "client", "compat", "query", "testing", "types"),
)


class _Package(ModuleType):
    """`towline.query` is the function, even after the module of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "query" and isinstance(value, ModuleType):
            value = value.query
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
