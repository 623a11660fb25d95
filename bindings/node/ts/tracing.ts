/** The trace that a session and its callbacks belong to, by OpenTelemetry if the application uses it. */
import type { Asked } from './asked.js';

/** What `@opentelemetry/api` 1 registers for all copies of itself, as far as it is used here. */
interface Api {
  context?: {
    active(): unknown;
    with<T>(context: unknown, run: () => T): T;
  };
  propagation?: {
    inject(context: unknown, carrier: object, setter: object): void;
    extract(context: unknown, carrier: object, getter: object): unknown;
  };
}

const setter = {
  set(carrier: Record<string, string>, key: string, value: string): void {
    carrier[key] = value;
  },
};

const getter = {
  get: (carrier: Record<string, string>, key: string): string | undefined => carrier[key],
  keys: (carrier: object): string[] => Object.keys(carrier),
};

/** A W3C trace context. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** A trace context as the addon gives it. */
export function contextOf({ traceparent, tracestate }: { traceparent: string; tracestate: string | null }): TraceContext {
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

/** The trace that was active when the session was asked for. */
export class Trace {
  /** As propagation headers; empty without one. */
  readonly carrier: Record<string, string> = {};
  private readonly api: Api;
  private readonly active: unknown;

  constructor() {
    this.api = (globalThis as any)[Symbol.for('opentelemetry.js.api.1')] ?? {};
    try {
      this.active = this.api.context?.active();
      if (this.active !== undefined) this.api.propagation?.inject(this.active, this.carrier, setter);
    } catch {
      // A propagator that fails starts no session less.
    }
  }

  /** Runs a callback in the trace that the CLI names for the request, else in that of the session. */
  run<T>(asked: Asked, callback: () => T): T {
    const { context, propagation } = this.api;
    if (!context || this.active === undefined) return callback();
    let active = this.active;
    const meta = asked.kind === 'tool' ? asked.request.message?.params?._meta : undefined;
    if (typeof meta?.traceparent === 'string') {
      try {
        active = propagation?.extract(active, contextOf(asked.detail.trace), getter) ?? active;
      } catch {
        // It stays in that of the session.
      }
    }
    return context.with(active, callback);
  }
}
