/** A running query, and one that waits for its prompt. */
import type { AccountInfo, AgentInfo, EffortLevel, ModelInfo, SdkPluginConfig, SlashCommand } from './common.js';
import type * as control from './control.js';
import type { McpServerConfig, McpServerStatus } from './mcp-config.js';
import type { SDKMessage, SDKUserMessage } from './messages.js';
import type { Startup } from './pool.js';
import type { PermissionMode } from './permissions.js';
import type { Settings } from './settings.js';

/** The messages of a query, and what can be asked of it while it runs (protocol.md §8). */
export interface Query extends AsyncGenerator<SDKMessage, void> {
  /** Interrupts the running turn. */
  interrupt(): Promise<control.SDKControlInterruptResponse | undefined>;
  /** Changes the permission mode; the answer says which one holds. */
  setPermissionMode(mode: PermissionMode): Promise<control.SDKControlSetPermissionModeResponse | undefined>;
  /** Narrows the permission mode for one MCP server; `null` takes that back. */
  setMcpPermissionModeOverride(
    serverName: string,
    mode: 'default' | 'auto' | null,
  ): Promise<{ warning?: string }>;
  /** Changes the model; without one, to the default. */
  setModel(model?: string): Promise<void>;
  setMaxThinkingTokens(
    maxThinkingTokens: number | null,
    thinkingDisplay?: 'summarized' | 'omitted' | 'highlights' | null,
  ): Promise<void>;
  /** Lays settings over those of the files; `null` takes one back. */
  applyFlagSettings(settings: {
    [K in keyof Settings]?: K extends 'effortLevel' ? EffortLevel | null : Settings[K] | null;
  }): Promise<void>;
  /** Changes a settings file. */
  updateSettings(source: 'localSettings' | 'userSettings', settings: Record<string, unknown>): Promise<void>;
  /** What the CLI said when the session was opened. */
  initializationResult(): Promise<control.SDKControlInitializeResponse>;
  /** Opens the session once more. */
  reinitialize(): Promise<control.SDKControlInitializeResponse>;
  supportedCommands(): Promise<SlashCommand[]>;
  supportedModels(): Promise<ModelInfo[]>;
  supportedAgents(): Promise<AgentInfo[]>;
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /** What fills the context window. */
  getContextUsage(options?: {
    detail?: 'summary' | 'full';
  }): Promise<control.SDKControlGetContextUsageResponse>;
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean;
  }): Promise<control.SDKControlGetUsageResponse>;
  /** A file as the CLI sees it; `null` when it cannot be read. */
  readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: 'utf-8' | 'base64' },
  ): Promise<control.SDKControlReadFileResponse | null>;
  reloadPlugins(options?: {
    holdOnCacheImpact?: boolean;
    addPlugins?: SdkPluginConfig[];
    refuseIfBusy?: boolean;
  }): Promise<control.SDKControlReloadPluginsResponse>;
  reloadSkills(): Promise<control.SDKControlReloadSkillsResponse>;
  reloadOutputStyles(): Promise<control.SDKControlReloadOutputStylesResponse>;
  accountInfo(): Promise<AccountInfo>;
  /** Puts files back to what they were at a prompt. */
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<control.RewindFilesResult>;
  seedReadState(path: string, mtime: number): Promise<void>;
  reconnectMcpServer(serverName: string): Promise<void>;
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>;
  readMcpResource(serverName: string, uri: string): Promise<control.SDKControlMcpReadResourceResponse>;
  /** Replaces the servers that were set before, and all in-process ones. */
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<control.McpSetServersResult>;
  /** Sends prompts, then ends the input. */
  streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void>;
  stopTask(taskId: string): Promise<void>;
  backgroundTasks(toolUseId?: string): Promise<boolean>;
  /** Ends the process; nothing more comes. */
  close(): void;
}

/** What Towline's queries can do beside that. */
export interface TowlineQuery extends Query {
  /** Sends any control request; settles with the payload of its answer. */
  request(subtype: string, payload?: Record<string, unknown>): Promise<any>;
  /** Sends one prompt more. */
  send(message: string | SDKUserMessage): void;
  interrupt(options?: { cancelQueued?: boolean }): Promise<control.SDKControlInterruptResponse | undefined>;
  /** The process id of the CLI. */
  readonly pid: number | undefined;
  /** The session's id, once known. */
  readonly sessionId: string | undefined;
  /** How long the start took, by phase. */
  readonly startup: Startup;
  /** The end of the CLI's stderr. */
  readonly stderrTail: string;
}

/** A session that is open and waits for its prompt. */
export interface WarmQuery extends AsyncDisposable {
  /** Sends the prompt. Once only. */
  query(prompt: string | AsyncIterable<SDKUserMessage>): Query;
  /** Ends the process. */
  close(): void;
}

/** What `startup` gives. */
export interface TowlineWarmQuery extends WarmQuery {
  query(prompt: string | AsyncIterable<SDKUserMessage>): TowlineQuery;
}
