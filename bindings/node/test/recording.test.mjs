// Options that go to the core as they are: recordings, and what stands before the CLI.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSession, query } from '../index.mjs';
import { all, answered, ask, init, playing, prompted, result, text } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'towline-node-recording-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a session is recorded, and replayed without a CLI', async () => {
  const record = join(folder, 'asked.jsonl');
  const asked = [];
  const canUseTool = async (name, input) => {
    asked.push(name);
    return { behavior: 'allow', updatedInput: input };
  };
  const permission = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 't' };
  const play = playing(
    [prompted, { emit: init() }, ask('p', permission), answered('p', { subtype: 'success' }), { emit: text('words') }, { emit: result() }],
    { canUseTool, record },
  );
  const first = await all(query({ prompt: 'hi', options: play.options }));
  assert.deepEqual(asked, ['Bash']);
  assert.equal(readFileSync(record, 'utf8').trim().split('\n').map((line) => JSON.parse(line).dir).includes('in'), true);
  const nobody = () => assert.fail('a replay starts nothing');
  const replayed = { canUseTool, replay: record, spawnClaudeCodeProcess: nobody, pathToClaudeCodeExecutable: '/nowhere' };
  const second = await all(query({ prompt: 'hi', options: replayed }));
  assert.deepEqual(second.map(({ type }) => type), first.map(({ type }) => type));
  assert.deepEqual(asked, ['Bash', 'Bash']);
  const session = openSession({ canUseTool, replay: record });
  assert.equal((await session.send('hi').result).result, 'done');
  await session.finish();
  await assert.rejects(all(query({ prompt: 'something else', options: { canUseTool, replay: record } })), (error) => {
    assert.deepEqual([error.name, error.code], ['TowlineError', 'RECORDING']);
    assert.match(error.message, /asked\.jsonl, line \d+[^]*something else/);
    return true;
  });
});

test('a replay ends as the recorded CLI did', async () => {
  const record = join(folder, 'exits.jsonl');
  const play = playing([prompted, { emit: init() }, { exit: 9 }], { record });
  const outcome = (options) => all(query({ prompt: 'hi', options })).then(() => 'no error', ({ code, exitCode }) => [code, exitCode]);
  const live = await outcome(play.options);
  assert.deepEqual(live, ['PROCESS_FAILED', 9]);
  assert.deepEqual(await outcome({ replay: record }), live);
});

test('a recording that is not there, or cannot be written', async () => {
  const { options } = playing([]);
  for (const more of [{ replay: join(folder, 'none.jsonl') }, { record: join(folder, 'no/folder/x.jsonl') }]) {
    await assert.rejects(all(query({ prompt: 'hi', options: { ...options, ...more } })), { code: 'RECORDING' });
  }
});

test('a launcher stands before the CLI on the command line', async () => {
  const play = playing([prompted, { emit: result() }], { launcher: ['env', 'LAUNCHED=1'] });
  let started;
  const spawnClaudeCodeProcess = ({ command, args, cwd, env, signal }) => {
    started = [command, ...args];
    return spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'ignore'] });
  };
  await all(query({ prompt: 'hi', options: { ...play.options, spawnClaudeCodeProcess } }));
  assert.deepEqual(started.slice(0, 3), ['env', 'LAUNCHED=1', play.options.pathToClaudeCodeExecutable]);
});
