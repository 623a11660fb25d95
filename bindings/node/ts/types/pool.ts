/** The limits of a pool, and what it counts. */

/** How many sessions a pool keeps, and for how long. */
export interface PoolLimits {
  /** Sessions that are open and wait for a first prompt. Default 1. */
  size?: number;
  /**
   * Most sessions at a time: those that start, wait, are parked, in use or end. When it is reached, the
   * parked conversation that was used least recently is closed; it is resumed when it is asked for. Not
   * given: no limit.
   */
  maxSessions?: number | null;
  /** A session that nobody has used for this long is closed; a warm one is replaced. Default 10 minutes; `null` is never. */
  idleTimeoutMs?: number | null;
  /** How often a session that waits is asked for a sign of life. Default 30 s; `null` is never. */
  checkIntervalMs?: number | null;
  /** How long it has for the answer. Default 5 s. */
  checkTimeoutMs?: number;
  /** How long `take` waits at most. Default 60 s; `null` is for ever. */
  takeTimeoutMs?: number | null;
}

/** Which session is taken. */
export interface TakeOptions {
  /** The conversation to go on with. */
  sessionId?: string;
  /** How long to wait, in place of the pool's `takeTimeoutMs`; `null` is for ever. */
  timeoutMs?: number | null;
}

/** What a pool has and what it has done. */
export interface PoolStats {
  /** Sessions that wait, open and without a prompt. */
  warm: number;
  /** Conversations that are kept open. */
  parked: number;
  starting: number;
  /** Sessions in use. */
  handedOut: number;
  closing: number;
  /** Calls that wait for a session. */
  waiting: number;
  /** Sessions started so far. */
  started: number;
  /** Of these, to go on with a conversation. */
  resumed: number;
  /** Sessions given at once. */
  hits: number;
  /** Sessions that had to be waited for. */
  misses: number;
  /** Starts that have failed; in a row: `failures`. */
  failed: number;
  failures: number;
  /** Sessions that ended by themselves while they waited. */
  exited: number;
  /** Sessions that did not answer a check in time. */
  unhealthy: number;
  /** Sessions closed because nobody had used them for long. */
  idle: number;
  /** Sessions closed to make room. */
  evicted: number;
}

/** Milliseconds since the session was asked for; `null` for what has not happened. */
export interface Startup {
  /** Until the CLI ran. */
  spawnedMs: number | null;
  /** Until its answer to `initialize` was read. */
  initializedMs: number | null;
  /** Until it was taken from a pool for the first time. */
  takenMs: number | null;
  /** Until the first message of a turn was given out. */
  firstMessageMs: number | null;
}
