/** What the CLI asks, and the signal that tells when nobody waits for the answer any more. */

/** A request of the CLI. */
export interface Asked {
  kind: string;
  /** The `request_id` of its envelope. */
  requestId: string;
  request: Record<string, any>;
  /** What the kind needs: a callback id, a server, a tool. */
  detail: any;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Its key, for what answers by itself. */
  key: number;
}

/** A request that is being answered. Few callbacks look at the signal: it is made when one does. */
export class Open implements Asked {
  private controller: AbortController | undefined;
  /** Nobody waits for the answer any more. */
  over = false;

  constructor(
    readonly key: number,
    readonly kind: string,
    readonly requestId: string,
    readonly request: Record<string, any>,
    readonly detail: any,
  ) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.over) this.controller.abort();
    }
    return this.controller.signal;
  }

  abort(): void {
    this.over = true;
    this.controller?.abort();
  }
}

/** What an object is told of whose signal is made when it is looked at. */
const ASKED = Symbol('asked');
const SIGNAL: PropertyDescriptor & ThisType<{ [ASKED]: Asked }> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[ASKED].signal;
  },
};

/**
 * The object with the request's `signal`, which is made when somebody looks at it. The accessor is the
 * same one for all: V8 takes far longer for one of the object's own.
 */
export function withSignal<T extends object>(context: T, asked: Asked): T & { signal: AbortSignal } {
  Object.defineProperty(context, ASKED, { value: asked });
  return Object.defineProperty(context, 'signal', SIGNAL) as T & { signal: AbortSignal };
}

/** An answer: how it is given, and its text; `null` when somebody else answers. */
export type Answered = ['json' | 'error' | 'call' | 'callError' | 'mcp', string] | null;
