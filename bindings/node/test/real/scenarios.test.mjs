// The real CLI through this package. Runs inside `isolated`, started by ../real-cli.test.mjs: loopback
// alone, a scripted Messages API, a home of its own. CLI names the CLI, PROJECT the folder.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod/v4';
import {
  createSdkMcpServer, forkSession, getSessionInfo, getSessionMessages, InMemorySessionStore, listSessions, openStore, prewarm,
  query, renameSession, startup, tool,
} from '../../index.mjs';

const { CLI, PROJECT } = process.env;
const current = CLI.includes('claude-agent-sdk');
const options = (more = {}) => ({
  pathToClaudeCodeExecutable: CLI, cwd: PROJECT, model: 'claude-sonnet-4-5', settingSources: [],
  env: { ...process.env, CLAUDE_CODE_MAX_RETRIES: '1' }, ...more,
});
const user = (content) => ({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
const call = (name, input) => `TOOL ${name} ${JSON.stringify(input)}`;

async function ask(prompt, more) {
  const messages = [];
  for await (const message of query({ prompt, options: options(more) })) messages.push(message);
  const texts = messages.filter((one) => one.type === 'assistant').flatMap((one) => one.message.content);
  const results = messages.filter((one) => one.type === 'user').flatMap((one) => one.message.content);
  return {
    messages,
    text: texts.filter((block) => block.type === 'text').map((block) => block.text).join(''),
    results: results.filter((block) => block.type === 'tool_result'),
    result: messages.findLast((one) => one.type === 'result'),
    init: messages.find((one) => one.subtype === 'init'),
  };
}

test('a prompt and its deltas', async () => {
  const { text, result, messages } = await ask('DELTAS 5', { includePartialMessages: true });
  assert.equal(result.subtype, 'success');
  assert.ok(text.length > 0);
  assert.ok(messages.filter((one) => one.type === 'stream_event').length >= 5);
  assert.equal(messages.filter((one) => one.type === 'command_lifecycle').length, 0);
});

test('a permission allowed, with another input, and denied', async () => {
  const command = { command: 'touch made && echo made', description: 'd' };
  const asked = [];
  const allowed = await ask(call('Bash', command), {
    canUseTool: async (name, input, { signal, toolUseID }) => {
      asked.push([name, input.command, signal.aborted, typeof toolUseID]);
      return { behavior: 'allow', updatedInput: { ...input, command: 'touch other && echo other' } };
    },
  });
  assert.deepEqual(asked, [['Bash', command.command, false, 'string']]);
  assert.ok(existsSync(join(PROJECT, 'other')));
  assert.ok(!existsSync(join(PROJECT, 'made')));
  assert.equal(allowed.text.includes('done'), true);
  const denied = await ask(call('Bash', command), {
    canUseTool: async () => ({ behavior: 'deny', message: 'not today' }),
  });
  assert.match(JSON.stringify(denied.results), /not today/);
  assert.ok(!existsSync(join(PROJECT, 'made')));
});

test('hooks before and after a tool, and at the end', async () => {
  const seen = [];
  const hook = async (input, toolUseID) => {
    seen.push(input.hook_event_name);
    assert.equal(typeof toolUseID, 'string');
    return input.hook_event_name === 'PreToolUse'
      ? { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } }
      : {};
  };
  const matched = (matcher) => [{ matcher, hooks: [hook] }];
  await ask(call('Bash', { command: 'echo hooked', description: 'd' }), {
    hooks: { PreToolUse: matched('Bash'), PostToolUse: matched('Bash'), Stop: [{ hooks: [hook] }] },
  });
  assert.deepEqual(seen, ['PreToolUse', 'PostToolUse', 'Stop']);
});

test('a tool of this program', async () => {
  const add = tool('add', 'adds', { a: z.number(), b: z.number().default(2) }, async ({ a, b }) => ({
    content: [{ type: 'text', text: `sum ${a + b}` }],
  }));
  const { results } = await ask(call('mcp__calc__add', { a: 40 }), {
    mcpServers: { calc: createSdkMcpServer({ name: 'calc', tools: [add] }) },
    allowedTools: ['mcp__calc__add'],
  });
  assert.match(JSON.stringify(results), /sum 42/);
});

test('structured output', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const { result } = await ask('STRUCTURED {"n": 7}', { outputFormat: { type: 'json_schema', schema } });
  assert.deepEqual(result.structured_output, { n: 7 });
});

test('two prompts in one session, requests between them', async () => {
  let next;
  const more = new Promise((resolve) => (next = resolve));
  async function* prompts() {
    yield user('TEXT one');
    await more;
    yield user('TEXT two');
  }
  const running = query({ prompt: prompts(), options: options() });
  const answers = [];
  for await (const message of running) {
    if (message.type !== 'result') continue;
    answers.push(message.result);
    if (answers.length === 1) {
      await running.setPermissionMode('plan');
      assert.ok(Array.isArray(await running.mcpServerStatus()));
      assert.ok((await running.supportedCommands()).length > 0);
      next();
    }
  }
  assert.deepEqual(answers, ['one', 'two']);
});

test('an interrupted turn, and the next one', async () => {
  let next;
  const more = new Promise((resolve) => (next = resolve));
  async function* prompts() {
    yield user('SLEEP 30');
    await more;
    yield user('TEXT after');
  }
  const running = query({ prompt: prompts(), options: options() });
  const results = [];
  for await (const message of running) {
    if (message.subtype === 'init' && results.length === 0) await running.interrupt();
    if (message.type === 'result') {
      results.push(message.subtype);
      next();
    }
  }
  assert.deepEqual(results, ['error_during_execution', 'success']);
});

test('too many turns: the result, then an error', async () => {
  const seen = [];
  const { message } = await (async () => {
    const chain = JSON.stringify([1, 2, 3].map((n) => ['Bash', { command: `echo ${n}`, description: 'd' }]));
    for await (const one of query({ prompt: `CHAIN ${chain}`, options: options({ maxTurns: 1, allowedTools: ['Bash'] }) })) seen.push(one.subtype);
    throw new Error('no error');
  })().catch((error) => error);
  assert.equal(seen.at(-1), 'error_max_turns');
  assert.match(message, /Claude Code returned an error result/);
});

test('a warm query, resumed, listed, read, renamed, forked', async () => {
  const warm = await startup({ options: options() });
  let id;
  for await (const message of warm.query('TEXT remember')) id = message.session_id ?? id;
  const again = await ask('TEXT again', { resume: id });
  assert.equal(again.result.session_id, id);
  const listed = await listSessions({ dir: PROJECT });
  assert.ok(listed.some((session) => session.sessionId === id));
  const messages = await getSessionMessages(id, { dir: PROJECT });
  assert.deepEqual(messages.map((one) => one.type), ['user', 'assistant', 'user', 'assistant']);
  await renameSession(id, 'a title', { dir: PROJECT });
  assert.equal((await getSessionInfo(id, { dir: PROJECT })).customTitle, 'a title');
  const fork = await forkSession(id, { dir: PROJECT });
  const forked = await ask('TEXT forked', { resume: fork.sessionId });
  assert.equal(forked.result.result, 'forked');
});

for (const [name, open] of [
  ['of this program', async () => new InMemorySessionStore()],
  ['in SQLite', async () => openStore(`sqlite:${join(PROJECT, 'sessions.db')}`)],
]) {
  test(`a session moves to another machine through a store ${name}, is continued and forked there`, async () => {
    const sessionStore = await open();
    const machine = (which) => ({ env: { ...options().env, CLAUDE_CONFIG_DIR: join(PROJECT, `config-${name}-${which}`) } });
    const stored = { dir: PROJECT, sessionStore };
    const first = await ask('TEXT one', { sessionStore, ...machine(1) });
    const id = first.result.session_id;
    assert.ok(first.messages.every((one) => !['transcript_mirror', 'mirror_error'].includes(one.subtype ?? one.type)));
    const types = async (session) => (await getSessionMessages(session, stored)).map((one) => one.type);
    assert.deepEqual(await types(id), ['user', 'assistant']);
    const second = await ask('TEXT two', { sessionStore, resume: id, ...machine(2) });
    assert.equal(second.result.session_id, id);
    assert.ok(!existsSync(join(PROJECT, `config-${name}-2`, 'projects')));
    const third = await ask('TEXT three', { sessionStore, continue: true, sessionStoreFlush: 'eager', ...machine(3) });
    assert.equal(third.result.session_id, id);
    assert.deepEqual(await types(id), ['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
    const { sessionId } = await forkSession(id, { ...stored, title: 'another way' });
    const forked = await ask('TEXT four', { sessionStore, resume: sessionId, ...machine(4) });
    assert.equal(forked.result.result, 'four');
    assert.equal((await types(sessionId)).length, 8);
    assert.equal((await types(id)).length, 6);
    assert.equal((await getSessionInfo(sessionId, stored)).customTitle, 'another way');
    assert.deepEqual((await listSessions(stored)).map((one) => one.sessionId).sort(), [id, sessionId].sort());
  });
}

test('an unknown session to resume: the reason, not a mere exit', async () => {
  const { message, exitCode } = await ask('hi', { resume: '99999999-9999-4999-8999-999999999999' }).catch((error) => error);
  assert.match(message, /No conversation found|error result/);
  assert.equal(exitCode, 1);
});

test('a server that is added while the session runs', { skip: !current && 'needs the current CLI' }, async () => {
  let go;
  const ready = new Promise((resolve) => (go = resolve));
  async function* prompts() {
    await ready;
    yield user(call('mcp__late__hello', {}));
  }
  const hello = tool('hello', 'greets', {}, async () => ({ content: [{ type: 'text', text: 'hello late' }] }));
  const running = query({ prompt: prompts(), options: options({ allowedTools: ['mcp__late__hello'] }) });
  await running.setMcpServers({ late: createSdkMcpServer({ name: 'late', tools: [hello] }) });
  go();
  const messages = [];
  for await (const message of running) messages.push(message);
  assert.match(JSON.stringify(messages), /hello late/);
});

test('a process started before its session is known', { skip: !current && 'needs the current CLI' }, async () => {
  const { cwd, ...host } = options();
  const spare = await prewarm({ options: host });
  const running = spare.claim({ prompt: 'TEXT claimed', options: { cwd, permissionMode: 'plan', settings: { effortLevel: 'high' } } });
  const messages = [];
  for await (const message of running) messages.push(message);
  const claimed = await spare.claimed;
  const started = messages.find((one) => one.subtype === 'init');
  assert.deepEqual([started.cwd, started.session_id, started.permissionMode], [claimed.cwd, claimed.sessionId, 'plan']);
  assert.equal(messages.at(-1).result, 'claimed');
  await spare.exited;
  const refused = await prewarm({ options: host });
  const failing = refused.claim({ prompt: 'TEXT never', options: { cwd: '/no/such/folder' } });
  await assert.rejects(refused.claimed, /cwd_not_found/);
  await assert.rejects(async () => { for await (const _ of failing); }, /not_claimed/);
});
