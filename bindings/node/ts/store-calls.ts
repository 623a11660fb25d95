/** What the core asks of a session store, asked of the application's. */
import { natively, typed, TowlineError } from './errors.js';
import { addon, type NativeStoreTask } from './native.js';
import type { SessionKey, SessionStore, SessionStoreEntry } from './types/session-store.js';
import { messageOf } from './words.js';

/** An object with camel-case names and without what is null. */
export function camel(value: Record<string, unknown>): any {
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(
    entries.map(([name, one]) => [name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), one]),
  );
}

/** Which optional calls a store has. */
export function capabilities(store: SessionStore): Record<string, boolean> {
  return {
    list_sessions: typeof store.listSessions === 'function',
    list_session_summaries: typeof store.listSessionSummaries === 'function',
    delete: typeof store.delete === 'function',
    list_subkeys: typeof store.listSubkeys === 'function',
  };
}

/** A call as the core describes it. */
export interface StoreCall {
  call: string;
  key?: { project_key: string; session_id: string; subpath?: string | null };
  project_key?: string;
  entries?: SessionStoreEntry[];
}

/** The store's methods by the core's names. */
const METHODS: Record<string, string> = {
  append: 'append',
  load: 'load',
  list_sessions: 'listSessions',
  list_session_summaries: 'listSessionSummaries',
  delete: 'delete',
  list_subkeys: 'listSubkeys',
};

/** Does one call with the store. */
export async function callStore(store: SessionStore, asked: StoreCall): Promise<unknown> {
  const key = asked.key && (camel(asked.key) as SessionKey);
  switch (asked.call) {
    case 'append':
      return store.append(key!, asked.entries!);
    case 'load':
      return store.load(key!);
    case 'list_sessions':
      return store.listSessions!(asked.project_key!);
    case 'list_session_summaries':
      return store.listSessionSummaries!(asked.project_key!);
    case 'delete':
      return store.delete!(key!);
    case 'list_subkeys':
      return store.listSubkeys!(key!);
    default:
      throw new Error(`A session store has no call ${asked.call}`);
  }
}

class TooLate extends Error {}

/** Waits for the work, but only so long. */
async function within(limit: number | null, what: string, work: Promise<unknown>): Promise<unknown> {
  if (limit === null) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`SessionStore.${what}() timed out after ${limit}ms`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Does an operation over a store; the result is its JSON document. What the store threw comes
 * through as it is; with `told` it is the cause of an error that says what was tried.
 */
export async function runTask(task: NativeStoreTask, store: SessionStore, told = false): Promise<any> {
  return new Promise((resolve, reject) => {
    let done = false;
    const thrown = new Map<number, unknown>();
    const finish = (): void => {
      try {
        const output = task.finished();
        if (output === null) return;
        done = true;
        resolve(JSON.parse(output));
      } catch (error) {
        done = true;
        const failure = typed(error);
        const call = callOf(error);
        if (call === undefined || !thrown.has(call)) reject(failure);
        else if (told) reject(Object.assign(failure as Error, { cause: thrown.get(call) }));
        else reject(thrown.get(call));
      }
    };
    const advance = (): void => {
      if (done) return;
      for (let next = task.nextCall(); next !== null; next = task.nextCall()) {
        const { id, timeoutMs, call } = JSON.parse(next) as {
          id: number;
          timeoutMs: number | null;
          call: StoreCall;
        };
        within(timeoutMs, METHODS[call.call] ?? call.call, callStore(store, call)).then(
          (value) => {
            task.answer(id, JSON.stringify(value ?? null));
            advance();
          },
          (error) => {
            const late = error instanceof TooLate;
            if (!late) thrown.set(id, error);
            task.refuse(id, messageOf(error), late);
            advance();
          },
        );
      }
      finish();
    };
    advance();
  });
}

/** The call that has ended an operation. */
function callOf(error: unknown): number | undefined {
  try {
    return JSON.parse(messageOf(error)).call ?? undefined;
  } catch {
    return undefined;
  }
}

/** Does one of the core's operations over a store. */
export async function inStore(store: SessionStore, operation: object): Promise<any> {
  if (typeof store !== 'object' || store === null) {
    const text = `sessionStore is a store, not ${typeof store}; openStore(url) opens one by its URL`;
    throw new TowlineError('INVALID_ARGUMENT', text);
  }
  const has = JSON.stringify(capabilities(store));
  const task = natively(() => new addon.NativeStoreTask(has, JSON.stringify({ dialect: 'typescript', ...operation })));
  return runTask(task, store);
}
