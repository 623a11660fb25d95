// Builds the addon and the JavaScript beside it. `--release` optimises; `--if-missing` leaves what
// is built already, and does nothing in an installed package, which brings both.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const { platformName } = createRequire(import.meta.url)('./platform.cjs');
const release = process.argv.includes('--release');
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

const addon = join(here, `towline.${platformName()}.node`);
if (!(ifMissing && existsSync(addon))) {
  const profile = release ? ['--release'] : [];
  const cargo = process.env.CARGO ?? 'cargo';
  run(cargo, ['build', '--locked', '-p', 'towline-node', ...profile], 'install Rust, see rustup.rs');
  const target = process.env.CARGO_TARGET_DIR ?? join(here, '../../target');
  const built = join(target, release ? 'release' : 'debug', 'libtowline_node.so');
  // In one step: a running Node may have the old one open.
  copyFileSync(built, `${addon}.new`);
  if (release) run('strip', ['--strip-unneeded', `${addon}.new`], 'install binutils');
  renameSync(`${addon}.new`, addon);
}
if (!(ifMissing && existsSync(join(here, 'dist/index.js')))) {
  if (!existsSync(join(here, 'node_modules/typescript'))) {
    run('npm', ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'], 'install Node with npm');
  }
  run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', here], '');
}
