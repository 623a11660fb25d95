/** Sessions saved on disk or in a store of the application's. */
import { natively, typed } from './errors.js';
import { addon } from './native.js';
import { camel, inStore } from './store-calls.js';
import type { SDKSessionInfo } from './types/messages.js';
import type * as types from './types/sessions.js';
import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from './types/session-store.js';

/** What an operation is asked. */
type Asked = Record<string, unknown> & { dir?: string; sessionStore?: SessionStore };

async function onDisk(operation: string, asked: Asked): Promise<any> {
  const { sessionStore: _, ...rest } = asked;
  const configDir = process.env.CLAUDE_CONFIG_DIR || undefined;
  try {
    return JSON.parse(await addon.savedSessions(JSON.stringify({ operation, configDir, ...rest })));
  } catch (error) {
    throw typed(error);
  }
}

/** Both places: `disk` and `store` name the operation in each. */
async function either(disk: string, store: string, asked: Asked): Promise<any> {
  const { sessionStore, ...rest } = asked;
  return sessionStore ? inStore(sessionStore, { operation: store, ...rest }) : onDisk(disk, asked);
}

/** The sessions of a directory, or of all, newest first. */
export async function listSessions(options: types.ListSessionsOptions = {}): Promise<SDKSessionInfo[]> {
  const infos = await either('listSessions', 'list_sessions', options);
  return infos.map(camel);
}

/** What a list would tell of one session. */
export async function getSessionInfo(
  sessionId: string,
  options: types.GetSessionInfoOptions = {},
): Promise<SDKSessionInfo | undefined> {
  const info = await either('getSessionInfo', 'get_session_info', { ...options, sessionId });
  return info === null ? undefined : camel(info);
}

/** The conversation of a session, oldest message first. */
export async function getSessionMessages(
  sessionId: string,
  options: types.GetSessionMessagesOptions = {},
): Promise<types.SessionMessage[]> {
  return either('getSessionMessages', 'get_session_messages', { ...options, sessionId });
}

/** The ids of a session's subagents. */
export async function listSubagents(
  sessionId: string,
  options: types.ListSubagentsOptions = {},
): Promise<string[]> {
  return either('listSubagents', 'list_subagents', { ...options, sessionId });
}

/** The conversation of a subagent, oldest message first. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: types.GetSubagentMessagesOptions = {},
): Promise<types.SessionMessage[]> {
  return either('getSubagentMessages', 'get_subagent_messages', { ...options, sessionId, agentId });
}

/** Gives a session a title. */
export async function renameSession(
  sessionId: string,
  title: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('renameSession', 'rename_session', { ...options, sessionId, title });
}

/** Tags a session; `null` takes the tag away. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('tagSession', 'tag_session', { ...options, sessionId, tag });
}

function onlyOnDisk(what: string, options: types.SessionMutationOptions): void {
  if (options.sessionStore) throw new Error(`${what} does not support sessionStore`);
}

/** Marks a session as archived. */
export async function archiveSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  onlyOnDisk('archiveSession', options);
  await onDisk('archiveSession', { ...options, sessionId });
}

/** Takes a session out of the archive. */
export async function unarchiveSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  onlyOnDisk('unarchiveSession', options);
  await onDisk('unarchiveSession', { ...options, sessionId });
}

/** Deletes a session with its subagents' transcripts. */
export async function deleteSession(
  sessionId: string,
  options: types.SessionMutationOptions = {},
): Promise<void> {
  await either('deleteSession', 'delete_session', { ...options, sessionId });
}

/** Copies a session as a new one. */
export async function forkSession(
  sessionId: string,
  options: types.ForkSessionOptions = {},
): Promise<types.ForkSessionResult> {
  return camel(await either('forkSession', 'fork_session', { ...options, sessionId }));
}

/** Copies a session from disk into a store. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  options: types.ImportSessionToStoreOptions = {},
): Promise<void> {
  const configDir = process.env.CLAUDE_CONFIG_DIR || undefined;
  await inStore(store, { operation: 'import_session', ...options, sessionId, configDir });
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
