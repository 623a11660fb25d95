/** Errors: what they are called and what they carry. */
import { constants } from 'node:os';

/** Thrown when the application's `AbortController` ended the work. */
export class AbortError extends Error {
  constructor(message?: string) {
    super(message);
    this.name = 'AbortError';
  }
}

/** The stable names of what can go wrong. */
export type TowlineErrorCode =
  | 'CLI_NOT_FOUND'
  | 'CLI_NOT_EXECUTABLE'
  | 'CWD_MISSING'
  | 'ARGUMENTS_TOO_LONG'
  | 'SPAWN_FAILED'
  | 'INVALID_OPTIONS'
  | 'INVALID_TOOL'
  | 'INVALID_ARGUMENT'
  | 'DUPLICATE_UUID'
  | 'QUEUE_FULL'
  | 'WRONG_ANSWER'
  | 'ANSWERED_ALREADY'
  | 'SESSION_CLOSED'
  | 'REQUEST_REFUSED'
  | 'REQUEST_TIMED_OUT'
  | 'EXITED_BEFORE_INITIALIZE'
  | 'INITIALIZE_REFUSED'
  | 'INITIALIZE_TIMED_OUT'
  | 'PROCESS_FAILED'
  | 'ERROR_RESULT'
  | 'CANCELLED'
  | 'TURN_TIMED_OUT'
  | 'TIMED_OUT'
  | 'FORKED'
  | 'MESSAGES_LOST'
  | 'SESSION_STORE'
  | 'RECORDING'
  | 'POOL_FULL'
  | 'POOL_CLOSED'
  | 'SESSION_IN_USE'
  | 'INTERNAL';

/** How a CLI ended. */
export interface ProcessFailure {
  /** Its exit status; `null` when a signal ended it, or while it runs. */
  exitCode: number | null;
  /** The signal that ended it. */
  signal: NodeJS.Signals | null;
  /** The text of its last error result, or empty. */
  result: string;
  /** The last of what it wrote to stderr. */
  stderr: string;
}

/** An error of a session. */
export class TowlineError extends Error implements Partial<ProcessFailure> {
  /** What went wrong, by a stable name. */
  readonly code: TowlineErrorCode;
  /** Exit status of the CLI, when its end is the error. */
  declare readonly exitCode?: number | null;
  /** The signal that ended the CLI. */
  declare readonly signal?: NodeJS.Signals | null;
  /** The end of the CLI's stderr. */
  declare readonly stderr?: string;
  /** The CLI's own name for why it refused a request. */
  declare readonly errorCode?: string;
  /** The control request that failed. */
  declare readonly subtype?: string;

  constructor(code: TowlineErrorCode, message: string, more: Partial<TowlineError> = {}) {
    super(message);
    this.name = 'TowlineError';
    this.code = code;
    for (const key of ['exitCode', 'signal', 'stderr', 'errorCode', 'subtype'] as const) {
      if (more[key] !== undefined) Object.defineProperty(this, key, { value: more[key], enumerable: true });
    }
  }
}

/** How the addon describes the end of a process. */
export interface NativeFailure {
  exitCode: number | null;
  signal: number | null;
  result: string;
  stderr: string;
  /** Why a stream ended that is none to a process. */
  transport?: string | null;
}

/** How the addon describes an error. */
export interface NativeError {
  code: TowlineErrorCode;
  message: string;
  failure?: NativeFailure;
  subtype?: string;
  errorCode?: string | null;
}

function signalName(number: number | null): NodeJS.Signals | null {
  if (number === null) return null;
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

/** A failure with the signal by its name. */
export function failureOf({ exitCode, signal, result, stderr }: NativeFailure): ProcessFailure {
  return { exitCode, signal: signalName(signal), result, stderr };
}

/** The error of a single prompt that ended with an error result. */
export function errorResult(failure: ProcessFailure): TowlineError {
  const text = `Claude Code returned an error result: ${failure.result}`;
  return new TowlineError('ERROR_RESULT', text, failure);
}

/** The error of a CLI that ended well and yet without a word to the prompt. */
export function unanswered(failure: ProcessFailure): TowlineError {
  const stderr = failure.stderr.trim();
  const text = `the CLI ended in a turn without a result, and without a message${stderr ? `. stderr: ${stderr}` : ''}`;
  return new TowlineError('PROCESS_FAILED', text, failure);
}

/** What the official package says of a process that failed. */
function exitMessage(failure: ProcessFailure): string {
  const how =
    failure.signal !== null
      ? `terminated by signal ${failure.signal}`
      : `exited with code ${failure.exitCode}`;
  const stderr = failure.stderr.trim();
  return `Claude Code process ${how}${stderr ? `. stderr: ${stderr}` : ''}`;
}

/** What the core calls by other names than this package. */
const NAMES: Record<string, string> = {
  continue_conversation: 'continue',
  '(none clears the tag)': '(null clears the tag)',
};
/** What it calls by the same, in snake case. */
const SNAKE =
  /\b(?:session_id|agent_id|message_id|up_to_message_id|project_key|session_store|input_schema|include_subagents|batch_size|list_sessions|list_session_summaries|list_subkeys)\b/g;

/** The core's words, with the names that options, arguments and methods have here, and no place in a document that nobody sees. */
export function named(message: string): string {
  let words = message.replace(SNAKE, (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
  for (const [theirs, ours] of Object.entries(NAMES)) words = words.replaceAll(theirs, ours);
  return words.replace(/ at line \d+ column \d+/g, '');
}

/** A typed error from the addon's description. */
export function fromNative(described: NativeError): TowlineError {
  const { code, subtype } = described;
  const errorCode = described.errorCode ?? undefined;
  if (!described.failure) {
    // The CLI's own words are left as they are.
    const words = code === 'REQUEST_REFUSED' ? described.message : named(described.message);
    return new TowlineError(code, words, { subtype, errorCode });
  }
  const failure = failureOf(described.failure);
  if (failure.result && code !== 'INITIALIZE_REFUSED') {
    const { message } = errorResult(failure);
    return new TowlineError(code === 'PROCESS_FAILED' ? 'ERROR_RESULT' : code, message, failure);
  }
  const { transport } = described.failure;
  if (failure.exitCode === null && failure.signal === null && transport) {
    return new TowlineError(code, transport.replace(/^the transport failed: /, ''), failure);
  }
  const ended = code === 'PROCESS_FAILED' || code === 'EXITED_BEFORE_INITIALIZE';
  // One that is told of before its end says nothing of that.
  const words = described.message.replace(/ \(still running(?:; the end of its stderr:\n[^]*)?\)/, '');
  return new TowlineError(code, ended ? exitMessage(failure) : words, failure);
}

/** Calls the addon; what it throws becomes a typed error. */
export function natively<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw typed(error);
  }
}

/** The typed error for what the addon has thrown. */
export function typed(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  if (!message.startsWith('{')) return error;
  try {
    return fromNative(JSON.parse(message) as NativeError);
  } catch {
    return error;
  }
}
