// The asynchronous context of callbacks, and what printing an object shows.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { z } from 'zod/v4';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { createSdkMcpServer, openSession, prewarm, query, startup, tool } from '../index.mjs';
import { all, answered, ask, init, playing, prompted, result, SESSION, text } from './support.mjs';

const rpc = (server, id, method, params = {}) =>
  ask(id, { subtype: 'mcp_message', server_name: server, message: { jsonrpc: '2.0', id, method, params } });
const serving = (server) => [
  rpc(server, `${server}1`, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }),
  answered(`${server}1`, {}),
  rpc(server, `${server}2`, 'tools/call', { name: 't', arguments: { a: 'x' } }),
  answered(`${server}2`, {}),
];

/** Options with every callback there is, each of which notes its context; `questioned` is called by a question. */
function watched(seen, note, questioned) {
  const noted = (name, answer) => (...args) => {
    seen.push(`${name} ${note()}`);
    return typeof answer === 'function' ? answer(...args) : answer;
  };
  const content = { content: [{ type: 'text', text: 'ok' }] };
  const foreign = new McpServer({ name: 'far', version: '1' });
  foreign.registerTool('t', { description: 'd', inputSchema: { a: z.string() } }, noted('foreign tool', content));
  return {
    mcpServers: {
      near: createSdkMcpServer({ name: 'near', tools: [tool('t', 'd', { a: z.string() }, noted('tool', async () => content))] }),
      far: { type: 'sdk', name: 'far', instance: foreign },
    },
    supportedDialogKinds: ['k'],
    canUseTool: noted('canUseTool', (_name, _input, { signal }) => {
      signal.addEventListener('abort', noted('abort'));
      questioned();
      return new Promise(() => {});
    }),
    hooks: { Stop: [{ hooks: [noted('hook', async () => ({}))] }] },
    onElicitation: noted('onElicitation', async () => ({ action: 'decline' })),
    onUserDialog: noted('onUserDialog', async () => ({ behavior: 'cancelled' })),
    onControlRequest: noted('onControlRequest', async () => ({})),
    onDiagnostic: noted('onDiagnostic'),
    onLog: noted('onLog'),
    stderr: noted('stderr'),
    sessionStore: { append: noted('append', async () => {}), load: async () => null },
    spawnClaudeCodeProcess: noted('spawn', ({ command, args, cwd, env, signal }) =>
      spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'pipe'] })),
  };
}

test("each session's callbacks run in the context that it was made in", async () => {
  const users = new AsyncLocalStorage();
  const file = join('/c', 'projects', '-w', `${SESSION}.jsonl`);
  const script = (user) => {
    const pause = { sleep_ms: 1 + ((user * 7) % 5) };
    return [
      prompted,
      { emit: init() },
      { stderr: 'words\n' },
      { emit_raw: '{"type":"odd}\n' },
      ...serving('near'),
      pause,
      ...serving('far'),
      ...['hook_callback', 'elicitation', 'request_user_dialog', 'brand_new'].flatMap((subtype, at) => [
        pause,
        ask(`r${at}`, { subtype, callback_id: 'hook_0', input: {}, mcp_server_name: 's', message: 'm', dialog_kind: 'k', payload: {} }),
        answered(`r${at}`, {}),
      ]),
      { emit: { type: 'transcript_mirror', filePath: file, entries: [{ type: 'user', uuid: SESSION }] } },
      ask('p', { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, tool_use_id: 't' }),
      { expect: { request: { subtype: 'interrupt' } } },
      { emit: { type: 'control_cancel_request', request_id: 'p' } },
      { emit: result() },
      { expect_eof: true },
    ];
  };
  const expected = [
    'spawn', 'stderr', 'onDiagnostic', 'onLog', 'tool', 'foreign tool', 'hook', 'onElicitation', 'onUserDialog', 'onControlRequest', 'append', 'canUseTool', 'abort',
  ];
  await Promise.all(
    Array.from({ length: 4 }, async (_, user) => {
      const seen = [];
      const play = playing(script(user), { env: { CLAUDE_CONFIG_DIR: '/c' }, ...watched(seen, () => users.getStore(), () => void running.interrupt().catch(() => {})) });
      const running = users.run(`user ${user}`, () => query({ prompt: 'hi', options: play.options }));
      await users.run('reader', () => all(running));
      assert.deepEqual(play.failures(), []);
      const wrong = seen.filter((line) => !line.endsWith(` user ${user}`));
      assert.deepEqual(wrong, []);
      const called = new Set(seen.map((line) => line.replace(/ user \d$/, '')));
      assert.deepEqual([...called].sort(), [...expected].sort());
    }),
  );
});

const SECRET = 'sk-ant-not-to-be-seen';

test('printing an object of the package shows nothing of the environment', async () => {
  const env = { ANTHROPIC_API_KEY: SECRET };
  const shown = (name, value) => {
    for (const showHidden of [false, true]) {
      const words = inspect(value, { depth: 10, showHidden });
      assert.ok(!words.includes(SECRET), `${name}: ${words.slice(0, 200)}`);
    }
    assert.ok(!String(JSON.stringify(value)).includes(SECRET), name);
  };
  const steps = [prompted, { emit: init() }, { emit: text('a') }, { emit: result() }, { expect_eof: true }];
  const waits = [{ expect_eof: true, timeout_ms: 20_000 }];

  const running = query({ prompt: 'hi', options: playing(steps, { env }).options });
  shown('a query that begins', running);
  await running.next();
  shown('a query', running);
  await all(running);
  shown('a query at its end', running);

  const session = openSession(playing([prompted, { emit: result() }, ...waits], { env }).options);
  const turn = session.send('hi');
  shown('a session', session);
  shown('a turn', turn);
  await turn.result;
  shown('a session with a result', session);
  await session.return();

  const warm = await startup({ options: playing(waits, { env }).options });
  shown('a warm query', warm);
  shown('the query of a warm one', warm.query('hi'));
  await warm[Symbol.asyncDispose]();

  const opening = [{ expect: { request: { subtype: 'initialize' } } }, { answer: {} }];
  const spare = await prewarm({ options: playing([...opening, ...waits], { env, cwd: '/tmp' }).options });
  shown('a spare process', spare);
  await spare[Symbol.asyncDispose]();

  const failing = playing([prompted, { exit: 3 }], { env });
  await assert.rejects(all(query({ prompt: 'hi', options: failing.options })), (error) => (shown('an error', error), true));
  for (const wrong of [{ model: 1 }, { nobodyKnows: 1 }, { cwd: '/not/there' }]) {
    const go = async () => all(query({ prompt: 'hi', options: { ...failing.options, ...wrong } }));
    await assert.rejects(go, (error) => (shown('an error of the options', error), true));
  }
});
