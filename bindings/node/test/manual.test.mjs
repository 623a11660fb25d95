// Every program of the manual and of the package's README, type-checked and run.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { application } from './application.mjs';
import { packageFolder, playing, prompted, result, root } from './support.mjs';

const { app, environment } = application();
const extensions = { js: 'mjs', cjs: 'cjs' };

/** The fenced programs of a file. */
function programs(file) {
  const found = readFileSync(join(root, file), 'utf8').matchAll(/^```(js|cjs)\n(.*?)^```$/gms);
  return [...found].map(([, kind, source], index) => ({
    name: `${file.replaceAll(/\W/g, '-')}-${index + 1}.${extensions[kind]}`,
    source,
  }));
}

const all = ['docs/node.md', 'bindings/node/README.md'].flatMap(programs);

/** What the CLI does for a program: it claims nothing by itself, and answers two prompts. */
function stepsFor(source) {
  const claim = [{ expect: { request: { subtype: 'claim_session' } } }, { answer: { cwd: '/', session_id: 's' } }];
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } };
  const event = { type: 'stream_event', session_id: 's', parent_tool_use_id: null, event: delta };
  const answer = [prompted, { emit: event }, { emit: result() }];
  const prompts = source.includes('Shorter, please') || source.includes('And again') ? 2 : 1;
  const settings = [{ expect: { request: { subtype: 'get_settings' } } }, { answer: {} }];
  return [
    ...(source.includes('prewarm') ? claim : []),
    ...Array(prompts).fill(answer).flat(),
    ...(source.includes('get_settings') ? settings : []),
  ];
}

test('the manual has programs', () => {
  assert.ok(all.length >= 8, `${all.length}`);
});

for (const { name, source } of all) writeFileSync(join(app, name), source);

test('its programs are right to the compiler', { timeout: 120_000 }, () => {
  const tsc = join(packageFolder, 'node_modules/typescript/bin/tsc');
  const flags = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--noImplicitAny', 'false', '--skipLibCheck', '--target', 'es2022', '--module', 'node16', '--types', 'node'];
  writeFileSync(join(app, 'wrong.mjs'), "import { query } from 'towline';\nquery({ prompt: 1 });\n");
  const { stdout } = spawnSync(process.execPath, [tsc, ...flags, '--pretty', 'false', 'wrong.mjs', ...all.map(({ name }) => name)], { cwd: app, encoding: 'utf8' });
  assert.match(stdout, /^wrong\.mjs\(2,\d+\): error TS2322: [^\n]*\n(?: [^\n]*\n)*$/);
});

for (const { name, source } of all) {
  test(`${name} runs`, async () => {
    const play = playing(stepsFor(source));
    const child = spawn(process.execPath, [name], { cwd: app, env: environment(play), timeout: 30_000 });
    const texts = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) child[stream].on('data', (chunk) => (texts[stream] += chunk));
    const code = await new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
    assert.equal(code, 0, texts.stderr);
    assert.notEqual(texts.stdout + texts.stderr, '');
    assert.deepEqual(play.failures(), []);
  });
}
