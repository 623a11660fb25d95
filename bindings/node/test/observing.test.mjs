// What a session tells who watches it: the log, the wire log, trace contexts.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSdkMcpServer, query, tool } from '../index.mjs';
import { all, answered, ask, init, playing, prompted, result, text } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'towline-node-observing-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const KEY = 'sk-ant-api03-0123456789abcdef';
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const OWN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const conversation = [
  prompted, { stderr: `using ${KEY}\n` }, { emit: init() }, { emit: text(KEY) }, { emit: result() },
];

async function talk(steps, more) {
  const play = playing(steps, more);
  await all(query({ prompt: `the key is ${KEY}`, options: play.options }));
  assert.deepEqual(play.failures(), []);
  return play;
}

test('the log is told of everything and of no secret', async () => {
  const records = [];
  await talk(conversation, { onLog: (record) => records.push(record) });
  const find = (target, words) => {
    const found = records.find((record) => record.target === target && record.message.includes(words));
    return found ?? assert.fail(`no ${target} ${words} in ${JSON.stringify(records)}`);
  };
  assert.equal(typeof find('towline.session', 'has started').fields.pid, 'number');
  const turn = find('towline.turn', 'has ended: success');
  assert.equal(turn.level, 'debug');
  assert.equal(turn.turn, 1);
  assert.equal(typeof turn.sessionId, 'string');
  assert.equal(find('towline.stderr', 'using').message, 'using [redacted]');
  assert.equal(find('towline.session', 'has ended').fields.turns_succeeded, 1);
  assert.ok(!JSON.stringify(records).includes(KEY));
});

test('a level keeps out what matters less, and a listener that throws harms nobody', async () => {
  const records = [];
  const onLog = (record) => {
    records.push(record);
    throw new Error('cannot log');
  };
  await talk(conversation, { onLog, logLevel: 'info' });
  // An unhandled rejection would end this process.
  await talk(conversation, { onLog: async () => Promise.reject(new Error('cannot log')), logLevel: 'info' });
  assert.deepEqual([...new Set(records.map(({ target }) => target))], ['towline.session']);
  await assert.rejects(talk(conversation, { onLog, logLevel: 'loud' }), { code: 'INVALID_OPTIONS' });
});

test('the wire goes to the log or a file, without secrets', async () => {
  const records = [];
  await talk(conversation, { onLog: (record) => records.push(record), wireLog: 'log', wireLogLineBytes: 200 });
  const wire = records.filter(({ target }) => target === 'towline.wire');
  assert.deepEqual([...new Set(wire.map(({ fields }) => fields.direction))].sort(), ['err', 'in', 'out']);
  assert.ok(wire.every(({ message }) => message.length <= 200));
  assert.ok(!JSON.stringify(records).includes(KEY));
  const wireLog = join(folder, 'wire.log');
  await talk(conversation, { wireLog });
  const lines = readFileSync(wireLog, 'utf8');
  assert.match(lines, / > /);
  assert.match(lines, /\[redacted\]/);
  assert.ok(!lines.includes(KEY));
});

/** Tools that the CLI calls twice, once with a trace context of its own. */
function calling(peek) {
  const mcp = (id, message) => ask(id, { subtype: 'mcp_message', server_name: 'kit', message: { jsonrpc: '2.0', ...message } });
  const call = (id, _meta) => mcp(`c${id}`, { id, method: 'tools/call', params: { name: 'peek', arguments: {}, _meta } });
  const clientInfo = { name: 'c', version: '1' };
  return {
    steps: [
      { log_env: ['TRACEPARENT', 'TRACESTATE'] }, prompted,
      mcp('m0', { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } }),
      answered('m0', {}),
      call(1, { traceparent: OWN, tracestate: 'a=1' }), answered('c1', {}),
      call(2, { traceparent: 'nonsense' }), answered('c2', {}),
      { emit: result() },
    ],
    mcpServers: { kit: createSdkMcpServer({ name: 'kit', tools: [tool('peek', 'Looks.', {}, peek)] }) },
  };
}

test('a tool gets the trace context of its call, or of the session', async () => {
  const seen = [];
  const { steps, mcpServers } = calling(async (_, extra) => {
    seen.push(extra.traceContext);
    return { content: [] };
  });
  const play = await talk(steps, { mcpServers, traceparent: PARENT });
  assert.deepEqual(seen, [{ traceparent: OWN, tracestate: 'a=1' }, { traceparent: PARENT }]);
  assert.deepEqual(play.log().find(({ ev }) => ev === 'env').env, { TRACEPARENT: PARENT, TRACESTATE: null });
  await assert.rejects(talk(conversation, { traceparent: '00-nonsense' }), /traceparent/);
});

test('with OpenTelemetry the CLI and the callbacks belong to the active span', async () => {
  // What @opentelemetry/api registers.
  const symbol = Symbol.for('opentelemetry.js.api.1');
  const storage = new AsyncLocalStorage();
  globalThis[symbol] = {
    context: { active: () => storage.getStore() ?? 'none', with: (context, run) => storage.run(context, run) },
    propagation: {
      inject: (context, carrier, setter) => setter.set(carrier, 'traceparent', context),
      extract: (_, carrier, getter) => getter.get(carrier, 'traceparent'),
    },
  };
  try {
    const seen = [];
    const { steps, mcpServers } = calling(async () => {
      await null;
      seen.push(storage.getStore());
      return { content: [] };
    });
    const play = await storage.run(PARENT, () => talk(steps, { mcpServers }));
    assert.equal(play.log().find(({ ev }) => ev === 'env').env.TRACEPARENT, PARENT);
    assert.equal(seen[0], OWN);
    assert.equal(seen[1], PARENT);
  } finally {
    delete globalThis[symbol];
  }
});
