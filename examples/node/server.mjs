// A web page that talks to Claude Code: one session a browser, messages as server-sent events, and a
// click for every permission. node server.mjs, then open the address it prints.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { query } from 'towline';

const page = readFileSync(new URL('./page.html', import.meta.url));
const conversations = new Map();

/** Prompts go in one by one; messages and questions go to whoever listens. */
class Conversation {
  prompts = [];
  wake = () => {};
  listeners = new Set();
  /** Questions that wait for a click, by their ids. */
  questions = new Map();

  constructor() {
    this.query = query({
      prompt: this.input(),
      options: {
        includePartialMessages: true,
        canUseTool: (name, input, context) => this.ask(name, input, context),
      },
    });
    void this.read();
  }

  async *input() {
    for (;;) {
      while (this.prompts.length > 0) yield this.prompts.shift();
      await new Promise((resolve) => (this.wake = resolve));
    }
  }

  say(content) {
    this.prompts.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
    this.wake();
  }

  async read() {
    try {
      for await (const message of this.query) this.tell(message);
    } catch (error) {
      this.tell({ type: 'failed', message: error.message });
    }
  }

  /** Asks the browser; the CLI may take the question back. */
  ask(name, input, { signal, title, toolUseID }) {
    const id = randomUUID();
    const event = { type: 'question', id, name, input, title, toolUseID };
    return new Promise((resolve) => {
      const done = (allowed) => {
        this.questions.delete(id);
        this.tell({ type: 'answered', id, allowed });
        resolve(
          allowed
            ? { behavior: 'allow', updatedInput: input }
            : { behavior: 'deny', message: 'The user said no.' },
        );
      };
      this.questions.set(id, { event, done });
      signal.addEventListener('abort', () => done(false), { once: true });
      this.tell(event);
    });
  }

  tell(event) {
    for (const listener of this.listeners) send(listener, event);
  }

  listen(response) {
    this.listeners.add(response);
    for (const { event } of this.questions.values()) send(response, event);
    response.on('close', () => this.listeners.delete(response));
  }
}

function send(response, event) {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function conversation(id) {
  if (!conversations.has(id)) conversations.set(id, new Conversation());
  return conversations.get(id);
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer(async (request, response) => {
  const own = `127.0.0.1:${server.address().port}`;
  const { host, origin = `http://${own}` } = request.headers;
  // Other pages in the same browser reach this port as well; they get nothing.
  if (host !== own || origin !== `http://${own}`) return response.writeHead(403).end();
  const url = new URL(request.url, `http://${own}`);
  const id = url.searchParams.get('session');
  const route = `${request.method} ${url.pathname}`;
  if (route === 'GET /') {
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }
  if (!id) return response.writeHead(404).end();
  if (route === 'GET /events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': open\n\n');
    return conversation(id).listen(response);
  }
  if (route === 'POST /say') conversation(id).say(await body(request));
  else if (route === 'POST /stop') await conversation(id).query.interrupt().catch(() => {});
  else if (route === 'POST /answer') {
    const { question, allowed } = JSON.parse(await body(request));
    conversation(id).questions.get(question)?.done(allowed === true);
  } else return response.writeHead(404).end();
  response.writeHead(204).end();
});

process.once('SIGINT', async () => {
  server.closeAllConnections();
  server.close();
  await Promise.all([...conversations.values()].map((one) => one.query.return()));
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
