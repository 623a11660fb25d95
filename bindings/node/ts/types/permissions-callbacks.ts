/** The application's answers to what the CLI asks (protocol.md §7, §9). */
import type {
  ElicitationRequest,
  ElicitationResult,
  PermissionResult,
  PermissionUpdate,
  UserDialogRequest,
  UserDialogResult,
} from './permissions.js';

/** What is known of a permission question beside the tool and its input. */
export type CanUseToolOptions = {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Changes to the permissions that would spare the next such question. */
  suggestions?: PermissionUpdate[];
  /** The path outside the allowed folders that the question is about. */
  blockedPath?: string;
  /** The server of an MCP tool. */
  mcpServer?: { name: string; source: string };
  /** Why there is a question. */
  decisionReason?: string;
  /** The question as a sentence. */
  title?: string;
  /** What is done, in a few words. */
  displayName?: string;
  /** More about it. */
  description?: string;
  /** Whether the choice that is offered first must be the refusal. */
  defaultToNo?: boolean;
  /** Whether "do not ask again" must not be offered. */
  suppressAlwaysAllowRule?: boolean;
  /** The tool call. */
  toolUseID: string;
  /** The subagent that asks. */
  agentID?: string;
  /** The id of the control request. */
  requestId: string;
  /** The rule of the user's that made this a question. */
  matchedAskRule?: { source: string; toolName: string; ruleContent?: string };
};

/** Decides whether a tool may run. `null`: it was answered by other means. */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: CanUseToolOptions,
) => Promise<PermissionResult | null>;

/** What an answer can be aborted by, and the id of the control request. */
export type RequestOptions = { signal: AbortSignal; requestId: string };

/** Answers what an external MCP server wants of the user. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: RequestOptions,
) => Promise<ElicitationResult | null>;

/** Shows a dialog of a declared kind. */
export type OnUserDialog = (
  request: UserDialogRequest,
  options: RequestOptions,
) => Promise<UserDialogResult | null>;

/** Answers a control request that the library does not know, with the payload of its answer. */
export type OnControlRequest = (
  request: { subtype: string; [field: string]: unknown },
  options: RequestOptions,
) => Promise<unknown>;
