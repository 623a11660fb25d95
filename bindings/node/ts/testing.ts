/** For tests of applications: what every session store has to do. */
import { named, natively, typed } from './errors.js';
import { addon } from './native.js';
import { capabilities, runTask } from './store-calls.js';
import { messageOf } from './words.js';
import type { SessionStore, SessionStoreEntry } from './types/session-store.js';

/** The optional methods of a store. */
export type OptionalStoreMethod = 'listSessions' | 'listSessionSummaries' | 'delete' | 'listSubkeys';

export interface ConformanceOptions {
  /** Optional methods that are not tried, though the store has them. */
  skipOptional?: Iterable<OptionalStoreMethod>;
}

/** A store broke a contract. */
export class ConformanceError extends Error {
  constructor(
    /** What was demanded. */
    readonly contract: string,
    message: string,
    options?: { cause: unknown },
  ) {
    super(`${contract}: ${message}`, options);
    this.name = 'ConformanceError';
  }
}

const SKIPPED: Record<OptionalStoreMethod, string> = {
  listSessions: 'list_sessions',
  listSessionSummaries: 'list_session_summaries',
  delete: 'delete',
  listSubkeys: 'list_subkeys',
};

/**
 * Puts a store to everything that a session store has to do, each thing with a store of its own.
 * Rejects with a `ConformanceError` where it does otherwise; resolves with the names of what was
 * tried.
 *
 * @param makeStore makes an empty store.
 */
export async function runSessionStoreConformance(
  makeStore: () => SessionStore | Promise<SessionStore>,
  options: ConformanceOptions = {},
): Promise<string[]> {
  const has = capabilities(await makeStore());
  for (const method of options.skipOptional ?? []) {
    if (!(method in SKIPPED)) throw new TypeError(`A session store has no optional method ${method}`);
    has[SKIPPED[method]] = false;
  }
  const given = JSON.stringify(has);
  const contracts = natively(() => addon.storeContracts(given));
  const tried: string[] = [];
  for (const name of contracts) {
    const task = natively(() => addon.contractTask(name, given));
    await demand(named(name), async () => runTask(task, await makeStore()));
    tried.push(named(name));
  }
  await demand(TOGETHER, async () => appendsTogether(await makeStore()));
  return [...tried, TOGETHER];
}

async function demand(contract: string, trial: () => Promise<unknown>): Promise<void> {
  try {
    await trial();
  } catch (error) {
    const cause = typed(error);
    throw new ConformanceError(contract, messageOf(cause), { cause });
  }
}

const TOGETHER = 'appends that overlap lose nothing';
const WRITERS = 6;
const APPENDS = 20;
const BATCH = 3;

/** Several writers append to one session at once: nothing is lost, each one's order is kept. */
async function appendsTogether(store: SessionStore): Promise<void> {
  const key = { projectKey: 'proj', sessionId: 'shared' };
  const write = async (writer: number): Promise<void> => {
    for (let place = 0; place < APPENDS * BATCH; place += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, n): SessionStoreEntry => ({
        type: 'x',
        uuid: `${writer}-${place + n}`,
        writer,
        place: place + n,
      }));
      await store.append(key, batch);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  const next = Array.from({ length: WRITERS }, () => 0);
  for (const entry of (await store.load(key)) ?? []) {
    const { writer, place } = entry as unknown as { writer: number; place: number };
    const expected = next[writer];
    if (place !== expected) throw new Error(`of writer ${writer} entry ${place} stands where ${expected} should`);
    next[writer] = place + 1;
  }
  if (next.some((count) => count !== APPENDS * BATCH)) {
    throw new Error(`of ${APPENDS * BATCH} entries of each writer there are ${next.join(', ')}`);
  }
}
