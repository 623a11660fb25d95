// Holds every exported type of the official package against Towline's, both ways, with tsc.
import { readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const ts = require('typescript');
const official = '@anthropic-ai/claude-agent-sdk';

/** The exported types of the official declarations: name to number of required parameters. */
export function officialTypes() {
  const file = join(dirname(require.resolve(`${official}/sdk-tools.js`, { paths: [here] }).replace(/sdk-tools.*$/, '')), 'claude-agent-sdk', 'sdk.d.ts');
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found = new Map();
  for (const statement of source.statements) {
    const exported = statement.modifiers?.some((one) => one.kind === ts.SyntaxKind.ExportKeyword);
    const isType =
      ts.isTypeAliasDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isClassDeclaration(statement);
    if (exported && isType && statement.name) {
      const parameters = statement.typeParameters ?? [];
      found.set(statement.name.text, parameters.filter((one) => !one.default).length);
    }
  }
  return found;
}
