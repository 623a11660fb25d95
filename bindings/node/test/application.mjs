// A folder like an application's: the examples, the package and its peers installed, a `claude` in the PATH.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { packageFolder, program, root } from './support.mjs';

const PEERS = ['zod', '@types', 'undici-types', '@anthropic-ai/sdk', '@modelcontextprotocol/sdk'];

/** Makes the folder; `environment` is that of a program for which the fake CLI plays. */
export function application() {
  const app = mkdtempSync(join(tmpdir(), 'towline-application-'));
  after(() => rmSync(app, { recursive: true, force: true }));
  const filter = (name) => !name.includes('node_modules');
  cpSync(join(root, 'examples/node'), app, { recursive: true, filter });
  for (const name of PEERS) {
    mkdirSync(join(app, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(packageFolder, 'node_modules', name), join(app, 'node_modules', name));
  }
  symlinkSync(packageFolder, join(app, 'node_modules/towline'));
  mkdirSync(join(app, 'bin'));
  symlinkSync(program('fake-cli'), join(app, 'bin/claude'));
  const path = `${join(app, 'bin')}${delimiter}${process.env.PATH}`;
  return { app, environment: (play) => ({ ...play.options.env, PATH: path, CLAUDE_CONFIG_DIR: join(app, 'config') }) };
}
