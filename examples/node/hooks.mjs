// Forbids commands that remove files, and logs every tool that ran.
import { query } from 'towline';

const forbid = async (input) => {
  if (!/\brm\b/.test(input.tool_input.command ?? '')) return {};
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'This program removes nothing.',
    },
  };
};
const log = async (input) => {
  console.error(`${input.tool_name} took ${input.duration_ms} ms`);
  return {};
};

const options = {
  allowedTools: ['Bash'],
  hooks: {
    // A hook that fails blocks the command instead of letting it pass.
    PreToolUse: [{ matcher: 'Bash', onFailure: 'block', hooks: [forbid] }],
    PostToolUse: [{ hooks: [log] }],
  },
};
const prompt = process.argv[2] ?? 'Remove the file notes.txt.';
for await (const message of query({ prompt, options })) {
  if (message.type === 'result') console.log(message.result ?? message.errors);
}
