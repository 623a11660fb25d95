/** Processes that are started before their session is known. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from './words.js';
import { TowlineError } from './errors.js';
import { RunningQuery } from './query.js';
import type { SDKUserMessage } from './types/messages.js';
import type { Options } from './types/options.js';
import type { TowlineQuery } from './types/query.js';
import type { ClaimOptions, SpareProcess, TowlineSpareProcess } from './types/spare.js';

type Claimed = Awaited<SpareProcess['claimed']>;

/** Settings that a process has to start with: its hooks are there by the time of a claim. */
const OF_HOOKS = ['hooks', 'disableAllHooks', 'allowManagedHooksOnly', 'allowedHttpHookUrls', 'httpHookAllowedEnvVars'];

/** A directory of its own for a process that has no session, and what removes it. */
function parkingDirectory(options: Options): [string, () => void] {
  if (options.cwd !== undefined) return [options.cwd, () => {}];
  const env = options.env ?? process.env;
  const spares = join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude'), 'spares');
  mkdirSync(spares, { recursive: true, mode: 0o700 });
  const directory = mkdtempSync(join(spares, 'spare-'));
  return [directory, () => rmSync(directory, { recursive: true, force: true })];
}

/**
 * Starts Claude Code before its session is known. Resolves once the process has answered
 * `initialize`; rejects as `startup` does, also with a CLI that cannot wait for a claim.
 */
export async function prewarm(
  params: { options?: Options; initializeTimeoutMs?: number } = {},
): Promise<TowlineSpareProcess> {
  const { options = {}, initializeTimeoutMs = 60_000 } = params;
  const [cwd, remove] = parkingDirectory(options);
  const extraArgs = { ...options.extraArgs, 'await-claim': null };
  let spare: Spare | undefined;
  try {
    spare = new Spare({ ...options, cwd, extraArgs, initializeTimeoutMs });
    void spare.exited.then(remove);
    await spare.opened();
    return spare;
  } catch (error) {
    if (spare) spare.close();
    else remove();
    throw error;
  }
}

/** A query that tells of the session it has become. */
class ClaimedQuery extends RunningQuery {
  #claim: Promise<any> | undefined;

  override async initializationResult(): Promise<any> {
    const answer = await this.#claim?.catch(() => undefined);
    return answer?.initialize ?? super.initializationResult();
  }

  claimedBy(claim: Promise<any>): void {
    this.#claim = claim;
  }
}

class Spare implements TowlineSpareProcess {
  readonly #running: ClaimedQuery;
  readonly claimed: Promise<Claimed>;
  readonly exited: Promise<void>;
  readonly #servers: string[];
  #state: 'parked' | 'claimed' | 'closed' | 'exited' = 'parked';
  #settle!: { resolve(claimed: Claimed): void; reject(error: unknown): void };

  constructor(options: Options) {
    const named = Object.entries(options.mcpServers ?? {});
    this.#servers = named.filter(([, server]) => (server as { type?: string }).type === 'sdk').map(([name]) => name);
    this.claimed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Who wants to know asks; nobody has to.
    this.claimed.catch(() => {});
    this.#running = new ClaimedQuery(options);
    this.exited = this.#running.gone.then(() => {
      if (this.#state === 'parked') this.over('exited');
    });
  }

  /** Settles once the process has answered `initialize`. */
  async opened(): Promise<void> {
    await this.#running.initializationResult();
  }

  private over(state: 'closed' | 'exited'): void {
    this.#state = state;
    this.#settle.reject(new TowlineError('SESSION_CLOSED', `spare_${state}: the spare process is gone`));
  }

  claim({ prompt, options }: { prompt: string | AsyncIterable<SDKUserMessage>; options: ClaimOptions }): TowlineQuery {
    if (this.#state === 'claimed') throw new Error('A spare process takes one claim; start another one');
    if (this.#state !== 'parked') throw new TowlineError('SESSION_CLOSED', `spare_${this.#state}: the spare process is gone`);
    if (typeof options.cwd !== 'string') throw new TowlineError('INVALID_ARGUMENT', 'a claim names its cwd');
    const late = OF_HOOKS.filter((key) => options.settings && key in options.settings);
    if (late.length > 0) {
      throw new TowlineError('INVALID_ARGUMENT', `settings of hooks belong to prewarm: ${late.join(', ')}`);
    }
    this.#state = 'claimed';
    void this.bind(prompt, options).then(this.#settle.resolve, this.#settle.reject);
    return this.#running as unknown as TowlineQuery;
  }

  /** Everything up to the first wait is written at once, in this order. */
  private async bind(prompt: string | AsyncIterable<SDKUserMessage>, options: ClaimOptions): Promise<Claimed> {
    const running = this.#running;
    const laid = options.settings && running.request('apply_flag_settings', { settings: options.settings });
    const claim = running.request('claim_session', {
      cwd: options.cwd.startsWith('~') ? options.cwd : resolve(options.cwd),
      permission_mode: options.permissionMode,
      env: options.env,
      additional_directories: options.additionalDirectories,
      append_system_prompt: options.appendSystemPrompt,
      title: options.title,
      agents: options.agents,
      sdk_mcp_servers: this.#servers,
      include_initialize: true,
    });
    running.claimedBy(claim);
    const wanted: [string, Promise<unknown>][] = [];
    if (options.model !== undefined) wanted.push(['model', running.setModel(options.model)]);
    if (options.maxThinkingTokens !== undefined) {
      wanted.push(['maxThinkingTokens', running.setMaxThinkingTokens(options.maxThinkingTokens)]);
    }
    const applied = Promise.allSettled(wanted.map(([, done]) => done));
    if (!laid) running.begin(prompt);
    const [overlay, claimed] = await Promise.allSettled([laid, claim]);
    const info = claimed.status === 'fulfilled' ? claimedOf(claimed.value) : undefined;
    // The prompt was held back: there is nothing to run.
    if (laid && (overlay.status === 'rejected' || claimed.status === 'rejected')) running.close();
    if (claimed.status === 'rejected') throw claimed.reason;
    if (overlay.status === 'rejected') {
      throw refusal(`settings_not_applied: ${messageOf(overlay.reason)}`, info);
    }
    if (laid) running.begin(prompt);
    const reasons = (await applied).map((one, index) =>
      one.status === 'rejected' ? `${wanted[index]![0]}: ${messageOf(one.reason)}` : '');
    const refused = reasons.filter(Boolean);
    if (refused.length > 0) throw refusal(`option_not_applied: ${refused.join('; ')}`, info);
    return info!;
  }

  close(): void {
    if (this.#state === 'parked') this.over('closed');
    this.#running.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'parked') this.over('closed');
    await this.#running.return();
  }
}

function claimedOf(answer: any): Claimed {
  const { cwd, session_id: sessionId, parked_ms: parkedMs, sdk_mcp_settled: sdkMcpSettled } = answer;
  return { cwd, sessionId, parkedMs, sdkMcpSettled };
}

/** With what the CLI said of the claim, if it took it. */
function refusal(text: string, claim: Claimed | undefined): TowlineError {
  const error = new TowlineError('REQUEST_REFUSED', text);
  return claim ? Object.assign(error, { claim }) : error;
}
