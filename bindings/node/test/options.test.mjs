// What options, prompts and answers may look like, and what is said of those that are wrong.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createSdkMcpServer, openSession, query, tool } from '../index.mjs';
import { all, answered, ask, init, packageFolder, playing, prompted, result } from './support.mjs';

const simple = () => playing([prompted, { emit: result() }, { expect_eof: true }]);
const started = (play) => {
  const { argv, cwd } = play.log().find(({ ev }) => ev === 'start');
  return { argv, cwd, initialize: play.written('control_request')[0].request };
};

test('an option that is null is absent', { timeout: 60_000 }, async () => {
  const types = readFileSync(join(packageFolder, 'ts/types/options.ts'), 'utf8');
  const names = [...types.matchAll(/^  (\w+)\?: /gm)].map(([, name]) => name);
  assert.ok(names.length > 90 && names.includes('spawnClaudeCodeProcess'), names.join());
  const plain = simple();
  await all(query({ prompt: 'hi', options: plain.options }));
  const play = simple();
  await all(query({ prompt: 'hi', options: { ...Object.fromEntries(names.map((name) => [name, null])), ...play.options } }));
  assert.deepEqual(started(play), started(plain));
  assert.deepEqual(play.failures(), []);

  const server = simple();
  await all(query({ prompt: 'hi', options: { ...server.options, mcpServers: { none: null }, hooks: { Stop: null } } }));
  assert.deepEqual(started(server), started(plain));
});

test('numbers in the environment, and a URL for the directory, as of spawn', async () => {
  const play = playing([prompted, { log_env: ['FOO', 'BAR'] }, { emit: result() }], { env: { FOO: 5, BAR: true } });
  await all(query({ prompt: 'hi', options: { ...play.options, cwd: pathToFileURL('/') } }));
  assert.equal(started(play).cwd, '/');
  const { env } = play.log().find(({ ev }) => ev === 'env');
  assert.deepEqual(env, { FOO: '5', BAR: 'true' });
});

const wrong = (options) => async () => all(query({ prompt: 'hi', options: { ...simple().options, ...options } }));

test('options of a wrong shape are refused by their names', async () => {
  const hook = async () => ({});
  const said = [
    [{ hooks: { Stop: {} } }, 'hooks.Stop must be an array of matchers'],
    [{ hooks: { Stop: [{}] } }, 'hooks.Stop[0].hooks must be an array of callbacks'],
    [{ hooks: { Stop: [{ hooks: 5 }] } }, 'hooks.Stop[0].hooks must be an array of callbacks'],
    [{ hooks: { Stop: [null] } }, 'hooks.Stop[0].hooks must be an array of callbacks'],
    [{ hooks: { Stop: [{ hooks: [hook] }, hook] } }, 'hooks.Stop[1].hooks must be an array of callbacks'],
    [{ hooks: { Stop: [{ hooks: [hook, 5] }] } }, 'hooks.Stop[0].hooks[1] must be a function'],
    [{ canUseTool: 'allow' }, 'option canUseTool must be a function'],
    [{ stderr: process.stderr }, 'option stderr must be a function'],
  ];
  for (const [options, message] of said) await assert.rejects(wrong(options), { name: 'TowlineError', code: 'INVALID_OPTIONS', message });
  await assert.rejects(wrong({ env: { FOO: {} } }), (error) => {
    assert.equal(error.code, 'INVALID_OPTIONS');
    assert.match(error.message, /env/);
    assert.doesNotMatch(error.message, /line \d+ column/);
    return true;
  });
});

test('what is no prompt and no request is refused in words', async () => {
  const session = openSession(playing([{ expect_eof: true, timeout_ms: 20_000 }]).options);
  const message = { role: 'user', content: 'x' };
  for (const prompt of [null, undefined, 5, () => 1, { type: 'user', uuid: 5, message }]) {
    assert.throws(() => session.send(prompt), { name: 'TowlineError', code: 'INVALID_ARGUMENT' }, String(prompt));
  }
  for (const subtype of [5, undefined, null]) {
    await assert.rejects(session.request(subtype), { code: 'INVALID_ARGUMENT', message: 'the subtype of a request is a string' });
  }
  await assert.rejects(session.request('x', []), { name: 'TowlineError', code: 'INVALID_ARGUMENT' });
  await assert.rejects(session.request('x', () => 1), /a function/);
  await session.return();
});

test('a text keeps what is no well-formed Unicode', async () => {
  const words = 'a\ud800b';
  const play = playing([prompted, { emit: result() }, { expect_eof: true }]);
  const session = openSession(play.options);
  await session.send(words).result;
  await session.finish();
  assert.equal(play.written('user')[0].message.content, words);
});

test('a prompt that repeats a uuid is reported and left out; the others run', async () => {
  const prompt = (uuid, content) => ({ type: 'user', uuid, message: { role: 'user', content }, parent_tool_use_id: null });
  const id = '11111111-2222-4333-8444-555555555556';
  const odd = [];
  const play = playing([prompted, { emit: result() }, prompted, { emit: result() }, { expect_eof: true }]);
  async function* prompts() {
    yield prompt(id, 'one');
    yield prompt(id, 'again');
    yield prompt('11111111-2222-4333-8444-555555555557', 'two');
  }
  const messages = await all(query({ prompt: prompts(), options: { ...play.options, onDiagnostic: (text) => odd.push(text) } }));
  assert.deepEqual(messages.map(({ type }) => type), ['result', 'result']);
  assert.deepEqual(play.written('user').map(({ message }) => message.content), ['one', 'two']);
  assert.match(odd.join(), new RegExp(`${id} was used`));
});

test('answers that JSON cannot say', async () => {
  const rpc = (id, method, params) => ask(`m${id}`, { subtype: 'mcp_message', server_name: 's', message: { jsonrpc: '2.0', id, method, params } });
  const play = playing([
    prompted,
    { emit: init() },
    ask('h', { subtype: 'hook_callback', callback_id: 'hook_0', input: {} }),
    answered('h', { subtype: 'error' }),
    rpc(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }),
    answered('m1', {}),
    rpc(2, 'tools/call', { name: 'nothing', arguments: {} }),
    answered('m2', {}),
    rpc(3, 'tools/call', { name: 'function', arguments: {} }),
    answered('m3', {}),
    { emit: result() },
  ]);
  const tools = [tool('nothing', 'd', {}, async () => undefined), tool('function', 'd', {}, async () => () => 1)];
  const options = { ...play.options, mcpServers: { s: createSdkMcpServer({ name: 's', tools }) }, hooks: { Stop: [{ hooks: [async () => () => 1] }] } };
  await all(query({ prompt: 'hi', options }));
  assert.deepEqual(play.failures(), []);
  const [hook, , nothing, odd] = play.written('control_response').map(({ response }) => response);
  assert.equal(hook.error, 'the hook answer is a function, for which JSON has no words');
  const said = ({ response }) => response.mcp_response.result.content[0].text;
  assert.equal(said(nothing), 'Tool nothing returned nothing: a tool returns { content: [...] }');
  assert.equal(said(odd), 'what tool function returned is a function, for which JSON has no words');
});

test('numbers that JSON has no words for are refused by the name of their option', () => {
  const numbers = ['maxTurns', 'maxBudgetUsd', 'maxThinkingTokens', 'maxLineBytes', 'loadTimeoutMs', 'closeGraceMs', 'terminateGraceMs', 'connectTimeoutMs', 'initializeTimeoutMs', 'controlTimeoutMs', 'firstMessageTimeoutMs', 'idleTimeoutMs', 'turnTimeoutMs', 'handlerTimeoutMs'];
  const given = [
    ...numbers.map((name) => [name, (value) => ({ [name]: value })]),
    ['taskBudget.total', (total) => ({ taskBudget: { total } })],
    ['thinking.budgetTokens', (budgetTokens) => ({ thinking: { type: 'enabled', budgetTokens } })],
    ['hooks.Stop[0].timeout', (timeout) => ({ hooks: { Stop: [{ timeout, hooks: [async () => ({})] }] } })],
  ];
  const options = { pathToClaudeCodeExecutable: '/no/such/claude' };
  for (const [name, of] of given) {
    for (const value of [NaN, Infinity, -Infinity]) {
      const refused = (error) => error.code === 'INVALID_OPTIONS' && error.message.includes(`${name} must be a finite number`);
      assert.throws(() => query({ prompt: 'x', options: { ...options, ...of(value) } }), refused, `${name} ${value}`);
    }
  }
  for (const name of numbers) {
    for (const value of [-1, ...(name === 'maxBudgetUsd' ? [] : [1.5, 1e20])]) {
      assert.throws(() => query({ prompt: 'x', options: { ...options, [name]: value } }), (error) => error.code === 'INVALID_OPTIONS' && error.message.includes(`option "${name}" must be`), `${name} ${value}`);
    }
  }
  const ring = {};
  ring.ring = ring;
  assert.throws(() => query({ prompt: 'x', options: { ...options, settings: ring } }), { code: 'INVALID_OPTIONS', message: 'option settings.ring cannot be an object that is within itself' });
});
