// The package as users get it: from a clone, from a tarball, and from a release with one package a platform.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { packageFolder, playing, prompted, result, root } from './support.mjs';

const require = createRequire(import.meta.url);
const { platformName, platformOf } = require('../scripts/platform.cjs');
const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
const addon = `towline.${platformName()}.node`;
const folder = mkdtempSync(join(tmpdir(), 'towline-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: 120_000, ...options });
  assert.equal(done.error, undefined);
  return done;
}

function succeed(command, args, options) {
  const done = run(command, args, options);
  assert.equal(done.status, 0, `${command} ${args.join(' ')}\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

/** An application that has these installed, without a network. */
function application(name, packages, { env, flags = [] } = {}) {
  const app = join(folder, name);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "version": "1.0.0" }');
  const args = ['install', '--offline', '--no-audit', '--no-fund', ...flags, ...packages];
  succeed('npm', args, { cwd: app, env: { ...process.env, ...env } });
  return app;
}

const program = (load, options) => `${load}
(async () => {
  const seen = [];
  for await (const message of query({ prompt: 'hi', options: ${JSON.stringify(options)} })) seen.push(message.type);
  console.log(seen.join());
})();`;

/** Runs a session from the application, as ESM and as CommonJS. */
function use(app) {
  const loads = {
    'main.mjs': "import { query, AbortError, HOOK_EVENTS } from 'towline';",
    'main.cjs': "const { query, AbortError, HOOK_EVENTS } = require('towline');",
  };
  for (const [name, load] of Object.entries(loads)) {
    const { options } = playing([prompted, { emit: result() }]);
    writeFileSync(join(app, name), program(load, options));
    assert.equal(succeed(process.execPath, [name], { cwd: app }), 'result\n', name);
  }
}

/** A copy of what git has of the package, in a repository of its own, whose cargo gives what is built already. */
function clone() {
  const copy = join(folder, 'clone');
  const place = join(copy, 'bindings/node');
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '.'];
  for (const name of succeed('git', listed, { cwd: packageFolder }).split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    cpSync(join(packageFolder, name), join(place, name));
  }
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(join(root, name), join(copy, name));
  const cargo = join(copy, 'cargo');
  const target = join(copy, 'target');
  for (const profile of ['release', 'debug']) mkdirSync(join(target, profile), { recursive: true });
  const gives = ['release', 'debug'].map((profile) => `cp ${join(packageFolder, addon)} ${target}/${profile}/libtowline_node.so`);
  writeFileSync(cargo, `#!/bin/sh\necho "$@" > ${copy}/built\n${gives.join('\n')}\n`);
  chmodSync(cargo, 0o755);
  return { copy, place, env: { CARGO: cargo, CARGO_TARGET_DIR: target } };
}

let copied;
before(() => (copied = clone()));

test('npm install of the folder of a clone builds it', () => {
  const { copy, place, env } = copied;
  for (const file of ['dist', addon]) assert.ok(!existsSync(join(place, file)), file);

  const held = application('held', [place], { flags: ['--ignore-scripts'] });
  const failed = run(process.execPath, ['-e', "require('towline')"], { cwd: held });
  assert.match(failed.stderr, /towline is not built in .*clone\/bindings\/node.*npm run prepare/s);

  symlinkSync(join(packageFolder, 'node_modules'), join(place, 'node_modules'));
  const app = application('folder', [place], { env });
  assert.match(readFileSync(join(copy, 'built'), 'utf8'), /^build --locked -p towline-node --release\n$/);
  use(app);
  rmSync(join(copy, 'built'));
  use(application('again', [place], { env }));
  assert.ok(!existsSync(join(copy, 'built')), 'what is built is not built again');
});

test('prepare builds what is built of other sources, or not optimised', () => {
  const { copy, place, env } = copied;
  const built = join(copy, 'built');
  const options = { cwd: place, env: { ...process.env, ...env } };
  const prepare = () => {
    rmSync(built, { force: true });
    succeed('npm', ['run', 'prepare'], options);
    return existsSync(built);
  };
  prepare();
  assert.equal(prepare(), false);
  succeed(process.execPath, [join(place, 'scripts/build.mjs')], options);
  assert.equal(prepare(), true, 'a debug build is not what is packed');
  assert.equal(prepare(), false);
  for (const file of ['core/session/src/new.rs', 'bindings/node/src/lib.rs', 'Cargo.lock']) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), '// changed');
    assert.equal(prepare(), true, file);
  }
  const index = join(place, 'ts/index.ts');
  writeFileSync(index, `${readFileSync(index, 'utf8')}export const changed = true;\n`);
  assert.equal(prepare(), false);
  assert.match(readFileSync(join(place, 'dist/index.js'), 'utf8'), /changed = true/);
});

/** The names in a tarball, without the folder all are in. */
const entries = (tarball) => succeed('tar', ['tzf', tarball]).split('\n').filter(Boolean).map((name) => name.replace('package/', ''));

test('npm pack gives all that is needed, no sources, and types for both kinds of modules', { timeout: 120_000 }, () => {
  const { copy, place, env } = copied;
  rmSync(join(place, addon));
  const packed = succeed('npm', ['pack', '--pack-destination', folder], { cwd: place, env: { ...process.env, ...env } });
  assert.ok(existsSync(join(copy, 'built')), 'what is not built is built first');
  const tarball = join(folder, packed.trim().split('\n').at(-1));
  const names = entries(tarball);
  const outside = names.filter((name) => !/^dist\/.*\.(js|d\.ts)$/.test(name)).sort();
  const expected = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', addon, 'index.cjs', 'index.d.mts', 'index.mjs', 'package.json'];
  assert.deepEqual(outside, expected.sort());
  for (const name of readdirSync(join(packageFolder, 'ts'))) {
    if (name.endsWith('.ts')) assert.ok(names.includes(`dist/${name.replace(/ts$/, 'js')}`), name);
  }

  const app = application('tarball', [tarball]);
  use(app);
  for (const name of ['@anthropic-ai/sdk', '@modelcontextprotocol/sdk', '@types/node', 'undici-types', 'zod']) {
    mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true });
    symlinkSync(join(packageFolder, 'node_modules', name), join(app, 'node_modules', name));
  }
  const typed = `import { query, type Options, type SDKMessage } from 'towline';
const options: Options = { model: 'm', canUseTool: async (name, input) => ({ behavior: 'allow', updatedInput: input }) };
export async function last(): Promise<SDKMessage | undefined> {
  let seen: SDKMessage | undefined;
  for await (const message of query({ prompt: 'hi', options })) seen = message;
  return seen;
}
`;
  for (const name of ['typed.mts', 'typed.cts']) writeFileSync(join(app, name), typed);
  writeFileSync(join(app, 'wrong.cts'), typed.replace("model: 'm'", 'model: 1'));
  const tsc = [join(packageFolder, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--target', 'es2022', '--module', 'node16'];
  const { stdout } = run(process.execPath, [...tsc, '--pretty', 'false', 'typed.mts', 'typed.cts', 'wrong.cts'], { cwd: app });
  assert.match(stdout, /^wrong\.cts\(2,\d+\): error TS2322: [^\n]*\n$/);
});

test('a release: a package without an addon, and one package a platform', { timeout: 120_000 }, () => {
  const { place } = copied;
  const release = join(place, 'scripts/release.mjs');
  const incomplete = run(process.execPath, [release, '--all', join(place, addon)]);
  assert.equal(incomplete.status, 1);
  assert.match(incomplete.stderr, /towline\.linux-[a-z0-9-]+\.node is missing/);
  const odd = run(process.execPath, [release, join(folder, 'towline.beos-x64.node')]);
  assert.match(odd.stderr, /No target .* towline\.beos-x64\.node/);

  succeed(process.execPath, [release, join(place, addon)]);
  const npm = join(place, 'npm');
  const main = JSON.parse(readFileSync(join(npm, 'towline/package.json'), 'utf8'));
  const native = JSON.parse(readFileSync(join(npm, platformName(), 'package.json'), 'utf8'));
  assert.deepEqual(main.optionalDependencies, { [native.name]: manifest.version });
  assert.equal(main.scripts, undefined);
  assert.deepEqual([native.os, native.cpu, native.version], [['linux'], [process.arch], manifest.version]);
  const pack = (name) => {
    const packed = succeed('npm', ['pack', '--pack-destination', folder], { cwd: join(npm, name) });
    const tarball = join(folder, `release-${name}.tgz`);
    copyFileSync(join(folder, packed.trim().split('\n').at(-1)), tarball);
    return tarball;
  };
  const tarballs = [pack('towline'), pack(platformName())];
  assert.deepEqual(entries(tarballs[0]).filter((name) => name.endsWith('.node')), []);
  assert.deepEqual(entries(tarballs[1]).sort(), ['LICENSE-APACHE', 'LICENSE-MIT', addon, 'package.json'].sort());
  use(application('release', tarballs));
  const alone = application('alone', [tarballs[0]], { flags: ['--omit=optional'] });
  const failed = run(process.execPath, ['-e', "require('towline')"], { cwd: alone });
  assert.match(failed.stderr, /native part of towline was not found for linux .*optional dependencies/s);
});

test('the release workflow builds every target that the package names', () => {
  const { parse } = require('yaml');
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
  const built = jobs.addon.strategy.matrix.include;
  assert.deepEqual(built.map((one) => one.target).sort(), [...manifest.napi.targets].sort());
  for (const { target, addon } of built) assert.equal(addon, `towline.${platformOf(target).name}.node`);
  const commands = jobs.publish.steps.map((step) => step.run ?? '').join('\n');
  assert.match(commands, /npm run release -- --all addons\/\*\.node/);
  // A shell that reads it has no complaint.
  const scripts = [...jobs.addon.steps, ...jobs.publish.steps].map((step) => step.run).filter(Boolean);
  for (const script of scripts) succeed('sh', ['-n', '-c', script.replaceAll(/\$\{\{.*?\}\}/gs, 'value')]);
});
