/** What a session is started with. */
import type { AgentDefinition, EffortLevel, SdkBeta, SdkPluginConfig, ThinkingConfig, ToolConfig } from './common.js';
import type { HookCallbackMatcher } from './hook-callbacks.js';
import type { HookEvent } from './hooks.js';
import type { McpServerConfig } from './mcp-config.js';
import type { OutputFormat } from './common.js';
import type { PermissionMode } from './permissions.js';
import type { CanUseTool, OnControlRequest, OnElicitation, OnUserDialog } from './permissions-callbacks.js';
import type { SessionStore, SessionStoreFlush } from './session-store.js';
import type { SandboxSettings, SettingSource, Settings } from './settings.js';
import type { SpawnedProcess, SpawnOptions } from './spawn.js';

/** What the official package calls a prompt that replaces Claude Code's own, or adds to it. */
export type SystemPrompt =
  | string
  | string[]
  | { type: 'custom'; prompt: string | string[]; snapshot?: boolean }
  | {
      type: 'preset';
      preset: 'claude_code';
      append?: string;
      excludeDynamicSections?: boolean;
      snapshot?: boolean;
    };

/** The options that the official package has too. */
export type OfficialOptions = {
  /** Ends the query when it is aborted; its messages then reject with an `AbortError`. */
  abortController?: AbortController;
  /** More directories the tools may use. */
  additionalDirectories?: string[];
  /** The trusted checkout that project settings come from in place of `cwd`. */
  projectConfigRoot?: string;
  /** The agent the main thread runs as. */
  agent?: string;
  /** Subagents by name. */
  agents?: Record<string, AgentDefinition>;
  /** Tools and rules that need no permission. */
  allowedTools?: string[];
  /** Asked before a tool runs that the rules do not settle. */
  canUseTool?: CanUseTool;
  /** Whether the newest conversation of the working directory goes on. */
  continue?: boolean;
  /** The working directory. */
  cwd?: string;
  /** Tools and rules that are taken away. */
  disallowedTools?: string[];
  /** Tool name to the name that is called instead. */
  toolAliases?: Record<string, string>;
  /** The built-in tools there are at all. */
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  /** The environment of the CLI, instead of this process's. */
  env?: { [name: string]: string | undefined };
  /** What runs a CLI that is a script. */
  executable?: 'bun' | 'deno' | 'node';
  /** Arguments of that. */
  executableArgs?: string[];
  /** More flags, without their dashes; `null` for one without a value. */
  extraArgs?: Record<string, string | null>;
  /** Used when the model is overloaded or gone. */
  fallbackModel?: string;
  /** Whether files can be rewound to what they were at a prompt. */
  enableFileCheckpointing?: boolean;
  /** Settings of single built-in tools. */
  toolConfig?: ToolConfig;
  /** Whether the resumed session goes on under a new id. */
  forkSession?: boolean;
  /** Beta features of the API. */
  betas?: SdkBeta[];
  /** Callbacks at events. */
  hooks?: Partial<Record<HookEvent, HookCallbackMatcher[]>>;
  /** Asked when an external MCP server wants something of the user. */
  onElicitation?: OnElicitation;
  /** Shows dialogs of the kinds in `supportedDialogKinds`. */
  onUserDialog?: OnUserDialog;
  supportedDialogKinds?: string[];
  /** Whether the application lets its user stop single background tasks. */
  perTaskStopAffordance?: boolean;
  /** Whether the session is saved on disk. */
  persistSession?: boolean;
  /**
   * Where the transcript is mirrored to, and where `resume` and `continue` look for their session.
   * One of the application's own, or one that `openStore` has opened. What cannot be stored is told
   * by a `system` message of subtype `mirror_error`; nothing else comes of it.
   */
  sessionStore?: SessionStore;
  /** `batched` (the default): before each result and at the end. `eager`: with every line. */
  sessionStoreFlush?: SessionStoreFlush;
  /** Limit of each call of a store while a session is loaded from it, in ms. */
  loadTimeoutMs?: number;
  /** Whether the life of settings hooks is reported. */
  includeHookEvents?: boolean;
  /** Whether the API's stream events are passed on. */
  includePartialMessages?: boolean;
  /** Whether the text of subagents is passed on. */
  forwardSubagentText?: boolean;
  /** Whether prompts are delivered as written. */
  verbatimPrompts?: boolean;
  /** How the model thinks. */
  thinking?: ThinkingConfig;
  effort?: EffortLevel;
  /** The older way to say it, in tokens; `thinking` wins. */
  maxThinkingTokens?: number;
  /** Most model turns of a prompt. */
  maxTurns?: number;
  /** Most US dollars the process may spend. */
  maxBudgetUsd?: number;
  /** Tokens the model knows it has. */
  taskBudget?: { total: number };
  /** MCP servers, in-process ones too. */
  mcpServers?: Record<string, McpServerConfig>;
  /** How external ones reach the CLI; by default in a private file. */
  mcpServersDelivery?: 'argv' | 'initialize';
  model?: string;
  /** The shape of the final answer. */
  outputFormat?: OutputFormat;
  /** The CLI. */
  pathToClaudeCodeExecutable?: string;
  permissionMode?: PermissionMode;
  /** The workflow text of plan mode. */
  planModeInstructions?: string;
  /** Permits `bypassPermissions`, now or later. */
  allowDangerouslySkipPermissions?: boolean;
  /** An MCP tool that answers permission questions. */
  permissionPromptToolName?: string;
  permissionPrompts?: 'host' | 'none';
  plugins?: SdkPluginConfig[];
  pluginDelivery?: 'argv' | 'initialize';
  /** Whether a next prompt is suggested after each turn. */
  promptSuggestions?: boolean;
  /** Whether running subagents are summed up now and then. */
  agentProgressSummaries?: boolean;
  /** The session to go on with, by id or title. */
  resume?: string;
  /** The id of the new session, a UUID. */
  sessionId?: string;
  /** The last message of the resumed session to keep. */
  resumeSessionAt?: string;
  /** The prompt whose turn a truncating resume means to drop. */
  resumeDropsTurn?: string;
  sandbox?: SandboxSettings;
  /** Settings above those of the files: a path or the settings. */
  settings?: string | Settings;
  /** Policy settings of the embedding program. */
  managedSettings?: Settings;
  /** Which settings files are read; an empty list is none. */
  settingSources?: SettingSource[];
  /** Skills of the main session. */
  skills?: string[] | 'all';
  /** Whether the CLI writes a debug log, and where to. */
  debug?: boolean;
  debugFile?: string;
  /** Gets what the CLI writes to stderr, line by line. */
  stderr?: (data: string) => void;
  /** Whether no other MCP servers are used. */
  strictMcpConfig?: boolean;
  /** What the model is told first; unset is an empty prompt. */
  systemPrompt?: SystemPrompt;
  /** The session's title. */
  title?: string;
  /** Starts the CLI in place of the library. */
  spawnClaudeCodeProcess?: (options: SpawnOptions) => SpawnedProcess;
};

/** Something that happened in a session. */
export type LogRecord = {
  level: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  /** What it is about: `towline.session`, `towline.turn`, `towline.request`, `towline.callback`, … */
  target: string;
  /** A short sentence. */
  message: string;
  /** More of it: outcomes, durations in milliseconds, counters. */
  fields: Record<string, string | number>;
  sessionId?: string;
  /** The number of the prompt. */
  turn?: number;
};

/** What only Towline has. Times are in milliseconds; `null` or 0 is no limit. */
export type TowlineOptions = {
  /** Answers control requests of unknown subtypes. */
  onControlRequest?: OnControlRequest;
  /** Told of oddities that end nothing: skipped lines, refused answers, an old CLI. */
  onDiagnostic?: (text: string) => void;
  /** Told of what happens in the session; nothing secret stands in it. */
  onLog?: (record: LogRecord) => void;
  /** Up to which level; `'debug'`, or with `wireLog: 'log'` `'trace'`. */
  logLevel?: LogRecord['level'];
  /** What stands before the CLI on the command line: `['ssh', 'host']`. */
  launcher?: string[];
  /** Whether it hands its arguments to a shell, so that each is quoted; unset: for `ssh`. */
  launcherShell?: boolean;
  /** Whether the CLI behind it sees neither this machine's files nor its variables; unset: by its name. */
  launcherRemote?: boolean;
  /** A file that both directions of the session are written to; in a folder each session gets its own. */
  record?: string;
  /** Whether keys, tokens, account data and home folders are taken out of it, as they are by default. */
  recordRedacted?: boolean;
  /** A recording that takes the CLI's place: nothing is started. */
  replay?: string;
  /** Where lines of both directions are noted, redacted and cut short: a file, a folder, `'stderr'`, or `'log'` for `onLog`. */
  wireLog?: string;
  /** How much of a line it shows, 2,048 bytes by default. */
  wireLogLineBytes?: number;
  /** The W3C trace context of the session; by default that of the active OpenTelemetry span. */
  traceparent?: string;
  /** What tracing systems add to it. */
  tracestate?: string;
  /** The user the CLI runs as. */
  user?: string;
  /** Names the program to the API. */
  clientApp?: string;
  /** More fields of `initialize`. */
  extraInitialize?: Record<string, unknown>;
  replayUserMessages?: boolean;
  settingsDelivery?: 'file' | 'argv' | 'initialize';
  managedSettingsDelivery?: 'argv' | 'initialize';
  connectTimeoutMs?: number | null;
  initializeTimeoutMs?: number | null;
  controlTimeoutMs?: number | null;
  firstMessageTimeoutMs?: number | null;
  idleTimeoutMs?: number | null;
  turnTimeoutMs?: number | null;
  handlerTimeoutMs?: number | null;
  /** How long the CLI has to end by itself once its input is closed. */
  closeGraceMs?: number;
  /** How long it has from SIGTERM to SIGKILL. */
  terminateGraceMs?: number;
  /** The longest line that is read, in bytes. */
  maxLineBytes?: number;
  highWaterBytes?: number;
  maxQueuedBytes?: number;
  stderrTailBytes?: number;
  /** Whether a watchdog process ends the CLI when this process dies. */
  watchdog?: boolean;
  processGroup?: boolean;
};

/** What a session is started with. */
export type Options = OfficialOptions & TowlineOptions;
