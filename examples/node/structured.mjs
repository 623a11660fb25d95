// An answer of a given shape, described once with zod.
import { query } from 'towline';
import { z } from 'zod/v4';

const Answer = z.object({ language: z.string(), year: z.number().int() });
const outputFormat = { type: 'json_schema', schema: z.toJSONSchema(Answer) };

const prompt = process.argv[2] ?? 'Which programming language came first, C or Pascal, and when?';
for await (const message of query({ prompt, options: { outputFormat } })) {
  if (message.type !== 'result') continue;
  const answer = Answer.safeParse(message.structured_output);
  console.log(answer.success ? answer.data : message);
}
