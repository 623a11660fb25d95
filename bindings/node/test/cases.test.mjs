// The field cases of tests/vectors through this package, and their neighbours: a part of them, or with
// TOWLINE_NEIGHBOURS=all every one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { program, root } from './support.mjs';

/** Cases that do not apply, and why. */
const EXCLUDED = ['C068:the official TypeScript package passes CLAUDECODE on, unlike the Python one'];
const CASES = EXCLUDED.flatMap((one) => ['--exclude', one]);
const { TOWLINE_NEIGHBOURS: chosen } = process.env;

function pass(options, said) {
  const driver = join(root, 'tests/drivers/node/driver.mjs');
  const done = spawnSync(program('run-cases'), [...options, '--', process.execPath, driver], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const wrong = done.stdout.replace(/^ok .*\n/gm, '');
  assert.equal(done.status, 0, `${wrong}\n${done.stderr}`);
  assert.match(done.stdout, said);
}

const LONG = { timeout: 3_600_000 };
const ALL = { ...LONG, skip: chosen ? 'neighbours alone are wanted' : false };

test('the field cases', ALL, () => {
  pass(CASES, /8\d cases ran: 8\d passed, 0 failed/);
});

test('the field cases with their output written in other ways', LONG, () => {
  const ways = chosen ? ['--neighbour', chosen] : ['--neighbour', 'mixed', '--slice', '3/3'];
  pass([...CASES, ...ways], /2\d cases ran: 2\d passed, 0 failed|7\d cases ran: 7\d passed, 0 failed/);
});

const MOMENTS = { ...LONG, skip: chosen && chosen !== 'all' ? 'others are wanted' : false };

test('what a CLI can send at every moment of a session', MOMENTS, () => {
  const part = chosen ? [] : ['--slice', '2/12'];
  pass(['--moments', 'every', ...part], /\d\d cases ran: \d+ passed, 0 failed/);
});
