// The programs of `examples/node`, as a user runs them; `claude` in the PATH is the fake CLI.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { application } from './application.mjs';
import { HINT, Page, findChromium } from './browser/chromium.mjs';
import { answered, ask, init, playing, prompted, result, text, until } from './support.mjs';

const { app, environment } = application();

/** Runs a program of the application while the fake CLI plays the steps. */
function start(args, steps) {
  const play = playing(steps);
  const env = { ...environment(play), PORT: '0' };
  const child = spawn(process.execPath, args, { cwd: app, env });
  const running = { child, play, stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) child[stream].on('data', (chunk) => (running[stream] += chunk));
  running.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  after(() => child.kill('SIGKILL'));
  return running;
}

/** The program ended well, and the CLI got what it expected. */
async function ended(running) {
  assert.equal(await running.ended, 0, running.stderr);
  assert.deepEqual(running.play.failures(), []);
}

const delta = (words) => ({
  type: 'stream_event', session_id: 's', parent_tool_use_id: null, uuid: '00000000-0000-4000-8000-000000000004',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
});
const toolUse = (id, name, input) => ({ ...text(''), message: { ...text('').message, content: [{ type: 'tool_use', id, name, input }] } });
const toolResult = (id, content) => ({
  type: 'user', session_id: 's', parent_tool_use_id: null, uuid: '00000000-0000-4000-8000-000000000005',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
});
const said = (content) => ({ expect: { type: 'user', message: { content } } });
const mayUse = (id, name, input) => ask(id, { subtype: 'can_use_tool', tool_name: name, input, tool_use_id: `t-${id}` });

test('quickstart', async () => {
  const running = start(['quickstart.mjs', 'Tell me'], [said([{ type: 'text', text: 'Tell me' }]), { emit: init() }, { emit: text('hello') }, { emit: result() }]);
  await ended(running);
  assert.deepEqual([running.stdout, running.stderr], ['hello\n', '1 turns, $0.0000\n']);
});

test('chat', async () => {
  const steps = [said('one'), { emit: delta('first ') }, { emit: delta('answer') }, { emit: result() }, said('two')];
  const failed = result({ subtype: 'error_during_execution', is_error: true });
  const running = start(['chat.mjs'], [...steps, { emit: failed }, { expect_eof: true, timeout_ms: 20_000 }]);
  running.child.stdin.write('one\n');
  await until(() => running.stdout.includes('first answer\n'));
  running.child.stdin.write('two\n');
  await until(() => running.stdout.includes('[error_during_execution]'));
  running.child.stdin.end();
  await ended(running);
});

test('permission', async () => {
  const input = { command: 'touch hello.txt' };
  const running = start(['permission.mjs'], [
    prompted,
    mayUse('p1', 'Bash', input),
    answered('p1', { response: { behavior: 'allow', updatedInput: input } }),
    mayUse('p2', 'Bash', input),
    answered('p2', { response: { behavior: 'deny', message: 'The user said no.' } }),
    { emit: result() },
  ]);
  await until(() => running.stdout.includes('[y/N]'));
  running.child.stdin.write('y\n');
  await until(() => running.stdout.split('[y/N]').length === 3);
  running.child.stdin.write('n\n');
  await ended(running);
  assert.match(running.stdout, /done\n$/);
});

test('hooks', async () => {
  const call = (id, callback, input) => ask(id, { subtype: 'hook_callback', callback_id: callback, input, tool_use_id: 't' });
  const before = (command) => ({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } });
  const running = start(['hooks.mjs'], [
    prompted,
    call('h1', 'hook_0', before('rm notes.txt')),
    answered('h1', { response: { hookSpecificOutput: { permissionDecision: 'deny' } } }),
    call('h2', 'hook_0', before('ls')),
    answered('h2', { response: {} }),
    call('h3', 'hook_1', { hook_event_name: 'PostToolUse', tool_name: 'Bash', duration_ms: 7 }),
    answered('h3', { response: {} }),
    { emit: result() },
  ]);
  await ended(running);
  assert.deepEqual([running.stdout, running.stderr], ['done\n', 'Bash took 7 ms\n']);
});

test('tools', async () => {
  const rpc = (id, message) => ask(id, { subtype: 'mcp_message', server_name: 'shop', message: { jsonrpc: '2.0', ...message } });
  const running = start(['tools.mjs'], [
    rpc('m1', { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } }),
    answered('m1', { response: { mcp_response: { result: { serverInfo: { name: 'shop' } } } } }),
    rpc('m2', { method: 'notifications/initialized' }),
    answered('m2', { subtype: 'success' }),
    rpc('m3', { id: 2, method: 'tools/call', params: { name: 'in_stock', arguments: { fruit: 'apples', atLeast: 10 } } }),
    answered('m3', { response: { mcp_response: { result: { content: [{ type: 'text', text: '12 apples, enough' }] } } } }),
    prompted,
    { emit: result() },
  ]);
  await ended(running);
  assert.equal(running.stdout, 'done\n');
});

test('structured', async () => {
  const answer = { language: 'Pascal', year: 1970 };
  const running = start(['structured.mjs'], [
    { expect: { request: { subtype: 'initialize', jsonSchema: { type: 'object', required: ['language', 'year'] } } } },
    { answer: {} },
    prompted,
    { emit: result({ structured_output: answer }) },
  ]);
  await ended(running);
  assert.match(running.stdout, /language: 'Pascal', year: 1970/);
});

const command = { command: `grep -rn "a very long pattern that goes on" ${'some/very/long/folder/'.repeat(8)}` };
const conversation = [
  said('How many lines?'),
  { emit: init() },
  { emit: delta('I will ') },
  { emit: delta('count them.') },
  { emit: toolUse('t-p1', 'Bash', command) },
  mayUse('p1', 'Bash', command),
  answered('p1', { response: { behavior: 'allow', updatedInput: command } }),
  { emit: toolResult('t-p1', '42 lines\n') },
  { emit: delta('There are 42. ') },
  { emit: delta(`Words: ${'and so on '.repeat(30)}${'x'.repeat(300)}`) },
  { emit: result({ num_turns: 2, total_cost_usd: 0.0123, duration_ms: 1500 }) },
  said('Remove them'),
  mayUse('p2', 'Bash', { command: 'rm lines' }),
  answered('p2', { response: { behavior: 'deny', message: 'The user said no.' } }),
  mayUse('p3', 'Write', { file_path: 'f' }),
  { emit: { type: 'control_cancel_request', request_id: 'p3' } },
  { emit: result({ subtype: 'error_during_execution', is_error: true, errors: ['Not allowed'] }) },
  said('Again'),
  { emit: delta('Working') },
  { expect: { request: { subtype: 'interrupt' } } },
  { answer: {} },
  { emit: result() },
  { expect_eof: true, timeout_ms: 60_000 },
];

test('server: the page in a browser', { timeout: 120_000 }, async (t) => {
  const chromium = findChromium();
  if (!chromium) return t.skip(HINT);
  const running = start(['server.mjs'], conversation);
  await until(() => running.stdout.endsWith('/\n'));
  const address = running.stdout.trim();
  const page = await Page.open(chromium, address);
  t.after(() => page.close());
  const keep = async (name) => {
    if (process.env.SCREENSHOTS) writeFileSync(join(process.env.SCREENSHOTS, `${name}.png`), await page.screenshot());
  };
  const say = async (words) => {
    await page.click('#prompt');
    await page.type(words);
    await page.click('#send');
  };
  const shown = (selector) => page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.innerText)`);
  await page.resize(1100, 800);

  await say('How many lines?');
  await page.until('document.querySelector(".question")');
  assert.deepEqual(await shown('.you'), ['How many lines?']);
  assert.deepEqual(await shown('.answer'), ['I will count them.']);
  assert.match((await shown('.tool'))[0], /^Bash\n.*a very long pattern/s);
  assert.match((await shown('.question'))[0], /^Allow Bash\?\n.*Allow\s+Deny$/s);
  await keep('question-wide');
  await page.resize(360, 640);
  await keep('question-narrow');
  await page.click('.question .allow');
  await page.until('document.querySelector("[data-done=success]") && !document.querySelector(".question")');
  assert.match((await shown('.tool'))[0], /42 lines/);
  assert.match((await shown('.answer'))[1], /^There are 42\. Words: and so on/);
  assert.deepEqual(await shown('.meta'), ['2 turns · $0.0123 · 1.5 s']);
  for (const [width, height] of [[360, 640], [1100, 800]]) {
    await page.resize(width, height);
    await keep(`result-${width}`);
    const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    assert.equal(wide, false, `nothing runs out of a window of ${width} pixels`);
    const order = await page.evaluate('[...document.querySelector("#log").children].map((one) => one.className.split(" ")[0]).join()');
    assert.equal(order, 'you,answer,tool,answer,meta');
  }

  await say('Remove them');
  await page.until('document.querySelector(".question")');
  await page.click('.question .deny');
  await page.until('document.querySelector("[data-done=error_during_execution]") && !document.querySelector(".question")');
  assert.match((await shown('.meta')).at(-1), /^Not allowed/);
  await say('Again');
  await page.until('document.querySelector("#log").lastElementChild.textContent === "Working"');
  await page.click('#stop');
  await page.until('document.querySelectorAll("[data-done]").length === 3');
  await keep('end-wide');
  assert.deepEqual(page.complaints, []);

  // Another page of the same browser may not speak for the user.
  const say403 = await fetch(`${address}say?session=x`, { method: 'POST', body: 'hi', headers: { origin: 'http://elsewhere.example' } });
  assert.equal(say403.status, 403);
  running.child.kill('SIGINT');
  await ended(running);
});
