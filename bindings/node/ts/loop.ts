/** This thread's sessions, and how Node's event loop comes to know that they are ready. */
import type { AsyncResource } from 'node:async_hooks';
import { addon, type NativeHost } from './native.js';

/** What the loop wants of a session. */
export interface Watched {
  readonly id: number;
  /** The asynchronous context it was made in, which the application's callbacks run in. */
  readonly context: AsyncResource;
  /** Does what is ready; `true` when there is more, which need not be waited for. */
  drain(): boolean;
  /** Lets the native thread wait for it again. */
  arm(): void;
}

class Loop {
  private host: NativeHost | undefined;
  /** Sessions that something is waited for. */
  private readonly busy = new Map<number, Watched>();
  /** All others: one that nobody holds any more is collected, and its CLI then ended. */
  private readonly idle = new Map<number, WeakRef<Watched>>();
  /** Sessions to look at again once the work of this round is done. */
  private due = new Set<Watched>();
  private scheduled = false;
  private holds = 0;

  /** The owner that sessions are made for. */
  get native(): NativeHost {
    this.host ??= new addon.NativeHost(() => this.wake());
    return this.host;
  }

  add(session: Watched): void {
    this.keep(session, true);
    this.later(session);
  }

  /** Whether the session is kept even if nobody else holds it. */
  keep(session: Watched, keep: boolean): void {
    if (keep) {
      this.busy.set(session.id, session);
      this.idle.delete(session.id);
    } else {
      this.busy.delete(session.id);
      this.idle.set(session.id, new WeakRef(session));
    }
  }

  remove(session: Watched): void {
    this.busy.delete(session.id);
    this.idle.delete(session.id);
    this.due.delete(session);
  }

  /**
   * Looks at the session after callbacks and promises have run: what they sent has then been
   * written without another wake-up, and what has come meanwhile is taken at once.
   */
  later(session: Watched): void {
    this.due.add(session);
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.settle);
    }
  }

  /** One more, or one less, reason for the process to live on. */
  hold(more: boolean): void {
    this.holds += more ? 1 : -1;
    if (this.holds === (more ? 1 : 0)) this.native.hold(more);
  }

  private wake(): void {
    for (const id of this.native.ready()) {
      const session = this.busy.get(id) ?? this.idle.get(id)?.deref();
      if (session) {
        this.see(session);
      } else {
        this.idle.delete(id);
      }
    }
  }

  private readonly settle = (): void => {
    this.scheduled = false;
    const due = this.due;
    this.due = new Set();
    for (const session of due) this.see(session);
  };

  private see(session: Watched): void {
    // Whoever woke this thread, or scheduled this round, may be another session's user.
    if (session.context.runInAsyncScope(session.drain, session)) this.later(session);
    else session.arm();
  }
}

/** The loop of this thread. */
export const loop = new Loop();
