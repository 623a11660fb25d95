import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
export type AnyZodRawShape = Record<string, any>;
export type ToolHandler<S> = (args: S extends never ? never : any, extra: unknown) => Promise<CallToolResult>;
export type ToolExtras = { annotations?: ToolAnnotations; searchHint?: string; alwaysLoad?: boolean };
export type SdkMcpToolDefinition<S = any> = { name: string; description: string; inputSchema: S; annotations?: ToolAnnotations; _meta?: Record<string, unknown>; handler: any };
export type CreateSdkMcpServerOptions = any;
export type McpSdkServerConfigWithInstance = { type: 'sdk'; name: string; timeout?: number; instance: McpServer };
