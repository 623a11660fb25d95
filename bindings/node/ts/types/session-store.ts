/** Stores of transcripts that the application brings. */

/** Names a transcript in a store. */
export type SessionKey = {
  /** What the sessions belong to; by default the encoded working directory. */
  projectKey: string;
  sessionId: string;
  /** A subagent's transcript, `subagents/agent-…`; absent for the session's own. */
  subpath?: string;
};

/** One line of a transcript. A store passes it through as it is. */
export type SessionStoreEntry = {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
};

/** When a session's transcript goes to its store: at the end of a turn, or frame by frame. */
export type SessionStoreFlush = 'batched' | 'eager';

/** What a store keeps of a session for lists. */
export type SessionSummaryEntry = {
  sessionId: string;
  /** When it was stored, in ms, by the clock of `listSessions`. */
  mtime: number;
  /** Kept as it is. */
  data: Record<string, unknown>;
};

/** A place for transcripts. */
export type SessionStore = {
  /** Adds entries behind those of the key. Entries with the same `uuid` may come again. */
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  /** All entries of a key, in order; `null` when there never was one. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>>;
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>;
  delete?(key: SessionKey): Promise<void>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
};
