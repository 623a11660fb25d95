// Builds the addon and the JavaScript beside it. `--release` optimises; `--if-missing` leaves what
// is built already; `--javascript` builds no addon.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(here, '../..');
const { libraryName, platformName } = createRequire(import.meta.url)('./platform.cjs');
const release = process.argv.includes('--release');
const javascriptOnly = process.argv.includes('--javascript');
const ifMissing = process.argv.includes('--if-missing');

function run(command, args, remedy) {
  const done = spawnSync(command, args, { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
  if (done.error?.code === 'ENOENT') {
    console.error(`${command} is not installed: ${remedy}`);
    process.exit(1);
  }
  if (done.status !== 0) {
    process.exit(done.status ?? 1);
  }
}

/** Puts a file in its place in one step: a running Node may have the old one open. */
function place(from, to, change = () => {}) {
  copyFileSync(from, `${to}.new`);
  change(`${to}.new`);
  renameSync(`${to}.new`, to);
}

const addon = join(here, `towline.${platformName()}.node`);
if (!javascriptOnly && !(ifMissing && existsSync(addon))) {
  const profile = release ? ['--release'] : [];
  const cargo = process.env.CARGO ?? 'cargo';
  run(cargo, ['build', '--locked', '-p', 'towline-node', ...profile], 'install Rust, see rustup.rs');
  const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
  place(join(target, release ? 'release' : 'debug', libraryName()), addon, (file) => {
    if (release) run('strip', ['--strip-unneeded', file], 'install binutils');
  });
}
if (!(ifMissing && existsSync(join(here, 'dist/index.js')))) {
  if (!existsSync(join(here, 'node_modules/typescript'))) {
    const quietly = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
    run('npm', ['ci', ...quietly], 'install Node with npm');
  }
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', here], '');
}
for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
  if (existsSync(join(root, licence))) place(join(root, licence), join(here, licence));
}
