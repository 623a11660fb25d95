// Held against the installed official package: names at run time, and types both ways.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import * as towline from '../index.mjs';
import { packageFolder } from './support.mjs';

const require = createRequire(import.meta.url);
const ts = require('typescript');
const OFFICIAL = '@anthropic-ai/claude-agent-sdk';
const folder = join(packageFolder, 'node_modules', OFFICIAL);

/** Names of the official package that are not here, and why. */
const MISSING = {
  CommandMatcher: 'undocumented',
  DirectConnectError: 'undocumented, for a server of their own',
  DirectConnectTransport: 'undocumented, for a server of their own',
  FileIndex: 'undocumented',
  parseDirectConnectUrl: 'undocumented, for a server of their own',
  resolveSettings: "judges files by the CLI's own schema, which a copy would miss: request('get_settings') asks the CLI",
  filterEscalatingDefaultMode: 'works on what resolveSettings gives',
  matchDeniedModels: "needs the CLI's own table of models",
};
/** Names that only Towline has. */
const MORE = ['Pool', 'TowlineError', 'openSession', 'openStore'];
/** Official types that are not here, and why. */
const MISSING_TYPES = {
  Transport: 'of no exported function; spawnClaudeCodeProcess and the Rust crate take transports',
};
/** Types that are the same in use, and not to tsc. */
const NOT_BOTH_WAYS = { InMemorySessionStore: 'classes with private members of their own' };

test('every name at run time', async () => {
  const official = Object.keys(await import(OFFICIAL)).filter((name) => !(name in MISSING));
  const here = Object.keys(towline).filter((name) => !MORE.includes(name));
  assert.deepEqual(here.sort(), official.sort());
  const theirs = await import(OFFICIAL);
  for (const name of official.filter((name) => /^[A-Z_]+$/.test(name))) {
    assert.deepEqual(towline[name], theirs[name], name);
  }
});

/** The exported types of the official declarations, with the type arguments to use them with. */
function officialTypes() {
  const file = join(folder, 'sdk.d.ts');
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found = new Map();
  for (const statement of source.statements) {
    const exported = statement.modifiers?.some((one) => one.kind === ts.SyntaxKind.ExportKeyword);
    const isType =
      ts.isTypeAliasDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isClassDeclaration(statement);
    if (!exported || !isType || !statement.name) continue;
    const needed = (statement.typeParameters ?? []).filter((one) => !one.default);
    found.set(statement.name.text, needed.length > 0 ? '<{ a: z.ZodNumber }>' : '');
  }
  return found;
}

test('every type, both ways', { timeout: 300_000 }, () => {
  const types = officialTypes();
  assert.ok(types.size > 200, `${types.size} types`);
  const lines = [
    `import type * as official from '${OFFICIAL}';`,
    "import type * as towline from '../../index.mjs';",
    "import { prewarm, query, startup, tool, createSdkMcpServer } from '../../index.mjs';",
    "import { z } from 'zod/v4';",
    'declare function take<T>(value: T): void;',
    'declare function make<T>(): T;',
    'take<typeof official.query>(query);',
    'take<typeof official.startup>(startup);',
    'take<typeof official.tool>(tool);',
    'take<typeof official.createSdkMcpServer>(createSdkMcpServer);',
    'query({ prompt: make<AsyncIterable<official.SDKUserMessage>>(), options: make<official.Options>() });',
  ];
  for (const made of ["query({ prompt: 'x' })", "(await startup()).query('x')", "(await prewarm()).claim({ prompt: 'x', options: { cwd: '/' } })"]) {
    lines.push(
      `take<official.Query>(${made});`,
      `take<towline.TowlineQuery>(${made});`,
      `take<number | undefined>(${made}.pid);`,
      `take<string | undefined>(${made}.sessionId);`,
      `take<string>(${made}.stderrTail);`,
      `${made}.send('more');`,
      `await ${made}.request('get_settings');`,
      `await ${made}.interrupt({ cancelQueued: true });`,
    );
  }
  for (const [name, args] of types) {
    if (name in MISSING_TYPES) continue;
    lines.push(`export type T_${name} = towline.${name}${args};`);
    if (name in NOT_BOTH_WAYS) continue;
    lines.push(`take<towline.${name}${args}>(make<official.${name}${args}>());`);
    lines.push(`take<official.${name}${args}>(make<towline.${name}${args}>());`);
  }
  const generated = join(packageFolder, 'test/generated');
  mkdirSync(generated, { recursive: true });
  writeFileSync(join(generated, 'parity.mts'), `${lines.join('\n')}\n`);
  const tsc = join(packageFolder, 'node_modules/typescript/bin/tsc');
  const done = spawnSync(process.execPath, [tsc, '-p', join(packageFolder, 'test')], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stdout);
  // A check that cannot fail would show nothing.
  writeFileSync(join(generated, 'parity.mts'), `${lines.join('\n')}\ntake<towline.Options>({ model: 1 });\n`);
  const wrong = spawnSync(process.execPath, [tsc, '-p', join(packageFolder, 'test')], { encoding: 'utf8' });
  assert.match(wrong.stdout, /TS2322|TS2345/);
});

test('what is missing has a reason that still holds', async () => {
  const theirs = await import(OFFICIAL);
  const types = officialTypes();
  for (const name of Object.keys(MISSING)) {
    assert.ok(name in theirs, `${name} is not there any more`);
    assert.ok(!(name in towline), `${name} is here by now`);
  }
  for (const name of Object.keys(MISSING_TYPES)) assert.ok(types.has(name), name);
});

test('no memory of Rust is lent to JavaScript', () => {
  const sources = ['batch', 'config', 'error', 'host', 'lib', 'saved', 'session', 'starting', 'store', 'uv', 'waiter'];
  for (const name of sources) {
    const source = readFileSync(join(packageFolder, `src/${name}.rs`), 'utf8');
    assert.doesNotMatch(source, /external_arraybuffer|external_buffer|external_string|BufferSlice|Buffer::from|Uint8Array::/, name);
  }
});
