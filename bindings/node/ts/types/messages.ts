/** Messages of a conversation (protocol.md §5). */
import type { BetaMessage, BetaRawMessageStreamEvent, BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages.js';
import type { MessageParam } from '@anthropic-ai/sdk/resources';
import type { UUID } from 'node:crypto';
import type { SlashCommand } from './common.js';
import type { SDKContextUsage, SDKUsageReport } from './control.js';
import type { PermissionMode } from './permissions.js';

/** A message of a type, with what nearly every message carries. */
export type Stamped<Type extends string, Fields = unknown> = { type: Type; uuid: UUID; session_id: string } & Fields;

/** A message of type `system`. */
export type SystemMessage<Subtype extends string, Fields = unknown> = Stamped<'system', { subtype: Subtype } & Fields>;

export type ApiKeySource = 'ANTHROPIC_API_KEY' | 'apiKeyHelper' | '/login managed key' | 'none' | 'user' | 'project' | 'org' | 'temporary' | 'oauth';

export type FastModeDisabledReason = 'free' | 'preference' | 'extra_usage_disabled' | 'network_error' | 'unknown' | 'not_first_party' | 'disabled_by_env' | 'model_not_allowed' | 'sdk_opt_in_required' | 'pending';

export type FastModeState = 'off' | 'cooldown' | 'on';

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral5mInputTokens?: number;
  cacheCreationEphemeral1hInputTokens?: number;
  webSearchRequests: number;
  costUSD: number;
  contextWindow: number;
  maxOutputTokens: number;
  canonicalModel?: string;
  provider?: string;
  costBasis?: 'list' | 'managed' | 'unknown';
};

export type NonNullableUsage = {
  [K in keyof BetaUsage]: K extends 'fallback_credit' ? BetaUsage[K] : NonNullable<BetaUsage[K]>;
};

/** The `system` message `api_retry`. */
export type SDKAPIRetryMessage = SystemMessage<'api_retry', {
  attempt: number;
  max_retries: number;
  retry_delay_ms: number;
  error_status: number | null;
  error: SDKAssistantMessageError;
  no_response?: {
    waited_ms: number;
    retry_wait_ms: number;
  };
}>;

/** The message `active_goal`. */
export type SDKActiveGoalMessage = Stamped<'active_goal', {
  value: {
    condition: string;
    iterations: number;
    set_at: number;
    tokens_at_start: number;
    last_reason?: string;
  } | null;
}>;

/** The message `assistant`. */
export type SDKAssistantMessage = Stamped<'assistant', {
  message: BetaMessage;
  parent_tool_use_id: string | null;
  error?: SDKAssistantMessageError;
  request_id?: string;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  resume_reason?: string;
  resumed_from_incomplete_thinking?: true;
  supersedes?: UUID[];
  aborted?: true;
  agent_id?: string;
  subagent_type?: string;
  task_description?: string;
  timestamp?: string;
  context_usage?: SDKContextUsage;
  usage_report?: SDKUsageReport;
}>;

export type SDKAssistantMessageError = 'authentication_failed' | 'oauth_org_not_allowed' | 'account_on_hold' | 'verification_required' | 'billing_error' | 'rate_limit' | 'overloaded' | 'invalid_request' | 'model_not_found' | 'server_error' | 'unknown' | 'max_output_tokens' | 'cloud_credential_error';

/** The message `auth_status`. */
export type SDKAuthStatusMessage = Stamped<'auth_status', {
  isAuthenticating: boolean;
  output: string[];
  error?: string;
}>;

/** The `system` message `background_tasks_changed`. */
export type SDKBackgroundTasksChangedMessage = SystemMessage<'background_tasks_changed', {
  tasks: {
    task_id: string;
    run_id?: string;
    task_type: string;
    subagent_type?: string;
    description: string;
    parent_task_id?: string;
    ambient?: boolean;
  }[];
}>;

/** The `system` message `commands_changed`. */
export type SDKCommandsChangedMessage = SystemMessage<'commands_changed', {
  commands: SlashCommand[];
}>;

/** The `system` message `compact_boundary`. */
export type SDKCompactBoundaryMessage = SystemMessage<'compact_boundary', {
  compact_metadata: {
    trigger: 'manual' | 'auto';
    pre_tokens: number;
    post_tokens?: number;
    duration_ms?: number;
    preserved_segment?: {
      head_uuid: UUID;
      anchor_uuid: UUID;
      tail_uuid: UUID;
    };
    preserved_messages?: {
      anchor_uuid: UUID;
      uuids: UUID[];
    };
  };
}>;

/** The `system` message `control_request_progress`. */
export type SDKControlRequestProgressMessage = SystemMessage<'control_request_progress', {
  request_id: string;
  status: 'started' | 'api_retry';
  attempt?: number;
  max_retries?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
}>;

/** The message `conversation_reset`. */
export type SDKConversationResetMessage = Stamped<'conversation_reset', {
  new_conversation_id: UUID;
  trigger?: 'clear' | 'plan_mode_exit' | 'fresh_session' | 'onboarding';
  user_message_uuid?: string;
  timestamp?: string;
}>;

export type SDKDeferredToolUse = {
  id: string;
  name: string;
  input: Record<string, unknown>;
};

/** The `system` message `elicitation_complete`. */
export type SDKElicitationCompleteMessage = SystemMessage<'elicitation_complete', {
  mcp_server_name: string;
  elicitation_id: string;
}>;

/** The `system` message `files_persisted`. */
export type SDKFilesPersistedEvent = SystemMessage<'files_persisted', {
  files: {
    filename: string;
    file_id: string;
  }[];
  failed: {
    filename: string;
    error: string;
  }[];
  processed_at: string;
}>;

/** The `system` message `hook_progress`. */
export type SDKHookProgressMessage = SystemMessage<'hook_progress', {
  hook_id: string;
  hook_name: string;
  hook_event: string;
  stdout: string;
  stderr: string;
  output: string;
}>;

/** The `system` message `hook_response`. */
export type SDKHookResponseMessage = SystemMessage<'hook_response', {
  hook_id: string;
  hook_name: string;
  hook_event: string;
  output: string;
  stdout: string;
  stderr: string;
  exit_code?: number;
  outcome: 'success' | 'error' | 'cancelled';
}>;

/** The `system` message `hook_started`. */
export type SDKHookStartedMessage = SystemMessage<'hook_started', {
  hook_id: string;
  hook_name: string;
  hook_event: string;
}>;

/** The `system` message `informational`. */
export type SDKInformationalMessage = SystemMessage<'informational', {
  content: string;
  level: 'info' | 'notice' | 'suggestion' | 'warning';
  tool_use_id?: string;
  prevent_continuation?: boolean;
  tag?: string;
}>;

/** The `system` message `local_command_output`. */
export type SDKLocalCommandOutputMessage = SystemMessage<'local_command_output', {
  content: string;
}>;

export type SDKMcpResourceLink = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
};

/** The `system` message `memory_recall`. */
export type SDKMemoryRecallMessage = SystemMessage<'memory_recall', {
  mode: 'select' | 'synthesize';
  memories: {
    path: string;
    scope: 'personal' | 'team' | 'organization';
    content?: string;
  }[];
}>;

export type SDKMessage = SDKAssistantMessage | SDKUserMessage | SDKUserMessageReplay | SDKResultMessage | SDKSystemMessage | SDKPartialAssistantMessage | SDKCompactBoundaryMessage | SDKStatusMessage | SDKAPIRetryMessage | SDKControlRequestProgressMessage | SDKModelRefusalFallbackMessage | SDKModelRefusalNoFallbackMessage | SDKLocalCommandOutputMessage | SDKHookStartedMessage | SDKHookProgressMessage | SDKHookResponseMessage | SDKPluginInstallMessage | SDKToolProgressMessage | SDKAuthStatusMessage | SDKTaskNotificationMessage | SDKTaskStartedMessage | SDKTaskUpdatedMessage | SDKTaskProgressMessage | SDKBackgroundTasksChangedMessage | SDKThinkingTokensMessage | SDKSessionStateChangedMessage | SDKWorkerShuttingDownMessage | SDKCommandsChangedMessage | SDKNotificationMessage | SDKFilesPersistedEvent | SDKToolUseSummaryMessage | SDKMemoryRecallMessage | SDKRateLimitEvent | SDKElicitationCompleteMessage | SDKPermissionDeniedMessage | SDKPromptSuggestionMessage | SDKMirrorErrorMessage | SDKInformationalMessage | SDKConversationResetMessage | SDKSessionWritesLostMessage;

export type SDKMessageOrigin = {
  kind: 'human';
} | {
  kind: 'channel';
  server: string;
} | {
  kind: 'peer';
  from: string;
  fromMode?: 'bypass' | 'prompting';
  name?: string;
  fromSession?: string;
  senderTaskId?: string;
  body?: string;
  verifiedPeerPid?: number;
} | {
  kind: 'task-notification';
  subkind?: 'scheduled-trigger' | 'peer-send-message' | 'projects-relay' | 'session-inbox' | 'external-event';
  fireReason?: string;
  runId?: string;
} | {
  kind: 'coordinator';
} | {
  kind: 'unclassified';
} | {
  kind: 'observer';
  from: string;
  senderTaskId: string;
} | {
  kind: 'auto-continuation';
} | {
  kind: 'observer-activity';
};

/** The `system` message `mirror_error`. */
export type SDKMirrorErrorMessage = SystemMessage<'mirror_error', {
  error: string;
  key: {
    projectKey: string;
    sessionId: string;
    subpath?: string;
  };
}>;

/** The `system` message `model_refusal_fallback`. */
export type SDKModelRefusalFallbackMessage = SystemMessage<'model_refusal_fallback', {
  trigger: 'refusal';
  direction: 'retry' | 'revert' | 'sticky';
  scope?: 'session' | 'local';
  original_model: string;
  fallback_model: string;
  request_id: string | null;
  api_refusal_category?: string | null;
  api_refusal_explanation?: string | null;
  retracted_message_uuids?: string[];
  refused_user_message_uuid?: string | null;
  content: string;
}>;

/** The `system` message `model_refusal_no_fallback`. */
export type SDKModelRefusalNoFallbackMessage = SystemMessage<'model_refusal_no_fallback', {
  original_model: string;
  request_id: string | null;
  api_refusal_category?: string | null;
  api_refusal_explanation?: string | null;
  refused_user_message_uuid?: string | null;
  content: string;
}>;

/** The `system` message `notification`. */
export type SDKNotificationMessage = SystemMessage<'notification', {
  key: string;
  text: string;
  priority: 'low' | 'medium' | 'high' | 'immediate';
  color?: string;
  timeout_ms?: number;
}>;

/** The message `stream_event`. */
export type SDKPartialAssistantMessage = Stamped<'stream_event', {
  event: BetaRawMessageStreamEvent;
  parent_tool_use_id: string | null;
  ttft_ms?: number;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  resume_reason?: string;
}>;

export type SDKPermissionDenial = {
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
};

/** The `system` message `permission_denied`. */
export type SDKPermissionDeniedMessage = SystemMessage<'permission_denied', {
  tool_name: string;
  tool_use_id: string;
  agent_id?: string;
  decision_reason_type?: string;
  decision_reason?: string;
  message: string;
}>;

/** The `system` message `plugin_install`. */
export type SDKPluginInstallMessage = SystemMessage<'plugin_install', {
  status: 'started' | 'installed' | 'failed' | 'completed';
  name?: string;
  error?: string;
}>;

/** The message `prompt_suggestion`. */
export type SDKPromptSuggestionMessage = Stamped<'prompt_suggestion', {
  suggestion: string;
}>;

/** The message `rate_limit_event`. */
export type SDKRateLimitEvent = Stamped<'rate_limit_event', {
  rate_limit_info: SDKRateLimitInfo;
}>;

export type SDKRateLimitInfo = {
  status: 'allowed' | 'allowed_warning' | 'rejected';
  resetsAt?: number;
  rateLimitType?: 'five_hour' | 'seven_day' | 'seven_day_opus' | 'seven_day_sonnet' | 'seven_day_overage_included' | 'overage';
  utilization?: number;
  overageStatus?: 'allowed' | 'allowed_warning' | 'rejected';
  overageResetsAt?: number;
  overageDisabledReason?: 'overage_not_provisioned' | 'org_level_disabled' | 'org_level_disabled_until' | 'out_of_credits' | 'seat_tier_level_disabled' | 'member_level_disabled' | 'seat_tier_zero_credit_limit' | 'group_zero_credit_limit' | 'member_zero_credit_limit' | 'org_service_level_disabled' | 'no_limits_configured' | 'fetch_error' | 'unknown';
  isUsingOverage?: boolean;
  overageInUse?: boolean;
  overageEnabled?: boolean;
  surpassedThreshold?: number;
  limitScope?: 'service' | 'channel' | 'group_pool';
  errorCode?: 'credits_required';
  canUserPurchaseCredits?: boolean;
  hasChargeableSavedPaymentMethod?: boolean;
};

/** The message `result`. */
export type SDKResultError = Stamped<'result', {
  subtype: 'error_during_execution' | 'error_max_turns' | 'error_max_budget_usd' | 'error_max_structured_output_retries';
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  num_turns: number;
  stop_reason: string | null;
  total_cost_usd: number;
  usage: NonNullableUsage;
  modelUsage: Record<string, ModelUsage>;
  permission_denials: SDKPermissionDenial[];
  queued_turn_count?: number;
  errors: string[];
  startup_failure_reason?: SDKStartupFailureReason;
  invalid_config_file?: {
    path: string;
    is_global: boolean;
    backup_searched: boolean;
    backup_path?: string;
  };
  user_message_uuid?: string;
  user_message_uuids?: string[];
  resume_reason?: string;
  terminal_reason?: TerminalReason;
  result_index?: number;
  credential_expires_at?: string;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
  origin?: SDKMessageOrigin;
}>;

export type SDKResultMessage = SDKResultSuccess | SDKResultError;

/** The `result` message `success`. */
export type SDKResultSuccess = Stamped<'result', {
  subtype: 'success';
  duration_ms: number;
  duration_api_ms: number;
  ttft_ms?: number;
  ttft_stream_ms?: number;
  time_to_request_ms?: number;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  resume_reason?: string;
  local_command?: string;
  request_sent_wall_ms?: number;
  first_content_frame_ms?: number;
  first_stream_post_ms?: number;
  first_stream_post_ack_ms?: number;
  first_stream_post_queue_wait_ms?: number;
  first_stream_post_queued_behind?: 'durable_post' | 'ephemeral_post' | 'retry_backoff' | 'hold' | 'none';
  first_stream_post_wall_ms?: number;
  first_text_post_ms?: number;
  first_text_post_queue_wait_ms?: number;
  first_text_post_queued_behind?: 'durable_post' | 'ephemeral_post' | 'retry_backoff' | 'hold' | 'none';
  first_text_post_wall_ms?: number;
  time_to_request_from_spawn_ms?: number;
  warm_spare_claimed?: boolean;
  time_origin_ms?: number;
  is_error: boolean;
  api_error_status?: number | null;
  num_turns: number;
  result: string;
  stop_reason: string | null;
  total_cost_usd: number;
  usage: NonNullableUsage;
  modelUsage: Record<string, ModelUsage>;
  permission_denials: SDKPermissionDenial[];
  queued_turn_count?: number;
  structured_output?: unknown;
  deferred_tool_use?: SDKDeferredToolUse;
  terminal_reason?: TerminalReason;
  result_index?: number;
  credential_expires_at?: string;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
  origin?: SDKMessageOrigin;
}>;

export type SDKSessionInfo = {
  sessionId: string;
  summary: string;
  lastModified: number;
  fileSize?: number;
  customTitle?: string;
  firstPrompt?: string;
  gitBranch?: string;
  cwd?: string;
  tag?: string;
  createdAt?: number;
  archived?: boolean;
};

/** The `system` message `session_state_changed`. */
export type SDKSessionStateChangedMessage = SystemMessage<'session_state_changed', {
  state: 'idle' | 'running' | 'requires_action';
}>;

/** The `system` message `session_writes_lost`. */
export type SDKSessionWritesLostMessage = SystemMessage<'session_writes_lost', {
  error_code: 'ENOSPC' | 'EDQUOT';
  lost: ('transcript' | 'global_config')[];
  transcript_session_ids?: string[];
}>;

export type SDKStartupFailureReason = 'org_pin_api_key_conflict' | 'provider_not_allowed' | 'org_verify_failed' | 'org_pin_mismatch' | 'managed_settings_invalid' | 'remote_settings_required_unavailable' | 'gateway_signin_required' | 'gateway_access_denied' | 'proxy_invalid' | 'temp_dir_unusable' | 'cwd_unavailable' | 'shell_tool_missing' | 'session_held_by_background' | 'worktree_resume_refused' | 'worktree_unverified' | 'cli_version_too_old' | 'bypass_root' | 'org_config_required_unavailable' | 'org_config_refused' | 'sandbox_required_unavailable' | 'initialize_not_first' | 'config_file_invalid' | 'managed_settings_not_delivered' | 'initialize_fields_not_delivered' | 'sideload_flags_disabled';

export type SDKStatus = 'compacting' | 'requesting' | null;

/** The `system` message `status`. */
export type SDKStatusMessage = SystemMessage<'status', {
  status: SDKStatus;
  permissionMode?: PermissionMode;
  compact_result?: 'success' | 'failed';
  compact_error?: string;
}>;

/** The `system` message `init`. */
export type SDKSystemMessage = SystemMessage<'init', {
  agents?: string[];
  apiKeySource: ApiKeySource;
  betas?: string[];
  claude_code_version: string;
  cwd: string;
  tools: string[];
  mcp_servers: {
    name: string;
    status: string;
    source?: string;
  }[];
  model: string;
  permissionMode: PermissionMode;
  slash_commands: string[];
  terminal_slash_commands?: string[];
  output_style: string;
  skills: string[];
  plugins: {
    name: string;
    path: string;
    version?: string;
  }[];
  plugin_errors?: {
    plugin: string;
    type: string;
    message: string;
    path?: string;
    managed_lock?: {
      plugin_enabled: boolean;
      name: string;
      marketplace?: string;
    };
  }[];
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
  effort?: ('low' | 'medium' | 'high' | 'xhigh' | 'max') | null;
  view_mode?: 'focus' | 'default';
  capabilities?: string[];
}>;

/** The `system` message `task_notification`. */
export type SDKTaskNotificationMessage = SystemMessage<'task_notification', {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  status: 'completed' | 'failed' | 'stopped';
  reason?: 'worker_restart';
  output_file: string;
  summary: string;
  usage?: {
    total_tokens: number;
    tool_uses: number;
    duration_ms: number;
  };
  resource_links?: SDKMcpResourceLink[];
  skip_transcript?: boolean;
  ambient?: boolean;
}>;

/** The `system` message `task_progress`. */
export type SDKTaskProgressMessage = SystemMessage<'task_progress', {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  description: string;
  subagent_type?: string;
  usage: {
    total_tokens: number;
    tool_uses: number;
    duration_ms: number;
  };
  last_tool_name?: string;
  summary?: string;
}>;

/** The `system` message `task_started`. */
export type SDKTaskStartedMessage = SystemMessage<'task_started', {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  description: string;
  subagent_type?: string;
  is_backgrounded?: boolean;
  spawn_depth?: number;
  parent_task_id?: string;
  task_type?: string;
  workflow_name?: string;
  prompt?: string;
  skip_transcript?: boolean;
  ambient?: boolean;
}>;

/** The `system` message `task_updated`. */
export type SDKTaskUpdatedMessage = SystemMessage<'task_updated', {
  task_id: string;
  run_id?: string;
  patch: {
    status?: 'pending' | 'running' | 'completed' | 'failed' | 'killed' | 'paused';
    description?: string;
    end_time?: number;
    total_paused_ms?: number;
    error?: string;
    is_backgrounded?: boolean;
  };
}>;

/** The `system` message `thinking_tokens`. */
export type SDKThinkingTokensMessage = SystemMessage<'thinking_tokens', {
  estimated_tokens: number;
  estimated_tokens_delta: number;
  user_message_uuid?: string;
}>;

/** The message `tool_progress`. */
export type SDKToolProgressMessage = Stamped<'tool_progress', {
  tool_use_id: string;
  tool_name: string;
  parent_tool_use_id: string | null;
  elapsed_time_seconds: number;
  task_id?: string;
  heartbeat?: boolean;
  subagent_type?: string;
  subagent_retry?: {
    agent_id: string;
    attempt: number;
    max_retries: number;
    retry_delay_ms: number;
    error_status: number | null;
    error_category: string;
  };
}>;

/** The message `tool_use_summary`. */
export type SDKToolUseSummaryMessage = Stamped<'tool_use_summary', {
  summary: string;
  preceding_tool_use_ids: string[];
}>;

/** The message `user`. */
export type SDKUserMessage = {
  type: 'user';
  message: MessageParam;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  uuid?: UUID;
  pasted_content?: MessageParam['content'][];
  inline_pastes?: string[];
  session_id?: string;
  agent_id?: string;
  subagent_type?: string;
  task_description?: string;
};

/** The message `user`. */
export type SDKUserMessageReplay = Stamped<'user', {
  message: MessageParam;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  isReplay: true;
  file_attachments?: unknown[];
}>;

/** The `system` message `worker_shutting_down`. */
export type SDKWorkerShuttingDownMessage = SystemMessage<'worker_shutting_down', {
  reason: string;
}>;

export type TerminalReason = 'blocking_limit' | 'rapid_refill_breaker' | 'prompt_too_long' | 'image_error' | 'model_error' | 'api_error' | 'malformed_tool_use_exhausted' | 'aborted_streaming' | 'aborted_tools' | 'stop_hook_prevented' | 'hook_stopped' | 'tool_deferred' | 'max_turns' | 'background_requested' | 'completed' | 'budget_exhausted' | 'structured_output_retry_exhausted' | 'tool_deferred_unavailable' | 'turn_setup_failed';
