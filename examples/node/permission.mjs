// Asks on the terminal before a tool runs. The question goes away when the CLI takes it back.
import { createInterface } from 'node:readline/promises';
import { query } from 'towline';

const terminal = createInterface({ input: process.stdin, output: process.stdout });

async function canUseTool(name, input, { signal, title }) {
  const question = `${title ?? `Run ${name}`}? ${JSON.stringify(input)} [y/N] `;
  const answer = await terminal.question(question, { signal });
  return answer.trim().toLowerCase() === 'y'
    ? { behavior: 'allow', updatedInput: input }
    : { behavior: 'deny', message: 'The user said no.' };
}

const prompt = process.argv[2] ?? 'Make a file called hello.txt that says hello.';
for await (const message of query({ prompt, options: { canUseTool } })) {
  if (message.type === 'result') console.log(message.subtype === 'success' ? message.result : message.errors);
}
terminal.close();
