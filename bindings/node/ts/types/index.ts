/** Every type of the package. */
export type * from './common.js';
export type * from './control.js';
export type * from './hook-callbacks.js';
export type * from './hooks.js';
export type * from './mcp-config.js';
export type * from './mcp.js';
export type * from './messages.js';
export type * from './options.js';
export type * from './permissions-callbacks.js';
export type * from './permissions.js';
export type * from './query.js';
export type * from './session-store.js';
export type * from './session.js';
export type * from './sessions.js';
export type * from './settings.js';
export type * from './spare.js';
export type * from './spawn.js';
