/** Sessions with turns: what comes of a prompt belongs to that prompt. */
import type { Route } from './channel.js';
import { TowlineError } from './errors.js';
import { RunningQuery } from './query.js';
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from './types/messages.js';
import type { Options } from './types/options.js';
import type { Session, Turn } from './types/session.js';

/** Starts Claude Code for a conversation. Prompts may be sent at once. */
export function openSession(options: Options = {}): Session {
  return new RunningSession(options) as unknown as Session;
}

/** Messages that wait to be taken. */
class Queue {
  private readonly items: SDKMessage[] = [];
  private readonly waiting: { resolve(result: IteratorResult<SDKMessage, void>): void; reject(error: unknown): void }[] = [];
  private over = false;
  private error: unknown;

  put(message: SDKMessage): void {
    const waiting = this.waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: message });
    else this.items.push(message);
  }

  /** Nothing more comes. */
  end(error?: unknown): void {
    if (this.over) return;
    this.over = true;
    this.error = error;
    for (const waiting of this.waiting.splice(0)) {
      if (this.error !== undefined) waiting.reject(this.take());
      else waiting.resolve({ done: true, value: undefined });
    }
  }

  private take(): unknown {
    const { error } = this;
    this.error = undefined;
    return error;
  }

  next(): Promise<IteratorResult<SDKMessage, void>> {
    const value = this.items.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.error !== undefined) return Promise.reject(this.take());
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }
}

class RunningTurn {
  readonly queue = new Queue();
  readonly result: Promise<SDKResultMessage>;
  private settle!: { resolve(result: SDKResultMessage): void; reject(error: unknown): void };
  private last: SDKResultMessage | undefined;

  constructor(
    private readonly session: RunningSession,
    readonly id: number,
  ) {
    this.result = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // Who wants to know asks; nobody has to.
    this.result.catch(() => {});
  }

  take(message: SDKMessage): void {
    if (message.type === 'result') this.last = message;
    this.queue.put(message);
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

  async return(): Promise<IteratorResult<SDKMessage, void>> {
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  interrupt(): Promise<any> {
    return this.session.interrupt();
  }

  async cancel(): Promise<boolean> {
    return this.session.cancel(this.id);
  }
}

class RunningSession extends RunningQuery implements Route {
  /** Messages that no prompt asked for. */
  private readonly others = new Queue();
  private readonly turns = new Map<number, RunningTurn>();
  private lastResult: SDKResultMessage | undefined;

  constructor(options: Options) {
    super(options);
    // Without a process the first use tells why.
    if (this.opened) this.opened.route = this;
  }

  override send(message: string | SDKUserMessage): Turn {
    const turn = new RunningTurn(this, super.send(message) as number);
    this.turns.set(turn.id, turn);
    return turn as unknown as Turn;
  }

  message(message: SDKMessage, turn: number): void {
    if (message.type === 'result') this.lastResult = message;
    const running = this.turns.get(turn);
    if (running) running.take(message);
    else this.others.put(message);
  }

  turnEnded(turn: number, outcome: string): void {
    // The end of the session, which follows, tells why.
    if (outcome === 'ended') return;
    // Prompts that were merged into one turn share its result.
    this.turns.get(turn)?.end(outcome, undefined, this.lastResult);
    this.turns.delete(turn);
  }

  ended(error: unknown): void {
    for (const turn of this.turns.values()) turn.end('ended', error);
    this.turns.clear();
    this.others.end(error);
  }

  async cancel(turn: number): Promise<boolean> {
    return (await this.channel.cancelTurn(turn)).cancelled === true;
  }

  override next(): Promise<IteratorResult<SDKMessage, void>> {
    return this.opened ? this.others.next() : super.next();
  }

  /** Ends the input; the CLI ends once all is done. Settles when it has. */
  async finish(): Promise<void> {
    this.channel.endWhenSettled();
    await this.channel.ended;
  }
}
