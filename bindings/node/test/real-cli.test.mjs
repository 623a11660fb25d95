// The real CLIs, each in a network namespace with loopback alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageFolder, program, root } from './support.mjs';

const modules = join(root, 'tests/real-cli/node_modules/@anthropic-ai');
const CLIS = [
  ['2.1.332', join(modules, 'claude-agent-sdk-linux-x64/claude')],
  ['2.1.197', join(modules, 'claude-code-linux-x64/claude')],
];

for (const [version, cli] of CLIS) {
  test(`the real CLI ${version}`, { timeout: 600_000 }, () => {
    assert.ok(existsSync(cli), `${cli} is not there: tests/real-cli/install.sh`);
    const folder = mkdtempSync(join(tmpdir(), 'towline-real-'));
    const project = join(folder, 'project');
    mkdirSync(project);
    try {
      const scenarios = join(packageFolder, 'test/real/scenarios.test.mjs');
      const set = { CLI: cli, PROJECT: project, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
      const env = Object.entries(set).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      const done = spawnSync(
        program('isolated'),
        ['--home', folder, ...env, '--', process.execPath, '--test-reporter=tap', '--test', scenarios],
        { encoding: 'utf8', cwd: project },
      );
      assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`);
      assert.doesNotMatch(done.stderr, /without/, done.stderr);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
