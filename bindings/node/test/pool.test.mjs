// Pools: sessions started ahead, conversations kept open.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { Pool, query } from '../index.mjs';
import { all, isRunning, playing, prompted, result, SESSION, text, until } from './support.mjs';

const chat = (more) =>
  playing([{ repeat: 1000, steps: [{ ...prompted, timeout_ms: 60_000 }, { emit: text('hi') }, { emit: result() }] }], more);
const lively = (more) =>
  playing([{ repeat: 1000, steps: [{ expect: { request: { subtype: 'get_binary_version' } }, timeout_ms: 60_000 }, { answer: {} }] }], more);
const closed = (t, pool) => {
  t.after(() => pool.close());
  return pool;
};
const started = (play) => play.log().filter((event) => event.ev === 'start');

test('the phases of a start are told', async (t) => {
  const play = playing([prompted, { emit: text('hi') }, { emit: result() }]);
  const running = query({ prompt: 'hi', options: play.options });
  await all(running);
  const { spawnedMs, initializedMs, takenMs, firstMessageMs } = running.startup;
  assert.ok(0 < spawnedMs && spawnedMs <= initializedMs && initializedMs <= firstMessageMs);
  assert.equal(takenMs, null);
});

test('a first message costs no start', async (t) => {
  const play = chat();
  const pool = new Pool(play.options, { size: 1 });
  await pool.fill();
  const session = await pool.take();
  const { initializedMs, takenMs, firstMessageMs } = session.startup;
  assert.ok(initializedMs <= takenMs);
  assert.equal(firstMessageMs, null);
  assert.equal((await session.send('hi').result).result, 'done');
  assert.ok(session.startup.firstMessageMs >= takenMs);
  assert.equal(pool.stats.hits, 1);
  session.close();
  const types = [];
  for await (const message of pool.query('hi')) types.push(message.type);
  assert.deepEqual(types, ['assistant', 'result']);
  await pool.close();
  assert.equal(pool.stats.closing, 0);
  await until(() => started(play).every(({ pid }) => !isRunning(pid)));
  await assert.rejects(pool.take(), { code: 'POOL_CLOSED' });
});

test('a handle that was put back does nothing any more', async (t) => {
  const play = chat();
  const pool = closed(t, new Pool(play.options, { size: 0 }));
  let kept;
  {
    const session = await pool.take();
    await session.send('hi').result;
    pool.putBack(session);
    await session[Symbol.asyncDispose]?.();
    kept = session;
  }
  const again = await pool.take({ sessionId: SESSION });
  assert.notEqual(again, kept);
  assert.equal(pool.stats.started, 1);
  for (const use of [() => kept.send('x'), () => kept.close(), () => kept.sessionId]) assert.throws(use, { code: 'SESSION_CLOSED' });
  assert.equal(kept.pid, undefined);
  const refused = (message) => ({ code: 'INVALID_ARGUMENT', message: `the session cannot be parked: ${message}` });
  assert.throws(() => pool.putBack(kept), refused('it was put back already; take one again'));
  const other = closed(t, new Pool(play.options, { size: 0 }));
  for (const odd of [again, {}, undefined, 7]) assert.throws(() => other.putBack(odd), refused('it is not of this pool'));
  assert.equal((await again.send('hi').result).result, 'done');
  again.close();
  await again.gone;
  assert.throws(() => pool.putBack(again), refused('it has ended'));
});

test('one file is no recording of several sessions', () => {
  assert.throws(() => new Pool({ record: '/nowhere/one.jsonl' }), /option record names one file/);
});

test('a dead session is not given, an idle one is replaced', async (t) => {
  const play = chat();
  const pool = closed(t, new Pool(play.options));
  await pool.fill();
  const [{ pid }] = started(play);
  process.kill(pid, 'SIGKILL');
  // Before the event loop can have told of it.
  for (const end = Date.now() + 10_000; isRunning(pid) && Date.now() < end; );
  const session = await pool.take();
  assert.notEqual(session.pid, pid);
  assert.equal(pool.stats.exited, 1);
  session.close();

  const idle = chat();
  const other = closed(t, new Pool(idle.options, { idleTimeoutMs: 100 }));
  await until(() => other.stats.idle > 0 && other.stats.warm === 1);
  assert.equal(other.stats.exited, 0);
});

test('a hung session is replaced', async (t) => {
  const play = lively({ closeGraceMs: 50, terminateGraceMs: 50 });
  const pool = closed(t, new Pool(play.options, { checkIntervalMs: 50, checkTimeoutMs: 500 }));
  await pool.fill();
  const [{ pid }] = started(play);
  await until(() => play.written('control_request').length > 3);
  process.kill(pid, 'SIGSTOP');
  await until(() => pool.stats.unhealthy > 0 && pool.stats.warm === 1);
  const session = await pool.take();
  assert.notEqual(session.pid, pid);
  await until(() => !isRunning(pid));
  session.close();
});

test('a conversation is kept open, makes room and is resumed', async (t) => {
  const play = chat();
  const pool = closed(t, new Pool(play.options, { size: 0, maxSessions: 1 }));
  const first = await pool.take();
  const { pid } = first;
  await all(first.send('hi'));
  pool.putBack(first);
  const again = await pool.take({ sessionId: SESSION });
  assert.equal(again.pid, pid);
  await assert.rejects(pool.take({ timeoutMs: 10 }), { code: 'POOL_FULL', message: /maxSessions/ });
  await assert.rejects(pool.take({ sessionId: SESSION, timeoutMs: 10 }), { code: 'SESSION_IN_USE' });
  pool.putBack(again);
  const waits = pool.take();
  const other = await waits;
  assert.ok(!isRunning(pid));
  // A call that waits is woken.
  const later = pool.take({ sessionId: SESSION });
  assert.equal(pool.stats.waiting, 1);
  other.close();
  const resumed = await later;
  assert.ok(started(play).at(-1).argv.includes(`--resume=${SESSION}`));
  await resumed.send('hi').result;
  const { evicted, resumed: count, hits } = pool.stats;
  assert.deepEqual([evicted, count, hits], [1, 1, 1]);
  resumed.close();
});

test('in the middle of a turn a session is not put back', async (t) => {
  const play = playing([{ ...prompted, timeout_ms: 60_000 }, { await_file: '/no/such/file', timeout_ms: 60_000 }]);
  const pool = closed(t, new Pool(play.options, { size: 0 }));
  const session = await pool.take();
  const { pid } = session;
  pool.putBack(session);
  const again = await pool.take();
  assert.equal(again.pid, pid, 'without a prompt it is as warm as before');
  again.send('hi');
  assert.throws(() => pool.putBack(again), { code: 'INVALID_ARGUMENT', message: /a turn of it is not over; read it to its result, or close the session/ });
  again.close();
  assert.throws(() => pool.putBack(again), { code: 'INVALID_ARGUMENT', message: /has ended/ });
});

test('a start that fails is told and not repeated at once', async (t) => {
  const play = playing([{ expect: { request: { subtype: 'initialize' } } }, { stderr: 'no luck\n' }, { exit: 3 }]);
  const pool = closed(t, new Pool(play.options));
  await assert.rejects(pool.take(), { code: 'EXITED_BEFORE_INITIALIZE', stderr: /no luck/ });
  assert.match(String(pool.lastFailure), /no luck/);
  await assert.rejects(pool.fill());
  assert.ok(pool.stats.started <= 4);
  const missing = closed(t, new Pool({ pathToClaudeCodeExecutable: '/no/such/claude' }, { size: 0 }));
  await assert.rejects(missing.take(), { code: 'CLI_NOT_FOUND' });
  for (const [name, value] of Object.entries({ resume: SESSION, continue: true, sessionId: SESSION })) {
    const message = new RegExp(`^option ${name} is for one session`);
    assert.throws(() => new Pool({ [name]: value }), { code: 'INVALID_OPTIONS', message });
  }
  assert.throws(() => new Pool({}, { sise: 1 }), { code: 'INVALID_OPTIONS' });
});

test('taking and giving back leaves nothing', async (t) => {
  const play = chat();
  const pool = new Pool(play.options, { size: 1, maxSessions: 3 });
  const cycle = async (n) => {
    const session = await pool.take(n % 3 === 0 ? {} : { sessionId: SESSION });
    await session.send('hi').result;
    if (n % 10 === 9) session.close();
    else pool.putBack(session);
  };
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const tasks = () => readdirSync('/proc/self/task').length;
  for (let n = 0; n < 20; n += 1) await cycle(n);
  const before = [descriptors(), tasks()];
  for (let n = 0; n < 200; n += 1) await cycle(n);
  // A session has a few descriptors, and there may be three.
  assert.ok(descriptors() <= before[0] + 30, `${descriptors()} descriptors, ${before[0]} before`);
  assert.ok(tasks() <= before[1] + 1);
  await pool.close();
  await until(() => started(play).every(({ pid }) => !isRunning(pid)));
});

test('numbers that are none are refused by name', async (t) => {
  const { options } = chat();
  const whole = 'has to be a whole number';
  for (const [name, value, told] of [
    ...[1e10, 1e20, 10_001, -1, 1.5, null, '5', true].map((value) => ['size', value, `${whole} from 0 to 10000, and it is`]),
    ['size', 2n, 'cannot be a BigInt'],
    ['size', () => 2, 'cannot be a function'],
    ...[0.5, -1, 1e20, '5'].map((value) => ['maxSessions', value, `${whole}, 1 at least, or null for no limit, and it is`]),
    ...['idleTimeoutMs', 'checkIntervalMs', 'takeTimeoutMs'].flatMap((name) => [-1, 1.5, 1e20, '5'].map((value) => [name, value, `${whole} of milliseconds, 0 or more, or null for no limit, and it is`])),
    ...[-1, 1.5, 1e20, null].map((value) => ['checkTimeoutMs', value, `${whole} of milliseconds, 0 or more, and it is`]),
    ...['size', 'maxSessions', 'idleTimeoutMs', 'checkIntervalMs', 'takeTimeoutMs', 'checkTimeoutMs'].flatMap((name) => [NaN, Infinity, -Infinity].map((value) => [name, value, 'must be a finite number'])),
  ]) {
    assert.throws(() => new Pool(options, { [name]: value }), (error) => error.code === 'INVALID_OPTIONS' && error.message.includes(`${name} ${told}`), `${name} ${value}`);
  }
  for (const given of [[7], ['x'], [options, 7], [options, 'x']]) assert.throws(() => new Pool(...given), { code: 'INVALID_OPTIONS', message: /have to be an object, not a/ });
  const pool = closed(t, new Pool(options, null));
  for (const timeoutMs of [NaN, Infinity, -1, 1e20, '5', true]) {
    assert.throws(() => pool.take({ timeoutMs }), { code: 'INVALID_ARGUMENT', message: /timeoutMs has to be a number of milliseconds/ }, String(timeoutMs));
  }
  assert.throws(() => pool.take({ sessionId: 5 }), { code: 'INVALID_ARGUMENT', message: 'sessionId has to be a string, not a number' });
  assert.throws(() => pool.take('x'), { code: 'INVALID_OPTIONS', message: /have to be an object, not a string/ });
  (await pool.take({ timeoutMs: 9_999.5 })).close();
});
