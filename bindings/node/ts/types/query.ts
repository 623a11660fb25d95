export type Query = any; export type WarmQuery = any;
