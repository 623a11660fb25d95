// Readers that do not keep up: the CLI waits for them, and nobody waits for nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openSession, query } from '../index.mjs';
import { all, init, playing, program, prompted, result, text, until } from './support.mjs';

/** About 60 MB of messages of 300 bytes, and a result. */
const COUNT = 200_000;
const streaming = () => ({
  pathToClaudeCodeExecutable: program('fake-cli'),
  includePartialMessages: true,
  env: { ...process.env, FAKE_CLI_BENCH: `stream:${COUNT}` },
});

/** How many bytes a process has written once it does not get on any more. */
async function writtenAtRest(pid) {
  const written = () => Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
  const looks = [];
  await until(() => {
    looks.push(written());
    return looks.length > 10 && looks.at(-1) === looks.at(-10);
  });
  return looks.at(-1);
}

const LITTLE = 16 * 1024 * 1024;

test('a query whose messages nobody takes stops its CLI, and loses nothing', async () => {
  const running = query({ prompt: 'go', options: streaming() });
  await running.next();
  assert.ok((await writtenAtRest(running.pid)) < LITTLE);
  const rest = await all(running);
  assert.equal(rest.filter((message) => message.type === 'stream_event').length, COUNT - 1);
  assert.equal(rest.at(-1).type, 'result');
});

test('a turn that is read slowly stops its CLI, and loses nothing', async () => {
  const session = openSession(streaming());
  const turn = session.send('go');
  await turn.next();
  // Asked for beside a reader, a result is no reason to drop what the reader has not taken.
  const outcome = turn.result;
  assert.ok((await writtenAtRest(session.pid)) < LITTLE);
  const rest = await all(turn);
  assert.equal(rest.filter((message) => message.type === 'stream_event').length, COUNT - 1);
  assert.equal((await outcome).type, 'result');
  await session.finish();
});

test('a turn that nobody has begun to read stops its CLI until only its result is asked for', async () => {
  const session = openSession(streaming());
  const turn = session.send('go');
  assert.ok((await writtenAtRest(session.pid)) < LITTLE);
  assert.equal((await turn.result).type, 'result');
  let taken = 0;
  await assert.rejects(async () => {
    for await (const _ of turn) taken += 1;
  }, { code: 'MESSAGES_LOST' });
  assert.ok(taken > 10_000 && taken < COUNT / 2, `${taken} messages`);
  await session.finish();
});

test('a session that is finished without a reader ends', async () => {
  const session = openSession(streaming());
  session.send('go');
  await session.finish();
});

test('requests are answered while the CLI waits for a reader', async () => {
  const big = (n) => ({ emit_big: text(`${n}@FILL@`), bytes: 6 * 1024 * 1024 });
  const play = playing([
    prompted, { emit: init() }, big(1), big(2), big(3),
    { expect: { type: 'control_request', request: { subtype: 'set_model' } } }, { answer: {} },
    { emit: result() },
  ]);
  const running = query({ prompt: 'hi', options: play.options });
  await running.next();
  await writtenAtRest(running.pid);
  await running.setModel('m');
  const rest = await all(running);
  assert.deepEqual(rest.map((message) => message.message?.content[0].text[0] ?? message.type), ['1', '2', '3', 'result']);
  assert.deepEqual(play.failures(), []);
});
