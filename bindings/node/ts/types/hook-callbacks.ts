/** Hooks of the application. */
import type { HookInput, HookJSONOutput } from './hooks.js';

/** Called at an event of the CLI. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

/** Callbacks for some of an event's occurrences. */
export interface HookCallbackMatcher {
  /** Which: `Bash`, `Edit|Write`; absent is all. */
  matcher?: string;
  hooks: HookCallback[];
  /** How long the CLI waits for each, in seconds. */
  timeout?: number;
  /** What happens when one fails; the default is to go on. */
  onFailure?: 'continue' | 'block';
}
