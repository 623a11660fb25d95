/** The stores that come with Towline, opened by URL. */
import { typed } from './errors.js';
import { addon, type NativeStore } from './native.js';
import { camel } from './store-calls.js';
import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from './types/session-store.js';

/** A store of the core's. Its methods never block: what does is done on libuv's threads. */
export interface OpenedStore extends Required<SessionStore> {}

/**
 * Opens a store by its URL, creating what is not there yet:
 *
 * - `memory:` is gone with this process;
 * - `sqlite:PATH` is one file;
 * - `dir:PATH` is a folder of JSON lines files;
 * - `postgres://user@host/database` is a database that many machines share.
 *
 * Sessions that are given the same opened store share its connection and its one thread. It is
 * closed when it is collected. Rejects with a `TowlineError` of code `SESSION_STORE`.
 */
export async function openStore(url: string): Promise<OpenedStore> {
  try {
    return new UrlStore(await addon.openStore(url));
  } catch (error) {
    throw typed(error);
  }
}

/** The addon's store behind a store, if it is one of the core's. */
export function nativeOf(store: SessionStore): NativeStore | undefined {
  return store instanceof UrlStore ? store.native : undefined;
}

/** A key with the core's names. */
function keyOf(key: SessionKey): Record<string, unknown> {
  return { project_key: key.projectKey, session_id: key.sessionId, subpath: key.subpath };
}

class UrlStore implements OpenedStore {
  readonly native: NativeStore;

  constructor(native: NativeStore) {
    this.native = native;
    // Of no use to who prints the store.
    Object.defineProperty(this, 'native', { enumerable: false });
  }

  private async call(call: object): Promise<any> {
    try {
      return JSON.parse(await addon.callStore(this.native, JSON.stringify(call)));
    } catch (error) {
      throw typed(error);
    }
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    await this.call({ call: 'append', key: keyOf(key), entries });
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    return this.call({ call: 'load', key: keyOf(key) });
  }

  async listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> {
    return (await this.call({ call: 'list_sessions', project_key: projectKey })).map(camel);
  }

  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    return (await this.call({ call: 'list_session_summaries', project_key: projectKey })).map(camel);
  }

  async delete(key: SessionKey): Promise<void> {
    await this.call({ call: 'delete', key: keyOf(key) });
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    return this.call({ call: 'list_subkeys', key: keyOf(key) });
  }
}
