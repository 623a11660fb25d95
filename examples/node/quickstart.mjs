// Asks one thing and prints the answer. node quickstart.mjs "What is 2 + 2?"
import { query } from 'towline';

const prompt = process.argv[2] ?? 'What is 2 + 2?';
for await (const message of query({ prompt, options: { systemPrompt: { type: 'preset', preset: 'claude_code' } } })) {
  if (message.type === 'assistant') {
    for (const block of message.message.content) {
      if (block.type === 'text') process.stdout.write(`${block.text}\n`);
    }
  }
  if (message.type === 'result') console.error(`${message.num_turns} turns, $${message.total_cost_usd.toFixed(4)}`);
}
