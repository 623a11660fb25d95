// Very long messages: what comes is what JSON.parse makes of the line, and never are there two copies.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSession, query } from '../index.mjs';
import { all, init, playing, prompted, result, text } from './support.mjs';

const MIB = 1024 * 1024;

/** Numbers that are the same in each run. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PARTS = [
  'plain ', 'é', '€', '😀', '\\n', '\\\\', '\\"', '\\/', '\\u0041', '\\u00e9', '\\u20ac', '\\ud83d', '\\ude00',
  '\\ud83d\\ude00', '\\ud800', '\\\\ud83d', '\\u0000',
];

/** The body of a JSON string of so many characters at least, with parts of a random kind in each stretch. */
function body(random, length) {
  let written = '';
  while (written.length < length) {
    const kinds = Array.from({ length: 1 + random(4) }, () => PARTS[random(PARTS.length)]);
    let stretch = 'x'.repeat(random(8));
    for (let count = 0; count < 40; count += 1) stretch += kinds[random(kinds.length)];
    // Pieces end somewhere in these.
    written += stretch.repeat(1 + random(500));
  }
  return written;
}

const KEYS = ['a', 'text', '__proto__', 'constructor', 'é', '', '7', '\\u0061', '\\ud800', '\\ufffd', '\ufffd'];
const SHORT = ['null', 'true', '-0', '1e999', '123456789012345678901234567890', '0.1', '""', '"b"', '[]', '{}'];

/** JSON with long strings in it, keys that come again, and all else there is. */
function json(random, depth) {
  const kind = depth === 0 ? 9 : random(10);
  if (kind < 3) return `[${Array.from({ length: random(4) }, () => json(random, depth - 1)).join(' ,')}]`;
  if (kind < 7) {
    const member = () => ` "${KEYS[random(KEYS.length)]}" : ${json(random, depth - 1)}`;
    return `{${Array.from({ length: random(5) }, member).join(',')} }`;
  }
  return random(3) === 0 ? `"${body(random, MIB + random(MIB))}"` : SHORT[random(SHORT.length)];
}

/** A CLI that answers a prompt with what stands in LINES. */
const CLI = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id } = JSON.parse(line);
  if (type === 'user') process.stdout.write(readFileSync(process.env.LINES));
  if (type !== 'control_request') continue;
  const response = { subtype: 'success', request_id, response: {} };
  console.log(JSON.stringify({ type: 'control_response', response }));
}`;

test('a very long message is what JSON.parse makes of its line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'towline-long-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const random = numbers(7);
  const lines = [];
  for (let count = 0; count < 3; count += 1) {
    const long = `"${body(random, 3 * MIB)}"`;
    const values = [long, json(random, 4), json(random, 4), `["s",${long}]`];
    const members = values.map((value, index) => `"m${index}":${value}`);
    lines.push(`{"type":"assistant","session_id":"s",${members.join(',')},"twice":${long},"twice":${count}}`);
  }
  const LINES = join(folder, 'lines');
  writeFileSync(LINES, `${lines.join('\n')}\n${JSON.stringify(result())}\n`);
  writeFileSync(join(folder, 'cli.mjs'), CLI);
  const options = { pathToClaudeCodeExecutable: join(folder, 'cli.mjs'), env: { ...process.env, LINES } };
  const expected = lines.map((line) => JSON.stringify(JSON.parse(line)));
  const check = (messages) => {
    const got = messages.map((message) => JSON.stringify(message));
    assert.equal(got.length, lines.length + 1);
    expected.forEach((line, index) => assert.ok(got[index] === line, `line ${index}`));
  };
  check(await all(query({ prompt: 'go', options })));
  const session = openSession(options);
  check(await all(session.send('go')));
  await session.finish();
});

test('what nobody wants of a very long message is dropped', async () => {
  const big = { emit_big: text('@FILL@'), bytes: 9 * MIB };
  const play = playing([prompted, { emit: init() }, big, big, { emit: result() }]);
  const messages = query({ prompt: 'go', options: play.options });
  await messages.next();
  await messages.return();
  assert.deepEqual(play.failures(), []);
});

test('of a very long message there are never two copies', async () => {
  const bytes = 48 * MIB;
  const play = playing([prompted, { emit: init() }, { emit_big: text('@FILL@'), bytes }, { emit: result() }]);
  const program = `
    import { query } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)};
    let before, length;
    for await (const message of query({ prompt: 'go', options: JSON.parse(process.env.OPTIONS) })) {
      before ??= process.resourceUsage().maxRSS;
      if (message.type === 'assistant') length = message.message.content[0].text.length;
    }
    console.log(JSON.stringify({ length, kib: process.resourceUsage().maxRSS - before }));`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
    env: { ...process.env, OPTIONS: JSON.stringify(play.options) },
  });
  assert.equal(done.status, 0, done.stderr);
  const { length, kib } = JSON.parse(done.stdout);
  assert.equal(length, bytes);
  assert.ok(kib * 1024 < 1.5 * bytes, `${kib} KiB for a line of ${bytes / 1024}`);
});
