// Calls functions of the official TypeScript package: one JSON object a line in, one out.
//
//   node official.mjs PACKAGE
//
// `{"call":NAME,"arguments":[…]}`; `{"$store":true}` among them stands for a store in memory, which
// `{"store":NAME,"arguments":[…]}` calls itself and `{"new":true}` empties.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const official = await import(pathToFileURL(process.argv[2]).href);
let store = new official.InMemorySessionStore();

const withStore = (value) => {
  if (value === null || typeof value !== "object") return value;
  if (value.$store === true) return store;
  if (Array.isArray(value)) return value.map(withStore);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withStore(one)]));
};

const answer = async (question) => {
  if (question.new) {
    store = new official.InMemorySessionStore();
    return null;
  }
  if (question.store) return (await store[question.store](...question.arguments)) ?? null;
  const started = performance.now();
  const found = await official[question.call](...question.arguments.map(withStore));
  if (question.timed) return { ms: performance.now() - started, count: found.length };
  return found ?? null;
};

for await (const line of createInterface({ input: process.stdin })) {
  let text;
  try {
    text = JSON.stringify({ ok: await answer(JSON.parse(line)) });
  } catch (error) {
    text = JSON.stringify({ error: String(error?.message ?? error), kind: error?.name });
  }
  process.stdout.write(`${text}\n`);
}
