// What sessions without a title are called by, and which are listed, as the official package has it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import * as official from '@anthropic-ai/claude-agent-sdk';
import * as towline from '../index.mjs';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'towline-prompts-')));
after(() => rmSync(folder, { recursive: true, force: true }));
const project = join(folder, 'work');
const key = project.replace(/[^A-Za-z0-9]/g, '-');
const id = (number) => `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`;
process.env.CLAUDE_CONFIG_DIR = join(folder, 'config');
mkdirSync(project);
const saved = join(folder, 'config/projects', key);
mkdirSync(saved, { recursive: true });

const pasted = (body) => `<pasted_content id="0a1f">\n${body}\n</pasted_content id="0a1f">`;
const TAGS = ['<tick>', '<a>', '<a b>', '<a\tb>', '<a\nb>', '<a-b_1>', '<a/>', '<A>', '<1>', '<é>', '<aé>', '<a', '< a>', '<>', 'x <a>', '<local-command-stdout>x', '<ide_selection>x</ide_selection> and more', '<goal>'];
const SPACES = [' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\ufeff', '\u0085', '\u001c', '\u200b', '\u2028', '\u3000', '\u180e'];
const TEXTS = [
  'hello', '', ' ', ...TAGS, ...TAGS.map((tag) => ` \n${tag}`), ...SPACES.flatMap((space) => [`${space}<a>`, `${space}x${space}`, `<a${space}x`, space]),
  '<bash-input>ls</bash-input>', ' x <bash-input> ls\n-l </bash-input> y', '<bash-input></bash-input>', '<bash-input>ls', `<bash-input>${'y'.repeat(300)}</bash-input>`,
  '<bash-stdout>x</bash-stdout>', '<command-name>/x</command-name>', 'a <command-name>/x</command-name>', '<command-name></command-name>', '<command-name>/x\r</command-name>',
  '<command-name>\u2028</command-name><command-name>b</command-name>', '<command-name>/x', '<command-name>/x</command-name><bash-input>ls</bash-input>',
  '[Request interrupted by user]', '[Request interrupted by user for tool use] x', '[Request interrupted by user', ' [Request interrupted by user] x',
  'x'.repeat(200), 'x'.repeat(201), `${'x'.repeat(199)}😀`, `${'x'.repeat(198)}😀y`, '😀'.repeat(101), `${'x'.repeat(199)} y`, `${'x'.repeat(190)}${'\u00a0'.repeat(20)}y`,
  pasted('body'), `a\n\n\n${pasted('b')}\n\n\nc`, pasted(''), pasted('<a>'), `${pasted('a')}${pasted('b')}`, pasted('x').replaceAll('0a1f', '0A1F'), pasted('x').slice(0, -5), 'a <pasted_content id="0a1f"> b',
];
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } };
const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
const CONTENTS = [
  ...TEXTS, ...TEXTS.map((words) => [{ type: 'text', text: words }]), [image], [document], [document, image], [{ type: 'text', text: '<a>' }, image], [{ type: 'text', text: '<a>' }, { type: 'text', text: 'b' }],
  [{ type: 'tool_result', tool_use_id: 't', content: 'x' }, { type: 'text', text: 'x' }], 7, null,
];

let lines = 0;
const line = (number, content, more = {}) => ({
  type: 'user', uuid: `a0000000-0000-4000-8000-${String((lines += 1)).padStart(12, '0')}`, parentUuid: null, sessionId: id(number), cwd: project,
  timestamp: '2026-01-02T03:04:05.000Z', isSidechain: false, message: { role: 'user', content }, ...more,
});
const sessions = [
  ...CONTENTS.map((content) => [content]),
  ...['<a>', '<command-name>/x</command-name>', '<bash-input>ls</bash-input>', ''].map((first) => [first, 'later']),
  ['<command-name>/x</command-name>', '<command-name>/y</command-name>'],
  ['<command-name></command-name>', '<command-name>/y</command-name>'],
].map((contents, at) => contents.map((content) => line(at, content)));
sessions.push([line(sessions.length, 'x', { isMeta: true }), line(sessions.length, 'y', { isCompactSummary: true })]);
sessions.forEach((entries, at) => {
  const file = join(saved, `${id(at)}.jsonl`);
  writeFileSync(file, entries.map((one) => `${JSON.stringify(one)}\n`).join(''));
  // No two alike: the order is then the same in both.
  utimesSync(file, 1_700_000_000 + at, 1_700_000_000 + at);
});

const plain = (infos) => infos.map(({ sessionId, summary, firstPrompt, cwd, createdAt }) => ({ sessionId, summary, firstPrompt, cwd, createdAt }));
const same = (here, theirs) => {
  const of = ({ sessionId }) => JSON.stringify(sessions[Number(sessionId.slice(-12))]);
  const ids = here.map(({ sessionId }) => sessionId);
  assert.deepEqual(theirs.filter(({ sessionId }) => !ids.includes(sessionId)).map(of), []);
  here.forEach((one, at) => assert.deepEqual(one, theirs[at], of(one)));
};

test('sessions on disk', async () => {
  const theirs = plain(await official.listSessions({ dir: project }));
  assert.ok(theirs.length > 100 && theirs.length < sessions.length, `${theirs.length} of ${sessions.length}`);
  same(plain(await towline.listSessions({ dir: project })), theirs);
  for (const page of [{ limit: -1 }, { limit: 0 }, { limit: 5 }, { limit: 5, offset: 3 }, { offset: 7 }, { limit: -1, offset: 2 }]) {
    same(plain(await towline.listSessions({ dir: project, ...page })), plain(await official.listSessions({ dir: project, ...page })));
  }
  for (const at of sessions.keys()) {
    const [here, other] = await Promise.all([towline, official].map((sdk) => sdk.getSessionInfo(id(at), { dir: project })));
    same(plain(here ? [here] : []), plain(other ? [other] : []));
  }
});

test('sessions in a store, with summaries and without', async () => {
  for (const summaries of [false, true]) {
    const [here, other] = [new towline.InMemorySessionStore(), new official.InMemorySessionStore()];
    for (const [at, entries] of sessions.entries()) {
      for (const store of [here, other]) await store.append({ projectKey: key, sessionId: id(at) }, entries);
    }
    if (!summaries) here.listSessionSummaries = other.listSessionSummaries = undefined;
    const byId = (infos) => plain(infos).sort((one, two) => (one.sessionId < two.sessionId ? -1 : 1));
    const theirs = byId(await official.listSessions({ dir: project, sessionStore: other }));
    same(byId(await towline.listSessions({ dir: project, sessionStore: here })), theirs);
  }
});

test('what a fork is called', async () => {
  for (const at of sessions.keys()) {
    const forks = [];
    for (const sdk of [towline, official]) {
      const { sessionId } = await sdk.forkSession(id(at), { dir: project }).catch((error) => error);
      forks.push(sessionId && (await sdk.getSessionInfo(sessionId, { dir: project })).summary);
      if (sessionId) rmSync(join(saved, `${sessionId}.jsonl`));
    }
    assert.equal(forks[0], forks[1], JSON.stringify(sessions[at]));
  }
});
