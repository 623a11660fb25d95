/** Messages by the turn they belong to. */
import { parse, type Unread } from './unread.js';

/** Takes the messages one by one, with the turn each belongs to (0: none), and the ends of turns. */
export interface Route {
  /** `size` is about how many characters the message had. */
  message(message: any, turn: number, size: number): void;
  /** Whether the readers are so far behind that nothing more shall be taken. */
  isFull(): boolean;
  /** `result`, `cancelled`, `ended`, or the option whose deadline passed. */
  turnEnded(turn: number, outcome: string): void;
  /** Nothing more comes; the error that ended the session, if one did. */
  ended(error: unknown): void;
}

/** Hands a session's messages to a route. */
export class Dispatcher {
  private turn = 0;

  constructor(readonly route: Route) {}

  /** The messages of a batch, and among them where a turn begins (`u`) or ends (`t`). */
  dispatch(batch: Unread | undefined, events: any[][]): void {
    const messages = batch ? parse(batch) : [];
    const marks = events.filter(([kind]) => kind === 'u' || kind === 't');
    const upTo = (index: number): void => {
      for (; marks.length > 0; marks.shift()) {
        const [kind, turn, ...rest] = marks[0]!;
        const at = kind === 'u' ? rest[0] : rest[1];
        if (at > index) return;
        if (kind === 'u') this.turn = turn;
        else this.route.turnEnded(turn, rest[0]);
      }
    };
    const size = batch ? batch.size / messages.length : 0;
    messages.forEach((message, index) => {
      upTo(index);
      this.route.message(message, this.turn, size);
    });
    upTo(Infinity);
  }
}
