/** What the CLI asks, brought to the application's callbacks and back. */
import { withSignal, type Answered, type Asked } from './asked.js';
import type { Channel, Handlers } from './channel.js';
import type { Prepared } from './options.js';
import type { LogRecord } from './types/options.js';
import type { CanUseToolOptions } from './types/permissions-callbacks.js';
import { callStore, type StoreCall } from './store-calls.js';
import { stringified } from './words.js';

/** What the CLI tells beside what the official type has. */
interface Untyped {
  decisionReasonType?: string;
  requiresUserInteraction?: boolean;
}

function json(what: string, value: unknown): Answered {
  return value === null ? null : ['json', stringified(what, value ?? {})];
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

  ask(asked: Asked): Promise<Answered> {
    return this.prepared.trace.run(asked, () => this.serve(asked));
  }

  private serve(asked: Asked): Promise<Answered> {
    switch (asked.kind) {
      case 'permission':
        return this.permission(asked);
      case 'hook':
        return this.hook(asked);
      case 'tool':
        return this.prepared.servers.call(this.channel, asked);
      case 'mcp':
        return this.forward(asked);
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

  log([, level, target, message, fields, sessionId, turn]: any): void {
    const record: LogRecord = { level, target, message, fields };
    if (sessionId !== null) record.sessionId = sessionId;
    if (turn !== null) record.turn = turn;
    try {
      const told: unknown = this.prepared.options.onLog?.(record);
      if (told instanceof Promise) told.catch(() => {});
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

  private async forward(asked: Asked): Promise<Answered> {
    this.prepared.servers.forward(asked);
    return null;
  }

  private async permission(asked: Asked): Promise<Answered> {
    const { request, requestId } = asked;
    const rule = request.matched_ask_rule;
    const context: Omit<CanUseToolOptions, 'signal'> & Untyped = {
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
    };
    if (request.mcp_server !== undefined) context.mcpServer = request.mcp_server;
    if (request.decision_reason_type !== undefined) context.decisionReasonType = request.decision_reason_type;
    if (request.requires_user_interaction !== undefined) {
      context.requiresUserInteraction = request.requires_user_interaction;
    }
    if (rule) {
      context.matchedAskRule = { source: rule.source, toolName: rule.tool_name };
      if (rule.rule_content !== undefined) context.matchedAskRule.ruleContent = rule.rule_content;
    }
    const result = await this.prepared.options.canUseTool!(request.tool_name, request.input, withSignal(context, asked));
    // It was answered elsewhere.
    if (result === null) return null;
    return ['json', JSON.stringify({ ...result, toolUseID: request.tool_use_id })];
  }

  private async hook(asked: Asked): Promise<Answered> {
    const { request, detail } = asked;
    const callback = this.hooks.get(detail as string);
    if (!callback) throw new Error(`No hook callback found for ID: ${detail}`);
    const output = await callback(request.input, request.tool_use_id ?? undefined, withSignal({}, asked));
    return ['json', stringified('the hook answer', output ?? {})];
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
    return json('the answer to the elicitation', result);
  }

  private async dialog({ request, requestId, signal }: Asked): Promise<Answered> {
    const { onUserDialog } = this.prepared.options;
    if (!onUserDialog) return null;
    const asked = {
      dialogKind: request.dialog_kind,
      payload: request.payload,
      toolUseID: request.tool_use_id,
    };
    return json('the answer to the dialog', await onUserDialog(asked, { signal, requestId }));
  }

  private async other({ request, requestId, signal }: Asked): Promise<Answered> {
    const { onControlRequest } = this.prepared.options;
    if (!onControlRequest) throw new Error(`Unsupported control request subtype: ${request.subtype}`);
    return json('the answer of onControlRequest', await onControlRequest(request as any, { signal, requestId }));
  }
}
