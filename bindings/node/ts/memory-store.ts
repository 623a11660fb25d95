/** A store in memory, for tests and trials: all is lost with the process. */
import { foldSessionSummary } from './sessions.js';
import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from './types/session-store.js';

/** Keeps transcripts in memory. */
export class InMemorySessionStore implements SessionStore {
  private readonly transcripts = new Map<string, { key: SessionKey; entries: SessionStoreEntry[] }>();
  private readonly times = new Map<string, number>();
  private readonly summaries = new Map<string, SessionSummaryEntry>();
  private lastTime = 0;

  private name(key: SessionKey): string {
    return JSON.stringify([key.projectKey, key.sessionId, key.subpath ?? null]);
  }

  /** Later than every time before. */
  private now(): number {
    this.lastTime = Math.max(Date.now(), this.lastTime + 1);
    return this.lastTime;
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const name = this.name(key);
    const kept = this.transcripts.get(name) ?? { key: { ...key }, entries: [] };
    const known = new Set(kept.entries.map((entry) => entry.uuid).filter((uuid) => uuid !== undefined));
    const fresh = entries.filter((entry) => {
      if (entry.uuid === undefined) return true;
      if (known.has(entry.uuid)) return false;
      known.add(entry.uuid);
      return true;
    });
    kept.entries.push(...fresh.map((entry) => structuredClone(entry)));
    this.transcripts.set(name, kept);
    if (key.subpath !== undefined) return;
    const mtime = this.now();
    this.times.set(name, mtime);
    this.summaries.set(name, foldSessionSummary(this.summaries.get(name), key, fresh, { mtime }));
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const kept = this.transcripts.get(this.name(key));
    return kept ? structuredClone(kept.entries) : null;
  }

  private *ofProject(projectKey: string): Iterable<[string, SessionKey]> {
    for (const [name, { key }] of this.transcripts) {
      if (key.projectKey === projectKey && key.subpath === undefined) yield [name, key];
    }
  }

  async listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> {
    const found = [...this.ofProject(projectKey)];
    return found.map(([name, { sessionId }]) => ({ sessionId, mtime: this.times.get(name) ?? 0 }));
  }

  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const found = [...this.ofProject(projectKey)].map(([name]) => this.summaries.get(name));
    return structuredClone(found.filter((one): one is SessionSummaryEntry => one !== undefined));
  }

  async delete(key: SessionKey): Promise<void> {
    for (const [name, { key: kept }] of [...this.transcripts]) {
      const session = kept.projectKey === key.projectKey && kept.sessionId === key.sessionId;
      if (session && (key.subpath === undefined || kept.subpath === key.subpath)) {
        this.transcripts.delete(name);
        this.times.delete(name);
        this.summaries.delete(name);
      }
    }
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const all = [...this.transcripts.values()].map((one) => one.key);
    return all
      .filter((one) => one.projectKey === key.projectKey && one.sessionId === key.sessionId)
      .flatMap((one) => (one.subpath === undefined ? [] : [one.subpath]));
  }

  /** The entries of a key, as they are kept. */
  getEntries(key: SessionKey): SessionStoreEntry[] {
    return this.transcripts.get(this.name(key))?.entries ?? [];
  }

  /** How many sessions there are. */
  get size(): number {
    return this.times.size;
  }

  /** Forgets everything. */
  clear(): void {
    this.transcripts.clear();
    this.times.clear();
    this.summaries.clear();
    this.lastTime = 0;
  }
}
