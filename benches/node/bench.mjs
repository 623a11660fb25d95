// Towline's Node package against the official one: the same fake CLI, in one run, one after the other in
// turn, each measurement in a process of its own. `node bench.mjs [ROUNDS]`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';

const rounds = Number(process.argv[2] ?? 5);
const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url));
const FAKE_CLI = `${target}/release/fake-cli`;
if (!existsSync(FAKE_CLI)) {
  console.error(`${FAKE_CLI} is not there: cargo build --release -p towline-testkit --bins`);
  process.exit(1);
}

/** Mode, count, unit, the bar for ours over theirs, and whether one core is all there is. */
const MEASURED = [
  ['stream', 200_000, 'us', 0.5, true, 'a streamed message'],
  ['permission', 2_000, 'us', 0.6, false, 'round trip of a permission callback'],
  ['hook', 2_000, 'us', 0.6, false, 'round trip of a hook callback'],
  ['tool', 2_000, 'us', 0.4, false, 'round trip of an in-process tool call'],
  ['import', 0, 'ms', 0.6, false, 'processor time before the first call'],
  ['line', 100 * 1024 * 1024, 'mib', 0.6, false, 'peak memory at a line of 100 MiB'],
];

function measure(which, mode, count, oneCore) {
  const program = [process.execPath, fileURLToPath(new URL('one.mjs', import.meta.url)), which, mode, String(count)];
  const [command, ...args] = oneCore ? ['taskset', '-c', '0', ...program] : program;
  const done = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, FAKE_CLI } });
  if (done.status !== 0) throw new Error(`${which} ${mode}: ${done.error ?? done.stderr}`);
  return JSON.parse(done.stdout);
}

const sorted = (values) => values.toSorted?.((a, b) => a - b) ?? [...values].sort((a, b) => a - b);
const spread = (values, digits = 2) => {
  const all = sorted(values);
  const at = [all[0], all[Math.floor(all.length / 2)], all.at(-1)];
  return at.map((value) => value.toFixed(digits)).join(' / ');
};

console.log(`${cpus().length} × ${cpus()[0].model}, Linux ${release()}, Node ${process.version}, ${rounds} rounds`);
console.log('minimum / median / maximum; the ratio is of each round\n');
let missed = false;
for (const [mode, count, unit, bar, oneCore, what] of MEASURED) {
  const ours = [];
  const theirs = [];
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(measure('official', mode, count, oneCore)[unit]);
    ours.push(measure('towline', mode, count, oneCore)[unit]);
  }
  const ratios = ours.map((value, index) => value / theirs[index]);
  const median = sorted(ratios)[Math.floor(rounds / 2)];
  missed ||= median > bar;
  console.log(`${what} [${unit}]\n  official ${spread(theirs)}\n  towline  ${spread(ours)}`);
  console.log(`  ratio    ${spread(ratios)}  (bar ${bar}${median > bar ? ': MISSED' : ''})\n`);
}
process.exitCode = missed ? 1 : 0;
