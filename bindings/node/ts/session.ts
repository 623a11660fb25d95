/** Sessions with turns: what comes of a prompt belongs to that prompt. */
import { HIGH_WATER } from './inbox.js';
import type { Route } from './route.js';
import { TowlineError } from './errors.js';
import { RunningQuery } from './query.js';
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from './types/messages.js';
import type { Options } from './types/options.js';
import type { Session, Turn } from './types/session.js';

/** Starts Claude Code for a conversation. Prompts may be sent at once. */
export function openSession(options: Options = {}): Session {
  return new RunningSession(options) as unknown as Session;
}

interface Waiting {
  resolve(result: IteratorResult<SDKMessage, void>): void;
  reject(error: unknown): void;
}

/** Messages that wait to be taken. */
class Queue {
  private items: [SDKMessage, number][] = [];
  private readonly waiting: Waiting[] = [];
  private over = false;
  private error: unknown;
  private lost = false;
  /** Its reader has gone: what comes is dropped. */
  private left = false;
  /** Characters, about. */
  private size = 0;
  /** Somebody has begun to read. */
  private read = false;

  /** `changed` is called when there may be room again. */
  constructor(private readonly changed: () => void) {}

  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  get isFull(): boolean {
    return this.size > HIGH_WATER;
  }

  /** Whether messages can be left out for what is wanted behind them: nobody reads these. */
  get isIdle(): boolean {
    return !this.read;
  }

  put(message: SDKMessage, size: number, wanted: boolean): void {
    const waiting = this.waiting.shift();
    if (waiting) return waiting.resolve({ done: false, value: message });
    if (this.left) return;
    this.lost ||= this.isFull && this.isIdle && wanted;
    if (this.lost) return;
    this.items.push([message, size]);
    this.size += size;
  }

  /** Nobody reads any more: nothing is kept, and nothing waits for it. */
  leave(): void {
    this.left = true;
    this.lost = false;
    this.items = [];
    this.size = 0;
    this.end();
    this.error = undefined;
    this.changed();
  }

  /** Nothing more comes. */
  end(error?: unknown): void {
    if (this.over) return;
    this.over = true;
    this.error = error;
    if (this.lost) {
      const text = 'Nobody had read this turn: its messages from here on were dropped';
      this.error = new TowlineError('MESSAGES_LOST', text);
    }
    for (const waiting of this.waiting.splice(0)) {
      if (this.error !== undefined) waiting.reject(this.takeError());
      else waiting.resolve({ done: true, value: undefined });
    }
  }

  private takeError(): unknown {
    const { error } = this;
    this.error = undefined;
    return error;
  }

  next(): Promise<IteratorResult<SDKMessage, void>> {
    this.read = true;
    const item = this.items.shift();
    if (item) {
      this.size -= item[1];
      this.changed();
      return Promise.resolve({ done: false, value: item[0] });
    }
    if (this.error !== undefined) return Promise.reject(this.takeError());
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    const next = new Promise<IteratorResult<SDKMessage, void>>((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.changed();
    return next;
  }
}

class RunningTurn {
  readonly queue: Queue;
  /** Somebody has asked for the result: the messages need not be read for it to come. */
  isWanted = false;
  private readonly outcome: Promise<SDKResultMessage>;
  private settle!: { resolve(result: SDKResultMessage): void; reject(error: unknown): void };
  private last: SDKResultMessage | undefined;
  readonly #session: RunningSession;

  constructor(
    session: RunningSession,
    readonly id: number,
  ) {
    this.#session = session;
    this.queue = new Queue(() => session.changed());
    this.outcome = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // Who wants to know asks; nobody has to.
    this.outcome.catch(() => {});
  }

  get result(): Promise<SDKResultMessage> {
    this.isWanted = true;
    this.#session.changed();
    return this.outcome;
  }

  take(message: SDKMessage, size: number, wanted: boolean): void {
    if (message.type === 'result') this.last = message;
    this.queue.put(message, size, wanted);
  }

  end(outcome: string, error?: unknown, shared?: SDKResultMessage): void {
    const result = this.last ?? shared;
    if (outcome === 'result' && result) {
      this.settle.resolve(result);
      this.queue.end();
      return;
    }
    const text = outcome === 'cancelled' ? 'The prompt was taken back' : `The turn ended without a result (${outcome})`;
    const reason = error ?? new TowlineError(outcome === 'cancelled' ? 'CANCELLED' : outcome === 'ended' ? 'SESSION_CLOSED' : 'TURN_TIMED_OUT', text);
    this.settle.reject(reason);
    this.queue.end(reason);
  }

  next(): Promise<IteratorResult<SDKMessage, void>> {
    return this.queue.next();
  }

  /** Nobody reads on. */
  async return(): Promise<IteratorResult<SDKMessage, void>> {
    this.queue.leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  interrupt(): Promise<any> {
    return this.#session.interrupt();
  }

  async cancel(): Promise<boolean> {
    return this.#session.cancel(this.id);
  }
}

export class RunningSession extends RunningQuery implements Route {
  /** Messages that no prompt asked for. */
  readonly #others: Queue;
  #finishing = false;
  readonly #turns = new Map<number, RunningTurn>();
  #lastResult: SDKResultMessage | undefined;

  constructor(options: Options) {
    super(options);
    this.#others = new Queue(() => this.changed());
    // Without a process the first use tells why.
    if (this.opened) this.opened.route = this;
  }

  override send(message: string | SDKUserMessage): Turn {
    const turn = new RunningTurn(this, super.send(message) as number);
    this.#turns.set(turn.id, turn);
    return turn as unknown as Turn;
  }

  changed(): void {
    this.opened?.resume();
  }

  message(message: SDKMessage, turn: number, size: number): void {
    if (message.type === 'result') this.#lastResult = message;
    const running = this.#turns.get(turn);
    if (running) running.take(message, size, this.isWanted());
    else this.#others.put(message, size, true);
  }

  /** Whether somebody waits for what comes behind the messages that nobody reads. */
  private isWanted(): boolean {
    if (this.#finishing || this.#others.isWaitedFor) return true;
    for (const turn of this.#turns.values()) if (turn.isWanted || turn.queue.isWaitedFor) return true;
    return false;
  }

  isFull(): boolean {
    // What no prompt asked for waits for nobody: without a reader its first messages are kept.
    if (this.#others.isFull && !this.#others.isIdle) return true;
    for (const { queue } of this.#turns.values()) {
      if (queue.isFull && (!queue.isIdle || !this.isWanted())) return true;
    }
    return false;
  }

  turnEnded(turn: number, outcome: string): void {
    // The end of the session, which follows, tells why.
    if (outcome === 'ended') return;
    // Prompts that were merged into one turn share its result.
    this.#turns.get(turn)?.end(outcome, undefined, this.#lastResult);
    this.#turns.delete(turn);
  }

  ended(error: unknown): void {
    for (const turn of this.#turns.values()) turn.end('ended', error);
    this.#turns.clear();
    this.#others.end(error);
  }

  async cancel(turn: number): Promise<boolean> {
    return (await this.channel.cancelTurn(turn)).cancelled === true;
  }

  override next(): Promise<IteratorResult<SDKMessage, void>> {
    return this.opened ? this.#others.next() : super.next();
  }

  // For pools.

  /** Whether its CLI lives and is open. */
  get isUsable(): boolean {
    return this.opened?.isUsable ?? false;
  }

  /** Whether a prompt was ever sent. */
  get wasPrompted(): boolean {
    return this.opened?.wasPrompted ?? false;
  }

  /** Whether a prompt has no result yet. */
  get isInTurn(): boolean {
    return this.opened?.isInTurn ?? false;
  }

  noteTaken(): void {
    this.opened?.noteTaken();
  }

  /** Ends the input; the CLI ends once all is done. Settles when it has. */
  async finish(): Promise<void> {
    this.#finishing = true;
    this.channel.endWhenSettled();
    this.changed();
    await this.channel.ended;
  }
}
