/** `query`, warm queries, and what can be asked of a running one. */
import { Channel, type Starter } from './channel.js';
import { AbortError, natively, TowlineError } from './errors.js';
import { loop } from './loop.js';
import { addon, type NativeSession } from './native.js';
import { prepare, type Prepared } from './options.js';
import { Requests } from './requests.js';
import { runTask } from './store-calls.js';
import type { McpServerConfig } from './types/mcp-config.js';
import type { SDKMessage, SDKUserMessage } from './types/messages.js';
import type { Options } from './types/options.js';
import type { Startup } from './types/pool.js';
import type { TowlineQuery, TowlineWarmQuery } from './types/query.js';

type Prompt = string | AsyncIterable<SDKUserMessage>;

/** Asks Claude Code; the result gives its messages, and takes requests while it runs. */
export function query(params: { prompt: Prompt; options?: Options }): TowlineQuery {
  const running = new RunningQuery(params.options ?? {});
  running.begin(params.prompt);
  return running as unknown as TowlineQuery;
}

/** Starts Claude Code and waits until it is open, so that the first prompt need not. */
export async function startup(
  params: { options?: Options; initializeTimeoutMs?: number } = {},
): Promise<TowlineWarmQuery> {
  const running = new RunningQuery({
    ...params.options,
    initializeTimeoutMs: params.initializeTimeoutMs ?? params.options?.initializeTimeoutMs ?? 60_000,
  });
  try {
    await running.initializationResult();
  } catch (error) {
    running.close();
    throw error;
  }
  let used = false;
  return {
    query(prompt: Prompt): TowlineQuery {
      if (used) throw new Error('A WarmQuery takes one prompt; start another one');
      used = true;
      running.begin(prompt);
      return running as unknown as TowlineQuery;
    },
    close(): void {
      used = true;
      running.close();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      used = true;
      await running.return();
    },
  };
}

/**
 * How a session is started that has to be loaded from a store first; `undefined` when nothing has to
 * be. Throws what is wrong with the options.
 */
function starter(prepared: Prepared, piped: boolean): Starter | undefined {
  const { config, store, nativeStore } = prepared;
  const task = natively(() => addon.resumeTask(config, nativeStore));
  if (!task && !nativeStore) return undefined;
  return async (proceed): Promise<NativeSession | undefined> => {
    const found: boolean = task !== null && (await runTask(task, store!, true));
    if (!proceed()) return undefined;
    return addon.startSession(loop.native, config, piped, nativeStore, found ? task! : undefined);
  };
}

/** The methods of a query are control requests; the names and fields are the CLI's. */
export class RunningQuery {
  // Private to the language, and not only to the compiler: who prints a query prints no environment.
  readonly #prepared: Prepared;
  readonly #requests: Requests;
  readonly #opened: Channel | undefined;
  /** Why there is no session. */
  readonly #failed: unknown;
  #told = false;
  readonly #onAbort = (): void => {
    this.#opened?.fail(new AbortError('Operation aborted'));
  };

  constructor(options: Options) {
    this.#prepared = prepare(options);
    this.#requests = new Requests(this.#prepared);
    try {
      const { config, store } = this.#prepared;
      const { spawnClaudeCodeProcess } = this.#prepared.options;
      const start = store && starter(this.#prepared, spawnClaudeCodeProcess !== undefined);
      this.#opened = new Channel(config, this.#requests, spawnClaudeCodeProcess, start);
      this.#opened.replays = this.#prepared.options.replay !== undefined;
    } catch (error) {
      // What is wrong with the options is the caller's to hear; the rest comes with the messages.
      if (!(error instanceof TowlineError) || error.code.startsWith('INVALID_')) throw error;
      this.#failed = error;
      return;
    }
    const signal = this.#prepared.options.abortController?.signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    void this.#opened.ended.then(() => signal?.removeEventListener('abort', this.#onAbort));
  }

  protected get opened(): Channel | undefined {
    return this.#opened;
  }

  protected get channel(): Channel {
    if (!this.#opened) throw this.#failed;
    return this.#opened;
  }

  /** Sends the prompt. */
  begin(prompt: Prompt): void {
    if (!this.#opened) return;
    if (typeof prompt !== 'string') {
      void this.pump(prompt);
      return;
    }
    try {
      const content = [{ type: 'text', text: prompt }];
      const message = { role: 'user', content } as const;
      this.#opened.send({ type: 'user', session_id: '', message, parent_tool_use_id: null } as SDKUserMessage);
      this.#opened.endWhenSettled();
    } catch (error) {
      this.#opened.fail(error);
    }
  }

  private async pump(prompts: AsyncIterable<SDKUserMessage>): Promise<void> {
    const channel = this.#opened!;
    try {
      for await (const message of prompts) {
        if (channel.isOver) return;
        sendOnce(channel, message);
      }
      channel.endWhenSettled();
    } catch (error) {
      channel.fail(error);
    }
  }

  // The messages.

  next(): Promise<IteratorResult<SDKMessage, void>> {
    if (this.#opened) return this.#opened.next();
    if (this.#told) return Promise.resolve({ done: true, value: undefined });
    this.#told = true;
    return Promise.reject(this.#failed);
  }

  /** Ends the process and waits until it is gone. */
  async return(value?: any): Promise<IteratorResult<SDKMessage, void>> {
    this.#told = true;
    if (this.#opened) {
      this.#opened.ignore();
      this.#opened.close();
      await this.#opened.ended;
    }
    return { done: true, value };
  }

  async throw(error: unknown): Promise<IteratorResult<SDKMessage, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  get [Symbol.toStringTag](): string {
    return 'Query';
  }

  close(): void {
    this.#told = true;
    this.#opened?.ignore();
    this.#opened?.close();
  }

  async streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void> {
    const { channel } = this;
    for await (const message of stream) sendOnce(channel, message);
    channel.endWhenSettled();
  }

  // Beyond the official package.

  /** Sends any control request; settles with the payload of the answer. */
  async request(subtype: string, payload: Record<string, unknown> = {}): Promise<any> {
    return this.channel.request(subtype, payload);
  }

  /** Sends one message more. */
  send(message: string | SDKUserMessage): unknown {
    return typeof message === 'string' ? this.channel.sendText(message) : this.channel.send(message);
  }

  /** The process id of the CLI. */
  get pid(): number | undefined {
    return this.#opened?.pid;
  }

  /** The session's id, once known. */
  get sessionId(): string | undefined {
    return this.#opened?.sessionId;
  }

  /** How long the start took, by phase. */
  get startup(): Startup {
    return this.opened?.startup ?? { spawnedMs: null, initializedMs: null, takenMs: null, firstMessageMs: null };
  }

  /** Settles when the process is gone. */
  get gone(): Promise<void> {
    return this.opened?.ended ?? Promise.resolve();
  }

  /** The end of the CLI's stderr. */
  get stderrTail(): string {
    return this.#opened?.stderrTail ?? '';
  }

  // Control requests.

  async interrupt(options?: { cancelQueued?: boolean }): Promise<any> {
    return something(await this.request('interrupt', { cancel_queued: options?.cancelQueued }));
  }

  async setPermissionMode(mode: string): Promise<any> {
    return something(await this.request('set_permission_mode', { mode }));
  }

  async setMcpPermissionModeOverride(serverName: string, mode: string | null): Promise<any> {
    return this.request('set_mcp_permission_mode_override', { serverName, mode });
  }

  async setModel(model?: string): Promise<void> {
    await this.request('set_model', { model });
  }

  async setMaxThinkingTokens(tokens: number | null, thinkingDisplay?: string | null): Promise<void> {
    await this.request(
      'set_max_thinking_tokens',
      { max_thinking_tokens: tokens, thinking_display: thinkingDisplay },
    );
  }

  async applyFlagSettings(settings: object): Promise<void> {
    await this.request('apply_flag_settings', { settings });
  }

  async updateSettings(source: string, settings: object): Promise<void> {
    await this.request('update_settings', { source, settings });
  }

  async initializationResult(): Promise<any> {
    return this.channel.opens();
  }

  async reinitialize(): Promise<any> {
    const { channel } = this;
    await channel.opens();
    return channel.request('initialize', JSON.parse(channel.initializePayload));
  }

  async supportedCommands(): Promise<any> {
    return (await this.initializationResult()).commands;
  }

  async supportedModels(): Promise<any> {
    return (await this.initializationResult()).models;
  }

  async supportedAgents(): Promise<any> {
    return (await this.initializationResult()).agents;
  }

  async accountInfo(): Promise<any> {
    return (await this.initializationResult()).account;
  }

  async mcpServerStatus(): Promise<any> {
    return (await this.request('mcp_status')).mcpServers;
  }

  async getContextUsage(options?: { detail?: string }): Promise<any> {
    return this.request('get_context_usage', { detail: options?.detail });
  }

  async usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean;
  }): Promise<any> {
    return this.request('get_usage', { skip_behaviors: options?.skipBehaviors });
  }

  async readFile(path: string, options?: { maxBytes?: number; encoding?: string }): Promise<any> {
    try {
      const { maxBytes, encoding } = options ?? {};
      return await this.request('read_file', { path, max_bytes: maxBytes, encoding });
    } catch {
      return null;
    }
  }

  async reloadPlugins(options?: {
    holdOnCacheImpact?: boolean;
    addPlugins?: object[];
    refuseIfBusy?: boolean;
  }): Promise<any> {
    const { holdOnCacheImpact, addPlugins, refuseIfBusy } = options ?? {};
    return this.request(
      'reload_plugins',
      {
        hold_on_cache_impact: holdOnCacheImpact,
        add_plugins: addPlugins,
        refuse_if_busy: refuseIfBusy,
      },
    );
  }

  async reloadSkills(): Promise<any> {
    return this.request('reload_skills');
  }

  async reloadOutputStyles(): Promise<any> {
    return this.request('reload_output_styles');
  }

  async rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<any> {
    return this.request(
      'rewind_files',
      { user_message_id: userMessageId, dry_run: options?.dryRun },
    );
  }

  async seedReadState(path: string, mtime: number): Promise<void> {
    await this.request('seed_read_state', { path, mtime });
  }

  async reconnectMcpServer(serverName: string): Promise<void> {
    await this.request('mcp_reconnect', { serverName });
  }

  async toggleMcpServer(serverName: string, enabled: boolean): Promise<void> {
    await this.request('mcp_toggle', { serverName, enabled });
  }

  async readMcpResource(serverName: string, uri: string): Promise<any> {
    return this.request('mcp_read_resource', { serverName, uri });
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<any> {
    const { channel } = this;
    const own = this.#prepared.servers;
    const told: Record<string, unknown> = {};
    const before = new Set(own.names);
    for (const [name, server] of Object.entries(servers)) {
      if (server.type !== 'sdk') {
        told[name] = server;
        continue;
      }
      before.delete(name);
      own.change(name, server, channel);
      told[name] = { type: 'sdk', name };
    }
    for (const name of before) own.change(name, undefined, channel);
    return this.request('mcp_set_servers', { servers: told });
  }

  async stopTask(taskId: string): Promise<void> {
    await this.request('stop_task', { task_id: taskId });
  }

  async backgroundTasks(toolUseId?: string): Promise<boolean> {
    const answer = await this.request('background_tasks', { tool_use_id: toolUseId });
    return answer.backgrounded ?? true;
  }
}

/** Sends a prompt of an iterable's; one that repeats a uuid is told of and left out, as the CLI would leave it. */
function sendOnce(channel: Channel, message: SDKUserMessage): void {
  try {
    channel.send(message as { uuid?: string });
  } catch (error) {
    if (!(error instanceof TowlineError) || error.code !== 'DUPLICATE_UUID') throw error;
    channel.report(error.message);
  }
}

/** `undefined` for a payload without anything in it, as from CLIs that send none. */
function something(payload: any): any {
  return payload && Object.keys(payload).length > 0 ? payload : undefined;
}
