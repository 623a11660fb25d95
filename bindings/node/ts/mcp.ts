/** In-process MCP servers: those made here, which the core serves, and those of the MCP SDK. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js' with { 'resolution-mode': 'import' };
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { withSignal, type Answered, type Asked } from './asked.js';
import type { Channel } from './channel.js';
import { contextOf } from './tracing.js';
import { toolSchema, type ToolSchema } from './schema.js';
import type {
  AnyZodRawShape,
  CreateSdkMcpServerOptions,
  McpSdkServerConfigWithInstance,
  SdkMcpToolDefinition,
  ToolExtras,
  ToolHandler,
} from './types/mcp.js';
import { messageOf, stringified } from './words.js';

/** Defines a tool of an in-process server. */
export function tool<Schema extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: Schema,
  handler: ToolHandler<Schema>,
  extras?: ToolExtras,
): SdkMcpToolDefinition<Schema> {
  const meta: Record<string, unknown> = {};
  if (extras?.alwaysLoad) meta['anthropic/alwaysLoad'] = true;
  if (extras?.searchHint) meta['anthropic/searchHint'] = extras.searchHint;
  const definition: SdkMcpToolDefinition<Schema> = { name, description, inputSchema, handler };
  if (extras?.annotations) definition.annotations = extras.annotations;
  if (Object.keys(meta).length > 0) definition._meta = meta;
  return definition;
}

/** A tool with its schema. */
interface Prepared {
  definition: SdkMcpToolDefinition<any>;
  schema: ToolSchema;
  meta: Record<string, unknown> | undefined;
}

/** What {@link createSdkMcpServer} remembers of a server. */
interface Made {
  options: CreateSdkMcpServerOptions;
  tools: Map<string, Prepared>;
  /** The MCP SDK's server, once somebody has looked at it: it may have been changed then. */
  instance: McpServer | undefined;
}

const made = new WeakMap<object, Made>();

function warn(text: string): void {
  process.emitWarning(text, { code: 'CLAUDE_SDK_MCP_TOOL_SCHEMA_UNCONVERTIBLE' });
}

function prepare(options: CreateSdkMcpServerOptions): Map<string, Prepared> {
  const tools = new Map<string, Prepared>();
  for (const definition of options.tools ?? []) {
    if (tools.has(definition.name)) throw new Error(`Tool ${definition.name} is already registered`);
    const meta = options.alwaysLoad
      ? { ...definition._meta, 'anthropic/alwaysLoad': true }
      : definition._meta;
    try {
      const schema = toolSchema(definition.name, definition.inputSchema);
      tools.set(definition.name, { definition, schema, meta });
    } catch (error) {
      warn(
        `Tool "${definition.name}" on SDK MCP server "${options.name}" was left out of the server's tool ` +
          `list, because its input schema cannot be converted to JSON Schema: ${messageOf(error)}. ` +
          "The server's other tools are unaffected.",
      );
    }
  }
  return tools;
}

/**
 * Makes a server whose tools run in this process, for `mcpServers`.
 *
 * `instance` is a `McpServer` of `@modelcontextprotocol/sdk` for whoever looks at it, if that is
 * installed. As long as nobody has, the core serves the tools without it.
 */
export function createSdkMcpServer(options: CreateSdkMcpServerOptions): McpSdkServerConfigWithInstance {
  const server: Made = { options, tools: prepare(options), instance: undefined };
  const config = { type: 'sdk', name: options.name } as McpSdkServerConfigWithInstance;
  Object.defineProperty(config, 'instance', {
    enumerable: true,
    configurable: true,
    get: () => (server.instance ??= sdkServer(server)),
  });
  if (options.timeout !== undefined) config.timeout = options.timeout;
  made.set(config, server);
  return config;
}

/** The same server by means of the MCP SDK. */
function sdkServer({ options, tools }: Made): McpServer {
  let sdk: { McpServer: typeof McpServer };
  try {
    sdk = require('@modelcontextprotocol/sdk/server/mcp.js');
  } catch {
    throw new Error(
      'the instance of an in-process server is a McpServer of @modelcontextprotocol/sdk, which is not ' +
        'installed: npm install @modelcontextprotocol/sdk',
    );
  }
  const server = new sdk.McpServer(
    { name: options.name, version: options.version ?? '1.0.0' },
    { capabilities: { tools: {} }, instructions: options.instructions },
  );
  for (const { definition, meta } of tools.values()) {
    const { name, description, inputSchema, annotations, handler } = definition;
    const registered = { description, inputSchema, annotations, _meta: meta };
    server.registerTool(name, registered as any, handler as any);
  }
  return server;
}

/** A server as the addon starts with it. */
export interface ServerEntry {
  name: string;
  bridged?: boolean;
  version?: string;
  instructions?: string;
  timeout?: number;
  tools?: object[];
}

/** The in-process servers of a session. */
export class Servers {
  /** What the addon is told. */
  readonly entries: ServerEntry[] = [];
  private readonly own = new Map<string, Map<string, Prepared>>();
  private readonly bridges = new Map<string, Bridge>();

  add(name: string, config: McpSdkServerConfigWithInstance): ServerEntry {
    const entry = this.entry(name, config);
    this.entries.push(entry);
    return entry;
  }

  private entry(name: string, config: McpSdkServerConfigWithInstance): ServerEntry {
    this.remove(name);
    const timeout = config.timeout;
    const server = this.served(config);
    if (server) {
      const { options, tools } = server;
      this.own.set(name, tools);
      return {
        name,
        version: options.version ?? '1.0.0',
        instructions: options.instructions,
        timeout,
        tools: [...tools.values()].map(({ definition, schema, meta }) => ({
          name: definition.name,
          description: definition.description,
          inputSchema: schema.json,
          annotations: definition.annotations,
          _meta: meta,
        })),
      };
    }
    this.bridges.set(name, new Bridge(name, config.instance));
    return { name, bridged: true, timeout };
  }

  /** The names of all servers. */
  get names(): string[] {
    return [...this.own.keys(), ...this.bridges.keys()];
  }

  private remove(name: string): void {
    this.own.delete(name);
    void this.bridges.get(name)?.close();
    this.bridges.delete(name);
  }

  /**
   * Changes what has a name while the session runs. A server of the MCP SDK that has it already
   * stays connected, and one that loses it answers nothing more.
   */
  change(name: string, config: McpSdkServerConfigWithInstance | undefined, channel: Channel): void {
    const bridge = this.bridges.get(name);
    if (bridge && config && !this.served(config) && bridge.server === config.instance) return;
    if (bridge) channel.removeServer(name);
    if (!config) return this.remove(name);
    channel.addServer(this.add(name, config));
    this.bridges.get(name)?.open(channel);
  }

  /** Whether the core serves it. */
  private served(config: McpSdkServerConfigWithInstance): Made | undefined {
    const server = made.get(config);
    return server?.instance === undefined ? server : undefined;
  }

  /** Opens the bridges. */
  start(channel: Channel): void {
    for (const bridge of this.bridges.values()) bridge.open(channel);
  }

  close(): void {
    for (const bridge of this.bridges.values()) void bridge.close();
  }

  /** Runs a tool. */
  async call(channel: Channel, asked: Asked): Promise<Answered> {
    const { server, tool: name } = asked.detail as { server: string; tool: string };
    const prepared = this.own.get(server)?.get(name);
    if (!prepared) return ['callError', `MCP error -32602: Tool ${name} not found`];
    const { message } = asked.request as { message: any };
    const args = await prepared.schema.parse(message?.params?.arguments ?? {});
    const extra = {
      requestId: message?.id,
      _meta: message?.params?._meta,
      ...(asked.detail.trace && { traceContext: contextOf(asked.detail.trace) }),
      sendNotification: async (notification: { method: string; params?: object }) =>
        channel.mcpNotify(server, notification.method, notification.params),
      sendRequest: async () => {
        throw new Error('MCP error -32601: Claude Code takes no requests from in-process tools');
      },
    };
    const returned: unknown = await prepared.definition.handler(args as any, withSignal(extra, asked));
    if (returned === undefined) {
      throw new Error(`Tool ${name} returned nothing: a tool returns { content: [...] }`);
    }
    return ['call', stringified(`what tool ${name} returned`, returned)];
  }

  /** Hands a request to a server that runs here; it answers by itself. */
  forward(asked: Asked): void {
    this.bridges.get(asked.detail as string)?.receive((asked.request as any).message, asked.key);
  }

  notified(server: string, message: unknown): void {
    this.bridges.get(server)?.receive(message as JSONRPCMessage);
  }
}

/** The `Transport` of the MCP SDK, between a server of it and the CLI. */
class Bridge {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: object) => void;
  sessionId?: string;

  private channel: Channel | undefined;
  private connected = false;
  private closed = false;
  private readonly early: JSONRPCMessage[] = [];
  /** Which requests of the CLI wait, by the id of their JSON-RPC request. */
  private readonly open_ = new Map<unknown, number>();

  constructor(
    private readonly name: string,
    readonly server: McpServer,
  ) {}

  open(channel: Channel): void {
    this.channel = channel;
    this.server.connect(this as any).then(
      () => {
        this.connected = true;
        for (const message of this.early.splice(0)) this.deliver(message);
      },
      (error: Error) => {
        this.closed = true;
        channel.fail(error);
      },
    );
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.closed || !this.channel) return;
    this.channel.mcpSend(this.name, message);
    const { id } = message as { id?: unknown };
    const key = 'method' in message ? undefined : this.open_.get(id);
    if (key !== undefined) {
      this.open_.delete(id);
      this.channel.forget(key);
    }
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }

  receive(message: JSONRPCMessage, key?: number): void {
    if (this.closed) return;
    if (key !== undefined) this.open_.set((message as { id?: unknown }).id, key);
    if (this.connected) this.deliver(message);
    else this.early.push(message);
  }

  private deliver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message, {});
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
