/** Control requests and their answers (protocol.md §8). */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { AccountInfo, AgentDefinition, AgentInfo, ModelInfo, SdkPluginConfig, SlashCommand } from './common.js';
import type { HookEvent, HookInput } from './hooks.js';
import type { McpServerConfigForProcessTransport, McpServerProvenance, McpServerStatus, McpServerToolPolicy } from './mcp-config.js';
import type { FastModeDisabledReason, FastModeState, ModelUsage } from './messages.js';
import type { PermissionMode, PermissionUpdate } from './permissions.js';

/** The control request `error`. */
export type ControlErrorResponse = {
  subtype: 'error';
  request_id: string;
  error: string;
  pending_permission_requests?: SDKControlRequest[];
  pending_user_dialog_requests?: SDKControlRequest[];
  pending_elicitation_requests?: SDKControlRequest[];
};

/** The control request `success`. */
export type ControlResponse = {
  subtype: 'success';
  request_id: string;
  response?: Record<string, unknown>;
  pending_permission_requests?: SDKControlRequest[];
  pending_user_dialog_requests?: SDKControlRequest[];
  pending_elicitation_requests?: SDKControlRequest[];
};

export type McpSetServersResult = {
  added: string[];
  removed: string[];
  errors: Record<string, string>;
};

export type RewindFilesResult = {
  canRewind: boolean;
  error?: string;
  filesChanged?: string[];
  insertions?: number;
  deletions?: number;
  skippedLinks?: number;
};

export type SDKContextUsage = {
  model: string;
  total_tokens: number;
  raw_max_tokens: number;
  percentage: number;
  over_limit?: {
    tokens_over: number;
    kind: 'hard_limit' | 'compaction_window';
  };
  categories: SDKContextUsageCategory[];
  mcp_tools: {
    name: string;
    server_name: string;
    tokens: number;
  }[];
  memory_files: {
    path: string;
    type: string;
    tokens: number;
  }[];
  agents: {
    agent_type: string;
    source: string;
    tokens: number;
  }[];
  skills?: {
    name: string;
    source: string;
    plugin_name?: string;
    tokens: number;
  }[];
};

export type SDKContextUsageCategory = {
  name: string;
  tokens: number;
  kind: 'used' | 'free' | 'buffer' | 'deferred';
};

/** The control request `apply_flag_settings`. */
export type SDKControlApplyFlagSettingsRequest = {
  subtype: 'apply_flag_settings';
  settings: Record<string, unknown>;
};

/** The control request `background_tasks`. */
export type SDKControlBackgroundTasksRequest = {
  subtype: 'background_tasks';
  tool_use_id?: string;
};

/** The control request `cancel_async_message`. */
export type SDKControlCancelAsyncMessageRequest = {
  subtype: 'cancel_async_message';
  message_uuid: string;
};

/** The message `control_cancel_request`. */
export type SDKControlCancelRequest = {
  type: 'control_cancel_request';
  request_id: string;
};

/** The control request `elicitation`. */
export type SDKControlElicitationRequest = {
  subtype: 'elicitation';
  mcp_server_name: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitation_id?: string;
  requested_schema?: Record<string, unknown>;
  property_order?: string[];
  title?: string;
  display_name?: string;
  description?: string;
};

/** The control request `file_suggestions`. */
export type SDKControlFileSuggestionsRequest = {
  subtype: 'file_suggestions';
  query: string;
};

/** The control request `get_binary_version`. */
export type SDKControlGetBinaryVersionRequest = {
  subtype: 'get_binary_version';
};

/** The control request `get_context_usage`. */
export type SDKControlGetContextUsageRequest = {
  subtype: 'get_context_usage';
  detail?: 'summary' | 'full';
};

/** The answer to the control request get_context_usage. */
export type SDKControlGetContextUsageResponse = {
  categories: {
    id?: 'system_prompt' | 'system_tools' | 'mcp_tools' | 'mcp_instructions' | 'mcp_tools_deferred' | 'system_tools_deferred' | 'custom_agents' | 'memory_files' | 'skills' | 'messages' | 'autocompact_buffer' | 'compact_buffer' | 'free_space';
    name: string;
    tokens: number;
    color: string;
    isDeferred?: boolean;
    kind: 'used' | 'free' | 'buffer' | 'deferred';
  }[];
  totalTokens: number;
  maxTokens: number;
  rawMaxTokens: number;
  percentage: number;
  gridRows: {
    color: string;
    isFilled: boolean;
    categoryName: string;
    tokens: number;
    percentage: number;
    squareFullness: number;
  }[][];
  model: string;
  memoryFiles: {
    path: string;
    type: string;
    tokens: number;
  }[];
  mcpTools: {
    name: string;
    serverName: string;
    tokens: number;
    isLoaded?: boolean;
  }[];
  mcpInstructions?: {
    serverName: string;
    tokens: number;
  }[];
  deferredBuiltinTools?: {
    name: string;
    tokens: number;
    isLoaded: boolean;
  }[];
  systemTools?: {
    name: string;
    tokens: number;
  }[];
  systemPromptSections?: {
    name: string;
    tokens: number;
  }[];
  agents: {
    agentType: string;
    source: string;
    pluginId?: string;
    path?: string;
    tokens: number;
  }[];
  slashCommands?: {
    totalCommands: number;
    includedCommands: number;
    tokens: number;
  };
  skills?: {
    totalSkills: number;
    includedSkills: number;
    tokens: number;
    skillFrontmatter: {
      name: string;
      source: string;
      pluginName?: string;
      pluginId?: string;
      path?: string;
      tokens: number;
    }[];
  };
  autoCompactThreshold?: number;
  isAutoCompactEnabled: boolean;
  messageBreakdown?: {
    toolCallTokens: number;
    toolResultTokens: number;
    attachmentTokens: number;
    assistantMessageTokens: number;
    userMessageTokens: number;
    redirectedContextTokens: number;
    unattributedTokens: number;
    toolCallsByType: {
      name: string;
      callTokens: number;
      resultTokens: number;
    }[];
    attachmentsByType: {
      name: string;
      tokens: number;
    }[];
  };
  apiUsage: {
    input_tokens: number;
    output_tokens: number;
    cache_creation_input_tokens: number;
    cache_read_input_tokens: number;
  } | null;
};

/** The control request `get_hooks_listing`. */
export type SDKControlGetHooksListingRequest = {
  subtype: 'get_hooks_listing';
};

/** The control request `get_session_cost`. */
export type SDKControlGetSessionCostRequest = {
  subtype: 'get_session_cost';
};

/** The control request `get_settings`. */
export type SDKControlGetSettingsRequest = {
  subtype: 'get_settings';
};

/** The control request `get_task_output`. */
export type SDKControlGetTaskOutputRequest = {
  subtype: 'get_task_output';
  task_id: string;
};

/** The control request `get_usage`. */
export type SDKControlGetUsageRequest = {
  subtype: 'get_usage';
  skip_behaviors?: boolean;
};

/** The answer to the control request get_usage. */
export type SDKControlGetUsageResponse = {
  session: {
    total_cost_usd: number;
    total_api_duration_ms: number;
    total_duration_ms: number;
    total_lines_added: number;
    total_lines_removed: number;
    model_usage: Record<string, ModelUsage>;
  };
  subscription_type: string | null;
  rate_limits_available: boolean;
  rate_limits: {
    five_hour?: {
      utilization: number | null;
      resets_at: string | null;
    } | null;
    seven_day?: {
      utilization: number | null;
      resets_at: string | null;
    } | null;
    seven_day_oauth_apps?: {
      utilization: number | null;
      resets_at: string | null;
    } | null;
    seven_day_opus?: {
      utilization: number | null;
      resets_at: string | null;
    } | null;
    seven_day_sonnet?: {
      utilization: number | null;
      resets_at: string | null;
    } | null;
    model_scoped?: {
      display_name: string;
      utilization: number | null;
      resets_at: string | null;
    }[];
    extra_usage?: {
      is_enabled: boolean;
      monthly_limit: number | null;
      used_credits: number | null;
      utilization: number | null;
      currency?: string | null;
    } | null;
  } | null;
  behaviors: {
    day: {
      request_count: number;
      session_count: number;
      behaviors: {
        key: 'cache_miss' | 'long_context' | 'subagent_heavy' | 'high_parallel' | 'cron' | 'max_effort' | 'workflow' | 'always_on_context' | 'large_tool_results';
        pct: number;
        count: number;
      }[];
      recommendations?: {
        key: string;
        pct: number;
        title: string;
        detail?: string;
      }[];
      fix?: {
        keys: string[];
        messages: string[];
      };
      agents: {
        name: string;
        pct: number;
      }[];
      skills: {
        name: string;
        pct: number;
      }[];
      plugins: {
        name: string;
        pct: number;
      }[];
      mcp_servers: {
        name: string;
        pct: number;
      }[];
    };
    week: {
      request_count: number;
      session_count: number;
      behaviors: {
        key: 'cache_miss' | 'long_context' | 'subagent_heavy' | 'high_parallel' | 'cron' | 'max_effort' | 'workflow' | 'always_on_context' | 'large_tool_results';
        pct: number;
        count: number;
      }[];
      recommendations?: {
        key: string;
        pct: number;
        title: string;
        detail?: string;
      }[];
      fix?: {
        keys: string[];
        messages: string[];
      };
      agents: {
        name: string;
        pct: number;
      }[];
      skills: {
        name: string;
        pct: number;
      }[];
      plugins: {
        name: string;
        pct: number;
      }[];
      mcp_servers: {
        name: string;
        pct: number;
      }[];
    };
  } | null;
};

/** The control request `initialize`. */
export type SDKControlInitializeRequest = {
  subtype: 'initialize';
  hooks?: Partial<Record<HookEvent, SDKHookCallbackMatcher[]>>;
  sdkMcpServers?: string[];
  sdkMcpServerConfigs?: Record<string, {
    timeout?: number;
    tools?: McpServerToolPolicy[];
  }>;
  sdkMcpServerManifests?: Record<string, {
    initializeResult: Record<string, unknown>;
    toolsListResult?: Record<string, unknown>;
  }>;
  sdkMcpServerManifestsOrigin?: 'host_per_send';
  jsonSchema?: Record<string, unknown>;
  systemPrompt?: string[];
  appendSystemPrompt?: string;
  systemPromptSnapshot?: boolean;
  planModeInstructions?: string;
  toolAliases?: Record<string, string>;
  excludeDynamicSections?: boolean;
  agents?: Record<string, AgentDefinition>;
  title?: string;
  skills?: string[];
  promptSuggestions?: boolean;
  agentProgressSummaries?: boolean;
  forwardSubagentText?: boolean;
  supportedDialogKinds?: string[];
  perTaskStopAffordance?: boolean;
  plugins?: SdkPluginConfig[];
  mcpServers?: Record<string, McpServerConfigForProcessTransport>;
};

/** The answer to the control request initialize. */
export type SDKControlInitializeResponse = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  output_style: string;
  available_output_styles: string[];
  models: ModelInfo[];
  account: AccountInfo;
  hooks_applied?: boolean;
  hook_on_failure_supported?: boolean;
  plugins_applied?: boolean;
  mcp_servers_applied?: boolean;
  sdk_mcp_manifests_parked?: Record<string, 'parked' | 'already_connected' | 'protocol_version_mismatch' | 'malformed' | 'not_honoured'>;
  claude_code_version?: string;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
};

/** The control request `interrupt`. */
export type SDKControlInterruptRequest = {
  subtype: 'interrupt';
  cancel_queued?: boolean;
};

/** The answer to the control request interrupt. */
export type SDKControlInterruptResponse = {
  still_queued: string[];
  cancelled?: string[];
};

/** The control request `list_models`. */
export type SDKControlListModelsRequest = {
  subtype: 'list_models';
};

/** The control request `list_permission_rules`. */
export type SDKControlListPermissionRulesRequest = {
  subtype: 'list_permission_rules';
};

/** The answer to the control request list_permission_rules. */
export type SDKControlListPermissionRulesResponse = {
  state: SDKControlPermissionRulesState;
};

/** The control request `mcp_call`. */
export type SDKControlMcpCallRequest = {
  subtype: 'mcp_call';
  tool: string;
  arguments?: Record<string, unknown>;
  soft_error_result?: boolean;
  expires_at?: string;
  timeout_ms?: number;
  result_not_for_model?: boolean;
  check_permissions?: boolean;
  input_files?: {
    name: string;
    lane_path: string;
  }[];
  output_files?: {
    name: string;
    lane_path: string;
    if_match?: string;
  }[];
};

/** The control request `mcp_message`. */
export type SDKControlMcpMessageRequest = {
  subtype: 'mcp_message';
  server_name: string;
  message: JSONRPCMessage;
};

/** The control request `mcp_read_resource`. */
export type SDKControlMcpReadResourceRequest = {
  subtype: 'mcp_read_resource';
  serverName: string;
  uri: string;
};

/** The answer to the control request mcp_read_resource. */
export type SDKControlMcpReadResourceResponse = {
  contents: {
    uri: string;
    mimeType?: string;
    text?: string;
    blob?: string;
    _meta?: Record<string, unknown>;
  }[];
};

/** The control request `mcp_reconnect`. */
export type SDKControlMcpReconnectRequest = {
  subtype: 'mcp_reconnect';
  serverName: string;
};

/** The control request `mcp_set_servers`. */
export type SDKControlMcpSetServersRequest = {
  subtype: 'mcp_set_servers';
  servers: Record<string, McpServerConfigForProcessTransport>;
};

/** The control request `mcp_status`. */
export type SDKControlMcpStatusRequest = {
  subtype: 'mcp_status';
  liveReply?: boolean;
};

/** The control request `mcp_toggle`. */
export type SDKControlMcpToggleRequest = {
  subtype: 'mcp_toggle';
  serverName: string;
  enabled: boolean;
};

/** The control request `can_use_tool`. */
export type SDKControlPermissionRequest = {
  subtype: 'can_use_tool';
  tool_name: string;
  mcp_server?: McpServerProvenance;
  input: Record<string, unknown>;
  permission_suggestions?: PermissionUpdate[];
  blocked_path?: string;
  decision_reason?: string;
  decision_reason_type?: 'rule' | 'mode' | 'subcommandResults' | 'permissionPromptTool' | 'hook' | 'asyncAgent' | 'sandboxOverride' | 'workingDir' | 'safetyCheck' | 'classifier' | 'other';
  classifier_approvable?: boolean;
  suppress_always_allow_rule?: boolean;
  default_to_no?: boolean;
  matched_ask_rule?: {
    source: string;
    tool_name: string;
    rule_content?: string;
  };
  title?: string;
  display_name?: string;
  tool_use_id: string;
  agent_id?: string;
  description?: string;
  requires_user_interaction?: boolean;
};

export type SDKControlPermissionRulesState = {
  rules: SDKPermissionRuleEntry[];
  workspaceDirectories: SDKPermissionWorkspaceDirectory[];
  originalCwd: string;
  managedOnly: boolean;
  errors?: SDKSettingsParseError[];
  withheld?: boolean;
};

/** The control request `read_file`. */
export type SDKControlReadFileRequest = {
  subtype: 'read_file';
  path: string;
  max_bytes?: number;
  encoding?: 'utf-8' | 'base64';
};

/** The answer to the control request read_file. */
export type SDKControlReadFileResponse = {
  contents: string;
  absPath: string;
  truncated?: boolean;
  encoding?: 'base64';
  lossy?: boolean;
};

/** The control request `register_repo_root`. */
export type SDKControlRegisterRepoRootRequest = {
  subtype: 'register_repo_root';
  directory: string;
  reload_claude_md?: boolean;
  reload_plugins?: boolean;
  reload_skills?: boolean;
};

/** The control request `reload_output_styles`. */
export type SDKControlReloadOutputStylesRequest = {
  subtype: 'reload_output_styles';
};

/** The answer to the control request reload_output_styles. */
export type SDKControlReloadOutputStylesResponse = {
  available_output_styles: string[];
};

/** The control request `reload_plugins`. */
export type SDKControlReloadPluginsRequest = {
  subtype: 'reload_plugins';
  hold_on_cache_impact?: boolean;
  add_plugins?: SdkPluginConfig[];
  refuse_if_busy?: boolean;
};

/** The answer to the control request reload_plugins. */
export type SDKControlReloadPluginsResponse = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  plugins: {
    name: string;
    path: string;
    source?: string;
    version?: string;
  }[];
  mcpServers: McpServerStatus[];
  error_count: number;
  held?: boolean;
  cache_impact?: {
    mcp_servers_added: string[];
    mcp_servers_removed: string[];
    lsp_tool_change: ('adds' | 'may-add' | 'removes' | 'may-remove') | null;
  };
};

/** The control request `reload_skills`. */
export type SDKControlReloadSkillsRequest = {
  subtype: 'reload_skills';
};

/** The answer to the control request reload_skills. */
export type SDKControlReloadSkillsResponse = {
  skills: SlashCommand[];
};

/** The control request `rename_session`. */
export type SDKControlRenameSessionRequest = {
  subtype: 'rename_session';
  title: string;
  source?: 'remote' | 'host';
  session_id?: string;
};

/** The message `control_request`. */
export type SDKControlRequest = {
  type: 'control_request';
  request_id: string;
  request: SDKControlRequestInner;
};

export type SDKControlRequestInner = SDKControlInterruptRequest | SDKControlPermissionRequest | SDKControlInitializeRequest | SDKControlSetPermissionModeRequest | SDKControlSetModelRequest | SDKControlSetMaxThinkingTokensRequest | SDKControlRenameSessionRequest | SDKControlSetColorRequest | SDKControlMcpStatusRequest | SDKControlGetContextUsageRequest | SDKControlGetSessionCostRequest | SDKControlListModelsRequest | SDKControlGetUsageRequest | SDKControlGetBinaryVersionRequest | SDKControlMcpCallRequest | SDKControlFileSuggestionsRequest | SDKHookCallbackRequest | SDKControlMcpMessageRequest | SDKControlRewindFilesRequest | SDKControlCancelAsyncMessageRequest | SDKControlReadFileRequest | SDKControlSeedReadStateRequest | SDKControlMcpSetServersRequest | SDKControlRegisterRepoRootRequest | SDKControlReloadPluginsRequest | SDKControlReloadSkillsRequest | SDKControlReloadOutputStylesRequest | SDKControlMcpReconnectRequest | SDKControlMcpToggleRequest | SDKControlSetHasSubscribersRequest | SDKControlStopTaskRequest | SDKControlBackgroundTasksRequest | SDKControlGetTaskOutputRequest | SDKControlApplyFlagSettingsRequest | SDKControlGetSettingsRequest | SDKControlGetHooksListingRequest | SDKControlUpdateSettingsRequest | SDKControlElicitationRequest | SDKControlRequestUserDialogRequest | SDKControlListPermissionRulesRequest | SDKControlMcpReadResourceRequest;

/** The control request `request_user_dialog`. */
export type SDKControlRequestUserDialogRequest = {
  subtype: 'request_user_dialog';
  dialog_kind: string;
  payload: Record<string, unknown>;
  tool_use_id?: string;
};

/** The message `control_response`. */
export type SDKControlResponse = {
  type: 'control_response';
  response: ControlResponse | ControlErrorResponse;
};

/** The control request `rewind_files`. */
export type SDKControlRewindFilesRequest = {
  subtype: 'rewind_files';
  user_message_id: string;
  dry_run?: boolean;
};

/** The control request `seed_read_state`. */
export type SDKControlSeedReadStateRequest = {
  subtype: 'seed_read_state';
  path: string;
  mtime: number;
};

/** The control request `set_color`. */
export type SDKControlSetColorRequest = {
  subtype: 'set_color';
  color: string;
};

/** The control request `set_has_subscribers`. */
export type SDKControlSetHasSubscribersRequest = {
  subtype: 'set_has_subscribers';
  has_subscribers: boolean | null;
};

/** The control request `set_max_thinking_tokens`. */
export type SDKControlSetMaxThinkingTokensRequest = {
  subtype: 'set_max_thinking_tokens';
  max_thinking_tokens?: number | null;
  thinking_display?: ('summarized' | 'omitted' | 'highlights') | null;
};

/** The control request `set_model`. */
export type SDKControlSetModelRequest = {
  subtype: 'set_model';
  model?: string | null;
};

/** The control request `set_permission_mode`. */
export type SDKControlSetPermissionModeRequest = {
  subtype: 'set_permission_mode';
  mode: PermissionMode;
};

/** The answer to the control request set_permission_mode. */
export type SDKControlSetPermissionModeResponse = {
  mode?: PermissionMode;
};

/** The control request `stop_task`. */
export type SDKControlStopTaskRequest = {
  subtype: 'stop_task';
  task_id: string;
};

/** The control request `update_settings`. */
export type SDKControlUpdateSettingsRequest = {
  subtype: 'update_settings';
  source: 'localSettings' | 'userSettings';
  settings: Record<string, unknown>;
};

export type SDKHookCallbackMatcher = {
  matcher?: string;
  hookCallbackIds: string[];
  timeout?: number;
  onFailure?: 'continue' | 'block';
};

/** The control request `hook_callback`. */
export type SDKHookCallbackRequest = {
  subtype: 'hook_callback';
  callback_id: string;
  input: HookInput;
  tool_use_id?: string;
};

/** The message `keep_alive`. */
export type SDKKeepAliveMessage = {
  type: 'keep_alive';
};

export type SDKPermissionRuleDescription = {
  prefix: string;
  emphasis?: string;
  suffix?: string;
};

export type SDKPermissionRuleEntry = {
  behavior: 'allow' | 'deny' | 'ask';
  source: 'userSettings' | 'projectSettings' | 'localSettings' | 'flagSettings' | 'policySettings' | 'cliArg' | 'command' | 'session' | 'mcpMount' | 'toolsNarrowing' | 'mcpServerPolicy' | 'hostCredential';
  rule: string;
  description?: SDKPermissionRuleDescription;
  editability: 'persistent' | 'session' | 'readonly';
  notInEffect?: boolean;
};

export type SDKPermissionWorkspaceDirectory = {
  path: string;
  source: string;
};

export type SDKSettingsParseError = {
  file?: string;
  path: string;
  message: string;
};

export type SDKUsageReport = {
  session: {
    total_cost_usd: number;
    total_api_duration_ms: number;
    total_duration_ms: number;
    total_lines_added: number;
    total_lines_removed: number;
    model_usage: Record<string, ModelUsage>;
  };
  rate_limits: {
    limits: {
      kind: string;
      group: string;
      percent: number;
      resets_at: string | null;
      scope?: {
        model?: {
          display_name: string;
        } | null;
        surface?: {
          display_name: string;
        } | null;
      } | null;
      severity: string;
      is_active: boolean;
    }[] | null;
    extra_usage?: {
      is_enabled: boolean;
      monthly_limit: number | null;
      used_credits: number | null;
      utilization: number | null;
      currency?: string | null;
    } | null;
  } | null;
};
