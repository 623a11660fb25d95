// Saved sessions, on disk and in a store of the application's.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as towline from '../index.mjs';

const ID = '11111111-2222-4333-8444-555555555555';
const OTHER = '99999999-2222-4333-8444-555555555555';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'towline-sessions-')));
const project = join(folder, 'work');
const projectKey = project.replace(/[^A-Za-z0-9]/g, '-');

const line = (type, uuid, parentUuid, content) => ({
  type, uuid, parentUuid, sessionId: ID, timestamp: '2026-01-02T03:04:05.000Z', cwd: project, version: '2.1.332',
  isSidechain: false, message: { role: type, content },
});
const entries = [
  line('user', 'a0000000-0000-4000-8000-000000000001', null, 'first words'),
  line('assistant', 'a0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000001', [{ type: 'text', text: 'an answer' }]),
];

before(() => {
  process.env.CLAUDE_CONFIG_DIR = join(folder, 'config');
  mkdirSync(project);
  const saved = join(folder, 'config/projects', projectKey);
  mkdirSync(saved, { recursive: true });
  writeFileSync(join(saved, `${ID}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function family(options) {
  const listed = await towline.listSessions(options);
  assert.deepEqual(listed.map(({ sessionId, firstPrompt, cwd }) => [sessionId, firstPrompt, cwd]), [[ID, 'first words', project]]);
  assert.equal(typeof listed[0].lastModified, 'number');
  assert.ok(!('tag' in listed[0]));
  const messages = await towline.getSessionMessages(ID, options);
  assert.deepEqual(messages.map(({ type, message }) => [type, message.role]), [['user', 'user'], ['assistant', 'assistant']]);
  assert.deepEqual(await towline.getSessionMessages(ID, { ...options, limit: 1, offset: 1 }), [messages[1]]);
  assert.deepEqual(messages.map(({ timestamp }) => timestamp), [entries[0].timestamp, entries[1].timestamp]);
  for (const limit of [-1, 0, NaN, Infinity, null]) {
    assert.deepEqual(await towline.getSessionMessages(ID, { ...options, limit, offset: -1 }), messages, String(limit));
  }
  assert.deepEqual(await towline.getSessionMessages(ID, { ...options, limit: 1.5 }), [messages[0]]);
  await towline.renameSession(ID, '  a title ', options);
  await towline.tagSession(ID, 'blue', options);
  const info = await towline.getSessionInfo(ID, options);
  assert.deepEqual([info.customTitle, info.tag], ['a title', 'blue']);
  await towline.tagSession(ID, null, options);
  assert.equal((await towline.getSessionInfo(ID, options)).tag, undefined);
  assert.deepEqual(await towline.listSubagents(ID, options), []);
  const { sessionId } = await towline.forkSession(ID, { ...options, title: 'forked' });
  assert.equal((await towline.getSessionInfo(sessionId, options)).customTitle, 'forked');
  await towline.deleteSession(sessionId, options);
  assert.equal(await towline.getSessionInfo(sessionId, options), undefined);
  assert.deepEqual(await towline.getSessionMessages(OTHER, options), []);
}

test('in a store', async () => {
  const sessionStore = new towline.InMemorySessionStore();
  await towline.importSessionToStore(ID, sessionStore, { dir: project });
  assert.equal(sessionStore.size, 1);
  assert.equal((await sessionStore.load({ projectKey, sessionId: ID })).length, 2);
  await family({ dir: project, sessionStore });
  await assert.rejects(towline.archiveSession(ID, { sessionStore }), /sessionStore/);
});

test('in one of the stores that are opened by URL', async () => {
  const sessionStore = await towline.openStore(`sqlite:${join(folder, 'sessions.db')}`);
  await towline.importSessionToStore(ID, sessionStore, { dir: project });
  await family({ dir: project, sessionStore });
  assert.equal((await sessionStore.listSessionSummaries(projectKey))[0].sessionId, ID);
});

test('on disk', async () => {
  await family({ dir: project });
  await assert.rejects(towline.renameSession(OTHER, 'x', { dir: project }), { code: 'SESSION_STORE', message: /not found/i });
  await towline.archiveSession(ID, { dir: project });
  assert.equal((await towline.getSessionInfo(ID, { dir: project })).archived, true);
  await towline.unarchiveSession(ID, { dir: project });
  assert.equal((await towline.getSessionInfo(ID, { dir: project })).archived, false);
});

test('a store that fails: its own error comes through', async () => {
  const broken = { append: async () => {}, load: async () => { throw new RangeError('disk full'); } };
  await assert.rejects(towline.getSessionMessages(ID, { dir: project, sessionStore: broken }), RangeError);
  await assert.rejects(towline.listSessions({ dir: project, sessionStore: { append: async () => {}, load: async () => null } }));
});

test('a summary is folded entry by entry', () => {
  const key = { projectKey, sessionId: ID };
  const once = towline.foldSessionSummary(undefined, key, entries, { mtime: 7 });
  const twice = towline.foldSessionSummary(towline.foldSessionSummary(undefined, key, [entries[0]]), key, [entries[1]], { mtime: 7 });
  assert.deepEqual(once, twice);
  assert.equal(once.mtime, 7);
});

test('arguments that are null are absent, and those of a wrong kind are refused by their names', async () => {
  const ids = (infos) => infos.map(({ sessionId }) => sessionId);
  assert.deepEqual(ids(await towline.listSessions(null)), ids(await towline.listSessions()));
  assert.deepEqual(await towline.getSessionMessages(ID, null), await towline.getSessionMessages(ID));
  assert.deepEqual(await towline.listSubagents(ID, { dir: null, sessionStore: null }), []);
  await assert.rejects(towline.archiveSession(OTHER, null), { code: 'SESSION_STORE' });
  for (const sessionStore of [undefined, new towline.InMemorySessionStore()]) {
    const refused = (what, call) => assert.rejects(call, { name: 'TowlineError', code: 'INVALID_ARGUMENT', message: what });
    await refused('limit must be a number, not "2"', towline.listSessions({ sessionStore, limit: '2' }));
    await refused('dir must be a string, not 5', towline.listSessions({ sessionStore, dir: 5 }));
    for (const id of [5, null, undefined]) {
      await refused(`sessionId must be a string, not ${id}`, towline.getSessionMessages(id, { sessionStore }));
      await refused(`sessionId must be a string, not ${id}`, towline.renameSession(id, 'title', { sessionStore }));
    }
    await refused('title must be a string, not 5', towline.renameSession(ID, 5, { sessionStore }));
    await refused('agentId must be a string, not an object', towline.getSubagentMessages(ID, {}, { sessionStore }));
    await refused('upToMessageId must be a string, not 5', towline.forkSession(ID, { sessionStore, upToMessageId: 5 }));
  }
});

test('errors call arguments and methods what they are called here', async () => {
  const store = new towline.InMemorySessionStore();
  for (const sessionStore of [undefined, store]) {
    await assert.rejects(towline.renameSession('x', 'title', { sessionStore }), { message: 'Invalid sessionId: x' });
    await assert.rejects(towline.tagSession(ID, ' ', { sessionStore }), { message: /null clears the tag/ });
    await assert.rejects(towline.forkSession(ID, { sessionStore, upToMessageId: 'x' }), { message: 'Invalid upToMessageId: x' });
  }
  const bare = { append: async () => {}, load: async () => null };
  await assert.rejects(towline.listSessions({ sessionStore: bare }), { message: /listSessions\(\)/ });
  const wrong = () => towline.query({ prompt: 'x', options: { continue: true, sessionStore: bare } });
  assert.throws(wrong, (error) => {
    assert.match(error.message, /listSessions/);
    assert.doesNotMatch(error.message, /[a-z]_[a-z]/);
    return true;
  });
});
