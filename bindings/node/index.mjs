// The same module for `import`: one instance, however a program loads it.
import towline from './dist/index.js';

export const { AbortError, TowlineError, createSdkMcpServer, query, startup, tool } = towline;
