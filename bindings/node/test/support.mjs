// What the tests share: the package, the fake CLI and scripts for it.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
export const packageFolder = join(root, 'bindings/node');

/** A program of the test kit; built by `npm test`. */
export function program(name) {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
  const found = ['release', 'debug'].map((profile) => join(target, profile, name)).find(existsSync);
  if (!found) throw new Error(`${name} is not built: cargo build -p towline-testkit --bins`);
  return found;
}

const folder = mkdtempSync(join(tmpdir(), 'towline-node-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let scripts = 0;

export const SESSION = '11111111-2222-4333-8444-555555555555';

/** A result. */
export const result = (more = {}) => ({
  type: 'result', subtype: 'success', is_error: false, duration_ms: 1, duration_api_ms: 1,
  num_turns: 1, result: 'done', stop_reason: 'end_turn', session_id: SESSION, total_cost_usd: 0,
  usage: {}, modelUsage: {}, permission_denials: [], uuid: '00000000-0000-4000-8000-000000000001', ...more,
});

/** A system/init. */
export const init = (more = {}) => ({
  type: 'system', subtype: 'init', session_id: SESSION, cwd: '/w', tools: [], mcp_servers: [], model: 'm',
  permissionMode: 'default', slash_commands: [], apiKeySource: 'none', claude_code_version: '2.1.332',
  output_style: 'default', agents: [], skills: [], plugins: [], uuid: '00000000-0000-4000-8000-000000000002',
  ...more,
});

export const text = (words) => ({
  type: 'assistant', session_id: SESSION, uuid: '00000000-0000-4000-8000-000000000003', parent_tool_use_id: null,
  message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: words }] },
});

/** A control request of the CLI. */
export const ask = (id, request) => ({ emit: { type: 'control_request', request_id: id, request } });
/** The host's answer to it. */
export const answered = (id, response) => ({
  expect: { type: 'control_response', response: { request_id: id, ...response } },
});
export const prompted = { expect: { type: 'user' } };

/** Options under which the fake CLI plays the steps; `log()` tells what happened there. */
export function playing(steps, more = {}) {
  const name = join(folder, `${(scripts += 1)}`);
  writeFileSync(`${name}.json`, JSON.stringify(steps));
  const { env, ...options } = more;
  return {
    options: {
      pathToClaudeCodeExecutable: program('fake-cli'),
      env: { ...process.env, FAKE_CLI_SCRIPT: `${name}.json`, FAKE_CLI_LOG: `${name}.log`, ...env },
      ...options,
    },
    log() {
      const lines = readFileSync(`${name}.log`, 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line));
    },
    /** Lines the host wrote that have these members. */
    written(type) {
      return this.log().filter((event) => event.ev === 'in').map((event) => event.line ?? event.obj).filter((line) => line?.type === type);
    },
    /** What the script expected and did not get. */
    failures() {
      return this.log().filter((event) => event.ev === 'fail');
    },
  };
}

/** All messages of a query. */
export async function all(query) {
  const messages = [];
  for await (const message of query) messages.push(message);
  return messages;
}

/** Whether a process is there. */
export function isRunning(pid) {
  try {
    // The first thread may be gone before the others.
    const gone = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1][0] === 'Z';
    return !gone || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

/** Waits until it holds; the limit is in ms. */
export async function until(holds, limit = 10_000) {
  const end = Date.now() + limit;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`it did not hold within ${limit} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
