// Lays out the packages of a release in `npm/`: `towline` without an addon, and one package a platform
// that holds nothing else. `node scripts/release.mjs ADDON…` takes built addons, `towline.PLATFORM.node`;
// with `--all` one for every target of package.json has to be among them.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const { platformOf } = createRequire(import.meta.url)('./platform.cjs');
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const { napi, scripts: _, devDependencies: __, ...published } = manifest;
const given = process.argv.slice(2).filter((argument) => argument !== '--all');
const addons = new Map(given.map((file) => [basename(file), file]));
const LICENCES = ['LICENSE-APACHE', 'LICENSE-MIT'];
const out = join(here, 'npm');

/** Writes one package; `files` maps names in it to files here. */
function lay(folder, content, files) {
  const place = join(out, folder);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
  for (const [name, from] of Object.entries(files)) cpSync(from, join(place, name), { recursive: true });
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

const own = (names) => Object.fromEntries(names.map((name) => [name, join(here, name)]));
if (!existsSync(join(here, 'dist/index.js'))) fail('dist is not built: npm run build');
rmSync(out, { recursive: true, force: true });
const optionalDependencies = {};
for (const target of napi.targets) {
  const { name: platform, ...constraints } = platformOf(target);
  const addon = `${napi.binaryName}.${platform}.node`;
  const file = addons.get(addon);
  addons.delete(addon);
  if (!file) {
    if (process.argv.includes('--all')) fail(`${addon} is missing`);
    continue;
  }
  const name = `${napi.packageName}-${platform}`;
  optionalDependencies[name] = manifest.version;
  const { version, license, engines } = manifest;
  const description = `The native part of ${manifest.name} for ${platform}`;
  const files = [addon, ...LICENCES];
  lay(platform, { name, version, description, license, main: addon, files, engines, ...constraints }, {
    ...own(LICENCES),
    [addon]: file,
  });
}
if (addons.size > 0) fail(`No target of package.json is called ${[...addons.keys()].join(', ')}`);
const files = manifest.files.filter((name) => !name.endsWith('.node'));
lay(manifest.name, { ...published, files, optionalDependencies }, own([...files, 'README.md']));
