// A web page that talks to Claude Code: one session a browser, the answer as server-sent events.
// node server.mjs, then open the address it prints.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { query } from 'towline';

const page = readFileSync(new URL('./page.html', import.meta.url));
const sessions = new Map();

/** A conversation: prompts go in one by one, messages go to whoever listens. */
class Conversation {
  waiting = [];
  wake = () => {};
  listeners = new Set();

  constructor() {
    this.query = query({
      prompt: this.prompts(),
      // The page asks nobody: what needs permission is refused.
      options: { includePartialMessages: true },
    });
    void this.read();
  }

  async *prompts() {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift();
      await new Promise((resolve) => (this.wake = resolve));
    }
  }

  say(content) {
    this.waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
    this.wake();
  }

  async read() {
    try {
      for await (const message of this.query) this.tell(message);
    } catch (error) {
      this.tell({ type: 'failed', message: error.message });
    }
  }

  tell(message) {
    for (const listener of this.listeners) listener.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}

function conversation(id) {
  if (!sessions.has(id)) sessions.set(id, new Conversation());
  return sessions.get(id);
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const id = url.searchParams.get('session') ?? '';
  if (request.method === 'GET' && url.pathname === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  } else if (request.method === 'GET' && url.pathname === '/events' && id) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': open\n\n');
    const { listeners } = conversation(id);
    listeners.add(response);
    request.on('close', () => listeners.delete(response));
  } else if (request.method === 'POST' && url.pathname === '/say' && id) {
    conversation(id).say(await body(request));
    response.writeHead(204).end();
  } else if (request.method === 'POST' && url.pathname === '/stop' && id) {
    await conversation(id).query.interrupt().catch(() => {});
    response.writeHead(204).end();
  } else {
    response.writeHead(404).end();
  }
});

process.once('SIGINT', async () => {
  server.closeAllConnections();
  server.close();
  await Promise.all([...sessions.values()].map((one) => one.query.return()));
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
