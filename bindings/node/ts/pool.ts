/** Sessions started ahead, and conversations kept open. The core decides, this does. */
import { fromNative, natively, TowlineError, type NativeError } from './errors.js';
import { addon, type NativePool } from './native.js';
import { checkMilliseconds, checkValues } from './numbers.js';
import { RunningSession } from './session.js';
import type { SDKMessage, SDKUserMessage } from './types/messages.js';
import type { Options } from './types/options.js';
import type { PoolLimits, PoolStats, TakeOptions } from './types/pool.js';
import type { Session } from './types/session.js';

/** Answered by every CLI at once: an older one refuses it, which is an answer too. */
const SIGN_OF_LIFE = 'get_binary_version';
/** The most milliseconds that a timer of Node's takes. */
const LONGEST = 2 ** 31 - 1;

type Action =
  | { do: 'start'; member: number; resume: string | null }
  | { do: 'check'; member: number }
  | { do: 'close'; member: number }
  | { do: 'give'; ticket: number; member: number }
  | { do: 'refuse'; ticket: number; error: NativeError };

interface Waiting {
  resolve(session: Session): void;
  reject(error: unknown): void;
}

/** An argument that is an object; one that is not given has nothing in it. */
function object<T extends object>(what: string, given: T | null): T {
  if (given === null) return {} as T;
  if (typeof given !== 'object') throw new TowlineError('INVALID_OPTIONS', `${what} have to be an object, not a ${typeof given}`);
  return given;
}

function cannotPark(why: string): TowlineError {
  return new TowlineError('INVALID_ARGUMENT', `the session cannot be parked: ${why}`);
}

/** A session of a pool, from its start to its end. */
interface Place {
  session: RunningSession;
  closing: boolean;
  /** What its user has of it. */
  lent?: Lent;
}

interface Lent {
  session: Session;
  takeBack(): void;
}

/** Whose sessions they are, by what their users have of them, and whether those have given them back. */
const LENT = new WeakMap<object, { pool: Pool; isBack(): boolean }>();

/** A session as its user has it: once it is taken back it does nothing any more. */
function lend(pool: Pool, session: RunningSession): Lent {
  let back = false;
  const handle = new Proxy(session, {
    get(target, name) {
      const check = (): void => {
        if (back) throw new TowlineError('SESSION_CLOSED', 'the session was put back into its pool; take one again');
      };
      // It has no process any more; nothing else tells of it.
      if (back && name === 'pid') return undefined;
      if (typeof name === 'string' && name !== 'then') check();
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        // The end of an `await using` block is not the end of a session that was put back in it.
        if (back && typeof name === 'symbol') return undefined;
        check();
        return Reflect.apply(value, target, given);
      };
    },
  });
  LENT.set(handle, { pool, isBack: () => back });
  return { session: handle as unknown as Session, takeBack: () => void (back = true) };
}

/**
 * Sessions that are started before anybody needs them, so that a first prompt costs no start-up, and
 * conversations that are kept open for their next prompt, within a limit on the number of processes.
 * Callbacks of the options are those of all its sessions. A pool at rest does not keep the process
 * from ending.
 */
export class Pool implements AsyncDisposable {
  private readonly options: Options;
  private readonly policy: NativePool;
  private readonly takeTimeoutMs: number | null;
  private readonly places = new Map<number, Place>();
  private readonly waiting = new Map<number, Waiting>();
  private fillers: { resolve(): void; reject(error: unknown): void }[] = [];
  private ended: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: unknown;

  /** Starts the processes of the warm sessions; `options` name no single conversation. */
  constructor(options: Options = {}, limits: PoolLimits = {}) {
    this.options = object('the options of the sessions', options);
    const given = object('the limits of the pool', limits);
    checkValues('limit', given);
    this.policy = natively(() => new addon.NativePool(JSON.stringify(given), this.options));
    this.takeTimeoutMs = given.takeTimeoutMs === undefined ? 60_000 : given.takeTimeoutMs;
    this.settle();
  }

  /**
   * A session that is open: a warm one at once, else one that is started. With a `sessionId` that of
   * this conversation: the parked one, else one that resumes it; while somebody else has it, it is
   * waited for. It is given back with `putBack` or ended with `close`.
   */
  take(which: TakeOptions = {}): Promise<Session> {
    const { sessionId, timeoutMs } = object('the arguments of take', which);
    if (sessionId !== undefined && sessionId !== null && typeof sessionId !== 'string') {
      throw new TowlineError('INVALID_ARGUMENT', `sessionId has to be a string, not a ${typeof sessionId}`);
    }
    if (timeoutMs !== undefined && timeoutMs !== null) checkMilliseconds('timeoutMs', timeoutMs);
    const limit = timeoutMs === undefined ? this.takeTimeoutMs : timeoutMs;
    const ticket = this.policy.take(sessionId ?? undefined, limit ?? undefined);
    const taken = new Promise<Session>((resolve, reject) => this.waiting.set(ticket, { resolve, reject }));
    this.settle();
    return taken;
  }

  /**
   * Gives a session back, which its user must not use any more. One with a conversation is parked under
   * its session id; one that never had a prompt is warm again, for anybody. Throws when a turn of it is
   * open, when it has ended or has no id, and when it is of another pool: it stays its user's.
   */
  putBack(session: Session): void {
    const [member, place] = this.member(session);
    const running = place.session;
    if (!running.isUsable) throw cannotPark('it has ended');
    let key: string | undefined;
    if (running.wasPrompted) {
      if (running.isInTurn) throw cannotPark('a turn of it is not over; read it to its result, or close the session');
      key = running.sessionId;
      if (key === undefined) throw cannotPark('it has no session id yet; read a turn of it to its result first, or close the session');
    }
    place.lent!.takeBack();
    place.lent = undefined;
    this.policy.putBack(member, key);
    this.settle();
  }

  /** Sends one prompt; the messages of its turn, the result last. The session is ended after that, or put back with `park`. */
  async *query(
    prompt: string | SDKUserMessage,
    { park = false, ...which }: TakeOptions & { park?: boolean } = {},
  ): AsyncGenerator<SDKMessage, void> {
    const session = await this.take(which);
    let parked = false;
    try {
      yield* session.send(prompt);
      if (park) {
        this.putBack(session);
        parked = true;
      }
    } finally {
      if (!parked) session.close();
    }
  }

  /** Settles when as many sessions are warm as shall be, or there is no room for more; rejects when a start fails. */
  fill(): Promise<void> {
    const full = new Promise<void>((resolve, reject) => this.fillers.push({ resolve, reject }));
    this.settle();
    return full;
  }

  get stats(): PoolStats {
    return JSON.parse(this.policy.stats()) as PoolStats;
  }

  /** Why the last start failed, if none has succeeded since. */
  get lastFailure(): unknown {
    return this.failure;
  }

  /** Ends all sessions that nobody has, at the same time, and settles when they are gone. Those in use are their users'. */
  close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.ended.push(resolve));
    this.policy.close();
    this.settle();
    return ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private member(session: Session): [number, Place] {
    for (const [member, place] of this.places) {
      if (place.lent?.session === session) return [member, place];
    }
    const lent = LENT.get(session as object);
    let why = 'it has ended';
    if (lent?.pool !== this) why = 'it is not of this pool';
    else if (lent.isBack()) why = 'it was put back already; take one again';
    throw cannotPark(why);
  }

  /** Does what the core wants. */
  private readonly settle = (): void => {
    for (let text = this.policy.next(); text !== null; text = this.policy.next()) {
      const action = JSON.parse(text) as Action;
      switch (action.do) {
        case 'start':
          void this.run(action.member, action.resume);
          break;
        case 'check':
          void this.check(action.member);
          break;
        case 'close':
          this.end(action.member);
          break;
        case 'give':
          this.give(action.ticket, action.member);
          break;
        case 'refuse':
          this.settled(action.ticket)?.reject(fromNative(action.error));
      }
    }
    if (this.policy.isFull()) this.filled();
    if (this.ended.length > 0 && this.policy.isEmpty()) {
      this.filled();
      for (const ended of this.ended.splice(0)) ended();
    }
    clearTimeout(this.timer);
    const due = this.policy.timeoutMs();
    this.timer = due === null ? undefined : setTimeout(this.settle, Math.min(due, LONGEST)).unref();
    // Somebody waits: that the process lives on until then is wanted.
    if (this.waiting.size > 0 || this.fillers.length > 0) this.timer?.ref();
  };

  private settled(ticket: number): Waiting | undefined {
    const waiting = this.waiting.get(ticket);
    this.waiting.delete(ticket);
    return waiting;
  }

  private filled(): void {
    for (const { resolve } of this.fillers.splice(0)) resolve();
  }

  /** Starts a session and sees it to its end. */
  private async run(member: number, resume: string | null): Promise<void> {
    let session: RunningSession;
    try {
      session = new RunningSession(resume === null ? this.options : { ...this.options, resume });
    } catch (error) {
      // Not within the round of work that has asked for it.
      await Promise.resolve();
      return this.failed(member, error);
    }
    const place: Place = { session, closing: false };
    this.places.set(member, place);
    try {
      await session.initializationResult();
    } catch (error) {
      session.close();
      if (!place.closing) this.failed(member, error, false);
      await session.gone;
      return this.gone(member);
    }
    this.failure = undefined;
    this.policy.opened(member);
    this.settle();
    await session.gone;
    this.policy.lost(member);
    this.gone(member);
  }

  private failed(member: number, error: unknown, gone = true): void {
    this.failure = error;
    for (const { reject } of this.fillers.splice(0)) reject(error);
    const ticket = this.policy.failed(member);
    if (ticket !== null) this.settled(ticket)?.reject(error);
    if (gone) this.gone(member);
    else this.settle();
  }

  private gone(member: number): void {
    this.places.delete(member);
    this.policy.gone(member);
    this.settle();
  }

  private async check(member: number): Promise<void> {
    try {
      await this.places.get(member)!.session.request(SIGN_OF_LIFE);
    } catch (error) {
      // A refusal is a sign of life too.
      if (!(error instanceof TowlineError) || error.code !== 'REQUEST_REFUSED') return;
    }
    this.policy.answered(member);
    this.settle();
  }

  private end(member: number): void {
    const place = this.places.get(member);
    if (!place) return this.policy.gone(member);
    place.closing = true;
    place.session.close();
  }

  private give(ticket: number, member: number): void {
    const place = this.places.get(member);
    if (!place?.session.isUsable) return this.policy.lost(member);
    place.session.noteTaken();
    this.policy.given(ticket, member);
    place.lent = lend(this, place.session);
    this.settled(ticket)?.resolve(place.lent.session);
  }
}
