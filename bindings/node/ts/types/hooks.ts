export type HookCallback = any; export type HookCallbackMatcher = any;
