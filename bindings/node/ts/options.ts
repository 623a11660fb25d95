/** The application's options, taken apart: what the core reads, and what stays here. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Servers } from './mcp.js';
import { AbortError, TowlineError } from './errors.js';
import type { NativeStore } from './native.js';
import { checkValues } from './numbers.js';
import { capabilities } from './store-calls.js';
import { nativeOf } from './stores.js';
import { Trace } from './tracing.js';
import type { HookCallback, HookCallbackMatcher } from './types/hook-callbacks.js';
import type { Options } from './types/options.js';
import type { SessionStore } from './types/session-store.js';

/** What is a function or an object, and no option of the core's. */
const HOST_SIDE = [
  'abortController',
  'canUseTool',
  'hooks',
  'onElicitation',
  'onUserDialog',
  'onControlRequest',
  'onDiagnostic',
  'onLog',
  'logLevel',
  'spawnClaudeCodeProcess',
  'sessionStore',
  'stderr',
] as const;

/** Those of them that are called. */
const CALLBACKS = [
  'canUseTool',
  'onElicitation',
  'onUserDialog',
  'onControlRequest',
  'onDiagnostic',
  'onLog',
  'spawnClaudeCodeProcess',
  'stderr',
] as const;

/** Longer lines do not fit a string of JavaScript. */
const LONGEST_LINE = 512 * 1024 * 1024;

/** A matcher of a hook, in the order of registration. */
interface HookEntry {
  event: string;
  matcher?: string;
  timeout?: number;
  onFailure?: 'continue' | 'block';
  /** How many functions it calls. */
  callbacks: number;
}

/** Options, ready for the addon. */
export interface Prepared {
  config: string;
  options: Options;
  servers: Servers;
  /** The hook callbacks, in the order of their ids. */
  hooks: HookCallback[];
  /** Where the transcript goes. */
  store: SessionStore | undefined;
  /** The same, if it is one of the core's. */
  nativeStore: NativeStore | undefined;
  /** The trace that callbacks belong to. */
  trace: Trace;
}

/** The CLI that comes with an installed official package, if there is one. */
function installedCli(): string | undefined {
  const musl = ['', '-musl'];
  const binary = process.platform === 'win32' ? 'claude.exe' : 'claude';
  for (const from of [__filename, join(process.cwd(), 'package.json')]) {
    const find = createRequire(from);
    for (const suffix of process.platform === 'linux' ? musl : ['']) {
      try {
        const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}${suffix}`;
        return find.resolve(`${name}/${binary}`);
      } catch {
        // Not installed there.
      }
    }
  }
  return undefined;
}

function wrong(text: string): TowlineError {
  return new TowlineError('INVALID_OPTIONS', text);
}

function hookEntries(hooks: Options['hooks']): [HookEntry[], HookCallback[]] {
  const entries: HookEntry[] = [];
  const callbacks: HookCallback[] = [];
  for (const [event, matchers] of Object.entries(hooks ?? {})) {
    if (!Array.isArray(matchers ?? [])) throw wrong(`hooks.${event} must be an array of matchers`);
    for (const [at, matcher] of ((matchers ?? []) as HookCallbackMatcher[]).entries()) {
      const name = `hooks.${event}[${at}].hooks`;
      if (!Array.isArray(matcher?.hooks)) throw wrong(`${name} must be an array of callbacks`);
      const odd = matcher.hooks.findIndex((hook) => typeof hook !== 'function');
      if (odd >= 0) throw wrong(`${name}[${odd}] must be a function`);
      if (typeof matcher.timeout === 'number' && !Number.isFinite(matcher.timeout)) {
        throw wrong(`hooks.${event}[${at}].timeout must be a finite number of seconds, not ${matcher.timeout}`);
      }
      if (matcher.hooks.length === 0) continue;
      entries.push({
        event,
        matcher: matcher.matcher,
        timeout: matcher.timeout,
        onFailure: matcher.onFailure,
        callbacks: matcher.hooks.length,
      });
      callbacks.push(...matcher.hooks);
    }
  }
  return [entries, callbacks];
}

/** The options without what is `null`: that is absent too, but for a limit, which it takes away. */
function withoutNulls(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => value !== null || name.endsWith('Ms')));
}

/** An environment as programs write it: a number or a truth value becomes its text, as for `spawn`. */
function environment(env: Record<string, unknown>): Record<string, unknown> {
  const plain = (value: unknown): unknown =>
    typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, plain(value)]));
}

/** Takes the options apart. Throws what is wrong with them. */
export function prepare(given: Options): Prepared {
  const options = withoutNulls(given);
  if (options.abortController?.signal.aborted) throw new AbortError('Operation aborted');
  const { sessionStore } = options;
  if (sessionStore !== undefined) checkStore(sessionStore, options);
  for (const name of CALLBACKS) {
    if (options[name] !== undefined && typeof options[name] !== 'function') throw wrong(`option ${name} must be a function`);
  }
  const core: Record<string, unknown> = { ...options };
  for (const name of HOST_SIDE) delete core[name];
  checkValues('option', { ...core, mcpServers: undefined, env: undefined });
  const servers = new Servers();
  if (options.mcpServers) {
    const external: Record<string, unknown> = {};
    for (const [name, server] of Object.entries(options.mcpServers)) {
      if (server === null) continue;
      if ((server as any).type === 'sdk') servers.add(name, server as any);
      else external[name] = server;
    }
    checkValues('option', { mcpServers: external });
    if (Object.keys(external).length > 0) core.mcpServers = external;
    else delete core.mcpServers;
  }
  if ((options.cwd as unknown) instanceof URL) core.cwd = fileURLToPath(options.cwd!);
  const env = environment(options.env ?? process.env);
  const trace = new Trace();
  if (!options.env && (options.traceparent ?? trace.carrier.traceparent) !== undefined) {
    // What is inherited is not what the application gives.
    delete env.TRACEPARENT;
    delete env.TRACESTATE;
  }
  Object.assign(core, {
    dialect: 'typescript',
    env,
    closeGraceMs: options.closeGraceMs ?? 2_000,
    controlTimeoutMs: options.controlTimeoutMs ?? null,
    initializeTimeoutMs: options.initializeTimeoutMs ?? null,
    maxLineBytes: options.maxLineBytes ?? LONGEST_LINE,
    pathToClaudeCodeExecutable: options.pathToClaudeCodeExecutable ?? installedCli(),
  });
  const native = sessionStore && nativeOf(sessionStore);
  const [hooks, callbacks] = hookEntries(options.hooks);
  const config = JSON.stringify({
    options: core,
    permission: options.canUseTool !== undefined,
    elicitation: options.onElicitation !== undefined,
    other: options.onControlRequest !== undefined,
    stderr: options.stderr !== undefined,
    log: options.onLog && (options.logLevel ?? (options.wireLog === 'log' ? 'trace' : 'debug')),
    traceContext: Object.entries(trace.carrier),
    hooks,
    servers: servers.entries,
    store: sessionStore && !native ? capabilities(sessionStore) : undefined,
  });
  return { config, options, servers, hooks: callbacks, store: sessionStore, trace, nativeStore: native };
}

/** Throws for what cannot be, before anything is started. */
function checkStore(store: SessionStore, options: Options): void {
  if (typeof store !== 'object' || store === null || typeof store.append !== 'function') {
    throw wrong('option sessionStore is an object with append and load; openStore(url) opens one by its URL');
  }
  if (options.enableFileCheckpointing) {
    throw wrong('enableFileCheckpointing does not go with sessionStore: the saved files are not in the store');
  }
}
