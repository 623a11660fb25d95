// Processes that are started before their session is known.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { createSdkMcpServer, prewarm } from '../index.mjs';
import { all, isRunning, playing, prompted, result, until } from './support.mjs';

const config = mkdtempSync(join(tmpdir(), 'towline-spare-'));
after(() => rmSync(config, { recursive: true, force: true }));
const steps = (...more) => [{ expect: { request: { subtype: 'initialize' } } }, { answer: { commands: [{ name: 'parked' }] } }, ...more];
const claimSession = { cwd: '/x', session_id: 'the-id', parked_ms: 7, sdk_mcp_settled: true, initialize: { commands: [{ name: 'claimed' }] } };

async function parked(script, more = {}) {
  const play = playing(script, { env: { CLAUDE_CONFIG_DIR: config }, ...more });
  return { play, spare: await prewarm({ options: play.options }) };
}

test('a claim: what is written, in what order, and what the query tells', async () => {
  const { play, spare } = await parked(
    steps(
      {
        expect_next: {
          request: {
            subtype: 'claim_session', cwd: resolve('folder'), permission_mode: 'plan', env: { T: '1' }, additional_directories: ['a'],
            append_system_prompt: 'more', title: 'title', agents: { x: { prompt: 'p' } }, sdk_mcp_servers: ['s'], include_initialize: true,
          },
        },
      },
      { answer: claimSession },
      { expect_next: { request: { subtype: 'set_model', model: 'm' } } },
      { answer: {} },
      { expect_next: { request: { subtype: 'set_max_thinking_tokens', max_thinking_tokens: null } } },
      { answer: {} },
      { expect_next: { type: 'user' } },
      { emit: result() },
    ),
    { mcpServers: { s: createSdkMcpServer({ name: 's' }) } },
  );
  const [directory] = readdirSync(join(config, 'spares'));
  assert.match(directory, /^spare-/);
  const { argv, cwd } = play.log().find((event) => event.ev === 'start');
  assert.ok(argv.includes('--await-claim'));
  assert.equal(cwd, join(config, 'spares', directory));
  const running = spare.claim({
    prompt: 'hi',
    options: {
      cwd: 'folder', permissionMode: 'plan', env: { T: '1' }, additionalDirectories: ['a'], appendSystemPrompt: 'more', title: 'title',
      agents: { x: { description: 'd', prompt: 'p' } }, model: 'm', maxThinkingTokens: null,
    },
  });
  assert.throws(() => spare.claim({ prompt: 'again', options: { cwd: '/' } }), /one claim/);
  assert.deepEqual(await running.supportedCommands(), [{ name: 'claimed' }]);
  assert.deepEqual((await all(running)).map((message) => message.type), ['result']);
  assert.deepEqual(await spare.claimed, { cwd: '/x', sessionId: 'the-id', parkedMs: 7, sdkMcpSettled: true });
  await spare.exited;
  await until(() => !existsSync(cwd));
  assert.deepEqual(play.failures(), []);
});

test('settings are in force before the prompt is sent', async () => {
  const { play, spare } = await parked(
    steps(
      { expect_next: { request: { subtype: 'apply_flag_settings', settings: { effortLevel: 'high' } } } },
      { expect_next: { request: { subtype: 'claim_session' } } },
      { expect_none: { type: 'user' }, for_ms: 100 },
      { emit: { type: 'control_response', response: { subtype: 'success', request_id: 'towline_2', response: {} } } },
      { emit: { type: 'control_response', response: { subtype: 'success', request_id: 'towline_3', response: claimSession } } },
      { expect_next: { type: 'user' } },
      { emit: result() },
    ),
  );
  assert.throws(() => spare.claim({ prompt: 'hi', options: { cwd: '/', settings: { disableAllHooks: true } } }), /disableAllHooks/);
  assert.equal((await all(spare.claim({ prompt: 'hi', options: { cwd: '/', settings: { effortLevel: 'high' } } }))).length, 1);
  assert.deepEqual(play.failures(), []);
});

test('what is refused: the settings, the claim, an option', async () => {
  const request = (subtype) => ({ expect_next: { request: { subtype } } });
  const overlay = await parked(steps(request('apply_flag_settings'), { answer_error: 'bad key' }, request('claim_session'), { answer: claimSession }, { expect_eof: true }));
  const options = { cwd: '/', settings: { effortLevel: 'high' } };
  assert.deepEqual(await all(overlay.spare.claim({ prompt: 'hi', options })), []);
  await assert.rejects(overlay.spare.claimed, { message: 'settings_not_applied: bad key', claim: { cwd: '/x', sessionId: 'the-id', parkedMs: 7, sdkMcpSettled: true } });
  assert.deepEqual(overlay.play.written('user'), []);

  const notClaimed = result({ subtype: 'error_during_execution', is_error: true, errors: ['not_claimed: no'] });
  const claim = await parked(steps(request('claim_session'), { answer_error: 'cwd_not_found: no' }, prompted, { emit: notClaimed }));
  const refused = claim.spare.claim({ prompt: 'hi', options: { cwd: '/' } });
  await assert.rejects(claim.spare.claimed, { message: 'cwd_not_found: no' });
  assert.deepEqual(await refused.supportedCommands(), [{ name: 'parked' }]);
  await assert.rejects(all(refused), /not_claimed: no/);

  const option = await parked(steps(request('claim_session'), { answer: claimSession }, request('set_model'), { answer_error: 'no such model' }, prompted, { emit: result() }));
  assert.equal((await all(option.spare.claim({ prompt: 'hi', options: { cwd: '/', model: 'm' } }))).length, 1);
  await assert.rejects(option.spare.claimed, { message: /^option_not_applied: model: no such model/ });
});

test('a spare that is closed, that exits, and a CLI that knows no claims', async () => {
  const closed = await parked(steps({ expect_eof: true }));
  closed.spare.close();
  await assert.rejects(closed.spare.claimed, /spare_closed/);
  assert.throws(() => closed.spare.claim({ prompt: 'hi', options: { cwd: '/' } }), /spare_closed/);
  await closed.spare.exited;
  const gone = await parked(steps({ exit: 0 }));
  let exited = false;
  void gone.spare.exited.then(() => (exited = true));
  // An idle process holds nobody up, so the program waits by itself.
  await until(() => exited);
  await assert.rejects(gone.spare.claimed, /spare_exited/);
  const { options } = playing([{ expect: { request: { subtype: 'initialize' } } }, { stderr: "error: unknown option '--await-claim'\n" }, { exit: 1 }], { env: { CLAUDE_CONFIG_DIR: config } });
  await assert.rejects(prewarm({ options }), { code: 'EXITED_BEFORE_INITIALIZE', message: /unknown option/ });
  const disposed = await parked(steps({ expect_eof: true }));
  const { pid } = disposed.play.log().find((event) => event.ev === 'start');
  await disposed.spare[Symbol.asyncDispose]();
  assert.ok(!isRunning(pid));
  await until(() => readdirSync(join(config, 'spares')).length === 0);
});
