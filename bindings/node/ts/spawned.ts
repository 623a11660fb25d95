/** A CLI that the application has started: its streams, between Node and the session. */
import { constants } from 'node:os';
import type { NativeSession } from './native.js';
import type { SpawnedProcess, SpawnOptions } from './types/spawn.js';

/** How long a process has from SIGTERM to SIGKILL, in ms. */
const KILL_AFTER = 5_000;

export class Spawned {
  readonly process: SpawnedProcess;
  private readonly abort = new AbortController();
  private ended = false;
  private inputEnded = false;
  private killing = false;
  private full = false;

  constructor(
    private readonly native: NativeSession,
    start: (options: SpawnOptions) => SpawnedProcess,
    private readonly changed: () => void,
  ) {
    const launch = JSON.parse(native.launch!) as Omit<SpawnOptions, 'signal'>;
    if (launch.cwd === null) delete launch.cwd;
    this.process = start({ ...launch, signal: this.abort.signal });
    const { stdin, stdout } = this.process;
    stdout.on('data', (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      this.full = !this.native.feed(bytes);
      if (this.full) stdout.pause();
      this.changed();
    });
    stdin.on('error', () => {
      this.native.loseInput();
      this.changed();
    });
    (this.process as { stderr?: NodeJS.ReadableStream }).stderr?.on('data', (chunk: Buffer | string) => {
      this.native.feedStderr(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      this.changed();
    });
    let exit: [number | null, NodeJS.Signals | null] | undefined;
    let drained = false;
    const finish = (): void => {
      if (exit && drained) this.finish(exit[0], exit[1]);
    };
    // What it has written last is read before its end is told.
    const end = (): void => {
      drained = true;
      finish();
    };
    stdout.on('end', end);
    stdout.on('close', end);
    stdout.on('error', end);
    this.process.on('exit', (code, signal) => {
      exit = [code, signal];
      finish();
    });
    this.process.on('error', (error) => this.finish(null, null, error.message));
  }

  private finish(code: number | null, signal: NodeJS.Signals | null, error?: string): void {
    if (this.ended) return;
    this.ended = true;
    const number = signal === null ? undefined : constants.signals[signal];
    this.native.finish(code ?? undefined, number, error);
    this.changed();
  }

  /** Carries out what the session wants. */
  pump(): void {
    const { stdin, stdout } = this.process;
    const outgoing = this.native.takeOutgoing();
    if (outgoing !== null && !this.inputEnded) stdin.write(outgoing);
    if (this.full && this.native.wantsMore()) {
      this.full = false;
      stdout.resume();
    }
    if (!this.inputEnded && this.native.inputEnded()) {
      this.inputEnded = true;
      stdin.end();
    }
    if (!this.killing && this.native.pipeClosed()) {
      this.killing = true;
      this.kill();
    }
  }

  private kill(): void {
    if (!this.inputEnded) this.process.stdin.end();
    this.inputEnded = true;
    if (this.ended) return;
    this.abort.abort();
    this.process.kill('SIGTERM');
    setTimeout(() => {
      if (!this.ended) this.process.kill('SIGKILL');
    }, KILL_AFTER).unref();
  }
}
