// Stores: a query's transcript goes there, and sessions are resumed from there.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { InMemorySessionStore, openSession, openStore, query, startup } from '../index.mjs';
import { ConformanceError, runSessionStoreConformance } from 'towline/testing';
import { all, init, packageFolder, playing, program, prompted, result, SESSION, until } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'towline-node-stores-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG = join(folder, 'config');
const PROJECT = '-work';
/** Of sessions that run in the folder of these tests. */
const PROJECT_KEY = folder.replace(/[^A-Za-z0-9]/g, '-');
const key = { projectKey: PROJECT, sessionId: SESSION };
const entry = (n, more = {}) => ({ type: 'user', uuid: `a0000000-0000-4000-8000-00000000000${n}`, n, ...more });
const mirrored = (entries, file = `${SESSION}.jsonl`) => ({
  emit: { type: 'transcript_mirror', filePath: join(CONFIG, 'projects', PROJECT, file), entries },
});
const withStore = (steps, sessionStore, more = {}) => {
  const { env, ...rest } = more;
  return playing(steps, { sessionStore, env: { CLAUDE_CONFIG_DIR: CONFIG, ...env }, ...rest });
};

/** A store that tells of its calls, and waits where it is told to. */
class Watched extends InMemorySessionStore {
  calls = [];
  gate = Promise.resolve();
  async append(at, entries) {
    this.calls.push(['append', at, entries.map(({ n }) => n)]);
    await this.gate;
    return super.append(at, entries);
  }
  async load(at) {
    this.calls.push(['load', at]);
    await this.gate;
    return super.load(at);
  }
}

/** A gate and how it is opened. */
function gate() {
  let open;
  const shut = new Promise((resolve) => (open = resolve));
  return { shut, open };
}

test('what the CLI writes goes to the store before the result, and not to the application', async () => {
  const store = new Watched();
  const { shut, open } = gate();
  store.gate = shut;
  const play = withStore([prompted, { emit: init() }, mirrored([entry(1), entry(2)]), { emit: result() }, mirrored([entry(3)])], store);
  const seen = [];
  const running = query({ prompt: 'hi', options: play.options });
  const reading = (async () => {
    for await (const message of running) seen.push(message.type);
  })();
  await until(() => store.calls.length === 1);
  assert.deepEqual(store.calls[0], ['append', key, [1, 2]]);
  assert.deepEqual(seen, ['system']);
  open();
  await reading;
  assert.deepEqual(seen, ['system', 'result']);
  assert.deepEqual((await store.load(key)).map(({ n }) => n), [1, 2, 3]);
  assert.ok(play.log()[0].argv.includes('--session-mirror'));
});

test('a subagent has a subpath; eagerly every line goes at once', async () => {
  const store = new Watched();
  const agent = `${SESSION}/subagents/agent-7.jsonl`;
  const steps = [prompted, mirrored([entry(1)]), mirrored([entry(2)], agent), { emit: result() }, prompted, { emit: result() }];
  const { options } = withStore(steps, store, { sessionStoreFlush: 'eager' });
  const session = openSession(options);
  session.send('one');
  await until(() => store.calls.length === 2);
  assert.deepEqual(store.calls.map(([, at]) => at.subpath), [undefined, 'subagents/agent-7']);
  session.send('two');
  await session.finish();
  assert.deepEqual(await store.listSubkeys(key), ['subagents/agent-7']);
});

test('a store that fails: tried three times, told of, and the session goes on', async () => {
  const store = new Watched();
  let tries = 0;
  store.append = async () => {
    tries += 1;
    throw new RangeError('disk full');
  };
  const { options } = withStore([prompted, mirrored([entry(1)]), { emit: result() }], store);
  const messages = await all(query({ prompt: 'hi', options }));
  assert.equal(tries, 3);
  const [told] = messages.filter((message) => message.subtype === 'mirror_error');
  assert.match(told.error, /disk full/);
  assert.deepEqual(told.key, key);
  assert.equal(messages.at(-1).type, 'result');
});

test('a flush mode that is none, and what does not go with a store', () => {
  const store = new InMemorySessionStore();
  const refused = (more, text) => {
    const { options } = withStore([], store, more);
    assert.throws(() => query({ prompt: 'hi', options }), { code: 'INVALID_OPTIONS', message: text });
  };
  refused({ persistSession: false }, /persistSession/);
  refused({ enableFileCheckpointing: true }, /enableFileCheckpointing/);
  refused({ sessionStoreFlush: 'sometimes' }, /sometimes/);
  refused({ sessionStore: 'sqlite:x' }, /openStore/);
  const poor = { append: async () => {}, load: async () => null };
  refused({ sessionStore: poor, continue: true }, /listSessions|list_sessions/);
});


test('a session is resumed from the store, in a folder of its own that is gone afterwards', async () => {
  const store = new Watched();
  const mine = { projectKey: PROJECT_KEY, sessionId: SESSION };
  await store.append(mine, [entry(1), entry(2)]);
  await store.append({ ...mine, subpath: 'subagents/agent-7' }, [entry(3)]);
  store.calls = [];
  const { shut, open } = gate();
  store.gate = shut;
  const play = withStore([prompted, { emit: init() }, { expect: { type: 'user' } }, { emit: result() }, { emit: result() }], store, { cwd: folder, resume: SESSION });
  const session = openSession(play.options);
  // Sent before there is a process.
  const first = session.send('one');
  await until(() => store.calls.length === 1);
  assert.equal(session.pid, undefined);
  open();
  assert.equal((await first.next()).value.subtype, 'init');
  const environ = readFileSync(`/proc/${session.pid}/environ`, 'utf8').split('\0');
  const config = environ.find((one) => one.startsWith('CLAUDE_CONFIG_DIR=')).slice('CLAUDE_CONFIG_DIR='.length);
  assert.notEqual(config, CONFIG);
  const saved = join(config, 'projects', PROJECT_KEY);
  const lines = readFileSync(join(saved, `${SESSION}.jsonl`), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines, [entry(1), entry(2)]);
  assert.deepEqual(readdirSync(join(saved, SESSION, 'subagents')), ['agent-7.jsonl']);
  const second = session.send('two');
  assert.deepEqual([first.id, second.id], [1, 2]);
  await Promise.all([first.result, second.result]);
  await session.finish();
  assert.ok(!existsSync(config), config);
  assert.deepEqual(play.failures(), []);
  const { argv } = play.log()[0];
  assert.ok(argv.includes(`--resume=${SESSION}`) || argv[argv.indexOf('--resume') + 1] === SESSION, argv.join(' '));
});

test('continue takes the newest session of the store; nothing there is no error', async () => {
  const store = new InMemorySessionStore();
  const other = SESSION.replace('1111', '9999');
  const steps = [prompted, { emit: result() }];
  const fresh = withStore(steps, store, { cwd: folder, continue: true });
  await all(query({ prompt: 'hi', options: fresh.options }));
  await store.append({ projectKey: PROJECT_KEY, sessionId: other }, [entry(1)]);
  await store.append({ projectKey: PROJECT_KEY, sessionId: SESSION }, [entry(2)]);
  const next = withStore(steps, store, { cwd: folder, continue: true });
  const warm = await startup({ options: next.options });
  await all(warm.query('hi'));
  assert.match(next.log()[0].argv.join(' '), new RegExp(`--resume[= ]${SESSION}`));
});

test('a store that cannot be read: the query fails with the reason, and no CLI is started', async () => {
  const store = new InMemorySessionStore();
  store.load = async () => {
    throw new RangeError('no such disk');
  };
  const failing = withStore([], store, { cwd: folder, resume: SESSION });
  const running = query({ prompt: 'hi', options: failing.options });
  const asked = running.supportedModels();
  await assert.rejects(running.next(), (error) => {
    assert.equal(error.code, 'SESSION_STORE');
    assert.match(error.message, /no such disk/);
    assert.ok(error.cause instanceof RangeError);
    return true;
  });
  assert.deepEqual(await running.next(), { done: true, value: undefined });
  await assert.rejects(asked, { code: 'SESSION_STORE' });
  await assert.rejects(running.interrupt(), { code: 'SESSION_STORE' });
  store.load = () => new Promise(() => {});
  const hanging = withStore([], store, { cwd: folder, resume: SESSION, loadTimeoutMs: 50 });
  await assert.rejects(all(query({ prompt: 'hi', options: hanging.options })), /load\(\) for session .* timed out after 50ms/);
  for (const play of [failing, hanging]) assert.throws(() => play.log(), { code: 'ENOENT' });
});

test('closed while the store is asked: nothing is started, nobody waits for the store', async () => {
  const store = new InMemorySessionStore();
  let asked = 0;
  store.load = () => {
    asked += 1;
    return new Promise(() => {});
  };
  const play = withStore([], store, { cwd: folder, resume: SESSION });
  const running = query({ prompt: 'hi', options: play.options });
  await until(() => asked === 1);
  const waiting = running.next();
  await running.return();
  assert.equal((await waiting).done, true);
  const controller = new AbortController();
  const aborted = query({ prompt: 'hi', options: { ...play.options, abortController: controller } });
  const next = aborted.next();
  controller.abort();
  await assert.rejects(next, { name: 'AbortError' });
  assert.throws(() => play.log(), { code: 'ENOENT' });
});

test("a CLI that the application starts is resumed from the store too", async () => {
  const store = new InMemorySessionStore();
  await store.append({ projectKey: PROJECT_KEY, sessionId: SESSION }, [entry(1)]);
  const play = withStore([prompted, { emit: result() }], store, { cwd: folder, resume: SESSION });
  let config;
  const spawnClaudeCodeProcess = ({ command, args, cwd, env, signal }) => {
    config = env.CLAUDE_CONFIG_DIR;
    assert.ok(existsSync(join(config, 'projects', PROJECT_KEY, `${SESSION}.jsonl`)));
    return spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'ignore'] });
  };
  const messages = await all(query({ prompt: 'hi', options: { ...play.options, spawnClaudeCodeProcess } }));
  assert.equal(messages.at(-1).type, 'result');
  await until(() => !existsSync(config));
});

test('a program lives as long as its store has something to do', async () => {
  const { options } = withStore([prompted, mirrored([entry(1)]), { emit: result() }, { on_eof: 'exit' }], undefined);
  const source = `
    import { openSession } from ${JSON.stringify(join(packageFolder, 'index.mjs'))};
    const sessionStore = {
      append: () => new Promise((resolve) => { setTimeout(resolve, 300).unref(); }).then(() => console.log('stored')),
      load: async () => null,
    };
    const session = openSession({ ...${JSON.stringify(options)}, sessionStore });
    session.send('hi').result.then(({ type }) => console.log(type));`;
  const seen = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(seen, 'stored\nresult\n');
});

for (const [name, url] of [
  ['in memory', () => 'memory:'],
  ['a folder', () => `dir:${mkdtempSync(join(folder, 'dir-'))}`],
  ['SQLite', () => `sqlite:${join(mkdtempSync(join(folder, 'sqlite-')), 'store.db')}`],
]) {
  test(`a store by URL: ${name}`, { timeout: 120_000 }, async () => {
    const tried = await runSessionStoreConformance(() => openStore(url()));
    assert.ok(tried.length > 15, tried.join('\n'));
    const store = await openStore(url());
    const play = withStore([prompted, mirrored([entry(1), entry(2)]), { emit: result() }], store);
    await all(query({ prompt: 'hi', options: play.options }));
    assert.deepEqual(await store.load(key), [entry(1), entry(2)]);
      await store.append({ projectKey: PROJECT_KEY, sessionId: SESSION }, [entry(1)]);
    const resumed = withStore([prompted, { emit: result() }], store, { cwd: folder, resume: SESSION });
    await all(query({ prompt: 'hi', options: resumed.options }));
    assert.match(resumed.log()[0].argv.join(' '), new RegExp(`--resume[= ]${SESSION}`));
  });
}

test('a store by URL: PostgreSQL, on a server of its own', { timeout: 60_000 }, async () => {
  const server = spawn(program('temporary-postgres'), { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = await once(server.stdout, 'data');
    const url = line.toString().trim();
    const play = withStore([prompted, mirrored([entry(1), entry(2)]), { emit: result() }], await openStore(url));
    await all(query({ prompt: 'hi', options: play.options }));
    // As another machine sees it.
    const elsewhere = await openStore(url);
    assert.deepEqual(await elsewhere.load(key), [entry(1), entry(2)]);
    await elsewhere.append({ projectKey: PROJECT_KEY, sessionId: SESSION }, [entry(1)]);
    const resumed = withStore([prompted, { emit: result() }], elsewhere, { cwd: folder, continue: true });
    await all(query({ prompt: 'hi', options: resumed.options }));
    assert.match(resumed.log()[0].argv.join(' '), new RegExp(`--resume[= ]${SESSION}`));
  } finally {
    server.stdin.end();
    await once(server, 'exit');
  }
});

test('a URL that names no store', async () => {
  await assert.rejects(openStore('ftp://host/x'), { code: 'SESSION_STORE' });
  await assert.rejects(openStore(`sqlite:${join(folder, 'no/such/folder/x.db')}`), { code: 'SESSION_STORE' });
});

test("the conformance suite passes a good store and names what a bad one breaks", async () => {
  assert.ok((await runSessionStoreConformance(() => new InMemorySessionStore())).length > 10);
  class Forgetful extends InMemorySessionStore {
    async append(at, entries) {
      return super.append(at, entries.slice(0, 1));
    }
  }
  await assert.rejects(runSessionStoreConformance(() => new Forgetful()), ConformanceError);
  class Racing {
    kept = new Map();
    async load(at) {
      return this.kept.get(JSON.stringify(at)) ?? null;
    }
    async append(at, entries) {
      const before = (await this.load(at)) ?? [];
      await new Promise((resolve) => setImmediate(resolve));
      if (entries.length > 0) this.kept.set(JSON.stringify(at), [...before, ...entries]);
    }
  }
  await assert.rejects(runSessionStoreConformance(() => new Racing()), { contract: /overlap/ });
  await assert.rejects(runSessionStoreConformance(() => new Racing(), { skipOptional: ['load'] }), TypeError);
});

test('the environment that is given decides where transcripts are', async () => {
  // Not this program's: option env is the whole environment.
  const before = process.env.CLAUDE_CONFIG_DIR;
  process.env.CLAUDE_CONFIG_DIR = join(folder, 'elsewhere');
  try {
    const store = new Watched();
    const { FAKE_CLI_SCRIPT, FAKE_CLI_LOG } = withStore([
      prompted,
      { emit: { type: 'transcript_mirror', filePath: join(folder, 'home/.claude/projects', PROJECT, `${SESSION}.jsonl`), entries: [entry(1)] } },
      { emit: result() },
    ], store).options.env;
    const { options } = withStore([], store);
    const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), FAKE_CLI_SCRIPT, FAKE_CLI_LOG };
    const told = [];
    await all(query({ prompt: 'hi', options: { ...options, env, onDiagnostic: (text) => told.push(text) } }));
    assert.deepEqual(store.calls.map(([, at]) => at), [key], told.join());
  } finally {
    if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
    else process.env.CLAUDE_CONFIG_DIR = before;
  }
});
