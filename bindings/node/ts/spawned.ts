/** A CLI that the application has started: its streams, between Node and the session. */
import { constants } from 'node:os';
import { TowlineError } from './errors.js';
import type { NativeSession } from './native.js';
import type { SpawnedProcess, SpawnOptions } from './types/spawn.js';
import { messageOf } from './words.js';

/** How long a process that is left behind has from SIGTERM to SIGKILL, in ms. */
const KILL_AFTER = 5_000;
/** How long an output that stays open after the exit may be silent, in ms: a descendant holds it. */
const SILENT_AFTER_EXIT = 1_000;
/** How long it may go on at all. */
const OPEN_AFTER_EXIT = 5_000;

type Exit = [code: unknown, signal: unknown];

/** What the application's function returned, if that is a process. */
function checked(process: SpawnedProcess): SpawnedProcess {
  const given = process as unknown as Record<string, any> | null | undefined;
  const missing = (): string | undefined => {
    if (typeof given !== 'object' || given === null) return `${given === null ? 'null' : `a value of type ${typeof given}`}`;
    if (typeof given.then === 'function') return 'a promise: it must not be asynchronous';
    if (typeof given.stdin?.write !== 'function' || typeof given.stdin.on !== 'function') return 'an object whose stdin is no stream to write to';
    if (typeof given.stdout?.on !== 'function') return 'an object whose stdout is no stream to read from';
    if (typeof given.kill !== 'function') return 'an object without a function kill';
    if (typeof given.on !== 'function') return 'an object without a function on';
    return undefined;
  };
  const what = missing();
  if (what !== undefined) {
    const text = `spawnClaudeCodeProcess has returned ${what}; it returns the process: stdin, stdout, kill and on, as a ChildProcess has them`;
    throw new TowlineError('SPAWN_FAILED', text);
  }
  return process;
}

/** Bytes, of whatever a stream gives for them. */
function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk);
  if (chunk instanceof Uint8Array) return chunk;
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined;
}

export class Spawned {
  readonly process: SpawnedProcess;
  private readonly abort = new AbortController();
  /** How it ended, once it has. */
  private exit: Exit | undefined;
  private drained = false;
  /** The session was told of its end. */
  private ended = false;
  private inputEnded = false;
  private inputLost = false;
  /** The stream wants to be left alone until it has room. */
  private crowded = false;
  /** Why its output has ended, if reading it has failed. */
  private outputError: string | undefined;
  private terminated = false;
  private closed = false;
  private full = false;
  private silence: NodeJS.Timeout | undefined;
  private exitedAt = 0;

  constructor(
    private readonly native: NativeSession,
    start: (options: SpawnOptions) => SpawnedProcess,
    private readonly changed: () => void,
    private readonly report: (text: string) => void,
  ) {
    const launch = JSON.parse(native.launch!) as Omit<SpawnOptions, 'signal'>;
    if (launch.cwd === null) delete launch.cwd;
    this.process = checked(start({ ...launch, signal: this.abort.signal }));
    this.listen();
  }

  private listen(): void {
    const { stdin, stdout } = this.process;
    const { stderr, exitCode, signalCode } = this.process as SpawnedProcess & { stderr?: NodeJS.ReadableStream };
    stdout.on('data', (chunk: unknown) => this.fed(chunk));
    stdout.on('end', () => this.outputEnded());
    stdout.on('close', () => this.outputEnded());
    stdout.on('error', (error: unknown) => this.outputEnded(messageOf(error)));
    stdin.on('error', (error: NodeJS.ErrnoException) => {
      // A CLI that has closed its input tells why by its end.
      const isItsOwn = error?.code === 'EPIPE' || error?.code === 'ECONNRESET';
      this.loseInput(isItsOwn ? undefined : `writing its input failed: ${messageOf(error)}`);
    });
    stdin.on('drain', () => {
      this.crowded = false;
      this.changed();
    });
    stderr?.on?.('data', (chunk: unknown) => {
      const bytes = bytesOf(chunk);
      if (bytes) this.native.feedStderr(bytes);
      this.changed();
    });
    stderr?.on?.('error', () => {});
    this.process.on('exit', (code, signal) => this.exited([code, signal]));
    this.process.on('error', (error) => this.failed(error));
    // What has happened before anybody listened is not told again.
    if (stdout.readableEnded || stdout.destroyed) this.outputEnded();
    if (typeof exitCode === 'number' || typeof signalCode === 'string') this.exited([exitCode, signalCode ?? null]);
  }

  private fed(chunk: unknown): void {
    const bytes = bytesOf(chunk);
    if (!bytes) {
      this.outputEnded(`its stdout gave neither bytes nor a string (type ${typeof chunk})`);
      return;
    }
    this.full = !this.native.feed(bytes);
    if (this.full && !this.ended) this.process.stdout.pause();
    if (this.exit) this.await();
    this.changed();
  }

  private loseInput(error: string | undefined): void {
    if (this.inputLost) return;
    this.inputLost = true;
    this.native.loseInput(error);
    this.changed();
  }

  private outputEnded(error?: string): void {
    if (this.drained) return;
    this.drained = true;
    this.outputError = error;
    // How it ends may come late, or never.
    if (this.exit) this.finish();
    else this.native.endOutput(error);
    this.changed();
  }

  private exited(exit: Exit): void {
    if (this.exit) return;
    this.exit = exit;
    this.exitedAt = Date.now();
    // What it has written last is read before its end is told.
    if (this.drained) this.finish();
    else this.await();
  }

  /** Waits for the rest of the output, but not for a descendant that holds it open. */
  private await(): void {
    clearTimeout(this.silence);
    const left = this.exitedAt + OPEN_AFTER_EXIT - Date.now();
    const again = (): void => (this.full && !this.ended ? this.await() : this.finish());
    this.silence = setTimeout(again, this.full ? SILENT_AFTER_EXIT : Math.min(SILENT_AFTER_EXIT, Math.max(left, 0))).unref();
  }

  /** The process could not be started, or something was wrong with it later. */
  private failed(error: unknown): void {
    // Node says so of one that the signal has ended.
    if (this.abort.signal.aborted && (error as Error)?.name === 'AbortError') return;
    this.end(undefined, undefined, `Failed to spawn Claude Code process: ${messageOf(error)}`);
  }

  /** Tells how the process ended. */
  private finish(): void {
    const [code, signal] = this.exit!;
    const number = typeof signal === 'string' ? constants.signals[signal as NodeJS.Signals] : undefined;
    const isOdd = (code ?? undefined) !== undefined && !(Number.isInteger(code) && Math.abs(code as number) < 2 ** 31);
    if (number !== undefined) this.end(undefined, number);
    else if (isOdd) this.end(undefined, undefined, `Claude Code process exited with code ${String(code)}`);
    else if (code) this.end(code as number);
    else if (signal) this.end(undefined, undefined, `Claude Code process terminated by signal ${String(signal)}`);
    else if (this.outputError !== undefined) this.end(undefined, undefined, `reading its output failed: ${this.outputError}`);
    else if (code === 0) this.end(0);
    else this.end(undefined, undefined, 'Claude Code process told of its end by neither an exit code nor a signal');
  }

  private end(code: number | undefined, signal?: number, error?: string): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.silence);
    this.native.finish(code, signal, error);
    this.changed();
  }

  /** Carries out what the session wants. */
  pump(): void {
    if (!this.crowded && !this.inputEnded && !this.inputLost) this.write();
    if (this.full && this.native.wantsMore()) {
      this.full = false;
      this.process.stdout.resume();
    }
    if (!this.terminated && this.native.pipeTerminated()) {
      this.terminated = true;
      this.abort.abort();
      this.kill('SIGTERM');
    }
    if (!this.closed && this.native.pipeClosed()) {
      this.closed = true;
      this.close();
    }
  }

  private write(): void {
    try {
      const outgoing = this.native.takeOutgoing();
      if (outgoing !== null) this.crowded = this.process.stdin.write(outgoing) === false;
      if (!this.crowded && this.native.inputEnded()) this.endInput();
    } catch (error) {
      this.loseInput(`writing its input failed: ${messageOf(error)}`);
    }
  }

  private endInput(): void {
    if (this.inputEnded) return;
    this.inputEnded = true;
    this.process.stdin.end();
  }

  /** The session is done with it. */
  private close(): void {
    clearTimeout(this.silence);
    try {
      this.endInput();
    } catch {
      // Nothing is to be told to it any more.
    }
    if (this.exit) return;
    if (this.terminated) {
      this.kill('SIGKILL');
      return;
    }
    this.abort.abort();
    this.kill('SIGTERM');
    setTimeout(() => {
      if (!this.exit) this.kill('SIGKILL');
    }, KILL_AFTER).unref();
  }

  private kill(signal: NodeJS.Signals): void {
    if (this.exit) return;
    try {
      this.process.kill(signal);
    } catch (error) {
      this.report(`the process could not be sent ${signal}: ${messageOf(error)}`);
    }
  }
}
