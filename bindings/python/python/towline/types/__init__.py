"""All types, one concept a module.

The names, fields, defaults and keys are those of `claude_agent_sdk.types`. Modules are imported when
something of them is first asked for.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .control import (
        ControlErrorResponse,
        ControlResponse,
        SDKControlInitializeRequest,
        SDKControlInterruptRequest,
        SDKControlMcpMessageRequest,
        SDKControlMcpReconnectRequest,
        SDKControlMcpToggleRequest,
        SDKControlPermissionRequest,
        SDKControlRequest,
        SDKControlResponse,
        SDKControlRewindFilesRequest,
        SDKControlSetPermissionModeRequest,
        SDKControlStopTaskRequest,
        SDKHookCallbackRequest,
    )
    from .extended import (
        Options,
    )
    from .hooks import (
        AsyncHookJSONOutput,
        BackgroundTaskSummary,
        BaseHookInput,
        CwdChangedHookSpecificOutput,
        ElicitationHookSpecificOutput,
        ElicitationResultHookSpecificOutput,
        FileChangedHookSpecificOutput,
        HookCallback,
        HookContext,
        HookEffort,
        HookEvent,
        HookInput,
        HookJSONOutput,
        HookMatcher,
        HookSpecificOutput,
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
        SyncHookJSONOutput,
        UserPromptExpansionHookSpecificOutput,
        UserPromptSubmitHookInput,
        UserPromptSubmitHookSpecificOutput,
        WorktreeCreateHookSpecificOutput,
    )
    from .mcp import (
        McpClaudeAIProxyServerConfig,
        McpHttpServerConfig,
        McpSSEServerConfig,
        McpSdkServerConfig,
        McpSdkServerConfigStatus,
        McpServer,
        McpServerConfig,
        McpServerConnectionStatus,
        McpServerInfo,
        McpServerStatus,
        McpServerStatusConfig,
        McpStatusResponse,
        McpStdioServerConfig,
        McpToolAnnotations,
        McpToolInfo,
    )
    from .messages import (
        AssistantMessage,
        AssistantMessageError,
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
    from .options import (
        ClaudeAgentOptions,
    )
    from .permissions import (
        CanUseTool,
        CanUseToolShadowedWarning,
        PermissionBehavior,
        PermissionMode,
        PermissionResult,
        PermissionResultAllow,
        PermissionResultDeny,
        PermissionRuleValue,
        PermissionUpdate,
        PermissionUpdateDestination,
        ToolPermissionContext,
    )
    from .sessions import (
        SDKSessionInfo,
        SessionMessage,
    )
    from .settings import (
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
        SystemPromptCustom,
        SystemPromptFile,
        SystemPromptPreset,
        TaskBudget,
        ThinkingConfig,
        ThinkingConfigAdaptive,
        ThinkingConfigDisabled,
        ThinkingConfigEnabled,
        ThinkingDisplay,
        ToolsPreset,
    )
    from .stores import (
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
    "AssistantMessageError",
    "AsyncHookJSONOutput",
    "BackgroundTaskSummary",
    "BaseHookInput",
    "CanUseTool",
    "CanUseToolShadowedWarning",
    "ClaudeAgentOptions",
    "ContentBlock",
    "ContextUsageCategory",
    "ContextUsageResponse",
    "ControlErrorResponse",
    "ControlResponse",
    "ConversationResetMessage",
    "CwdChangedHookSpecificOutput",
    "DeferredToolUse",
    "EffortLevel",
    "ElicitationHookSpecificOutput",
    "ElicitationResultHookSpecificOutput",
    "FastModeDisabledReason",
    "FastModeState",
    "FileChangedHookSpecificOutput",
    "HookCallback",
    "HookContext",
    "HookEffort",
    "HookEvent",
    "HookEventMessage",
    "HookInput",
    "HookJSONOutput",
    "HookMatcher",
    "HookSpecificOutput",
    "McpClaudeAIProxyServerConfig",
    "McpHttpServerConfig",
    "McpSSEServerConfig",
    "McpSdkServerConfig",
    "McpSdkServerConfigStatus",
    "McpServer",
    "McpServerConfig",
    "McpServerConnectionStatus",
    "McpServerInfo",
    "McpServerStatus",
    "McpServerStatusConfig",
    "McpStatusResponse",
    "McpStdioServerConfig",
    "McpToolAnnotations",
    "McpToolInfo",
    "Message",
    "MessageDisplayHookSpecificOutput",
    "MessageOrigin",
    "MessageOriginKind",
    "MirrorErrorMessage",
    "ModelUsage",
    "NotificationHookInput",
    "NotificationHookSpecificOutput",
    "Options",
    "PermissionBehavior",
    "PermissionDeniedHookSpecificOutput",
    "PermissionMode",
    "PermissionRequestHookInput",
    "PermissionRequestHookSpecificOutput",
    "PermissionResult",
    "PermissionResultAllow",
    "PermissionResultDeny",
    "PermissionRuleValue",
    "PermissionUpdate",
    "PermissionUpdateDestination",
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
    "RateLimitEvent",
    "RateLimitInfo",
    "RateLimitStatus",
    "RateLimitType",
    "ResultMessage",
    "SDKControlInitializeRequest",
    "SDKControlInterruptRequest",
    "SDKControlMcpMessageRequest",
    "SDKControlMcpReconnectRequest",
    "SDKControlMcpToggleRequest",
    "SDKControlPermissionRequest",
    "SDKControlRequest",
    "SDKControlResponse",
    "SDKControlRewindFilesRequest",
    "SDKControlSetPermissionModeRequest",
    "SDKControlStopTaskRequest",
    "SDKHookCallbackRequest",
    "SDKSessionInfo",
    "SandboxIgnoreViolations",
    "SandboxNetworkConfig",
    "SandboxSettings",
    "SdkBeta",
    "SdkPluginConfig",
    "ServerToolName",
    "ServerToolResultBlock",
    "ServerToolUseBlock",
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
    "SettingSource",
    "StopHookInput",
    "StopHookSpecificOutput",
    "StreamEvent",
    "SubagentStartHookInput",
    "SubagentStartHookSpecificOutput",
    "SubagentStopHookInput",
    "SubagentStopHookSpecificOutput",
    "SyncHookJSONOutput",
    "SystemInitData",
    "SystemInitMcpServer",
    "SystemInitPlugin",
    "SystemInitPluginError",
    "SystemMessage",
    "SystemPromptCustom",
    "SystemPromptFile",
    "SystemPromptPreset",
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
    "ThinkingDisplay",
    "ToolPermissionContext",
    "ToolResultBlock",
    "ToolUseBlock",
    "ToolsPreset",
    "UnknownMessage",
    "UserMessage",
    "UserPromptExpansionHookSpecificOutput",
    "UserPromptSubmitHookInput",
    "UserPromptSubmitHookSpecificOutput",
    "WorktreeCreateHookSpecificOutput",
]

# Module to the names it has for this one.
_MODULES = {
    "permissions": (
        "CanUseTool CanUseToolShadowedWarning PermissionBehavior PermissionMode PermissionResult "
        "PermissionResultAllow PermissionResultDeny PermissionRuleValue PermissionUpdate "
        "PermissionUpdateDestination ToolPermissionContext"
    ),
    "hooks": (
        "AsyncHookJSONOutput BackgroundTaskSummary BaseHookInput CwdChangedHookSpecificOutput "
        "ElicitationHookSpecificOutput ElicitationResultHookSpecificOutput "
        "FileChangedHookSpecificOutput HookCallback HookContext HookEffort HookEvent HookInput "
        "HookJSONOutput HookMatcher HookSpecificOutput MessageDisplayHookSpecificOutput "
        "NotificationHookInput NotificationHookSpecificOutput PermissionDeniedHookSpecificOutput "
        "PermissionRequestHookInput PermissionRequestHookSpecificOutput "
        "PostModelSwitchHookSpecificOutput PostToolBatchHookSpecificOutput "
        "PostToolUseFailureHookInput PostToolUseFailureHookSpecificOutput PostToolUseHookInput "
        "PostToolUseHookSpecificOutput PreCompactHookInput PreModelSwitchHookSpecificOutput "
        "PreToolUseHookInput PreToolUseHookSpecificOutput SessionCronSummary "
        "SessionStartHookSpecificOutput StopHookInput StopHookSpecificOutput SubagentStartHookInput "
        "SubagentStartHookSpecificOutput SubagentStopHookInput SubagentStopHookSpecificOutput "
        "SyncHookJSONOutput UserPromptExpansionHookSpecificOutput UserPromptSubmitHookInput "
        "UserPromptSubmitHookSpecificOutput WorktreeCreateHookSpecificOutput"
    ),
    "mcp": (
        "McpClaudeAIProxyServerConfig McpHttpServerConfig McpSSEServerConfig McpSdkServerConfig "
        "McpSdkServerConfigStatus McpServer McpServerConfig McpServerConnectionStatus McpServerInfo "
        "McpServerStatus McpServerStatusConfig McpStatusResponse McpStdioServerConfig "
        "McpToolAnnotations McpToolInfo"
    ),
    "settings": (
        "AgentDefinition ContextUsageCategory ContextUsageResponse EffortLevel "
        "SandboxIgnoreViolations SandboxNetworkConfig SandboxSettings SdkBeta SdkPluginConfig "
        "SettingSource SystemPromptCustom SystemPromptFile SystemPromptPreset TaskBudget "
        "ThinkingConfig ThinkingConfigAdaptive ThinkingConfigDisabled ThinkingConfigEnabled "
        "ThinkingDisplay ToolsPreset"
    ),
    "messages": (
        "AssistantMessage AssistantMessageError ContentBlock ConversationResetMessage "
        "DeferredToolUse FastModeDisabledReason FastModeState HookEventMessage Message "
        "MessageOrigin MessageOriginKind MirrorErrorMessage ModelUsage RateLimitEvent RateLimitInfo "
        "RateLimitStatus RateLimitType ResultMessage ServerToolName ServerToolResultBlock "
        "ServerToolUseBlock StreamEvent SystemInitData SystemInitMcpServer SystemInitPlugin "
        "SystemInitPluginError SystemMessage TERMINAL_TASK_STATUSES TaskNotificationMessage "
        "TaskNotificationOriginSubkind TaskNotificationStatus TaskProgressMessage "
        "TaskStartedMessage TaskUpdatedMessage TaskUpdatedStatus TaskUsage TextBlock ThinkingBlock "
        "ToolResultBlock ToolUseBlock UnknownMessage UserMessage"
    ),
    "stores": (
        "SessionKey SessionListSubkeysKey SessionStore SessionStoreEntry SessionStoreFlushMode "
        "SessionStoreListEntry SessionSummaryEntry"
    ),
    "sessions": "SDKSessionInfo SessionMessage",
    "options": "ClaudeAgentOptions",
    "extended": "Options",
    "control": (
        "ControlErrorResponse ControlResponse SDKControlInitializeRequest "
        "SDKControlInterruptRequest SDKControlMcpMessageRequest SDKControlMcpReconnectRequest "
        "SDKControlMcpToggleRequest SDKControlPermissionRequest SDKControlRequest "
        "SDKControlResponse SDKControlRewindFilesRequest SDKControlSetPermissionModeRequest "
        "SDKControlStopTaskRequest SDKHookCallbackRequest"
    ),
}

__getattr__, __dir__ = lazy(__name__, _MODULES, tuple(_MODULES))
