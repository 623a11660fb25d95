/** The addon: what Rust offers, and where it is found. */

/** A JavaScript thread that owns sessions. */
export interface NativeHost {
  /** Whether the process has to live on for the sessions of this thread. */
  hold(hold: boolean): void;
  /** The ids of sessions that have something to do. */
  ready(): number[];
}

/** `[messages, events, flags]` */
export type Drained = [messages: string | null, events: string | null, flags: number];

/** There is more to take at once. */
export const MORE = 1;
/** A prompt has no result yet. */
export const TURN_OPEN = 2;
/** The session is over and everything of it was taken. */
export const CLOSED = 4;
/** The messages are one message, and no array. */
export const SINGLE = 8;
/** The messages are one without its long strings, and behind it their paths: see `piece`. */
export const PIECES = 16;

/** A running CLI. Every function may throw an error whose message is a JSON description. */
export interface NativeSession {
  readonly id: number;
  readonly pid: number | null;
  readonly hooks: string[];
  drain(): Drained;
  /** The next piece towards the front of the message drained last; `null` where a string begins. */
  piece(): string | null;
  arm(): void;
  release(): void;
  send(message: string, uuid?: string): number;
  sendText(text: string): number;
  cancelTurn(turn: number): number;
  request(subtype: string, payload: string): number;
  cancelRequest(id: number): boolean;
  respond(key: number, how: 'json' | 'error' | 'call' | 'callError' | 'mcp' | 'drop', text: string): void;
  forget(key: number): void;
  storeAnswer(key: number, returned: string): void;
  storeFail(key: number, message: string): void;
  mcpSend(server: string, message: string): void;
  mcpNotify(server: string, method: string, params: string): void;
  endWhenSettled(): void;
  endInput(): void;
  close(): void;
  stderrTail(): string;
  sessionId(): string | null;
  /** Until it was spawned, initialized, taken from a pool, and had its first message. */
  startup(): (number | null)[];
  noteTaken(): void;
  isUsable(): boolean;
  wasPrompted(): boolean;
  turnOpen(): boolean;
  initializePayload(): string;
  addServer(server: string): void;
  removeServer(name: string): void;
  /** How JavaScript has to start the CLI; `null` when the addon has. */
  readonly launch: string | null;
  feed(bytes: Uint8Array): boolean;
  feedStderr(bytes: Uint8Array): void;
  wantsMore(): boolean;
  takeOutgoing(): string | null;
  inputEnded(): boolean;
  pipeClosed(): boolean;
  loseInput(error?: string): void;
  endOutput(error?: string): void;
  pipeTerminated(): boolean;
  /** Why the session will never be open, once that is known: JSON text. */
  openingError(): string | null;
  finish(code?: number, signal?: number, error?: string): void;
}

/** An operation over a store of the application's. */
export interface NativeStoreTask {
  nextCall(): string | null;
  answer(id: number, answer: string): void;
  refuse(id: number, message: string, late: boolean): void;
  finished(): string | null;
}

/** The decisions of a pool; members and tickets are numbers. */
export interface NativePool {
  take(key: string | undefined, limitMs: number | undefined): number;
  putBack(member: number, key: string | undefined): void;
  close(): void;
  isEmpty(): boolean;
  isFull(): boolean;
  opened(member: number): void;
  failed(member: number): number | null;
  lost(member: number): void;
  answered(member: number): void;
  given(ticket: number, member: number): void;
  gone(member: number): void;
  /** What to do next, a JSON text. */
  next(): string | null;
  timeoutMs(): number | null;
  stats(): string;
}

/** One of the core's own stores. */
export interface NativeStore {
  /** The type's name, for types alone. */
  readonly kind?: 'NativeStore';
}

interface Addon {
  NativeHost: new (wake: () => void) => NativeHost;
  NativeSession: new (host: NativeHost, config: string, piped: boolean) => NativeSession;
  NativePool: new (limits: string, options: object) => NativePool;
  NativeStoreTask: new (capabilities: string, operation: string) => NativeStoreTask;
  /** As the constructor of `NativeSession`, off this thread. */
  startSession(
    host: NativeHost,
    config: string,
    piped: boolean,
    store?: NativeStore,
    resume?: NativeStoreTask,
  ): Promise<NativeSession>;
  /** Checks the configuration; gives what has to be asked of the store before the start. */
  resumeTask(config: string, store?: NativeStore): NativeStoreTask | null;
  openStore(url: string): Promise<NativeStore>;
  callStore(store: NativeStore, call: string): Promise<string>;
  storeContracts(capabilities: string): string[];
  contractTask(name: string, capabilities: string): NativeStoreTask;
  savedSessions(request: string): Promise<string>;
  foldSessionSummary(
    sessionId: string,
    previous: string | undefined,
    entries: string[],
    mtime: number | undefined,
  ): string;
}

/** The names that @napi-rs/cli gives the prebuilt addons that may fit this machine. */
function platforms(): string[] {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === 'linux' ? [`${name}-gnu`, `${name}-musl`] : [name];
}

function load(): Addon {
  const problems: string[] = [];
  for (const platform of platforms()) {
    for (const place of [`../towline.${platform}.node`, `towline-${platform}`]) {
      try {
        return require(place) as Addon;
      } catch (error) {
        problems.push(`${place}: ${(error as Error).message.split('\n')[0]}`);
      }
    }
  }
  throw new Error(
    `The native part of towline was not found for ${process.platform} ${process.arch}. ` +
      'Install the package with its optional dependencies, or build it with `npm run build` in its ' +
      `folder.\n${problems.join('\n')}`,
  );
}

/** The addon, loaded once a thread. */
export const addon: Addon = load();
