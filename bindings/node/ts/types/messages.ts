export type SDKMessage = any; export type SDKUserMessage = any;
