/** A process that was started before its session is known. */
import type { AgentDefinition } from './common.js';
import type { SDKUserMessage } from './messages.js';
import type { PermissionMode } from './permissions.js';
import type { Query, TowlineQuery } from './query.js';

/** What a spare process takes when it becomes a session; all else is fixed by then. */
export type ClaimOptions = {
  /** The working directory; relative to that of this process. */
  cwd: string;
  /** Variables that the CLI takes this late, such as fresh tokens; any other refuses the claim. */
  env?: Record<string, string>;
  /** Further directories, relative to `cwd`. */
  additionalDirectories?: string[];
  model?: string;
  /** A mode that the process cannot take refuses the claim. */
  permissionMode?: PermissionMode;
  maxThinkingTokens?: number | null;
  /** As of `applyFlagSettings`, in force before the prompt is sent; none that govern hooks. */
  settings?: Parameters<Query['applyFlagSettings']>[0];
  appendSystemPrompt?: string;
  title?: string;
  agents?: Record<string, AgentDefinition>;
};

/** A process that waits for its session; it takes one. */
export interface SpareProcess extends AsyncDisposable {
  /** Makes it a session and sends the first prompt. Throws the second time, and when the process is gone. */
  claim(params: { prompt: string | AsyncIterable<SDKUserMessage>; options: ClaimOptions }): Query;
  /**
   * Settles with the CLI's answer to the claim. It rejects with a text that starts with the reason;
   * after all but `option_not_applied` the prompt has not run.
   */
  readonly claimed: Promise<{ cwd: string; sessionId: string; parkedMs?: number; sdkMcpSettled: boolean }>;
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  /** Ends the process. */
  close(): void;
}

/** What `prewarm` gives. */
export interface TowlineSpareProcess extends SpareProcess {
  claim(params: { prompt: string | AsyncIterable<SDKUserMessage>; options: ClaimOptions }): TowlineQuery;
}
