/** A session on this side: messages in, requests both ways, and what ends it. */
import { AsyncResource } from 'node:async_hooks';
import {
  errorResult,
  failureOf,
  fromNative,
  natively,
  typed,
  unanswered,
  TowlineError,
  type NativeError,
  type NativeFailure,
  type ProcessFailure,
} from './errors.js';
import { Answering } from './answering.js';
import type { Answered, Asked } from './asked.js';
import { Inbox } from './inbox.js';
import { loop, type Watched } from './loop.js';
import { Spawned } from './spawned.js';
import type { Startup } from './types/pool.js';
import type { StoreCall } from './store-calls.js';
import type { SpawnedProcess, SpawnOptions } from './types/spawn.js';
import { addon, CLOSED, MORE, TURN_OPEN, type Drained, type NativeSession } from './native.js';
import { Dispatcher, type Route } from './route.js';
import { unread } from './unread.js';
import { messageOf, stringified } from './words.js';

/** What the owner of a channel does with what comes. */
export interface Handlers {
  /** The CLI is started, and nothing of it was read yet. */
  started(channel: Channel): void;
  /** A request of the CLI; a rejection is an error answer. Does not throw. */
  ask(asked: Asked): Promise<Answered>;
  /** A notification for a server that JavaScript runs. */
  notified(server: string, message: unknown): void;
  stderr(line: string): void;
  diagnostic(text: string): void;
  /** A record of the log: `['l', level, target, message, fields, sessionId, turn]`. */
  log(event: any): void;
  /** Does a call of the core's with the application's store. */
  store(call: StoreCall): Promise<unknown>;
  /** The process is gone. */
  closed(): void;
}

/**
 * Starts the CLI when it can be: `proceed` tells whether it is still wanted, and if so nothing can
 * be called off any more. `undefined` when it is not.
 */
export type Starter = (proceed: () => boolean) => Promise<NativeSession | undefined>;

interface Pending {
  resolve(payload: any): void;
  reject(error: unknown): void;
}

/** A CLI that this machine need not have, since the application starts it: what to say instead. */
function withoutCli(error: unknown): unknown {
  if (!(error instanceof TowlineError) || error.code !== 'CLI_NOT_FOUND') return error;
  const remedy =
    'with spawnClaudeCodeProcess any path will do as option pathToClaudeCodeExecutable, such as /usr/bin/claude: ' +
    'it is the command that your function gets, and need not be on this machine';
  return new TowlineError('CLI_NOT_FOUND', `${error.message}\n${remedy}`, error);
}

export class Channel implements Watched {
  /** 0 before the CLI is started. */
  id = 0;
  readonly context = new AsyncResource('TOWLINE_SESSION');
  /** How the process ended, once it has. */
  exit: ProcessFailure | undefined;
  /** The answer to `initialize`; rejects when there is none. */
  readonly initialized: Promise<any>;
  /** A recording takes the CLI's place: what ends it is the recording's fault. */
  replays = false;
  /** Settles when the process is gone. */
  readonly ended: Promise<void>;

  /** Nothing before the CLI is started. */
  private native: NativeSession | undefined;
  private readonly inbox: Inbox;
  /** Where messages go in place of the inbox. */
  private dispatcher: Dispatcher | undefined;
  private spawned: Spawned | undefined;
  /** What was sent before the CLI is started. */
  private early: ((native: NativeSession) => void)[] = [];
  /** How many prompts are among that: the core counts them alike. */
  private earlyTurns = 0;
  /** Waits for what has to come before the start; `false` once that cannot be called off. */
  private waits = false;
  private readonly handlers: Handlers;
  private readonly pending = new Map<number, Pending>();
  /** Requests made before the start. */
  private readonly unasked = new Set<(error: unknown) => void>();
  private readonly answering: Answering;
  private turnOpen = false;
  private opening = true;
  /** The input was ended: the process lives on until it is gone. */
  private ending = false;
  private closing = false;
  /** Calls of the core's that the application's store is doing. */
  private storing = 0;
  private holding = false;
  private kept = true;
  /** Something was left in the session, since too much is unread. */
  private stopped = false;
  private released = false;
  private over = false;
  private error: unknown;
  /** The turn of the last message that belonged to one. */
  private heard = 0;
  /** The turns that ended with the session. */
  private readonly cutOff: number[] = [];
  private opened!: Pending;
  private gone!: () => void;

  /** `spawn` starts the CLI in place of the addon; with `start` the addon starts it later. */
  constructor(
    config: string,
    handlers: Handlers,
    private readonly spawn?: (options: SpawnOptions) => SpawnedProcess,
    start?: Starter,
  ) {
    this.handlers = handlers;
    this.answering = new Answering(handlers, {
      native: () => (this.released ? undefined : this.native),
      account: () => this.account(),
      // It is written already, and what came of it the descriptor tells; a stream of the host's is pumped.
      answered: () => void (this.spawned && loop.later(this)),
    });
    const channel = this;
    this.inbox = new Inbox({
      get isOver() {
        return channel.over;
      },
      get failure() {
        return channel.error;
      },
      resume: () => this.resume(),
      account: () => this.account(),
    });
    this.initialized = new Promise((resolve, reject) => {
      this.opened = { resolve, reject };
    });
    // Who wants to know asks; nobody has to.
    this.initialized.catch(() => {});
    this.ended = new Promise((resolve) => {
      this.gone = resolve;
    });
    if (start) void this.startLater(start);
    else this.attach(this.started(config));
  }

  private started(config: string): NativeSession {
    try {
      return natively(() => new addon.NativeSession(loop.native, config, this.spawn !== undefined));
    } catch (error) {
      throw this.spawn ? withoutCli(error) : error;
    }
  }

  private async startLater(start: Starter): Promise<void> {
    this.waits = true;
    this.account();
    const proceed = (): boolean => {
      this.waits = false;
      return !this.released;
    };
    try {
      const native = await start(proceed);
      if (native) this.attach(native);
    } catch (error) {
      this.waits = false;
      this.error ??= this.spawn ? withoutCli(typed(error)) : typed(error);
      this.release();
    }
  }

  /** The CLI is started. */
  private attach(native: NativeSession): void {
    this.native = native;
    this.id = native.id;
    this.kept = true;
    loop.add(this);
    // A recording in place of a CLI has none to be started.
    if (this.spawn && native.launch !== null) {
      try {
        this.spawned = new Spawned(native, this.spawn, () => loop.later(this), (text) => this.report(text));
      } catch (error) {
        native.finish(undefined, undefined, messageOf(error));
        native.close();
        throw error;
      }
    }
    this.handlers.started(this);
    const early = this.early;
    this.early = [];
    try {
      for (const send of early) send(native);
    } catch (error) {
      this.fail(typed(error));
    }
    if (this.closing) native.close();
    this.account();
  }

  /** Has messages go there in place of `next`. */
  set route(route: Route) {
    this.dispatcher = new Dispatcher(route);
  }

  /** The process id of the CLI, where it is known. */
  get pid(): number | undefined {
    return this.native?.pid ?? undefined;
  }

  /** The callback ids of the hooks, in the order in which they were given. */
  get hooks(): string[] {
    return this.native?.hooks ?? [];
  }

  /** Whether the process is gone. */
  get isOver(): boolean {
    return this.over;
  }

  get sessionId(): string | undefined {
    return this.native?.sessionId() ?? undefined;
  }

  get startup(): Startup {
    const [spawnedMs = null, initializedMs = null, takenMs = null, firstMessageMs = null] = this.native?.startup() ?? [];
    return { spawnedMs, initializedMs, takenMs, firstMessageMs };
  }

  get isUsable(): boolean {
    return !this.over && !this.closing && (this.native?.isUsable() ?? false);
  }

  get wasPrompted(): boolean {
    return this.native?.wasPrompted() ?? false;
  }

  get isInTurn(): boolean {
    return this.native?.turnOpen() ?? false;
  }

  noteTaken(): void {
    this.native?.noteTaken();
  }

  get stderrTail(): string {
    return this.exit?.stderr ?? this.native?.stderrTail() ?? '';
  }

  /** The payload that `initialize` was sent with. */
  get initializePayload(): string {
    return this.command((native) => native.initializePayload());
  }

  // What comes.

  drain(): boolean {
    const { native } = this;
    if (this.released || !native) return false;
    this.spawned?.pump();
    let delivered = false;
    let more = false;
    for (;;) {
      if (this.isBlocked) {
        this.stopped = true;
        more = false;
        break;
      }
      let drained: Drained;
      try {
        drained = native.drain();
      } catch (error) {
        this.error ??= typed(error);
        this.release();
        break;
      }
      const [text, events, flags] = drained;
      this.turnOpen = (flags & TURN_OPEN) !== 0;
      const happened: any[][] = events === null ? [] : JSON.parse(events);
      const wanted = text !== null && (this.dispatcher !== undefined || this.inbox.isOpen);
      const messages = wanted ? unread(native, text, flags) : undefined;
      if (this.dispatcher) this.dispatcher.dispatch(messages, happened);
      else if (messages) this.inbox.received(messages);
      for (const event of happened) this.happened(event);
      more = (flags & MORE) !== 0;
      if (text !== null) delivered = true;
      if (flags & CLOSED) this.release();
      if (!more || this.released) break;
      // One batch a round: timers and other sessions get their turn.
      if (text !== null) break;
    }
    this.spawned?.pump();
    if (this.opening) this.checkOpening(native);
    this.account();
    this.answering.ask(delivered);
    return more && !this.released;
  }

  /** A session that will never be open is told of before its CLI is gone, which may take its graces. */
  private checkOpening(native: NativeSession): void {
    const described = this.released ? null : native.openingError();
    if (described === null) return;
    this.opening = false;
    this.ending = true;
    this.error ??= fromNative(JSON.parse(described) as NativeError);
    this.opened.reject(this.error);
    this.inbox.settle();
  }

  arm(): void {
    if (this.released) return;
    if (this.isBlocked) {
      this.stopped = true;
      return;
    }
    try {
      this.native?.arm();
    } catch (error) {
      this.fail(typed(error));
    }
  }

  /** Whether the CLI has to wait for the application to read. Answers and the end do not. */
  private get isBlocked(): boolean {
    const full = this.dispatcher ? this.dispatcher.route.isFull() : this.inbox.isFull;
    return full && !this.closing && this.pending.size === 0;
  }

  /** There may be room again. */
  resume(): void {
    if (!this.stopped || this.released || this.isBlocked) return;
    this.stopped = false;
    loop.later(this);
  }

  private happened(event: any[]): void {
    switch (event[0]) {
      case 'q':
        this.answering.asked(event as [string, number, string, string, any, any]);
        break;
      case 'c':
        this.answering.cancelled(event[1]);
        break;
      case 'r':
        this.pending.get(event[1])?.resolve(event[2]);
        this.pending.delete(event[1]);
        break;
      case 'e':
        this.pending.get(event[1])?.reject(fromNative(event[2]));
        this.pending.delete(event[1]);
        break;
      case 't':
        // The CLI's output ended in a turn: how it ended is still to come.
        if (event[2] === 'ended') {
          this.ending = true;
          this.cutOff.push(event[1]);
        } else if (!this.dispatcher && event[2] !== 'result' && event[2] !== 'cancelled') {
          this.fail(new TowlineError('TURN_TIMED_OUT', `The turn reached the limit of option ${event[2]}`));
        }
        break;
      case 'u':
        this.heard = event[1] || this.heard;
        break;
      case 'i':
        this.opening = false;
        this.opened.resolve(event[1]);
        break;
      case 'm':
        this.store(event as [string, number, number | null, StoreCall]);
        break;
      case 'n':
        try {
          this.handlers.notified(event[1], event[2]);
        } catch (error) {
          this.handlers.diagnostic(messageOf(error));
        }
        break;
      case 's':
        this.handlers.stderr(event[1]);
        break;
      case 'd':
        this.handlers.diagnostic(event[1]);
        break;
      case 'l':
        this.handlers.log(event);
        break;
      case 'x':
        this.finished(event[1], event[2]);
        break;
    }
  }

  private store([, key, limit, call]: [string, number, number | null, StoreCall]): void {
    this.storing += 1;
    let open = true;
    const done = (tell?: (native: NativeSession) => void): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      this.storing -= 1;
      if (this.native && !this.released) tell?.(this.native);
      loop.later(this);
      this.account();
    };
    // The core gives the call up by itself; here nothing is to be kept alive for it any longer.
    const timer = limit === null ? undefined : setTimeout(() => done(), limit).unref();
    this.handlers.store(call).then(
      (value) => done((native) => native.storeAnswer(key, JSON.stringify(value ?? null))),
      (error) => done((native) => native.storeFail(key, messageOf(error))),
    );
  }

  private finished(failure: NativeFailure, error: NativeError | null): void {
    this.exit = failureOf(failure);
    this.over = true;
    // How the recorded CLI has ended is no fault of the recording.
    const recording = this.replays && failure.transport && this.exit.exitCode === null && this.exit.signal === null;
    if (error) this.error ??= fromNative(recording ? { ...error, code: 'RECORDING' } : error);
    else if (this.exit.result) this.error ??= errorResult(this.exit);
    else if (this.isUnanswered) this.error ??= unanswered(this.exit);
    this.end();
  }

  /**
   * Whether a prompt got nothing at all of a CLI that says that all is well. One that has said something
   * is believed; the turns of a session tell of their ends themselves.
   */
  private get isUnanswered(): boolean {
    return !this.dispatcher && !this.closing && this.cutOff.length > 0 && !this.cutOff.includes(this.heard);
  }

  /** Nothing more comes. */
  private end(): void {
    this.opening = false;
    this.opened.reject(this.error ?? this.closedEarly());
    for (const pending of this.pending.values()) pending.reject(this.error ?? this.closedEarly());
    this.pending.clear();
    for (const reject of this.unasked) reject(this.error ?? this.closedEarly());
    this.unasked.clear();
    this.context.runInAsyncScope(() => {
      this.answering.end();
    });
    this.inbox.settle();
    this.dispatcher?.route.ended(this.error);
  }

  private closedEarly(): TowlineError {
    return new TowlineError('SESSION_CLOSED', 'Query closed before response received', this.exit);
  }

  private release(): void {
    if (this.released) return;
    this.released = true;
    this.over = true;
    this.early = [];
    this.native?.release();
    loop.remove(this);
    this.end();
    this.account();
    this.gone();
    this.context.runInAsyncScope(this.handlers.closed, this.handlers);
  }

  /** Keeps the process alive while there is something to wait for. */
  private account(): void {
    const hold =
      !this.released &&
      (this.turnOpen ||
        this.ending ||
        !this.native ||
        this.pending.size > 0 ||
        this.answering.isBusy ||
        this.storing > 0);
    if (hold !== this.holding) {
      this.holding = hold;
      loop.hold(hold);
    }
    const keep = !this.released && (hold || this.opening || this.inbox.isWaitedFor);
    if (keep !== this.kept) {
      this.kept = keep;
      if (!this.released && this.native) loop.keep(this, keep);
    }
  }

  // What the application takes.

  /** The next message. */
  next(): Promise<IteratorResult<any, void>> {
    return this.inbox.next();
  }

  /** What was received is dropped, and what still comes. */
  ignore(): void {
    this.inbox.ignore();
  }

  /** Ends the session with an error for whoever waits. */
  fail(error: unknown): void {
    this.error ??= error;
    for (const pending of this.pending.values()) pending.reject(this.error);
    this.pending.clear();
    this.opened.reject(this.error);
    this.inbox.settle();
    this.close();
  }

  // What the application sends.

  private command<T>(command: (native: NativeSession) => T): T {
    // Why it ended tells more than that it has.
    if ((this.released || !this.native) && this.error instanceof Error) throw this.error;
    const { native } = this;
    if (!native) throw new TowlineError('SESSION_CLOSED', 'The session is not started yet, or closed');
    const value = natively(() => command(native));
    loop.later(this);
    return value;
  }

  /** Does it now, or once the CLI is started. */
  private soon(command: (native: NativeSession) => void): void {
    if (this.native || this.released) this.command(command);
    else this.early.push(command);
  }

  /** Sends a prompt; gives its turn. */
  private prompt(send: (native: NativeSession) => number): number {
    let turn = this.earlyTurns + 1;
    this.soon((native) => (turn = send(native)));
    if (!this.native) this.earlyTurns = turn;
    this.turnOpen = true;
    this.account();
    return turn;
  }

  /** Sends a prompt of text alone. */
  sendText(text: string): number {
    // A text that is no well-formed Unicode has its odd halves kept by JSON, and not by a string of Rust's.
    if (/[\ud800-\udfff]/u.test(text)) {
      const message = { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null };
      return this.send(message as { uuid?: string });
    }
    return this.prompt((native) => native.sendText(text));
  }

  /** Sends a user message. */
  send(message: { uuid?: string }): number {
    const wrong = (text: string): TowlineError => new TowlineError('INVALID_ARGUMENT', text);
    if (typeof message !== 'object' || message === null) throw wrong('a prompt is a string, or a user message: an object');
    const uuid = message.uuid ?? undefined;
    if (uuid !== undefined && typeof uuid !== 'string') throw wrong('the uuid of a user message is a string');
    const json = stringified('the user message', message);
    return this.prompt((native) => native.send(json, uuid));
  }

  /** Sends a control request; settles with the payload of its answer. */
  request(subtype: string, payload: object = {}): Promise<any> {
    if (typeof subtype !== 'string') throw new TowlineError('INVALID_ARGUMENT', 'the subtype of a request is a string');
    const json = stringified('the payload of a request', payload);
    return this.asking((native) => native.request(subtype, json));
  }

  /** Takes back a prompt whose turn has not begun. */
  cancelTurn(turn: number): Promise<any> {
    return this.asking((native) => native.cancelTurn(turn));
  }

  private asking(ask: (native: NativeSession) => number): Promise<any> {
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(this.exit ? this.closedEarly() : (this.error ?? this.closedEarly()));
        return;
      }
      if (!this.native) this.unasked.add(reject);
      this.soon((native) => {
        this.unasked.delete(reject);
        try {
          this.pending.set(ask(native), { resolve, reject });
        } catch (error) {
          reject(typed(error));
        }
      });
      this.account();
    });
  }

  /** Tells of something odd that ends nothing. */
  report(text: string): void {
    this.handlers.diagnostic(text);
  }

  /** Passes on a JSON-RPC message of a server that JavaScript runs. */
  mcpSend(server: string, message: unknown): void {
    this.soon((native) => native.mcpSend(server, JSON.stringify(message)));
  }

  /** Sends a notification of a server of the core's. */
  mcpNotify(server: string, method: string, params: unknown): void {
    this.soon((native) => native.mcpNotify(server, method, JSON.stringify(params ?? {})));
  }

  /** A request that was answered otherwise. */
  forget(key: number): void {
    this.answering.forget(key);
    if (!this.released) this.native?.forget(key);
    this.account();
  }

  /** Adds an in-process server. */
  addServer(entry: object): void {
    this.soon((native) => native.addServer(JSON.stringify(entry)));
  }

  /** Takes an in-process server out; what it has left open is answered with an error. */
  removeServer(name: string): void {
    this.soon((native) => native.removeServer(name));
  }

  /** Ends the input as soon as nothing more of this program is needed. */
  endWhenSettled(): void {
    if (this.released) return;
    this.soon((native) => native.endWhenSettled());
    this.ending = true;
    this.account();
  }

  /** Begins the end of the process. */
  close(): void {
    if (this.released) return;
    this.ending = true;
    this.closing = true;
    if (this.waits) {
      // Nothing was started.
      this.release();
      return;
    }
    this.early = [];
    this.account();
    if (!this.native) return;
    this.native.close();
    loop.later(this);
  }

  /** Waits for the answer to `initialize`, and keeps the process alive meanwhile. */
  async opens(): Promise<any> {
    if (!this.opening) return this.initialized;
    loop.hold(true);
    try {
      return await this.initialized;
    } finally {
      loop.hold(false);
    }
  }
}
