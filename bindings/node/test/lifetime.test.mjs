// How long things live: processes, threads, descriptors, memory.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { query } from '../index.mjs';
import { all, init, isRunning, packageFolder, playing, prompted, result, until } from './support.mjs';

const run = promisify(execFile);
const entry = JSON.stringify(join(packageFolder, 'index.mjs'));

/** Runs a program with these options at hand; resolves with what it printed. */
async function program(options, body, limit = 20_000) {
  const source = `import { openSession, query, startup } from ${entry};\nconst options = ${JSON.stringify(options)};\n${body}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', source], { timeout: limit });
  return stdout.trim();
}

const hangs = [prompted, { emit: init() }, { on_eof: 'ignore' }, { ignore_signals: ['SIGTERM'] }, { sleep_ms: 60_000 }];

test('an idle session keeps no program alive', async () => {
  const { options } = playing([{ on_eof: 'exit' }]);
  const pid = await program(
    options,
    'const warm = await startup({ options }); const q = warm.query((async function* () { await new Promise(() => {}); })()); console.log(q.pid); q.next();',
  );
  await until(() => !isRunning(Number(pid)));
});

test('a running turn does', async () => {
  const { options } = playing([prompted, { emit: init() }, { sleep_ms: 1_000 }, { emit: result() }]);
  const seen = await program(
    options,
    'query({ prompt: "hi", options }).next().then(async () => {}); for await (const m of query({ prompt: "hi", options })) console.log(m.type);',
  );
  assert.equal(seen, 'system\nresult');
});

test('a CLI that dies in a turn is heard of, even if it takes its time', async () => {
  const { options } = playing([prompted, { emit: init() }, { close_stdout: true }, { sleep_ms: 500 }, { exit: 3 }]);
  const ask = 'for await (const _ of query({ prompt: "hi", options }));';
  const turn = 'await openSession(options).send("hi").result;';
  for (const wait of [ask, turn]) {
    const seen = await program(options, `try { ${wait} } catch (error) { console.log(error.code, error.exitCode); }`);
    assert.equal(seen, 'PROCESS_FAILED 3');
  }
});

test('process.exit in the middle of a turn leaves no CLI behind, even one that ignores everything', async () => {
  const { options } = playing(hangs);
  const pid = await program(
    options,
    'const q = query({ prompt: "hi", options }); await q.next(); console.log(q.pid); process.exit(0);',
  );
  await until(() => !isRunning(Number(pid)));
});

test('a program that is killed leaves no CLI behind', async () => {
  const { options } = playing(hangs);
  const body = 'const q = query({ prompt: "hi", options }); await q.next(); console.log(q.pid); process.kill(process.pid, "SIGKILL");';
  const failed = await program(options, body).catch((error) => error);
  assert.equal(failed.signal, 'SIGKILL');
  await until(() => !isRunning(Number(failed.stdout)));
});

test('two workers with sessions, one of them terminated in the middle of a turn', async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { query } = require(${JSON.stringify(join(packageFolder, 'dist/index.js'))});
    (async () => {
      const running = query({ prompt: 'hi', options: workerData });
      for await (const message of running) parentPort.postMessage([message.type, running.pid]);
      parentPort.postMessage(['end']);
    })();`;
  const work = (steps, told) => {
    const worker = new Worker(source, { eval: true, workerData: playing(steps).options });
    worker.on('message', told);
    return worker;
  };
  const whole = [];
  let stuck;
  const first = work([prompted, { emit: init() }, { sleep_ms: 500 }, { emit: result() }], (told) => whole.push(told[0]));
  const second = work(hangs, (told) => (stuck = told[1]));
  await until(() => stuck);
  await second.terminate();
  await until(() => !isRunning(stuck), 15_000);
  await until(() => whole.includes('end'));
  assert.deepEqual(whole, ['system', 'result', 'end']);
  await first.terminate();
  const here = await all(query({ prompt: 'hi', options: playing([prompted, { emit: result() }]).options }));
  assert.equal(here.length, 1);
});

test('a session that nobody holds any more is ended', async () => {
  const { options } = playing([{ on_eof: 'ignore' }, { ignore_signals: ['SIGTERM'] }, { sleep_ms: 60_000 }]);
  const seen = await program(
    { ...options, closeGraceMs: 200, terminateGraceMs: 200 },
    `import { setFlagsFromString } from 'node:v8';
     import { existsSync, readFileSync } from 'node:fs';
     setFlagsFromString('--expose-gc');
     const gc = (await import('node:vm')).runInNewContext('gc');
     const pid = await (async () => { const q = query({ options, prompt: (async function* () { await new Promise(() => {}); })() }); await q.initializationResult(); return q.pid; })();
     const running = () => { try { return readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1][0] !== 'Z'; } catch { return false; } };
     for (let i = 0; i < 100 && running(); i += 1) { gc(); await new Promise((r) => setTimeout(r, 50)); }
     console.log(running());`,
  );
  assert.equal(seen, 'false');
});

const descriptors = () => readdirSync('/proc/self/fd').length;
const threads = () => readdirSync('/proc/self/task').length;

test('1,000 sessions opened and closed: memory, descriptors and threads stay flat', { timeout: 300_000 }, async () => {
  const { options } = playing([prompted, { emit: result() }]);
  const quiet = { ...options, env: { ...options.env, FAKE_CLI_LOG: undefined } };
  const round = async (count) => {
    for (let done = 0; done < count; done += 20) {
      await Promise.all(Array.from({ length: 20 }, () => all(query({ prompt: 'hi', options: quiet }))));
    }
  };
  await round(200);
  const before = [descriptors(), threads(), process.memoryUsage().rss];
  await round(800);
  // A session that is over keeps its descriptors until its object is collected.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  await until(() => (gc(), descriptors() <= before[0] + 2));
  assert.ok(threads() <= before[1], `${threads()} threads, ${before[1]} before`);
  const grown = process.memoryUsage().rss - before[2];
  assert.ok(grown < 40 * 1024 * 1024, `${grown} bytes more`);
});

test('workers that come and go leave no descriptors and no CLIs', { timeout: 60_000 }, async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { openSession } = require(${JSON.stringify(join(packageFolder, 'dist/index.js'))});
    const session = openSession(workerData);
    session.initializationResult().then(() => parentPort.postMessage(session.pid));
    setInterval(() => {}, 1_000);`;
  const { options } = playing([{ on_eof: 'exit' }]);
  const visit = async () => {
    const worker = new Worker(source, { eval: true, workerData: options });
    const pid = await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();
    await until(() => !isRunning(pid));
  };
  await visit();
  const before = descriptors();
  for (let n = 0; n < 8; n += 1) await visit();
  await until(() => descriptors() <= before);
});

test('one native thread serves all sessions', async () => {
  const steps = [prompted, { expect_eof: true, timeout_ms: 20_000 }];
  const running = Array.from({ length: 10 }, () => query({ prompt: 'hi', options: playing(steps).options }));
  const names = readdirSync('/proc/self/task').map((id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim());
  assert.equal(names.filter((name) => name === 'towline').length, 1);
  await Promise.all(running.map((one) => one.return()));
});
