// The field cases of tests/vectors through this package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { program, root } from './support.mjs';

/** Cases that do not apply, and why. */
const EXCLUDED = ['C068:the official TypeScript package passes CLAUDECODE on, unlike the Python one'];

test('the field cases', { timeout: 600_000 }, () => {
  const excluded = EXCLUDED.flatMap((one) => ['--exclude', one]);
  const driver = join(root, 'tests/drivers/node/driver.mjs');
  const done = spawnSync(program('run-cases'), [...excluded, '--', process.execPath, driver], {
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`);
  assert.match(done.stdout, /8\d cases ran: 8\d passed, 0 failed/);
});
