/** Messages that wait for the application, and the application's calls that wait for messages. */
import { parse, type Unread } from './unread.js';

/** Above this many characters of unread messages nothing more is taken from the session. */
export const HIGH_WATER = 4 * 1024 * 1024;

/** Whose messages they are. */
export interface Owner {
  /** Nothing more comes. */
  readonly isOver: boolean;
  /** Why, if that is an error. */
  readonly failure: unknown;
  /** There may be room again. */
  resume(): void;
  /** Somebody waits. */
  account(): void;
}

export class Inbox {
  private readonly waiting: ((result: IteratorResult<any, void>) => void)[] = [];
  private readonly rejecting: ((error: unknown) => void)[] = [];
  private items: any[] = [];
  private next_ = 0;
  private unread: Unread[] = [];
  private unreadSize = 0;
  /** Too much is unread: until half of it is. */
  private full = false;
  /** Messages are not wanted any more. */
  private deaf = false;

  constructor(private readonly owner: Owner) {}

  /** Whether more of them are to wait elsewhere. */
  get isFull(): boolean {
    return this.full;
  }

  /** Whether they are wanted. */
  get isOpen(): boolean {
    return !this.deaf;
  }

  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  /** Messages have come. */
  received(batch: Unread): void {
    this.unread.push(batch);
    this.unreadSize += batch.size;
    this.full = this.unreadSize > HIGH_WATER;
    while (this.waiting.length > 0) {
      const item = this.take();
      if (item === undefined) break;
      this.rejecting.shift();
      this.waiting.shift()!({ done: false, value: item.value });
    }
  }

  private take(): { value: any } | undefined {
    if (this.next_ >= this.items.length) {
      const batch = this.unread.shift();
      if (batch === undefined) return undefined;
      this.unreadSize -= batch.size;
      this.items = parse(batch);
      this.next_ = 0;
      if (this.full && this.unreadSize < HIGH_WATER / 2) {
        this.full = false;
        this.owner.resume();
      }
    }
    const value = this.items[this.next_];
    // What was handed out is not kept.
    this.items[this.next_++] = undefined;
    return { value };
  }

  /** The next message. */
  next(): Promise<IteratorResult<any, void>> {
    if (this.next_ < this.items.length && !this.deaf) {
      const value = this.items[this.next_];
      this.items[this.next_++] = undefined;
      return Promise.resolve({ done: false, value });
    }
    return this.nextUnread();
  }

  private nextUnread(): Promise<IteratorResult<any, void>> {
    if (this.deaf) return Promise.resolve({ done: true, value: undefined });
    const item = this.take();
    if (item) return Promise.resolve({ done: false, value: item.value });
    if (this.owner.isOver || this.owner.failure !== undefined) {
      const { failure: error } = this.owner;
      this.deaf = true;
      if (error !== undefined) return Promise.reject(error);
      return Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve, reject) => {
      this.waiting.push(resolve);
      this.rejecting.push(reject);
      this.owner.account();
    });
  }

  /** What was received is dropped, and what still comes. */
  ignore(): void {
    this.deaf = true;
    this.items = [];
    this.next_ = 0;
    this.unread = [];
    this.unreadSize = 0;
    this.full = false;
    this.owner.resume();
    this.settle();
  }

  /** Nothing more comes: whoever waits is told, the first one of the error. */
  settle(): void {
    while (this.waiting.length > 0) {
      const resolve = this.waiting.shift()!;
      const reject = this.rejecting.shift()!;
      const error = this.owner.failure;
      if (error !== undefined && !this.deaf) {
        this.deaf = true;
        reject(error);
      } else {
        resolve({ done: true, value: undefined });
      }
    }
  }
}
