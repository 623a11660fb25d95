/** Sessions saved on disk or in a store of the application's. */
import { natively, typed, TowlineError } from './errors.js';
import { addon } from './native.js';
import { camel, inStore } from './store-calls.js';
import type { SDKSessionInfo } from './types/messages.js';
import type * as types from './types/sessions.js';
import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from './types/session-store.js';

/** What an operation is asked. */
type Asked = Record<string, unknown> & { dir?: string; sessionStore?: SessionStore };

/** Of what kind the arguments of the operations are. */
const KINDS: Record<string, 'string' | 'number' | 'boolean'> = {
  dir: 'string',
  sessionId: 'string',
  agentId: 'string',
  title: 'string',
  tag: 'string',
  upToMessageId: 'string',
  limit: 'number',
  offset: 'number',
  batchSize: 'number',
  includeWorktrees: 'boolean',
  includeProgrammatic: 'boolean',
  includeSystemMessages: 'boolean',
  includeSubagents: 'boolean',
};

/** A number of things: a whole one, not below zero; `undefined` for what is no number of things. */
function count(value: number): number | undefined {
  return Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : undefined;
}

/** The arguments, of the right kinds; what is `null` is absent. Throws for what they cannot be. */
function arguments_(asked: object): Record<string, unknown> {
  const given = Object.entries(asked).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => {
      const kind = KINDS[name];
      if (kind && typeof value !== kind) throw new TowlineError('INVALID_ARGUMENT', `${name} must be a ${kind}, not ${describe(value)}`);
      return [name, kind === 'number' ? count(value) : value];
    }),
  );
}

/** A value for a message: itself where that is short, else what kind it is of. */
function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** The session that an operation is about. */
function named(sessionId: unknown): string {
  if (typeof sessionId !== 'string') throw new TowlineError('INVALID_ARGUMENT', `sessionId must be a string, not ${describe(sessionId)}`);
  return sessionId;
}

async function onDisk(operation: string, asked: Asked): Promise<any> {
  const { sessionStore: _, ...rest } = arguments_(asked);
  const configDir = process.env.CLAUDE_CONFIG_DIR || undefined;
  try {
    return JSON.parse(await addon.savedSessions(JSON.stringify({ operation, configDir, ...rest })));
  } catch (error) {
    throw typed(error);
  }
}

/** Both places: `disk` and `store` name the operation in each. */
async function either(disk: string, store: string, asked: Asked): Promise<any> {
  const { sessionStore, ...rest } = arguments_(asked) as Asked;
  return sessionStore ? inStore(sessionStore, { operation: store, ...rest }) : onDisk(disk, asked);
}

/** The sessions of a directory, or of all, newest first. */
export async function listSessions(options: types.ListSessionsOptions = {}): Promise<SDKSessionInfo[]> {
  const infos = await either('listSessions', 'list_sessions', { ...options });
  return infos.map(camel);
}

/** What a list would tell of one session. */
export async function getSessionInfo(
  sessionId: string,
  options: types.GetSessionInfoOptions = {},
): Promise<SDKSessionInfo | undefined> {
  const info = await either('getSessionInfo', 'get_session_info', { ...options, sessionId: named(sessionId) });
  return info === null ? undefined : camel(info);
}

/** The conversation of a session, oldest message first. */
export async function getSessionMessages(
  sessionId: string,
  options: types.GetSessionMessagesOptions = {},
): Promise<types.SessionMessage[]> {
  return either('getSessionMessages', 'get_session_messages', { timestamps: true, ...options, sessionId: named(sessionId) });
}

/** The ids of a session's subagents. */
export async function listSubagents(
  sessionId: string,
  options: types.ListSubagentsOptions = {},
): Promise<string[]> {
  return either('listSubagents', 'list_subagents', { ...options, sessionId: named(sessionId) });
}

/** The conversation of a subagent, oldest message first. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: types.GetSubagentMessagesOptions = {},
): Promise<types.SessionMessage[]> {
  return either('getSubagentMessages', 'get_subagent_messages', { timestamps: true, ...options, sessionId: named(sessionId), agentId });
}

/** Gives a session a title. */
export async function renameSession(
  sessionId: string,
  title: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('renameSession', 'rename_session', { ...options, sessionId: named(sessionId), title });
}

/** Tags a session; `null` takes the tag away. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('tagSession', 'tag_session', { ...options, sessionId: named(sessionId), tag });
}

function onlyOnDisk(what: string, options: types.SessionMutationOptions): void {
  if (options?.sessionStore) throw new Error(`${what} does not support sessionStore`);
}

/** Marks a session as archived. */
export async function archiveSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  onlyOnDisk('archiveSession', options);
  await onDisk('archiveSession', { ...options, sessionId: named(sessionId) });
}

/** Takes a session out of the archive. */
export async function unarchiveSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  onlyOnDisk('unarchiveSession', options);
  await onDisk('unarchiveSession', { ...options, sessionId: named(sessionId) });
}

/** Deletes a session with its subagents' transcripts. */
export async function deleteSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('deleteSession', 'delete_session', { ...options, sessionId: named(sessionId) });
}

/** Copies a session as a new one. */
export async function forkSession(
  sessionId: string,
  options: types.ForkSessionOptions = {},
): Promise<types.ForkSessionResult> {
  return camel(await either('forkSession', 'fork_session', { ...options, sessionId: named(sessionId) }));
}

/** Copies a session from disk into a store. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  options: types.ImportSessionToStoreOptions = {},
): Promise<void> {
  const configDir = process.env.CLAUDE_CONFIG_DIR || undefined;
  await inStore(store, { operation: 'import_session', ...arguments_(options ?? {}), sessionId: named(sessionId), configDir });
}

/** Folds new entries into the summary that a store keeps of a session. */
export function foldSessionSummary(
  previous: SessionSummaryEntry | undefined,
  key: SessionKey,
  entries: SessionStoreEntry[],
  options: { mtime?: number } = {},
): SessionSummaryEntry {
  const texts = entries.map((entry) => JSON.stringify(entry));
  const before = previous && JSON.stringify(previous);
  return natively(() =>
    JSON.parse(addon.foldSessionSummary(key.sessionId, before, texts, options.mtime)),
  );
}
