/** The requests of a session's CLI that are being answered. */
import { Open, type Answered } from './asked.js';
import type { Handlers } from './channel.js';
import { typed, TowlineError } from './errors.js';
import type { NativeSession } from './native.js';
import { messageOf } from './words.js';

/** Runs once whoever waits for messages has taken those that came before. */
function afterReaders(run: () => void): void {
  void Promise.resolve().then(() => process.nextTick(run));
}

/** What the answers need of their session. */
export interface Session {
  /** `undefined` before the CLI is started, and after the end. */
  native(): NativeSession | undefined;
  /** There is one request more, or less. */
  account(): void;
  /** An answer was written. */
  answered(): void;
}

export class Answering {
  private readonly open = new Map<number, Open>();
  /** Those that have come in this round. */
  private requested: Open[] = [];

  constructor(
    private readonly handlers: Handlers,
    private readonly session: Session,
  ) {}

  /** Whether somebody is at work. */
  get isBusy(): boolean {
    return this.open.size > 0;
  }

  /** A request has come: `["q", key, kind, requestId, request, detail]`. */
  asked([, key, kind, requestId, request, detail]: [string, number, string, string, any, any]): void {
    const asked = new Open(key, kind, requestId, request, detail);
    this.open.set(key, asked);
    this.requested.push(asked);
  }

  /** Nobody waits for the answer any more. */
  cancelled(key: number): void {
    this.open.get(key)?.abort();
    this.open.delete(key);
  }

  /** A request that was answered otherwise. */
  forget(key: number): void {
    this.open.delete(key);
  }

  /** The session is over. */
  end(): void {
    for (const asked of this.open.values()) asked.abort();
    this.open.clear();
  }

  /** Has the requests that have come answered, behind the messages that came before them. */
  ask(delivered: boolean): void {
    if (this.requested.length === 0) return;
    const requested = this.requested;
    this.requested = [];
    if (delivered) afterReaders(() => requested.forEach(this.serve, this));
    else requested.forEach(this.serve, this);
  }

  private serve(asked: Open): void {
    if (!this.session.native()) return;
    this.handlers.ask(asked).then(
      (answered) => this.served(asked, answered),
      (error) => this.served(asked, [asked.kind === 'tool' ? 'callError' : 'error', messageOf(error)]),
    );
  }

  private served(asked: Open, answered: Answered): void {
    this.open.delete(asked.key);
    if (answered && !asked.over) this.answer(asked.key, answered);
    this.session.account();
  }

  private answer(key: number, [how, text]: NonNullable<Answered>): void {
    const native = this.session.native();
    if (!native) return;
    try {
      native.respond(key, how, text);
    } catch (thrown) {
      const error = typed(thrown);
      const code = error instanceof TowlineError ? error.code : '';
      // Late answers are harmless.
      if (code === 'ANSWERED_ALREADY' || code === 'SESSION_CLOSED') return;
      this.handlers.diagnostic(`an answer was refused: ${messageOf(error)}`);
      try {
        native.respond(key, 'error', messageOf(error));
      } catch {
        // Answered meanwhile by what refused it.
      }
    }
    this.session.answered();
  }
}
