// A tool of this program: zod says what it takes, the model decides when to call it.
import { createSdkMcpServer, query, tool } from 'towline';
import { z } from 'zod/v4';

const stock = new Map([['apples', 12], ['pears', 0]]);
const inStock = tool(
  'in_stock',
  'How many of a fruit are in stock',
  { fruit: z.string().describe('plural, in English'), atLeast: z.number().int().default(1) },
  async ({ fruit, atLeast }) => {
    const count = stock.get(fruit) ?? 0;
    return { content: [{ type: 'text', text: `${count} ${fruit}, ${count >= atLeast ? 'enough' : 'too few'}` }] };
  },
  { annotations: { readOnlyHint: true } },
);

const options = {
  mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [inStock] }) },
  allowedTools: ['mcp__shop__in_stock'],
};
const prompt = process.argv[2] ?? 'Are there at least ten apples?';
for await (const message of query({ prompt, options })) {
  if (message.type === 'result') console.log(message.result ?? message.errors);
}
