/** Hooks: what they are told and what they can say (protocol.md §6). */
import type { McpServerProvenance } from './mcp-config.js';
import type { SDKAssistantMessageError } from './messages.js';
import type { PermissionUpdate } from './permissions.js';

/** What a hook of an event is told. */
export type HookInputOf<Event extends string, Fields = unknown> = BaseHookInput & { hook_event_name: Event } & Fields;

/** What a hook of an event can say beside the common fields. */
export type HookOutputOf<Event extends string, Fields = unknown> = { hookEventName: Event } & Fields;

export type AsyncHookJSONOutput = {
  async: true;
  asyncTimeout?: number;
};

export type BackgroundTaskSummary = {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
  server?: string;
  tool?: string;
  name?: string;
};

/** What the hook `Base` is told. */
export type BaseHookInput = {
  session_id: string;
  transcript_path: string;
  cwd: string;
  prompt_id?: string;
  permission_mode?: string;
  agent_id?: string;
  agent_type?: string;
  effort?: {
    level: string;
  };
};

/** What the hook `ConfigChange` is told. */
export type ConfigChangeHookInput = HookInputOf<'ConfigChange', {
  source: 'user_settings' | 'project_settings' | 'local_settings' | 'policy_settings' | 'skills';
  file_path?: string;
}>;

export type ConfigScope = 'local' | 'user' | 'project';

/** What the hook `CwdChanged` is told. */
export type CwdChangedHookInput = HookInputOf<'CwdChanged', {
  old_cwd: string;
  new_cwd: string;
}>;

/** What the hook `CwdChanged` can say beside the common fields. */
export type CwdChangedHookSpecificOutput = HookOutputOf<'CwdChanged', {
  watchPaths?: string[];
}>;

/** What the hook `DirectoryAdded` is told. */
export type DirectoryAddedHookInput = HookInputOf<'DirectoryAdded', {
  directory: string;
  source: 'slash_command' | 'register_repo_root';
}>;

/** What the hook `Elicitation` is told. */
export type ElicitationHookInput = HookInputOf<'Elicitation', {
  mcp_server_name: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitation_id?: string;
  requested_schema?: Record<string, unknown>;
}>;

/** What the hook `Elicitation` can say beside the common fields. */
export type ElicitationHookSpecificOutput = HookOutputOf<'Elicitation', {
  action?: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}>;

/** What the hook `ElicitationResult` is told. */
export type ElicitationResultHookInput = HookInputOf<'ElicitationResult', {
  mcp_server_name: string;
  elicitation_id?: string;
  mode?: 'form' | 'url';
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}>;

/** What the hook `ElicitationResult` can say beside the common fields. */
export type ElicitationResultHookSpecificOutput = HookOutputOf<'ElicitationResult', {
  action?: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}>;

export type ExitReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';

/** What the hook `FileChanged` is told. */
export type FileChangedHookInput = HookInputOf<'FileChanged', {
  file_path: string;
  event: 'change' | 'add' | 'unlink';
}>;

/** What the hook `FileChanged` can say beside the common fields. */
export type FileChangedHookSpecificOutput = HookOutputOf<'FileChanged', {
  watchPaths?: string[];
}>;

export type HookEvent = 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'PostToolBatch' | 'Notification' | 'UserPromptSubmit' | 'UserPromptExpansion' | 'SessionStart' | 'SessionEnd' | 'Stop' | 'StopFailure' | 'SubagentStart' | 'SubagentStop' | 'PreCompact' | 'PostCompact' | 'PreModelSwitch' | 'PostModelSwitch' | 'PermissionRequest' | 'PermissionDenied' | 'Setup' | 'TeammateIdle' | 'TaskCreated' | 'TaskCompleted' | 'Elicitation' | 'ElicitationResult' | 'ConfigChange' | 'WorktreeCreate' | 'WorktreeRemove' | 'InstructionsLoaded' | 'CwdChanged' | 'FileChanged' | 'DirectoryAdded' | 'MessageDisplay' | 'PreSkillShellCommand';

export type HookInput = PreToolUseHookInput | PostToolUseHookInput | PostToolUseFailureHookInput | PostToolBatchHookInput | PermissionDeniedHookInput | NotificationHookInput | UserPromptSubmitHookInput | UserPromptExpansionHookInput | SessionStartHookInput | SessionEndHookInput | StopHookInput | StopFailureHookInput | SubagentStartHookInput | SubagentStopHookInput | PreCompactHookInput | PostCompactHookInput | PreModelSwitchHookInput | PostModelSwitchHookInput | PermissionRequestHookInput | SetupHookInput | TeammateIdleHookInput | TaskCreatedHookInput | TaskCompletedHookInput | ElicitationHookInput | ElicitationResultHookInput | ConfigChangeHookInput | InstructionsLoadedHookInput | WorktreeCreateHookInput | WorktreeRemoveHookInput | CwdChangedHookInput | FileChangedHookInput | DirectoryAddedHookInput | MessageDisplayHookInput | PreSkillShellCommandHookInput;

export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;

export type HookPermissionDecision = 'allow' | 'deny' | 'ask' | 'defer';

/** What the hook `InstructionsLoaded` is told. */
export type InstructionsLoadedHookInput = HookInputOf<'InstructionsLoaded', {
  file_path: string;
  memory_type: 'User' | 'Project' | 'Local' | 'Managed';
  load_reason: 'session_start' | 'nested_traversal' | 'path_glob_match' | 'include' | 'compact';
  globs?: string[];
  trigger_file_path?: string;
  parent_file_path?: string;
}>;

/** What the hook `MessageDisplay` is told. */
export type MessageDisplayHookInput = HookInputOf<'MessageDisplay', {
  turn_id: string;
  message_id: string;
  index: number;
  final: boolean;
  delta: string;
}>;

/** What the hook `MessageDisplay` can say beside the common fields. */
export type MessageDisplayHookSpecificOutput = HookOutputOf<'MessageDisplay', {
  displayContent?: string;
}>;

/** What the hook `Notification` is told. */
export type NotificationHookInput = HookInputOf<'Notification', {
  message: string;
  title?: string;
  notification_type: string;
}>;

/** What the hook `Notification` can say beside the common fields. */
export type NotificationHookSpecificOutput = HookOutputOf<'Notification', {
  additionalContext?: string;
}>;

/** What the hook `PermissionDenied` is told. */
export type PermissionDeniedHookInput = HookInputOf<'PermissionDenied', {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  reason: string;
  mcp_server?: McpServerProvenance;
}>;

/** What the hook `PermissionDenied` can say beside the common fields. */
export type PermissionDeniedHookSpecificOutput = HookOutputOf<'PermissionDenied', {
  retry?: boolean;
}>;

/** What the hook `PermissionRequest` is told. */
export type PermissionRequestHookInput = HookInputOf<'PermissionRequest', {
  tool_name: string;
  tool_input: unknown;
  permission_suggestions?: PermissionUpdate[];
  mcp_server?: McpServerProvenance;
}>;

/** What the hook `PermissionRequest` can say beside the common fields. */
export type PermissionRequestHookSpecificOutput = HookOutputOf<'PermissionRequest', {
  decision: {
    behavior: 'allow';
    updatedInput?: Record<string, unknown>;
    updatedPermissions?: PermissionUpdate[];
  } | {
    behavior: 'deny';
    message?: string;
    interrupt?: boolean;
  };
}>;

/** What the hook `PostCompact` is told. */
export type PostCompactHookInput = HookInputOf<'PostCompact', {
  trigger: 'manual' | 'auto';
  compact_summary: string;
}>;

/** What the hook `PostModelSwitch` is told. */
export type PostModelSwitchHookInput = (HookInputOf<'PostModelSwitch'>) & {
  from_model: string;
  to_model: string;
  requested_model: string | null;
  source: 'command' | 'picker' | 'sdk' | 'auto' | 'resume';
  context_tokens: number;
  prompt_cache_warm: boolean;
  cache_ttl: '5m' | '1h';
  estimated_cache_write_usd: number;
  pricing: 'configured' | 'catalog' | 'default';
};

/** What the hook `PostModelSwitch` can say beside the common fields. */
export type PostModelSwitchHookSpecificOutput = HookOutputOf<'PostModelSwitch', {
  additionalContext?: string;
}>;

/** What the hook `PostToolBatch` is told. */
export type PostToolBatchHookInput = HookInputOf<'PostToolBatch', {
  tool_calls: PostToolBatchToolCall[];
}>;

/** What the hook `PostToolBatch` can say beside the common fields. */
export type PostToolBatchHookSpecificOutput = HookOutputOf<'PostToolBatch', {
  additionalContext?: string;
}>;

export type PostToolBatchToolCall = {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  tool_response?: unknown;
};

/** What the hook `PostToolUseFailure` is told. */
export type PostToolUseFailureHookInput = HookInputOf<'PostToolUseFailure', {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  error: string;
  is_interrupt?: boolean;
  duration_ms?: number;
  mcp_server?: McpServerProvenance;
}>;

/** What the hook `PostToolUseFailure` can say beside the common fields. */
export type PostToolUseFailureHookSpecificOutput = HookOutputOf<'PostToolUseFailure', {
  additionalContext?: string;
}>;

/** What the hook `PostToolUse` is told. */
export type PostToolUseHookInput = HookInputOf<'PostToolUse', {
  tool_name: string;
  tool_input: unknown;
  tool_response: unknown;
  tool_use_id: string;
  duration_ms?: number;
  mcp_server?: McpServerProvenance;
}>;

/** What the hook `PostToolUse` can say beside the common fields. */
export type PostToolUseHookSpecificOutput = HookOutputOf<'PostToolUse', {
  additionalContext?: string;
  classifierContext?: string;
  updatedToolOutput?: unknown;
  updatedMCPToolOutput?: unknown;
}>;

/** What the hook `PreCompact` is told. */
export type PreCompactHookInput = HookInputOf<'PreCompact', {
  trigger: 'manual' | 'auto';
  custom_instructions: string | null;
}>;

/** What the hook `PreModelSwitch` is told. */
export type PreModelSwitchHookInput = (HookInputOf<'PreModelSwitch'>) & {
  from_model: string;
  to_model: string;
  requested_model: string | null;
  source: 'command' | 'picker' | 'sdk';
  context_tokens: number;
  prompt_cache_warm: boolean;
  cache_ttl: '5m' | '1h';
  estimated_cache_write_usd: number;
  pricing: 'configured' | 'catalog' | 'default';
};

/** What the hook `PreModelSwitch` can say beside the common fields. */
export type PreModelSwitchHookSpecificOutput = HookOutputOf<'PreModelSwitch', {
  permissionDecision?: 'allow' | 'deny' | 'ask';
  permissionDecisionReason?: string;
}>;

/** What the hook `PreSkillShellCommand` is told. */
export type PreSkillShellCommandHookInput = HookInputOf<'PreSkillShellCommand', {
  tool_name: string;
  tool_input: {
    command: string;
  };
  tool_use_id: string;
  command_name: string;
  command_source?: string;
  invoked_by: 'user' | 'claude' | 'other';
}>;

/** What the hook `PreSkillShellCommand` can say beside the common fields. */
export type PreSkillShellCommandHookSpecificOutput = HookOutputOf<'PreSkillShellCommand', {
  permissionDecision?: HookPermissionDecision;
  permissionDecisionReason?: string;
  updatedInput?: Record<string, unknown>;
}>;

/** What the hook `PreToolUse` is told. */
export type PreToolUseHookInput = HookInputOf<'PreToolUse', {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  mcp_server?: McpServerProvenance;
}>;

/** What the hook `PreToolUse` can say beside the common fields. */
export type PreToolUseHookSpecificOutput = HookOutputOf<'PreToolUse', {
  permissionDecision?: HookPermissionDecision;
  permissionDecisionReason?: string;
  updatedInput?: Record<string, unknown>;
  additionalContext?: string;
}>;

export type SessionCronSummary = {
  id: string;
  schedule: string;
  recurring: boolean;
  prompt: string;
};

/** What the hook `SessionEnd` is told. */
export type SessionEndHookInput = HookInputOf<'SessionEnd', {
  reason: ExitReason;
}>;

/** What the hook `SessionStart` is told. */
export type SessionStartHookInput = HookInputOf<'SessionStart', {
  source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
  agent_type?: string;
  model?: string;
  session_title?: string;
  seconds_since_last_response?: number;
  context_tokens?: number;
  prompt_cache_likely_expired?: boolean;
  estimated_cache_write_usd?: number;
}>;

/** What the hook `SessionStart` can say beside the common fields. */
export type SessionStartHookSpecificOutput = HookOutputOf<'SessionStart', {
  additionalContext?: string;
  initialUserMessage?: string;
  sessionTitle?: string;
  watchPaths?: string[];
  reloadSkills?: boolean;
}>;

/** What the hook `Setup` is told. */
export type SetupHookInput = HookInputOf<'Setup', {
  trigger: 'init' | 'maintenance';
}>;

/** What the hook `Setup` can say beside the common fields. */
export type SetupHookSpecificOutput = HookOutputOf<'Setup', {
  additionalContext?: string;
}>;

/** What the hook `StopFailure` is told. */
export type StopFailureHookInput = HookInputOf<'StopFailure', {
  error: SDKAssistantMessageError;
  error_details?: string;
  last_assistant_message?: string;
}>;

/** What the hook `Stop` is told. */
export type StopHookInput = HookInputOf<'Stop', {
  stop_hook_active: boolean;
  last_assistant_message?: string;
  background_tasks?: BackgroundTaskSummary[];
  session_crons?: SessionCronSummary[];
}>;

/** What the hook `Stop` can say beside the common fields. */
export type StopHookSpecificOutput = HookOutputOf<'Stop', {
  additionalContext?: string;
}>;

/** What the hook `SubagentStart` is told. */
export type SubagentStartHookInput = HookInputOf<'SubagentStart', {
  agent_id: string;
  agent_type: string;
}>;

/** What the hook `SubagentStart` can say beside the common fields. */
export type SubagentStartHookSpecificOutput = HookOutputOf<'SubagentStart', {
  additionalContext?: string;
}>;

/** What the hook `SubagentStop` is told. */
export type SubagentStopHookInput = HookInputOf<'SubagentStop', {
  stop_hook_active: boolean;
  agent_id: string;
  agent_transcript_path: string;
  agent_type: string;
  last_assistant_message?: string;
  background_tasks?: BackgroundTaskSummary[];
  session_crons?: SessionCronSummary[];
}>;

/** What the hook `SubagentStop` can say beside the common fields. */
export type SubagentStopHookSpecificOutput = HookOutputOf<'SubagentStop', {
  additionalContext?: string;
}>;

export type SyncHookJSONOutput = {
  continue?: boolean;
  suppressOutput?: boolean;
  stopReason?: string;
  decision?: 'approve' | 'block';
  systemMessage?: string;
  terminalSequence?: string;
  reason?: string;
  hookSpecificOutput?: PreToolUseHookSpecificOutput | UserPromptSubmitHookSpecificOutput | UserPromptExpansionHookSpecificOutput | SessionStartHookSpecificOutput | SetupHookSpecificOutput | PreModelSwitchHookSpecificOutput | PostModelSwitchHookSpecificOutput | SubagentStartHookSpecificOutput | PostToolUseHookSpecificOutput | PostToolUseFailureHookSpecificOutput | PostToolBatchHookSpecificOutput | StopHookSpecificOutput | SubagentStopHookSpecificOutput | PermissionDeniedHookSpecificOutput | NotificationHookSpecificOutput | PermissionRequestHookSpecificOutput | ElicitationHookSpecificOutput | ElicitationResultHookSpecificOutput | CwdChangedHookSpecificOutput | FileChangedHookSpecificOutput | WorktreeCreateHookSpecificOutput | MessageDisplayHookSpecificOutput | PreSkillShellCommandHookSpecificOutput;
};

/** What the hook `TaskCompleted` is told. */
export type TaskCompletedHookInput = HookInputOf<'TaskCompleted', {
  task_id: string;
  task_subject: string;
  task_description?: string;
  teammate_name?: string;
  team_name?: string;
}>;

/** What the hook `TaskCreated` is told. */
export type TaskCreatedHookInput = HookInputOf<'TaskCreated', {
  task_id: string;
  task_subject: string;
  task_description?: string;
  teammate_name?: string;
  team_name?: string;
}>;

/** What the hook `TeammateIdle` is told. */
export type TeammateIdleHookInput = HookInputOf<'TeammateIdle', {
  teammate_name: string;
  team_name: string;
}>;

/** What the hook `UserPromptExpansion` is told. */
export type UserPromptExpansionHookInput = HookInputOf<'UserPromptExpansion', {
  expansion_type: 'slash_command' | 'mcp_prompt';
  command_name: string;
  command_args: string;
  command_source?: string;
  prompt: string;
}>;

/** What the hook `UserPromptExpansion` can say beside the common fields. */
export type UserPromptExpansionHookSpecificOutput = HookOutputOf<'UserPromptExpansion', {
  additionalContext?: string;
  suppressOriginalPrompt?: boolean;
}>;

/** What the hook `UserPromptSubmit` is told. */
export type UserPromptSubmitHookInput = HookInputOf<'UserPromptSubmit', {
  prompt: string;
  source?: 'user' | 'sdk' | 'system' | 'loop_wakeup' | 'schedule_wakeup' | 'poll_event';
  session_title?: string;
}>;

/** What the hook `UserPromptSubmit` can say beside the common fields. */
export type UserPromptSubmitHookSpecificOutput = HookOutputOf<'UserPromptSubmit', {
  additionalContext?: string;
  sessionTitle?: string;
  suppressOriginalPrompt?: boolean;
}>;

/** What the hook `WorktreeCreate` is told. */
export type WorktreeCreateHookInput = HookInputOf<'WorktreeCreate', {
  name: string;
}>;

/** What the hook `WorktreeCreate` can say beside the common fields. */
export type WorktreeCreateHookSpecificOutput = HookOutputOf<'WorktreeCreate', {
  worktreePath: string;
}>;

/** What the hook `WorktreeRemove` is told. */
export type WorktreeRemoveHookInput = HookInputOf<'WorktreeRemove', {
  worktree_path: string;
}>;
