/** Permissions, elicitations and dialogs (protocol.md §7, §9). */
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';

export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitationId?: string;
  requestedSchema?: Record<string, unknown>;
  title?: string;
  displayName?: string;
  description?: string;
};

export type ElicitationResult = ElicitResult;

export type PermissionBehavior = 'allow' | 'deny' | 'ask';

export type PermissionDecisionClassification = 'user_temporary' | 'user_permanent' | 'user_reject';

export type PermissionMode = 'default' | 'acceptEdits' | 'bypassPermissions' | 'plan' | 'dontAsk' | 'auto';

export type PermissionResult = {
  behavior: 'allow';
  updatedInput?: Record<string, unknown>;
  updatedPermissions?: PermissionUpdate[];
  toolUseID?: string;
  decisionClassification?: PermissionDecisionClassification;
} | {
  behavior: 'deny';
  message: string;
  interrupt?: boolean;
  toolUseID?: string;
  decisionClassification?: PermissionDecisionClassification;
};

export type PermissionRuleValue = {
  toolName: string;
  ruleContent?: string;
};

export type PermissionUpdate = {
  type: 'addRules';
  rules: PermissionRuleValue[];
  behavior: PermissionBehavior;
  destination: PermissionUpdateDestination;
} | {
  type: 'replaceRules';
  rules: PermissionRuleValue[];
  behavior: PermissionBehavior;
  destination: PermissionUpdateDestination;
} | {
  type: 'removeRules';
  rules: PermissionRuleValue[];
  behavior: PermissionBehavior;
  destination: PermissionUpdateDestination;
} | {
  type: 'setMode';
  mode: PermissionMode;
  destination: PermissionUpdateDestination;
} | {
  type: 'addDirectories';
  directories: string[];
  destination: PermissionUpdateDestination;
} | {
  type: 'removeDirectories';
  directories: string[];
  destination: PermissionUpdateDestination;
};

export type PermissionUpdateDestination = 'userSettings' | 'projectSettings' | 'localSettings' | 'session' | 'cliArg';

export type UserDialogRequest = {
  dialogKind: string;
  payload: Record<string, unknown>;
  toolUseID?: string;
};

export type UserDialogResult = {
  behavior: 'completed';
  result: unknown;
} | {
  behavior: 'cancelled';
};
