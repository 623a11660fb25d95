// Builds the addon and the JavaScript beside it. `--release` optimises; `--if-stale` leaves what was
// built of the same sources in the same way; `--javascript` builds no addon.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(here, '../..');
const { libraryName, platformName } = createRequire(import.meta.url)('./platform.cjs');
const release = process.argv.includes('--release');
const javascriptOnly = process.argv.includes('--javascript');
const ifStale = process.argv.includes('--if-stale');

/** What was built last, and of which sources. */
const stamp = join(here, '.built.json');
const built = (() => {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'));
  } catch {
    return {};
  }
})();

function noted(part, how) {
  built[part] = how;
  writeFileSync(stamp, `${JSON.stringify(built)}\n`);
}

/** Names what these files and folders hold. */
function digest(places) {
  const hash = createHash('sha256');
  const take = (place) => {
    if (!existsSync(place)) return;
    if (statSync(place).isDirectory()) {
      for (const name of readdirSync(place).sort()) if (name !== 'target') take(join(place, name));
    } else {
      hash.update(place.slice(root.length)).update('\0').update(readFileSync(place));
    }
  };
  places.forEach(take);
  return hash.digest('hex');
}

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
const native = ['Cargo.toml', 'Cargo.lock', 'core'].map((name) => join(root, name));
const own = ['Cargo.toml', 'build.rs', 'src'].map((name) => join(here, name));
const ofAddon = `${release ? 'release' : 'debug'} ${digest([...native, ...own])}`;
if (!javascriptOnly && !(ifStale && existsSync(addon) && built.addon === ofAddon)) {
  const profile = release ? ['--release'] : [];
  const cargo = process.env.CARGO ?? 'cargo';
  run(cargo, ['build', '--locked', '-p', 'towline-node', ...profile], 'install Rust, see rustup.rs');
  const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
  place(join(target, release ? 'release' : 'debug', libraryName()), addon, (file) => {
    if (release) run('strip', ['--strip-unneeded', file], 'install binutils');
  });
  noted('addon', ofAddon);
}
const ofJavaScript = digest(['ts', 'tsconfig.json'].map((name) => join(here, name)));
if (!(ifStale && existsSync(join(here, 'dist/index.js')) && built.javascript === ofJavaScript)) {
  if (!existsSync(join(here, 'node_modules/typescript'))) {
    const quietly = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
    run('npm', ['ci', ...quietly], 'install Node with npm');
  }
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', here], '');
  noted('javascript', ofJavaScript);
}
for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
  if (existsSync(join(root, licence))) place(join(root, licence), join(here, licence));
}
