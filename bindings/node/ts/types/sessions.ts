/** Sessions saved on disk. */
import type { SessionStore } from './session-store.js';

/** Options of `forkSession`. */
export type ForkSessionOptions = SessionMutationOptions & {
  upToMessageId?: string;
  title?: string;
};

export type ForkSessionResult = {
  sessionId: string;
};

/** Options of `getSessionInfo`. */
export type GetSessionInfoOptions = {
  dir?: string;
  sessionStore?: SessionStore;
};

/** Options of `getSessionMessages`. */
export type GetSessionMessagesOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  includeSystemMessages?: boolean;
  sessionStore?: SessionStore;
};

/** Options of `getSubagentMessages`. */
export type GetSubagentMessagesOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  sessionStore?: SessionStore;
};

/** Options of `importSessionToStore`. */
export type ImportSessionToStoreOptions = {
  dir?: string;
  includeSubagents?: boolean;
  batchSize?: number;
};

/** Options of `listSessions`. */
export type ListSessionsOptions = {
  dir?: string;
  limit?: number;
  offset?: number;
  includeWorktrees?: boolean;
  includeProgrammatic?: boolean;
  sessionStore?: SessionStore;
};

/** Options of `listSubagents`. */
export type ListSubagentsOptions = {
  dir?: string;
  sessionStore?: SessionStore;
};

export type SessionMessage = {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  session_id: string;
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
  /** When it was written, in ISO 8601, where the transcript says so. */
  timestamp?: string;
};

/** Options of `sessionMutation`. */
export type SessionMutationOptions = {
  dir?: string;
  sessionStore?: SessionStore;
};
