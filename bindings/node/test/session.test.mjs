// Sessions with turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSession } from '../index.mjs';
import { all, init, playing, prompted, result, text } from './support.mjs';

test('each prompt has its own messages and its own result', async () => {
  const play = playing([
    { expect: { type: 'user', message: { content: 'one' } } },
    { emit: init() },
    { emit: text('first') },
    { emit: result({ result: '1' }) },
    { expect: { type: 'user', message: { content: 'two' } } },
    { emit: init() },
    { emit: text('second') },
    { emit: result({ result: '2' }) },
    { expect_eof: true },
  ]);
  const session = openSession(play.options);
  const one = session.send('one');
  assert.deepEqual((await all(one)).map((message) => message.type), ['system', 'assistant', 'result']);
  assert.equal((await one.result).result, '1');
  const two = session.send('two');
  assert.equal((await two.result).result, '2');
  assert.equal((await all(two))[1].message.content[0].text, 'second');
  await session.finish();
  assert.deepEqual(await all(session), []);
  assert.deepEqual(play.failures(), []);
});

test('a session that dies rejects its turns with the reason', async () => {
  const play = playing([{ expect: { type: 'user' } }, { stderr: 'oh no\n' }, { exit: 3 }]);
  const turn = openSession(play.options).send('hi');
  await assert.rejects(turn.result, { code: 'PROCESS_FAILED', exitCode: 3 });
  await assert.rejects(all(turn), { exitCode: 3 });
});

test('a closed session rejects what is open', async () => {
  const play = playing([{ expect: { type: 'user' } }, { emit: init() }, { expect_eof: true, timeout_ms: 20_000 }]);
  const session = openSession(play.options);
  const turn = session.send('hi');
  await turn.next();
  await session.return();
  await assert.rejects(turn.result, { code: 'SESSION_CLOSED' });
});

test('who leaves a turn does not hold up the session, however much of the turn is left', async () => {
  const big = { emit_big: text('@FILL@'), bytes: 1_000_000 };
  const long = [prompted, { emit: text('a') }, ...Array(12).fill(big), { emit: result({ result: '1' }) }];
  const leave = {
    async break(turn) {
      for await (const _ of turn) break;
    },
    async throw(turn) {
      const thrown = (async () => {
        for await (const _ of turn) throw new Error('mine');
      })();
      await assert.rejects(thrown, /mine/);
    },
    async return(turn) {
      await turn.next();
      await turn.return();
    },
  };
  for (const [how, leaving] of Object.entries(leave)) {
    const play = playing([...long, ...long, prompted, { emit: result({ result: '2' }) }, { expect_eof: true }]);
    const session = openSession(play.options);
    const left = session.send('one');
    await leaving(left);
    assert.equal((await left.result).result, '1', how);
    assert.deepEqual(await left.next(), { done: true, value: undefined }, how);
    await leaving(session.send('two'));
    assert.equal((await session.send('three').result).result, '2', how);
    await session.finish();
    assert.deepEqual(play.failures(), [], how);
  }
});
