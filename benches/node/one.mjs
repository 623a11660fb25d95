// One measurement of one package: `node one.mjs PACKAGE MODE COUNT`; prints JSON.
import { existsSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [which, mode, count] = process.argv.slice(2);
const { FAKE_CLI } = process.env;
const packages = new URL('../../bindings/node/', import.meta.url);
const entry = which === 'official'
  ? new URL('node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs', packages)
  : new URL('index.mjs', packages);
if (!existsSync(entry)) throw new Error(`${entry.pathname} is not there: make node`);
const { createSdkMcpServer, query, tool } = await import(entry);

/** Milliseconds of processor time of this process. */
function processor() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function print(measured) {
  console.log(JSON.stringify(measured));
}

async function timed(options) {
  let first;
  let messages = 0;
  for await (const _ of query({ prompt: 'go', options })) {
    first ??= process.hrtime.bigint();
    messages += 1;
  }
  return { messages, first, end: process.hrtime.bigint() };
}

const env = { ...process.env, FAKE_CLI_BENCH: `${mode}:${count}` };
const options = { pathToClaudeCodeExecutable: FAKE_CLI, env };
if (mode === 'import') {
  print({ ms: processor() });
} else if (mode === 'stream') {
  const { messages, first, end } = await timed({ ...options, includePartialMessages: true });
  if (messages < Number(count)) throw new Error(`${messages} messages`);
  print({ us: Number(end - first) / 1000 / messages });
} else if (mode === 'line') {
  const folder = mkdtempSync(join(tmpdir(), 'towline-bench-'));
  const line = { type: 'assistant', message: { content: [{ type: 'text', text: '@FILL@' }] }, uuid: 'u', session_id: 's' };
  const result = { type: 'result', subtype: 'success', is_error: false, result: '', uuid: 'r', session_id: 's' };
  const steps = [{ expect: { type: 'user' } }, { emit_big: line, bytes: Number(count) }, { emit: result }];
  writeFileSync(join(folder, 'script.json'), JSON.stringify(steps));
  const big = { ...process.env, FAKE_CLI_SCRIPT: join(folder, 'script.json') };
  let length = 0;
  for await (const message of query({ prompt: 'go', options: { ...options, env: big } })) {
    if (message.type === 'assistant') length = message.message.content[0].text.length;
  }
  rmSync(folder, { recursive: true });
  if (length !== Number(count)) throw new Error(`${length} characters`);
  print({ mib: process.resourceUsage().maxRSS / 1024 });
} else {
  const { z } = await import(new URL('node_modules/zod/v4/index.js', packages));
  const { performance } = globalThis;
  let calls = 0;
  let began;
  const called = (answer) => {
    if (calls === 0) began = performance.now();
    calls += 1;
    return answer;
  };
  const echo = tool('echo', 'echoes', { text: z.string().optional() }, async () => called({ content: [] }));
  const more = {
    permission: { canUseTool: async (_, input) => called({ behavior: 'allow', updatedInput: input }) },
    hook: { hooks: { PreToolUse: [{ hooks: [async () => called({})] }] } },
    tool: { mcpServers: { bench: createSdkMcpServer({ name: 'bench', tools: [echo] }) } },
  };
  for await (const _ of query({ prompt: 'go', options: { ...options, ...more[mode] } }));
  if (calls !== Number(count)) throw new Error(`${calls} calls`);
  print({ us: ((performance.now() - began) * 1000) / calls });
}
