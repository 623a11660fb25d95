export { query, startup } from './query.js';
export { tool, createSdkMcpServer } from './mcp.js';
export { AbortError, TowlineError } from './errors.js';
