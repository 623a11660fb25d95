import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { z } from 'zod/v4';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { AbortError, createSdkMcpServer, query, startup, tool, TowlineError } from '../index.mjs';
import { all, answered, ask, init, isRunning, playing, program, prompted, result, text, until } from './support.mjs';

const prompt = (content) => ({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });

test('a prompt of text: messages in order, stdin open until the result', async () => {
  const play = playing([
    prompted,
    { emit: init() },
    { emit: text('hello') },
    { expect_none: { type: 'nothing' }, for_ms: 100 },
    { emit: result() },
    { expect_eof: true },
  ]);
  const messages = await all(query({ prompt: 'hi', options: play.options }));
  assert.deepEqual(messages.map((message) => message.type), ['system', 'assistant', 'result']);
  assert.deepEqual(play.failures(), []);
});

test('a prompt of text has the form that the official package gives it', async () => {
  const message = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
  const play = playing([{ expect: { type: 'user', session_id: '', message, parent_tool_use_id: null } }, { emit: result() }]);
  await all(query({ prompt: 'hi', options: play.options }));
  assert.deepEqual(play.failures(), []);
});

test('what came before a question is read before it is asked', async () => {
  const lines = [init(), text('one'), text('two'), ask('p', { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, tool_use_id: 't' }).emit];
  const whole = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  for (const steps of [[{ emit_raw: whole }], lines.map((emit) => ({ emit }))]) {
    const play = playing([prompted, ...steps, answered('p', { subtype: 'success' }), { emit: result() }]);
    const seen = [];
    const canUseTool = async () => {
      seen.push('asked');
      return { behavior: 'allow', updatedInput: {} };
    };
    for await (const message of query({ prompt: 'hi', options: { ...play.options, canUseTool } })) seen.push(message.type);
    assert.deepEqual(seen, ['system', 'assistant', 'assistant', 'asked', 'result']);
  }
});

test('prompts of an iterable, one after another', async () => {
  const play = playing([
    { expect: { type: 'user', message: { content: 'one' } } },
    { emit: result({ result: '1' }) },
    { expect: { type: 'user', message: { content: 'two' } } },
    { emit: result({ result: '2' }) },
  ]);
  let answer = () => {};
  async function* prompts() {
    const first = new Promise((resolve) => (answer = resolve));
    yield prompt('one');
    await first;
    yield prompt('two');
  }
  const seen = [];
  for await (const message of query({ prompt: prompts(), options: play.options })) {
    seen.push(message.result);
    answer();
  }
  assert.deepEqual(seen, ['1', '2']);
});

test('what the CLI sends because of the library is not shown, what is unknown is', async () => {
  const play = playing([
    prompted,
    { emit: { type: 'keep_alive' } },
    { emit: { type: 'system', subtype: 'session_state_changed', state: 'idle', sdk_host_only: true } },
    { emit: { type: 'transcript_mirror', filePath: '/x', entries: [] } },
    { emit: { type: 'command_lifecycle', command_uuid: 'not-the-applications', state: 'queued' } },
    { emit_raw: 'no JSON\n' },
    { emit: { type: 'brand_new', a: 1 } },
    { emit: result() },
  ]);
  const odd = [];
  const options = { ...play.options, onDiagnostic: (words) => odd.push(words) };
  const messages = await all(query({ prompt: 'hi', options }));
  assert.deepEqual(messages.map((message) => message.type), ['brand_new', 'result']);
  assert.equal(odd.length, 1);
  assert.match(odd[0], /no JSON/);
});

test('an error result comes first, then the messages reject with its text', async () => {
  const failed = result({ subtype: 'error_during_execution', is_error: true, result: undefined, errors: ['boom'] });
  const play = playing([prompted, { emit: failed }, { expect_eof: true }, { exit: 1 }]);
  const seen = [];
  await assert.rejects(
    async () => {
      for await (const message of query({ prompt: 'hi', options: play.options })) seen.push(message.subtype);
    },
    (error) => {
      assert.ok(error instanceof TowlineError);
      assert.equal(error.code, 'ERROR_RESULT');
      assert.equal(error.message, 'Claude Code returned an error result: boom');
      assert.equal(error.exitCode, 1);
      return true;
    },
  );
  assert.deepEqual(seen, ['error_during_execution']);
});

test('a CLI that fails: exit status and the end of its stderr', async () => {
  const play = playing([prompted, { stderr: 'oh no\n' }, { exit: 3 }]);
  await assert.rejects(all(query({ prompt: 'hi', options: play.options })), {
    code: 'PROCESS_FAILED',
    exitCode: 3,
    message: 'Claude Code process exited with code 3. stderr: oh no',
  });
});

test('a CLI that a signal ended', async () => {
  const play = playing([prompted, { emit: init() }, { sleep_ms: 60_000 }]);
  const running = query({ prompt: 'hi', options: play.options });
  await running.next();
  process.kill(running.pid, 'SIGKILL');
  const message = 'Claude Code process terminated by signal SIGKILL';
  await assert.rejects(running.next(), { code: 'PROCESS_FAILED', exitCode: null, signal: 'SIGKILL', message });
});

test('a CLI that is not there, a folder that is not there, options that contradict each other', async () => {
  const missing = query({ prompt: 'hi', options: { pathToClaudeCodeExecutable: '/no/such/claude' } });
  await assert.rejects(missing.next(), { code: 'CLI_NOT_FOUND', message: /\/no\/such\/claude.*option pathToClaudeCodeExecutable/ });
  assert.deepEqual(await missing.next(), { done: true, value: undefined });
  const { options } = playing([]);
  const nowhere = query({ prompt: 'hi', options: { ...options, cwd: '/no/such/folder' } });
  await assert.rejects(nowhere.next(), { code: 'CWD_MISSING', message: /\/no\/such\/folder/ });
  assert.throws(() => query({ prompt: 'hi', options: { ...options, model: 'a', fallbackModel: 'a' } }), {
    code: 'INVALID_OPTIONS',
  });
});

test('a turn that reaches a limit ends the query, which says so', async () => {
  const play = playing([prompted, { emit: init() }, { on_eof: 'ignore' }]);
  const running = query({ prompt: 'hi', options: { ...play.options, turnTimeoutMs: 200, closeGraceMs: 100 } });
  await assert.rejects(all(running), { code: 'TURN_TIMED_OUT', message: /turnTimeoutMs/ });
  await until(() => !isRunning(running.pid));
});

test('abort: the messages reject, the process is gone', async () => {
  const play = playing([prompted, { emit: init() }, { expect_eof: true, timeout_ms: 20_000 }]);
  const abortController = new AbortController();
  const running = query({ prompt: 'hi', options: { ...play.options, abortController } });
  await assert.rejects(
    async () => {
      for await (const _ of running) abortController.abort();
    },
    (error) => error instanceof AbortError && error.message === 'Operation aborted',
  );
  await until(() => !isRunning(running.pid));
  assert.throws(() => query({ prompt: 'hi', options: { ...play.options, abortController } }), AbortError);
});

test('break, return and throw end the process', async () => {
  for (const leave of ['break', 'return', 'throw']) {
    const play = playing([prompted, { emit: init() }, { expect_eof: true, timeout_ms: 20_000 }]);
    const running = query({ prompt: 'hi', options: play.options });
    if (leave === 'break') {
      for await (const _ of running) break;
    } else {
      await running.next();
      const left = leave === 'return' ? running.return(5) : running.throw(new Error('mine'));
      if (leave === 'throw') await assert.rejects(left, /mine/);
      else assert.deepEqual(await left, { done: true, value: 5 });
    }
    assert.equal(isRunning(running.pid), false, leave);
    assert.deepEqual(await running.next(), { done: true, value: undefined });
    await assert.rejects(running.mcpServerStatus(), { code: 'SESSION_CLOSED' });
  }
});

test('permissions: what is asked, what is answered, a withdrawn question', async () => {
  const play = playing([
    prompted,
    ask('p1', {
      subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 't1',
      permission_suggestions: [], blocked_path: '/b', decision_reason: 'r', agent_id: 'a',
      matched_ask_rule: { source: 's', tool_name: 'T', rule_content: 'c' },
    }),
    answered('p1', { subtype: 'success', response: { behavior: 'allow', updatedInput: { command: 'ls' }, toolUseID: 't1' } }),
    ask('p2', { subtype: 'can_use_tool', tool_name: 'Throws', input: {}, tool_use_id: 't2' }),
    answered('p2', { subtype: 'error', error: 'refused by mistake' }),
    ask('p3', { subtype: 'can_use_tool', tool_name: 'Waits', input: {}, tool_use_id: 't3' }),
    { sleep_ms: 100 },
    { emit: { type: 'control_cancel_request', request_id: 'p3' } },
    { expect_none: { type: 'control_response', response: { request_id: 'p3' } }, for_ms: 200 },
    { emit: result() },
  ]);
  const seen = [];
  let withdrawn = false;
  const canUseTool = async (name, input, options) => {
    seen.push([name, options.blockedPath, options.agentID, options.requestId, options.matchedAskRule?.toolName]);
    const { signal } = options;
    assert.ok(signal instanceof AbortSignal);
    assert.equal({ ...options }.signal, signal, 'a copy has it too');
    assert.ok(Object.keys(options).includes('signal'));
    if (name === 'Throws') throw new Error('refused by mistake');
    if (name === 'Waits') {
      await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
      withdrawn = true;
    }
    return { behavior: 'allow', updatedInput: input };
  };
  await all(query({ prompt: 'hi', options: { ...play.options, canUseTool } }));
  assert.deepEqual(seen[0], ['Bash', '/b', 'a', 'p1', 'T']);
  assert.ok(withdrawn);
  assert.deepEqual(play.failures(), []);
});

test('hooks: registered with their ids, called, failing', async () => {
  const play = playing([
    {
      expect: {
        type: 'control_request',
        request: {
          subtype: 'initialize',
          hooks: {
            PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['hook_0', 'hook_1'], timeout: 5, onFailure: 'block' }],
            Stop: [{ hookCallbackIds: ['hook_2'] }],
          },
        },
      },
    },
    { answer: { hooks_applied: true } },
    prompted,
    ask('h1', { subtype: 'hook_callback', callback_id: 'hook_0', input: { hook_event_name: 'PreToolUse' }, tool_use_id: 't' }),
    answered('h1', { subtype: 'success', response: { continue: true } }),
    ask('h2', { subtype: 'hook_callback', callback_id: 'hook_1', input: { hook_event_name: 'PreToolUse' }, tool_use_id: 't' }),
    answered('h2', { subtype: 'success', response: { systemMessage: 'second' } }),
    ask('h3', { subtype: 'hook_callback', callback_id: 'hook_2', input: { hook_event_name: 'Stop' }, tool_use_id: 't' }),
    answered('h3', { subtype: 'error', error: 'hook failed' }),
    { emit: result() },
  ]);
  const both = [async () => ({ continue: true }), async () => ({ systemMessage: 'second' })];
  const hooks = {
    PreToolUse: [{ matcher: 'Bash', timeout: 5, onFailure: 'block', hooks: both }],
    Stop: [{ hooks: [async () => Promise.reject(new Error('hook failed'))] }],
  };
  await all(query({ prompt: 'hi', options: { ...play.options, hooks } }));
  assert.deepEqual(play.failures(), []);
});

const rpc = (id, message) => ask(id, { subtype: 'mcp_message', server_name: 'calc', message: { jsonrpc: '2.0', ...message } });
const handshake = [
  rpc('m0', {
    id: 0, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }),
  answered('m0', { response: { mcp_response: { id: 0, result: { serverInfo: { name: 'calc' } } } } }),
  rpc('m1', { method: 'notifications/initialized' }),
  answered('m1', { subtype: 'success' }),
];
const calls = [
  rpc('m2', { id: 1, method: 'tools/list' }),
  answered('m2', {
    response: {
      mcp_response: {
        result: {
          tools: [
            {
              name: 'add', description: 'adds',
              inputSchema: {
                type: 'object', required: ['a'],
                properties: { a: { type: 'number', description: 'first' }, b: { type: 'number', default: 2 } },
              },
            },
          ],
        },
      },
    },
  }),
  rpc('m3', { id: 2, method: 'tools/call', params: { name: 'add', arguments: { a: 1 } } }),
  answered('m3', { response: { mcp_response: { id: 2, result: { content: [{ type: 'text', text: '3' }] } } } }),
  rpc('m4', { id: 3, method: 'tools/call', params: { name: 'add', arguments: { a: 'x' } } }),
  answered('m4', { response: { mcp_response: { id: 3, result: { isError: true } } } }),
  rpc('m5', { id: 4, method: 'tools/call', params: { name: 'add', arguments: { a: 99 } } }),
  answered('m5', { response: { mcp_response: { id: 4, result: { isError: true, content: [{ text: 'too much' }] } } } }),
];
const add = () =>
  tool('add', 'adds', { a: z.number().describe('first'), b: z.number().default(2) }, async ({ a, b }, extra) => {
    assert.ok(extra.signal instanceof AbortSignal);
    if (a === 99) throw new Error('too much');
    return { content: [{ type: 'text', text: String(a + b) }] };
  });

test('in-process tools: schema, defaults of zod, bad arguments, a tool that throws', async () => {
  const play = playing([...handshake, prompted, ...calls, { emit: result() }]);
  const calc = createSdkMcpServer({ name: 'calc', tools: [add()] });
  await all(query({ prompt: 'hi', options: { ...play.options, mcpServers: { calc } } }));
  assert.deepEqual(play.failures(), []);
});

test('a tool whose schema is JSON Schema has its arguments checked', async () => {
  const inputSchema = {
    type: 'object', required: ['a'],
    properties: { a: { type: 'number', description: 'first' }, b: { type: 'number', default: 2 } },
  };
  const sum = tool('add', 'adds', inputSchema, async ({ a, b = 2 }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
  const calc = createSdkMcpServer({ name: 'calc', tools: [sum] });
  const play = playing([...handshake, prompted, ...calls.slice(0, 6), { emit: result() }]);
  await all(query({ prompt: 'hi', options: { ...play.options, mcpServers: { calc } } }));
  assert.deepEqual(play.failures(), []);
});

test('shapes of zod 3, and of the zod 4 that comes with it', async () => {
  for (const module of ['zod-3', 'zod-3/v4']) {
    const { z: other } = await import(module);
    const shape = { a: other.number().describe('first'), b: other.number().default(2) };
    const sum = tool('add', 'adds', shape, async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
    const calc = createSdkMcpServer({ name: 'calc', tools: [sum] });
    const play = playing([...handshake, prompted, ...calls.slice(0, 6), { emit: result() }]);
    await all(query({ prompt: 'hi', options: { ...play.options, mcpServers: { calc } } }));
    assert.deepEqual(play.failures(), [], module);
  }
});

test('a server of the MCP SDK, and the instance of one made here, are bridged', async () => {
  const foreign = new McpServer({ name: 'calc', version: '1.0.0' });
  const { name, description, inputSchema, handler } = add();
  foreign.registerTool(name, { description, inputSchema }, handler);
  const looked = createSdkMcpServer({ name: 'calc', tools: [add()] });
  assert.ok(looked.instance);
  for (const calc of [{ type: 'sdk', name: 'calc', instance: foreign }, looked]) {
    const play = playing([...handshake, prompted, ...calls, { emit: result() }]);
    await all(query({ prompt: 'hi', options: { ...play.options, mcpServers: { calc } } }));
    assert.deepEqual(play.failures(), []);
  }
});

test('a tool whose schema cannot be told is left out, with a warning', async () => {
  const warned = new Promise((resolve) => process.once('warning', resolve));
  const server = createSdkMcpServer({ name: 's', tools: [tool('bad', 'b', { at: z.date() }, async () => ({ content: [] })), add()] });
  assert.equal((await warned).code, 'CLAUDE_SDK_MCP_TOOL_SCHEMA_UNCONVERTIBLE');
  assert.equal(server.type, 'sdk');
});

test('elicitations, dialogs and unknown requests', async () => {
  const play = playing([
    prompted,
    ask('e1', { subtype: 'elicitation', mcp_server_name: 's', message: 'm', mode: 'form', requested_schema: { type: 'object' } }),
    answered('e1', { response: { action: 'accept', content: { a: 1 } } }),
    ask('d1', { subtype: 'request_user_dialog', dialog_kind: 'k', payload: { a: 1 } }),
    answered('d1', { response: { behavior: 'completed', result: 7 } }),
    ask('z1', { subtype: 'brand_new' }),
    answered('z1', { response: { well: 'yes' } }),
    { emit: result() },
  ]);
  await all(
    query({
      prompt: 'hi',
      options: {
        ...play.options,
        supportedDialogKinds: ['k'],
        onElicitation: async ({ serverName, requestedSchema }) => {
          assert.deepEqual([serverName, requestedSchema], ['s', { type: 'object' }]);
          return { action: 'accept', content: { a: 1 } };
        },
        onUserDialog: async ({ dialogKind }) => ({ behavior: 'completed', result: dialogKind === 'k' ? 7 : 0 }),
        onControlRequest: async ({ subtype }) => ({ well: subtype === 'brand_new' ? 'yes' : 'no' }),
      },
    }),
  );
  assert.deepEqual(play.failures(), []);
});

test('every method is the control request that the CLI knows', async () => {
  const wire = [
    [(q) => q.interrupt(), { subtype: 'interrupt' }],
    [(q) => q.setPermissionMode('plan'), { subtype: 'set_permission_mode', mode: 'plan' }],
    [(q) => q.setMcpPermissionModeOverride('s', null), { subtype: 'set_mcp_permission_mode_override', serverName: 's', mode: null }],
    [(q) => q.setModel('m'), { subtype: 'set_model', model: 'm' }],
    [(q) => q.setMaxThinkingTokens(9, 'omitted'), { subtype: 'set_max_thinking_tokens', max_thinking_tokens: 9, thinking_display: 'omitted' }],
    [(q) => q.applyFlagSettings({ model: 'x' }), { subtype: 'apply_flag_settings', settings: { model: 'x' } }],
    [(q) => q.updateSettings('userSettings', { a: 1 }), { subtype: 'update_settings', source: 'userSettings', settings: { a: 1 } }],
    [(q) => q.reinitialize(), { subtype: 'initialize', systemPrompt: [''] }],
    [(q) => q.mcpServerStatus(), { subtype: 'mcp_status' }],
    [(q) => q.getContextUsage({ detail: 'summary' }), { subtype: 'get_context_usage', detail: 'summary' }],
    [(q) => q.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(), { subtype: 'get_usage' }],
    [(q) => q.readFile('p', { maxBytes: 1, encoding: 'base64' }), { subtype: 'read_file', path: 'p', max_bytes: 1, encoding: 'base64' }],
    [(q) => q.reloadPlugins({ refuseIfBusy: true }), { subtype: 'reload_plugins', refuse_if_busy: true }],
    [(q) => q.reloadSkills(), { subtype: 'reload_skills' }],
    [(q) => q.reloadOutputStyles(), { subtype: 'reload_output_styles' }],
    [(q) => q.rewindFiles('u', { dryRun: true }), { subtype: 'rewind_files', user_message_id: 'u', dry_run: true }],
    [(q) => q.seedReadState('p', 5), { subtype: 'seed_read_state', path: 'p', mtime: 5 }],
    [(q) => q.reconnectMcpServer('s'), { subtype: 'mcp_reconnect', serverName: 's' }],
    [(q) => q.toggleMcpServer('s', true), { subtype: 'mcp_toggle', serverName: 's', enabled: true }],
    [(q) => q.readMcpResource('s', 'ui://x'), { subtype: 'mcp_read_resource', serverName: 's', uri: 'ui://x' }],
    [(q) => q.stopTask('t'), { subtype: 'stop_task', task_id: 't' }],
    [(q) => q.backgroundTasks('u'), { subtype: 'background_tasks', tool_use_id: 'u' }],
    [(q) => q.setMcpServers({ e: { type: 'stdio', command: 'x', args: [] } }), { subtype: 'mcp_set_servers', servers: { e: { command: 'x' } } }],
    [(q) => q.request('get_settings', { a: 1 }), { subtype: 'get_settings', a: 1 }],
  ];
  const steps = [{ expect: { request: { subtype: 'initialize' } } }, { answer: { commands: [{ name: 'c' }], models: [], agents: [], account: { a: 1 } } }];
  for (const [, request] of wire) steps.push({ expect_next: { type: 'control_request', request } }, { answer: {} });
  const play = playing([...steps, { expect_next: { request: { subtype: 'set_model' } } }, { answer_error: 'no such model' }]);
  async function* never() {
    await new Promise((resolve) => (finish = resolve));
  }
  let finish;
  const running = query({ prompt: never(), options: play.options });
  assert.deepEqual(await running.supportedCommands(), [{ name: 'c' }]);
  assert.deepEqual(await running.accountInfo(), { a: 1 });
  for (const [method] of wire) await method(running);
  await assert.rejects(running.setModel('x'), { code: 'REQUEST_REFUSED', message: 'no such model', subtype: 'set_model' });
  finish();
  assert.deepEqual(await all(running), []);
  assert.deepEqual(play.failures(), []);
});

test('a server added while the session runs', async () => {
  const play = playing([
    { expect: { request: { subtype: 'mcp_set_servers', servers: { calc: { type: 'sdk', name: 'calc' } } } } },
    { answer: { added: ['calc'], removed: [], errors: {} } },
    ...handshake,
    ...calls,
    prompted,
    { emit: result() },
  ]);
  let go;
  const ready = new Promise((resolve) => (go = resolve));
  async function* prompts() {
    await ready;
    yield prompt('hi');
  }
  const running = query({ prompt: prompts(), options: play.options });
  const calc = createSdkMcpServer({ name: 'calc', tools: [add()] });
  assert.deepEqual((await running.setMcpServers({ calc })).added, ['calc']);
  go();
  await all(running);
  assert.deepEqual(play.failures(), []);
});

test('a warm query is open before its prompt, and takes one', async () => {
  const play = playing([prompted, { emit: result() }]);
  const warm = await startup({ options: play.options });
  assert.deepEqual((await all(warm.query('hi'))).map((message) => message.type), ['result']);
  assert.throws(() => warm.query('again'), /one prompt/);
  const other = playing([{ expect_eof: true, timeout_ms: 20_000 }]);
  const unused = await startup({ options: other.options });
  await unused[Symbol.asyncDispose]();
  await assert.rejects(startup({ options: playing([{ expect: { request: { subtype: 'initialize' } } }, { exit: 4 }]).options }), { code: 'EXITED_BEFORE_INITIALIZE', exitCode: 4 });
});

test('a CLI that the application starts itself', async () => {
  const play = playing([prompted, { emit: init() }, { emit_big: text('@FILL@'), bytes: 3_000_000 }, { emit: result() }, { expect_eof: true }]);
  let started;
  const spawnClaudeCodeProcess = ({ command, args, env, cwd, signal }) => {
    assert.equal(command, program('fake-cli'));
    assert.ok(signal instanceof AbortSignal);
    started = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    return started;
  };
  const messages = await all(query({ prompt: 'hi', options: { ...play.options, spawnClaudeCodeProcess } }));
  assert.deepEqual(messages.map((message) => message.type), ['system', 'assistant', 'result']);
  assert.equal(messages[1].message.content[0].text.length, 3_000_000);
  assert.equal(started.exitCode, 0);
  assert.deepEqual(play.failures(), []);
  const hung = playing([prompted, { emit: init() }, { on_eof: 'ignore' }, { ignore_stdin: true }]);
  for await (const _ of query({ prompt: 'hi', options: { ...hung.options, spawnClaudeCodeProcess, closeGraceMs: 200 } })) break;
  assert.notEqual(started.signalCode ?? started.exitCode, null);
});

test('stderr comes line by line, a listener that throws stops nothing', async () => {
  const play = playing([prompted, { stderr: 'one\ntwo\n' }, { emit: result() }, { expect_eof: true }]);
  const lines = [];
  const stderr = (line) => {
    lines.push(line);
    throw new Error('mine');
  };
  await all(query({ prompt: 'hi', options: { ...play.options, stderr } }));
  assert.deepEqual(lines, ['one\n', 'two\n']);
});

test('a slow reader does not make memory grow, and loses nothing', async () => {
  const play = playing([prompted, { repeat: 400, steps: [{ emit_big: text('@FILL@$i'), bytes: 100_000 }] }, { emit: result() }]);
  const running = query({ prompt: 'hi', options: play.options });
  await running.next();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = process.memoryUsage().rss;
  let count = 1;
  for await (const _ of running) count += 1;
  assert.equal(count, 401);
  assert.ok(before < 400 * 1024 * 1024, `${before} bytes`);
});

test('the same module for require and import', () => {
  const required = createRequire(import.meta.url)('../dist/index.js');
  assert.equal(required.AbortError, AbortError);
  assert.equal(required.query, query);
});

test('prompts for a query that is over are refused, and not dropped', async () => {
  async function* more() {
    yield prompt('more');
  }
  const refused = { name: 'TowlineError', code: 'SESSION_CLOSED' };
  const ended = query({ prompt: 'hi', options: playing([prompted, { emit: result() }]).options });
  await all(ended);
  await assert.rejects(ended.streamInput(more()), refused);
  assert.throws(() => ended.send('more'), refused);

  const closing = query({ prompt: 'hi', options: playing([prompted, { emit: text('a') }, { expect_eof: true }]).options });
  await closing.next();
  closing.close();
  await assert.rejects(closing.streamInput(more()), refused);
  await closing.return();
  await assert.rejects(closing.streamInput(more()), refused);

  const failed = query({ prompt: 'hi', options: playing([prompted, { exit: 3 }]).options });
  await assert.rejects(all(failed), { code: 'PROCESS_FAILED' });
  await assert.rejects(failed.streamInput(more()), { code: 'PROCESS_FAILED', exitCode: 3 });
});

test('a turn without a word is an error, and only that', async () => {
  const silent = { code: 'PROCESS_FAILED', exitCode: 0, stderr: /bye/, message: 'the CLI ended in a turn without a result, and without a message. stderr: bye' };
  await assert.rejects(all(query({ prompt: 'hi', options: playing([prompted, { stderr: 'bye\n' }, { exit: 0 }]).options })), silent);
  assert.equal((await all(query({ prompt: 'hi', options: playing([prompted, { emit: init() }, { exit: 0 }]).options }))).length, 1);
  // In a conversation it is the last turn that counts.
  async function* two() {
    for (const content of ['one', 'two']) yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
  }
  const first = [prompted, { emit: text('a') }, { emit: result() }, prompted];
  const types = [];
  const heard = async (steps) => {
    types.length = 0;
    for await (const message of query({ prompt: two(), options: playing([...first, ...steps]).options })) types.push(message.type);
  };
  await assert.rejects(heard([{ exit: 0 }]), { code: 'PROCESS_FAILED' });
  assert.deepEqual(types, ['assistant', 'result']);
  await heard([{ emit: text('b') }, { exit: 0 }]);
  assert.deepEqual(types, ['assistant', 'result', 'assistant']);
  // Who has asked for the end is told nothing.
  const left = query({ prompt: 'hi', options: playing([prompted, { await_file: '/no/such/file', timeout_ms: 60_000 }]).options });
  await left.initializationResult();
  await left.return();
});

test('what JSON has no word for is refused by the name of the option', () => {
  for (const [options, told] of [
    [{ maxTurns: 2n }, 'option maxTurns cannot be a BigInt'],
    [{ model: () => 'm' }, 'option model cannot be a function'],
    [{ agents: { a: { prompt: Symbol('p') } } }, 'option agents.a.prompt cannot be a symbol'],
    [{ mcpServers: { m: { command: 'x', timeout: 1n } } }, 'option mcpServers.m.timeout cannot be a BigInt'],
  ]) {
    assert.throws(() => query({ prompt: 'hi', options }), { code: 'INVALID_OPTIONS', message: told });
  }
});
