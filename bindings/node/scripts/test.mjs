// Builds the programs that the tests need and runs the tests; more arguments go to `node --test`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HINT, findChromium } from '../test/browser/chromium.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (command, args) => {
  const done = spawnSync(command, args, { cwd: here, stdio: 'inherit' });
  if (done.status !== 0) process.exit(done.status ?? 1);
};
run(process.execPath, [join(here, 'scripts/build.mjs')]);
run(process.env.CARGO ?? 'cargo', ['build', '--locked', '-p', 'towline-testkit', '--bins']);
const tests = readdirSync(join(here, 'test')).filter((name) => name.endsWith('.test.mjs'));
const named = process.argv.slice(2);
const files = tests.map((name) => join('test', name));
run(process.execPath, ['--test', ...(named.length > 0 ? named : files)]);
if (!findChromium()) console.log(`SKIPPED: the web page in a browser (${HINT})`);
