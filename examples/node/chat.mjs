// A conversation on the terminal, with the answer as it is written. Ctrl-C interrupts a turn; the end
// of the input (Ctrl-D) ends the chat.
import { createInterface } from 'node:readline/promises';
import { query } from 'towline';

const terminal = createInterface({ input: process.stdin, output: process.stdout });
let answered = () => {};

async function* prompts() {
  for (;;) {
    let content;
    try {
      content = await terminal.question('> ');
    } catch {
      return;
    }
    const result = new Promise((resolve) => (answered = resolve));
    yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
    await result;
  }
}

const chat = query({ prompt: prompts(), options: { includePartialMessages: true } });
terminal.on('SIGINT', () => void chat.interrupt().catch(() => {}));
terminal.on('close', () => chat.close());
for await (const message of chat) {
  if (message.type === 'stream_event' && message.event.type === 'content_block_delta') {
    if (message.event.delta.type === 'text_delta') process.stdout.write(message.event.delta.text);
  }
  if (message.type === 'result') {
    process.stdout.write(message.is_error ? `\n[${message.subtype}]\n` : '\n');
    answered();
  }
}
