/** In-process MCP servers and their tools. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js' with { 'resolution-mode': 'import' };
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod/v4';
import type { ZodRawShape as Zod3Shape } from 'zod/v3';
import type { McpServerToolPolicy } from './mcp-config.js';

/** The shape of a tool's arguments: names to zod schemas. */
export type AnyZodRawShape = Zod3Shape | z.ZodRawShape;

/** The arguments that a shape describes. */
export type InferShape<T extends AnyZodRawShape> = {
  [K in keyof T]: T[K] extends { _output: infer Output } ? Output : never;
} & {};

/** What a tool does. The second argument has `signal`, `_meta`, `requestId` and `sendNotification`. */
export type ToolHandler<Schema extends AnyZodRawShape> = (
  args: InferShape<Schema>,
  extra: unknown,
) => Promise<CallToolResult>;

/** More about a tool. */
export type ToolExtras = {
  annotations?: ToolAnnotations;
  /** Words by which tool search finds it. */
  searchHint?: string;
  /** Whether it is always in the prompt, and never behind tool search. */
  alwaysLoad?: boolean;
};

/** A tool of an in-process server, as `tool` makes it. */
export type SdkMcpToolDefinition<Schema extends AnyZodRawShape = AnyZodRawShape> = {
  name: string;
  description: string;
  inputSchema: Schema;
  annotations?: ToolAnnotations;
  _meta?: Record<string, unknown>;
  handler: (args: InferShape<Schema>, extra: unknown) => Promise<CallToolResult>;
};

/** Options of `createSdkMcpServer`. */
export type CreateSdkMcpServerOptions = {
  name: string;
  version?: string;
  /** What the model is told about the server. */
  instructions?: string;
  tools?: Array<SdkMcpToolDefinition<any>>;
  /** Whether none of its tools is ever behind tool search. */
  alwaysLoad?: boolean;
  /** Limit of a tool call in ms, kept by the CLI; at least 1,000. */
  timeout?: number;
};

/** An in-process server, by its name. */
export type McpSdkServerConfig = {
  type: 'sdk';
  name: string;
  /** Limit of a tool call in ms. */
  timeout?: number;
  /** Permission policies of single tools. */
  tools?: McpServerToolPolicy[];
};

/** An in-process server with the object that serves it. */
export type McpSdkServerConfigWithInstance = McpSdkServerConfig & { instance: McpServer };
