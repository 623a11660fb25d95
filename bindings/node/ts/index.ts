/** Towline for Node: a drop-in for `@anthropic-ai/claude-agent-sdk`, and more. */
export * from './constants.js';
export { AbortError, TowlineError, type ProcessFailure, type TowlineErrorCode } from './errors.js';
export { createSdkMcpServer, tool } from './mcp.js';
export { InMemorySessionStore } from './memory-store.js';
export { Pool } from './pool.js';
export { query, startup } from './query.js';
export { prewarm } from './spare.js';
export { openSession } from './session.js';
export * from './sessions.js';
export { openStore, type OpenedStore } from './stores.js';
export type * from './types/index.js';
