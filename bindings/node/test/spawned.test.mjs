// CLIs that the application starts itself and that do not behave: what a query tells, and within what time.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import * as official from '@anthropic-ai/claude-agent-sdk';
import * as towline from '../index.mjs';
import { init, playing, result, text } from './support.mjs';

const { query } = towline;

/**
 * A CLI inside the program: it answers initialize, and a prompt with a message and a result. `faults`
 * take its place at a moment: `opening` (initialize has come), `idle` (it is answered), `turn` (a
 * prompt has come), `told` (the result is written), `end` (the input has ended).
 */
class Cli extends EventEmitter {
  killed = false;
  exitCode = null;
  signalCode = null;
  signals = [];
  stdout = new PassThrough();

  constructor(faults = {}, more = {}) {
    super();
    let held = '';
    this.stdin = new Writable({
      write: (chunk, _, taken) => {
        if (this.deafAt(held += chunk)) return;
        taken();
        for (let at; (at = held.indexOf('\n')) >= 0; held = held.slice(at + 1)) this.heard(JSON.parse(held.slice(0, at)));
      },
      final: (done) => {
        done();
        this.at('end', () => this.exit(0, null));
      },
    });
    this.faults = faults;
    Object.assign(this, more);
  }

  deafAt(held) {
    return this.faults.deaf !== undefined && held.includes(this.faults.deaf);
  }

  at(moment, usually) {
    const fault = this.faults[moment];
    if (fault) fault(this);
    else usually();
  }

  heard(line) {
    if (line.request?.subtype === 'initialize') {
      this.at('opening', () => {
        this.emits({ type: 'control_response', response: { subtype: 'success', request_id: line.request_id, response: { commands: [], models: [], agents: [], account: {} } } });
        this.faults.idle?.(this);
      });
    } else if (line.type === 'user') {
      this.at('turn', () => {
        this.emits(init());
        this.emits(text('a'));
        this.emits(result());
        this.faults.told?.(this);
      });
    }
  }

  emits(line) {
    this.stdout.write(`${JSON.stringify(line)}\n`);
  }

  kill(signal) {
    this.killed = true;
    this.signals.push(signal);
    this.at('kill', () => this.exit(null, signal));
    return true;
  }

  exit(code, signal) {
    if (this.exitCode !== null || this.signalCode !== null) return;
    [this.exitCode, this.signalCode] = [code, signal];
    this.stdout.end();
    setImmediate(() => this.emit('exit', code, signal));
  }
}

const graces = { closeGraceMs: 100, terminateGraceMs: 100 };

const played = (spawnClaudeCodeProcess) => ({ pathToClaudeCodeExecutable: '/bin/true', spawnClaudeCodeProcess });

/** What a query with this CLI gives: the types of its messages, and its error or `end`. */
async function seen(sdk, spawn, more = {}) {
  const told = [];
  try {
    const running = sdk.query({ prompt: 'hi', options: { ...played(spawn), ...more } });
    for await (const message of running) told.push(message.type);
    told.push('end');
  } catch (error) {
    told.push(`${error.name} ${error.code}: ${error.message}`);
  }
  return told;
}
const nothing = () => {};
const odd = () => new Error('odd');
const said = ['system', 'assistant', 'result'];
const failed = (message, code = 'PROCESS_FAILED') => `TowlineError ${code}: ${message}`;
const returned = (what) => failed(`spawnClaudeCodeProcess has returned ${what}; it returns the process: stdin, stdout, kill and on, as a ChildProcess has them`, 'SPAWN_FAILED');
const unanswered = 'the CLI ended in a turn without a result, and without a message';
const never = 'it did not end when it was closed';
const slow = 'The turn reached the limit of option firstMessageTimeoutMs';

/** What is wrong with the CLI; what the query gives, the official package too where it says so; within how many ms. */
const FAULTS = {
  'none at all': [{}, [...said, 'end'], 1_000, true],
  'it takes no input, before it is open': [{ deaf: 'initialize' }, [failed(slow, 'TURN_TIMED_OUT')], 2_000],
  'it takes no input, the prompt is in it': [{ deaf: '"user"' }, [failed(slow, 'TURN_TIMED_OUT')], 2_000],
  'its output ends in the turn, and it never does': [{ turn: (cli) => cli.stdout.end(), end: nothing, kill: nothing }, [failed(never)], 1_000],
  'its output ends in the turn, and it does when it is killed': [{ turn: (cli) => cli.stdout.end(), end: nothing }, [failed('Claude Code process terminated by signal SIGTERM')], 1_000],
  'its output ends before it is open, and it never does': [{ opening: (cli) => cli.stdout.end(), turn: nothing, end: nothing, kill: nothing }, [failed(never, 'EXITED_BEFORE_INITIALIZE')], 1_000],
  'reading fails before it is open': [{ opening: (cli) => cli.stdout.destroy(odd()) }, [failed('reading its output failed: odd', 'EXITED_BEFORE_INITIALIZE')], 1_000],
  'reading fails in the turn': [{ turn: (cli) => cli.stdout.destroy(odd()) }, [failed('reading its output failed: odd')], 1_000],
  'reading fails after the turn': [{ told: (cli) => cli.stdout.destroy(odd()) }, [...said, failed('reading its output failed: odd')], 1_000],
  'reading fails, and it never ends': [{ turn: (cli) => cli.stdout.destroy(odd()), end: nothing, kill: nothing }, [failed(`reading its output failed: odd; ${never}`)], 1_000],
  'it gives what is neither bytes nor text': [{ turn: (cli) => cli.stdout.emit('data', {}) }, [failed('reading its output failed: its stdout gave neither bytes nor a string (type object)')], 1_000],
  'writing fails in the turn': [{ turn: (cli) => cli.stdin.destroy(odd()), end: nothing }, [failed('writing its input failed: odd')], 1_000],
  'writing fails after the turn, and it never ends': [{ told: (cli) => cli.stdin.destroy(odd()), end: nothing, kill: nothing }, [...said, failed('writing its input failed: odd')], 4_000],
  'an error before it is open': [{ opening: (cli) => cli.emit('error', odd()) }, [failed('Failed to spawn Claude Code process: odd', 'EXITED_BEFORE_INITIALIZE')], 1_000],
  'an error in the turn': [{ turn: (cli) => cli.emit('error', odd()) }, [failed('Failed to spawn Claude Code process: odd')], 1_000, true],
  'an exit with 0 in the turn, and nothing said': [{ turn: (cli) => cli.exit(0, null) }, [failed(unanswered)], 1_000],
  'an output that is destroyed in the turn, and nothing said': [{ turn: (cli) => cli.stdout.destroy() }, [failed(unanswered)], 1_000],
  'an exit with 0 in the turn, and a message': [{ turn: (cli) => (cli.emits(text('a')), cli.exit(0, null)) }, ['assistant', 'end'], 1_000, true],
  'an exit with neither a code nor a signal': [{ turn: (cli) => cli.exit(null, null) }, [failed('Claude Code process told of its end by neither an exit code nor a signal')], 1_000],
  'an exit with 3 in the turn': [{ turn: (cli) => cli.exit(3, null) }, [failed('Claude Code process exited with code 3')], 1_000, true],
  'an exit with 3, and its output stays open': [{ turn: (cli) => cli.emit('exit', 3, null) }, [failed('Claude Code process exited with code 3')], 3_000],
  'an exit with 0 after the turn, and its output stays open': [{ told: (cli) => cli.emit('exit', 0, null), end: nothing }, [...said, 'end'], 3_000],
  'an exit with something that is no status': [{ turn: (cli) => (cli.stdout.end(), cli.emit('exit', 'x', 'y')) }, [failed('Claude Code process exited with code x')], 1_000, true],
};

/** The official package's words, without the names that only this one gives. */
const plain = (told) => told.map((one) => one.replace(/^\w+ \w+: /, ''));

for (const [name, [faults, expected, within, alike]] of Object.entries(FAULTS)) {
  test(`a CLI of the application's: ${name}`, async () => {
    const from = Date.now();
    assert.deepEqual(await seen(towline, () => new Cli(faults), { ...graces, firstMessageTimeoutMs: 1_500 }), expected);
    const took = Date.now() - from;
    assert.ok(took < within, `${took} ms`);
    if (alike) assert.deepEqual(plain(await seen(official, () => new Cli(faults))), plain(expected));
  });
}

test('what is no process is refused by name', async () => {
  const cli = new Cli();
  for (const [given, what] of [
    [undefined, 'a value of type undefined'],
    [null, 'null'],
    [7, 'a value of type number'],
    [Promise.resolve(cli), 'a promise: it must not be asynchronous'],
    [{ stdout: cli.stdout, kill: nothing, on: nothing }, 'an object whose stdin is no stream to write to'],
    [{ stdin: cli.stdin, kill: nothing, on: nothing }, 'an object whose stdout is no stream to read from'],
    [{ stdin: cli.stdin, stdout: cli.stdout, on: nothing }, 'an object without a function kill'],
    [{ stdin: cli.stdin, stdout: cli.stdout, kill: nothing }, 'an object without a function on'],
  ]) {
    assert.deepEqual(await seen(towline, () => given), [returned(what)]);
  }
  assert.deepEqual(await seen(towline, () => { throw odd(); }), ['Error undefined: odd']);
});

test('one that has ended before anybody listened', async () => {
  const dead = () => {
    const cli = new Cli({ end: nothing, kill: nothing }, { exitCode: 4 });
    cli.stdout.end();
    return cli;
  };
  assert.deepEqual(await seen(towline, dead), [failed('Claude Code process exited with code 4', 'EXITED_BEFORE_INITIALIZE')]);
});

test('without a CLI on this machine it is said that any path will do', async () => {
  const bare = { PATH: '/nowhere', HOME: '/nowhere' };
  const cwd = process.cwd();
  const ask = (more) => query({ prompt: 'hi', options: { pathToClaudeCodeExecutable: 'no-such-cli', env: bare, ...more } }).next();
  const remedy = /with spawnClaudeCodeProcess any path will do as option pathToClaudeCodeExecutable/;
  const spawnClaudeCodeProcess = () => new Cli();
  await assert.rejects(ask({ spawnClaudeCodeProcess }), { code: 'CLI_NOT_FOUND', message: remedy });
  await assert.rejects(ask({}), (error) => error.code === 'CLI_NOT_FOUND' && !remedy.test(error.message));
  assert.equal((await ask({ spawnClaudeCodeProcess, pathToClaudeCodeExecutable: '/no/such/cli', cwd })).value.type, 'system');
});

test('one that minds nothing is asked, forced and given up, each in its time', async () => {
  const problems = [];
  for (const kill of [nothing, () => { throw odd(); }]) {
    const cli = new Cli({ end: nothing, kill });
    const running = query({ prompt: 'hi', options: { ...played(() => cli), ...graces, onDiagnostic: (problem) => problems.push(problem) } });
    await running.next();
    const from = Date.now();
    await running.return();
    const took = Date.now() - from;
    assert.ok(took >= 250 && took < 2_000, `${took} ms`);
    assert.deepEqual(cli.signals, ['SIGTERM', 'SIGKILL']);
  }
  assert.deepEqual(problems, ['SIGTERM', 'SIGKILL'].map((signal) => `the process could not be sent ${signal}: odd`));
});

test('an input that has no room is left alone', async () => {
  let room;
  const taken = [];
  const cli = new Cli();
  const write = cli.stdin.write.bind(cli.stdin);
  cli.stdin.write = (chunk) => {
    taken.push(String(chunk));
    write(chunk);
    return room === undefined;
  };
  const session = towline.openSession(played(() => cli));
  await session.initializationResult();
  room = false;
  await session.send('one').result;
  const before = taken.length;
  const turn = session.send('two');
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
  assert.equal(taken.length, before);
  room = undefined;
  cli.stdin.emit('drain');
  await turn.result;
  assert.ok(taken.at(-1).includes('"two"'), taken.at(-1));
  await session.close();
});

test('a CLI that refuses to open is told of at once, however long it takes to end', async () => {
  const initialize = { expect: { request: { subtype: 'initialize' } } };
  const steps = [initialize, { answer_error: 'no' }, { on_eof: 'ignore' }, { ignore_stdin: true }];
  for (const use of [(running) => running.next(), (running) => running.initializationResult()]) {
    const running = query({ prompt: 'hi', options: { ...playing(steps).options, closeGraceMs: 3_000 } });
    const from = Date.now();
    await assert.rejects(use(running), { code: 'INITIALIZE_REFUSED', message: 'the CLI refused to open the session: no' });
    const took = Date.now() - from;
    assert.ok(took < 2_000, `${took} ms`);
    process.kill(running.pid, 'SIGKILL');
    await running.gone;
  }
});
