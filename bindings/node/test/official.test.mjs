// The same programs through the installed official package and through this one: what the CLI is started
// with, what is written to it, what the program sees.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import * as official from '@anthropic-ai/claude-agent-sdk';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import * as towline from '../index.mjs';
import { answered, ask, init, playing, program, prompted, result, text } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'towline-official-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const cli = join(folder, 'claude');
writeFileSync(cli, `#!/bin/sh\nenv -0 > "$DUMP"\nexec '${program('fake-cli')}' "$@"\n`);
chmodSync(cli, 0o755);
let runs = 0;

/** `--name=value` and `--name value` alike, and a private file by what is in it. */
function flags(argv) {
  const apart = argv.flatMap((one) => (/^--[a-z-]+=/.test(one) ? [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] : [one]));
  return apart.map((one) => (one.includes('/towline') ? '<file>' : one)).sort();
}

/** Runs a query; tells what the CLI was started with and was written, and what came of it. */
async function run(sdk, steps, more = {}, use) {
  const dump = join(folder, `${(runs += 1)}.env`);
  const { env = process.env, ...options } = typeof more === 'function' ? more(sdk) : more;
  const play = playing(steps, { ...options, pathToClaudeCodeExecutable: cli, env: { ...env, DUMP: dump } });
  const seen = [];
  try {
    const running = sdk.query({ prompt: 'hi', options: play.options });
    if (use) await use(running, seen);
    else for await (const message of running) seen.push(message.subtype ?? message.message?.content[0].text ?? message.type);
    seen.push('end');
  } catch (error) {
    seen.push(error.message);
  }
  const log = play.log();
  const variables = Object.fromEntries(readFileSync(dump, 'utf8').split('\0').filter(Boolean).map((one) => one.split(/=(.*)/s)));
  const ours = /^(TOWLINE_SESSION|DUMP|FAKE_CLI_.*|_|SHLVL|PWD|OLDPWD)$/;
  const written = log.filter((one) => one.ev === 'in').map((one) => one.line);
  return {
    seen,
    argv: flags(log.find((one) => one.ev === 'start').argv),
    env: Object.fromEntries(Object.entries(variables).filter(([name]) => !ours.test(name)).sort()),
    initialize: written.find((one) => one.request?.subtype === 'initialize')?.request,
    answers: written.filter((one) => one.type === 'control_response').map((one) => one.response),
    order: log.filter((one) => ['in', 'eof', 'fail'].includes(one.ev)).map((one) => one.line?.request?.subtype ?? one.line?.type ?? one.ev),
  };
}

const UUID = '11111111-2222-4333-8444-555555555555';
const hook = async () => ({});
/** Options by name, and what of them differs on purpose: flags that go by a private file instead. */
const OPTIONS = {
  'none at all': [{}],
  'an environment of its own': [{ env: { ...process.env, CLAUDE_CODE_ENTRYPOINT: 'mine', CLAUDECODE: '1', TRACEPARENT: 'tp', EMPTY: undefined } }],
  'simple ones': [
    {
      model: 'm', fallbackModel: 'f', maxTurns: 3, maxBudgetUsd: 1.5, systemPrompt: 'sp', allowedTools: ['A', 'B(c:*)'], disallowedTools: ['C'],
      tools: ['Bash', 'Read'], additionalDirectories: ['/x', 'y'], permissionMode: 'plan', continue: true, settingSources: ['user', 'local'],
      includePartialMessages: true, strictMcpConfig: true, maxThinkingTokens: 100, betas: ['b1'], extraArgs: { foo: null, bar: 'v' }, agent: 'ag',
      enableFileCheckpointing: true, settings: '/s.json', plugins: [{ type: 'local', path: '/p' }], persistSession: false, debug: true,
      promptSuggestions: true, agentProgressSummaries: true, includeHookEvents: true, forwardSubagentText: true,
    },
  ],
  'a preset, a resumed fork, agents': [
    {
      systemPrompt: { type: 'preset', preset: 'claude_code', append: 'ap', excludeDynamicSections: true }, tools: { type: 'preset', preset: 'claude_code' },
      resume: UUID, resumeSessionAt: 'u', forkSession: true, sessionId: UUID.replace('1', '2'), thinking: { type: 'enabled', budgetTokens: 5 },
      effort: 'high', debugFile: '/d', permissionPromptToolName: 'pp', title: 't', agents: { x: { description: 'd', prompt: 'p' } },
      taskBudget: { total: 5 }, toolConfig: { askUserQuestion: { previewFormat: 'html' } }, onElicitation: async () => ({ action: 'decline' }), skills: ['s'],
    },
  ],
  'bypassed permissions': [{ thinking: { type: 'adaptive', display: 'summarized' }, systemPrompt: ['a', 'b'], settingSources: [], allowDangerouslySkipPermissions: true, permissionMode: 'bypassPermissions' }],
  callbacks: [{ canUseTool: hook, managedSettings: { permissions: { deny: ['x'] } }, hooks: { PreToolUse: [{ matcher: 'B', timeout: 5, hooks: [hook, hook] }], Stop: [{ hooks: [hook] }] } }],
  'all skills': [{ skills: 'all', settingSources: ['project'] }],
  'secrets of MCP servers': [{ thinking: { type: 'disabled' }, tools: [], mcpServers: { a: { type: 'http', url: 'u', headers: { A: 'secret' } } } }, ['--mcp-config']],
  'servers of its own': [
    (sdk) => ({
      mcpServers: {
        s: sdk.createSdkMcpServer({
          name: 's', version: '2', instructions: 'ins', timeout: 5000, alwaysLoad: true,
          tools: [
            sdk.tool('t', 'd', { a: z.string().describe('A'), b: z.enum(['x', 'y']).optional() }, hook, { annotations: { readOnlyHint: true }, searchHint: 'h' }),
            sdk.tool('u', 'e', {}, hook),
          ],
        }),
        empty: sdk.createSdkMcpServer({ name: 'empty', tools: [] }),
      },
    }),
  ],
  'inline settings': [{ settings: { model: 'q' }, sandbox: { enabled: true } }, ['--settings']],
};

for (const [name, [options, inFiles = []]] of Object.entries(OPTIONS)) {
  test(`what the CLI is started with: ${name}`, async () => {
    const steps = [prompted, { emit: result() }];
    const [theirs, here] = [await run(official, steps, options), await run(towline, steps, options)];
    assert.deepEqual(here.seen, theirs.seen);
    assert.equal(theirs.env.CLAUDE_AGENT_SDK_VERSION, '0.3.332');
    delete theirs.env.CLAUDE_AGENT_SDK_VERSION;
    assert.match(here.env.CLAUDE_AGENT_SDK_VERSION, /^\d+\.\d+\.\d+$/);
    delete here.env.CLAUDE_AGENT_SDK_VERSION;
    assert.deepEqual(here.env, theirs.env);
    assert.deepEqual(here.initialize, theirs.initialize);
    const contents = theirs.argv.filter((one) => inFiles.length > 0 && one.startsWith('{'));
    assert.equal(contents.length, inFiles.length);
    for (const flag of inFiles) assert.ok(theirs.argv.includes(flag) && here.argv.includes('<file>'), flag);
    const bare = (argv) => argv.filter((one) => one !== '<file>' && !contents.includes(one));
    assert.deepEqual(bare(here.argv), bare(theirs.argv));
  });
}

const lines = (...values) => ({ emit_raw: values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('') });
const mayUse = ask('p', { subtype: 'can_use_tool', tool_name: 'Bash', input: { a: 1 }, tool_use_id: 't' });
const failed = (errors) => result({ subtype: 'error_during_execution', is_error: true, result: undefined, errors });
const whole = JSON.stringify(text('cut off'));
async function listed(running, seen, then) {
  for await (const message of running) {
    seen.push(message.type);
    if (message.type === 'assistant') await then(running, seen);
  }
}
const told = (promise, seen) => promise.then((value) => seen.push(value), (error) => seen.push(error.message));

/** Steps of the CLI, options, and what the program does. */
const BEHAVIOURS = {
  'several lines in one read, blank ones between': [[prompted, lines(text('a'), text('b\nc'), '', '   '), { emit: result() }]],
  'lines that end in CR LF': [[prompted, { emit_raw: `${whole}\r\n` }, { emit: result() }]],
  'lines that are no JSON': [[prompted, lines('[DEBUG] hello', '{"type": nope}', text('a')), { emit: result() }]],
  'a last line without its end': [[prompted, { emit: text('a') }, { emit_raw: JSON.stringify(result()) }, { exit: 0 }]],
  'a last line that is cut off': [[prompted, { emit: result() }, { emit_raw: whole.slice(0, 30) }, { exit: 0 }]],
  'a line of 2 MB': [[prompted, { emit_big: text('@FILL@'), bytes: 2_000_000 }, { emit: result() }], {}, async (running, seen) => {
    for await (const message of running) seen.push(JSON.stringify(message).length > 2_000_000);
  }],
  'two results, one after another': [[prompted, { emit: result() }, { emit: text('later') }, { emit: result() }, { expect_eof: true }]],
  'stdin stays open for hooks until the result': [
    [prompted, { expect_none: { type: 'x' }, for_ms: 200 }, ask('h', { subtype: 'hook_callback', callback_id: 'hook_0', input: {} }), answered('h', { subtype: 'success' }), { emit: result() }, { expect_eof: true }],
    { hooks: { Stop: [{ hooks: [hook] }] } },
  ],
  'an error result, and an exit with 1': [[prompted, { emit: failed(['too many']) }, { expect_eof: true }, { exit: 1 }]],
  'a result that says it is an error, and an exit with 1': [[prompted, { emit: result({ is_error: true, result: 'API Error' }) }, { expect_eof: true }, { exit: 1 }]],
  'an exit with 3': [[prompted, { emit: text('a') }, { stderr: 'boom\n' }, { exit: 3 }]],
  'an exit with 3 before it has opened': [[{ expect: { request: { subtype: 'initialize' } } }, { stderr: 'boom\n' }, { exit: 3 }]],
  'an exit with 0 and no result': [[prompted, { emit: text('a') }, { exit: 0 }]],
  'a callback that throws': [[prompted, mayUse, answered('p', { subtype: 'error', error: 'bad' }), { emit: result() }], { canUseTool: async () => { throw new Error('bad'); } }],
  'a callback that leaves the answer to others': [[prompted, mayUse, { emit: { type: 'control_cancel_request', request_id: 'p' } }, { emit: result() }], { canUseTool: async () => null }],
  'a callback that is not asynchronous': [[prompted, mayUse, answered('p', { subtype: 'success' }), { emit: result() }], { canUseTool: () => ({ behavior: 'deny', message: 'm' }) }],
  'cancellations and answers of nothing': [[prompted, { emit: { type: 'control_cancel_request', request_id: 'zz' } }, { emit: { type: 'control_response', response: { subtype: 'success', request_id: 'nope' } } }, { emit: result() }]],
  'a question after messages': [[prompted, lines(init(), text('a'), mayUse.emit), answered('p', { subtype: 'success' }), { emit: result() }], { canUseTool: async () => ({ behavior: 'deny', message: 'm' }) }],
  'an elicitation that nobody answers': [[prompted, ask('e', { subtype: 'elicitation', mcp_server_name: 's', message: 'm' }), answered('e', { subtype: 'success' }), { emit: result() }]],
  'a request that nobody knows': [[prompted, ask('u', { subtype: 'brand_new' }), answered('u', { subtype: 'error' }), { emit: result() }]],
  'a question that has waited for the session': [
    [
      { expect: { request: { subtype: 'initialize' } } },
      { emit: { type: 'control_response', response: { subtype: 'success', request_id: '$rid', response: { commands: [], models: [], agents: [], account: {} }, pending_permission_requests: [mayUse.emit] } } },
      answered('p', { subtype: 'success' }),
      { emit: result() },
    ],
    { canUseTool: async () => ({ behavior: 'deny', message: 'm' }) },
  ],
  'a request that is refused': [[prompted, { emit: text('a') }, { expect: { request: { subtype: 'set_model' } } }, { answer_error: 'no model' }, { emit: result() }], {}, (running, seen) => listed(running, seen, () => told(running.setModel('x'), seen))],
  'an interrupt': [[prompted, { emit: text('a') }, { expect: { request: { subtype: 'interrupt' } } }, { answer: {} }, { emit: result() }], {}, (running, seen) => listed(running, seen, () => told(running.interrupt(), seen))],
  'a request after the end': [[prompted, { emit: result() }], {}, async (running, seen) => {
    await listed(running, seen);
    await told(running.setModel('x'), seen);
    await told(running.next(), seen);
  }],
  'return, and what comes after': [[prompted, { emit: text('a') }, { expect_eof: true }], {}, async (running, seen) => {
    await running.next();
    await told(running.return(5), seen);
    await told(running.next(), seen);
  }],
  'close, and what comes after': [[prompted, { emit: text('a') }, { expect_eof: true }], {}, async (running, seen) => {
    await running.next();
    running.close();
    await told(running.next(), seen);
  }],
  'an error of the program in its loop': [[prompted, { emit: text('a') }, { expect_eof: true }], {}, async (running) => {
    for await (const _ of running) throw new Error('mine');
  }],
};

/** A tool that sets the servers while it runs, its own among them. */
function settingServers(instances, next) {
  let running;
  const handler = async () => {
    await running.setMcpServers(next(server));
    return { content: [{ type: 'text', text: 'done' }] };
  };
  let server;
  return [
    (sdk) => {
      const tools = [sdk.tool('slow', 'd', {}, handler)];
      server = sdk.createSdkMcpServer({ name: 's', tools });
      if (instances) {
        const instance = new McpServer({ name: 's', version: '1' });
        instance.registerTool('slow', {}, handler);
        server = { type: 'sdk', name: 's', instance };
      }
      return { mcpServers: { s: server } };
    },
    async (started, seen) => {
      running = started;
      await listed(running, seen, () => {});
    },
  ];
}
const rpc = (id, message) => ask(id, { subtype: 'mcp_message', server_name: 's', message: { jsonrpc: '2.0', ...message } });
const calling = [
  prompted,
  rpc('m1', { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } } }), answered('m1', {}),
  rpc('m2', { method: 'notifications/initialized' }), answered('m2', {}),
  rpc('c', { id: 1, method: 'tools/call', params: { name: 'slow', arguments: {} } }),
  { expect: { request: { subtype: 'mcp_set_servers' } } }, { answer: { added: [], removed: [], errors: {} } },
  answered('c', {}), { emit: result() },
];
for (const instances of [false, true]) {
  const kind = instances ? 'of the MCP SDK' : 'made here';
  const [options, use] = settingServers(instances, (s) => ({ s, other: { type: 'http', url: 'http://x' } }));
  BEHAVIOURS[`a server ${kind} that is set again while its tool runs`] = [calling, options, use];
}

/** The official package leaves the CLI waiting here. */
for (const instances of [false, true]) {
  test(`a server ${instances ? 'of the MCP SDK' : 'made here'} that is taken out while its tool runs`, async () => {
    const [options, use] = settingServers(instances, () => ({}));
    const here = await run(towline, calling, options, use);
    assert.ok(!here.order.includes('fail'), `${here.order}`);
    const answers = here.answers.filter((one) => one.request_id === 'c');
    assert.equal(answers.length, 1);
    const { mcp_response: told } = answers[0].response;
    if (instances) assert.equal(told.error.message, 'The MCP server is closed');
    else assert.equal(told.result.content[0].text, 'done');
  });
}

for (const [name, [steps, options, use]] of Object.entries(BEHAVIOURS)) {
  test(`what a program sees: ${name}`, async () => {
    const [theirs, here] = [await run(official, steps, options, use), await run(towline, steps, options, use)];
    assert.deepEqual(here.seen, theirs.seen);
    assert.deepEqual(here.answers, theirs.answers);
    assert.ok(!theirs.order.includes('fail') && !here.order.includes('fail'), `${theirs.order} / ${here.order}`);
  });
}
