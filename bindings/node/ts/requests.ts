/** What the CLI asks, brought to the application's callbacks and back. */
import type { Answered, Asked, Channel, Handlers } from './channel.js';
import type { Prepared } from './options.js';
import { callStore, type StoreCall } from './store-calls.js';

/** A key left out where there is no value. */
function optional<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function json(value: unknown): Answered {
  return value === null ? null : ['json', JSON.stringify(value ?? {})];
}

/** Answers the CLI by the callbacks of the options. */
export class Requests implements Handlers {
  private channel!: Channel;
  private readonly hooks = new Map<string, Prepared['hooks'][number]>();
  private ended = false;

  constructor(private readonly prepared: Prepared) {}

  started(channel: Channel): void {
    this.channel = channel;
    channel.hooks.forEach((id, index) => this.hooks.set(id, this.prepared.hooks[index]!));
    this.prepared.servers.start(channel);
  }

  async ask(asked: Asked): Promise<Answered> {
    switch (asked.kind) {
      case 'permission':
        return this.permission(asked);
      case 'hook':
        return this.hook(asked);
      case 'tool':
        return this.prepared.servers.call(this.channel, asked);
      case 'mcp':
        this.prepared.servers.forward(asked);
        return null;
      case 'elicitation':
        return this.elicitation(asked);
      case 'dialog':
        return this.dialog(asked);
      default:
        return this.other(asked);
    }
  }

  notified(server: string, message: unknown): void {
    this.prepared.servers.notified(server, message);
  }

  stderr(line: string): void {
    try {
      this.prepared.options.stderr?.(`${line}\n`);
    } catch {
      // A failing listener does not stop the lines.
    }
  }

  diagnostic(text: string): void {
    try {
      this.prepared.options.onDiagnostic?.(text);
    } catch {
      // As for stderr.
    }
  }

  async store(call: StoreCall): Promise<unknown> {
    return callStore(this.prepared.store!, call);
  }

  closed(): void {
    if (this.ended) return;
    this.ended = true;
    this.prepared.servers.close();
  }

  private async permission({ request, requestId, signal }: Asked): Promise<Answered> {
    const rule = request.matched_ask_rule;
    const result = await this.prepared.options.canUseTool!(request.tool_name, request.input, {
      signal,
      suggestions: request.permission_suggestions,
      blockedPath: request.blocked_path,
      decisionReason: request.decision_reason,
      title: request.title,
      displayName: request.display_name,
      description: request.description,
      defaultToNo: request.default_to_no,
      suppressAlwaysAllowRule: request.suppress_always_allow_rule,
      toolUseID: request.tool_use_id,
      agentID: request.agent_id,
      requestId,
      ...optional({
        mcpServer: request.mcp_server,
        decisionReasonType: request.decision_reason_type,
        requiresUserInteraction: request.requires_user_interaction,
        matchedAskRule: rule && {
          source: rule.source,
          toolName: rule.tool_name,
          ...optional({ ruleContent: rule.rule_content }),
        },
      }),
    });
    // It was answered elsewhere.
    if (result === null) return null;
    return ['json', JSON.stringify({ ...result, toolUseID: request.tool_use_id })];
  }

  private async hook({ request, detail, signal }: Asked): Promise<Answered> {
    const callback = this.hooks.get(detail as string);
    if (!callback) throw new Error(`No hook callback found for ID: ${detail}`);
    const output = await callback(request.input, request.tool_use_id ?? undefined, { signal });
    return ['json', JSON.stringify(output ?? {})];
  }

  private async elicitation({ request, requestId, signal }: Asked): Promise<Answered> {
    const result = await this.prepared.options.onElicitation!(
      {
        serverName: request.mcp_server_name,
        message: request.message,
        mode: request.mode,
        url: request.url,
        elicitationId: request.elicitation_id,
        requestedSchema: request.requested_schema,
        title: request.title,
        displayName: request.display_name,
        description: request.description,
      },
      { signal, requestId },
    );
    return json(result);
  }

  private async dialog({ request, requestId, signal }: Asked): Promise<Answered> {
    const { onUserDialog } = this.prepared.options;
    if (!onUserDialog) return null;
    const asked = {
      dialogKind: request.dialog_kind,
      payload: request.payload,
      toolUseID: request.tool_use_id,
    };
    return json(await onUserDialog(asked, { signal, requestId }));
  }

  private async other({ request, requestId, signal }: Asked): Promise<Answered> {
    const { onControlRequest } = this.prepared.options;
    if (!onControlRequest) throw new Error(`Unsupported control request subtype: ${request.subtype}`);
    return json(await onControlRequest(request as any, { signal, requestId }));
  }
}
