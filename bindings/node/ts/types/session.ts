/** Sessions with turns. */
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from './messages.js';
import type { Query, TowlineQuery } from './query.js';

/**
 * A prompt and what comes of it: the messages of its turn, the result last. The CLI waits while more
 * than about 4 MiB are unread, unless only the result is asked for and nobody has begun to read: then
 * no more than that is kept, and reading fails behind it with code `MESSAGES_LOST`.
 */
export interface Turn extends AsyncIterableIterator<SDKMessage> {
  /** Unique within the session. */
  readonly id: number;
  /** The result, good or bad; rejects when the turn ends without one. */
  readonly result: Promise<SDKResultMessage>;
  /** Interrupts what the session is doing. */
  interrupt(): ReturnType<Query['interrupt']>;
  /** Takes the prompt back if its turn has not begun; `false` when it has. */
  cancel(): Promise<boolean>;
}

/**
 * A conversation. Iterating it gives the messages that no prompt asked for; of those about 4 MiB are
 * kept for who comes late.
 */
export interface Session extends Omit<TowlineQuery, 'send' | 'streamInput'> {
  /** Sends a prompt. */
  send(message: string | SDKUserMessage): Turn;
  /** Ends the input and waits until the CLI has ended, which it does once all is done. */
  finish(): Promise<void>;
}
