// Does the host's part of a case of tests/vectors through the Node package. The case is the last
// argument; CASE_FAKE_CLI, CASE_WORK and CASE_OUT name the CLI, the folder and the record.
import { readFileSync, writeFileSync } from 'node:fs';
import { call } from './policies.mjs';
import { judged, named, StepError } from './judge.mjs';
import towline from '../../../bindings/node/dist/index.js';

const STEP = 8_000;
const LAST_CLOSE = 25_000;
const NOTICE = 2_000;

/** Rejects when the limit passes first. */
async function within(limit, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(StepError.timeout(limit)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Prompts that come one by one, until the end. */
class Prompts {
  #waiting = [];
  #wake = () => {};
  #ended = false;
  push(message) {
    this.#waiting.push(message);
    this.#wake();
  }
  end() {
    this.#ended = true;
    this.#wake();
  }
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift();
      if (this.#ended) return;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }
}

class Host {
  record = {
    messages: [], calls: { permission: 0, hook: 0, tool: 0 }, cancelled: 0, stderr: [], steps: [],
    values: [], fail: [], perm_args: [], loop_errors: [], cpu_ms: 0,
  };
  running = new Set();
  barriers = new Map();
  background = new Map();
  query;
  prompts;
  setup = { options: {}, hooks: [], tools: [] };

  constructor(document) {
    this.document = document;
  }

  /** Takes a step that says with what a session starts; `false` when it is none. */
  takesSetup(step) {
    const { setup } = this;
    if (step.permission) setup.permission = step.permission;
    else if (step.hook) setup.hooks.push(step.hook);
    else if (step.tool) setup.tools.push(step.tool);
    else if (step.stderr_callback) setup.stderr = step.stderr_callback;
    else if (step.options) Object.assign(setup.options, step.options);
    else return false;
    return true;
  }

  options() {
    const { setup } = this;
    const { env, agents_fill: filled, max_buffer_size: maxLineBytes, ...rest } = setup.options;
    const options = {
      pathToClaudeCodeExecutable: process.env.CASE_FAKE_CLI,
      cwd: process.env.CASE_WORK,
      env: { ...process.env, ...env },
      ...(maxLineBytes && { maxLineBytes }),
      ...rest,
    };
    if (rest.cli_path) delete options.pathToClaudeCodeExecutable;
    if (filled) {
      const agent = { description: 'd', prompt: 'p'.repeat(filled / 4) };
      options.agents = Object.fromEntries([0, 1, 2, 3].map((n) => [`a${n}`, agent]));
    }
    if (setup.permission) {
      options.canUseTool = (tool, input, more) => {
        const { suggestions = [], toolUseID, signal } = more;
        this.record.calls.permission += 1;
        this.record.perm_args.push({ tool, input, suggestions: suggestions.length, tool_use_id: toolUseID });
        return call(this, 'permission', setup.permission, tool, signal, input);
      };
    }
    if (setup.hooks.length > 0) {
      options.hooks = {};
      for (const hook of setup.hooks) {
        (options.hooks[hook.event] ??= []).push({
          matcher: hook.matcher,
          timeout: hook.timeout_s,
          hooks: [
            (input, _, { signal }) => {
              this.record.calls.hook += 1;
              return call(this, 'hook', hook.do, input.tool_name, signal);
            },
          ],
        });
      }
    }
    for (const name of new Set(setup.tools.map((tool) => tool.server))) {
      const tools = setup.tools.filter((tool) => tool.server === name).map((tool) =>
        Object.assign(
          towline.tool(
            tool.name,
            tool.description ?? 'd',
            tool.schema ?? { type: 'object', properties: {} },
            (_, { signal }) => {
              this.record.calls.tool += 1;
              return call(this, 'tool', tool.do, tool.name, signal);
            },
          ),
          tool.annotations ? { annotations: tool.annotations } : {},
        ),
      );
      options.mcpServers = {
        ...options.mcpServers,
        [name]: towline.createSdkMcpServer({ name, version: '1.0.0', tools }),
      };
    }
    if (setup.stderr) {
      options.stderr = (text) => {
        this.record.stderr.push(text.replace(/\n$/, ''));
        if (setup.stderr === 'raise') throw new Error('stderr callback');
      };
    }
    return options;
  }

  async receive(until, most) {
    for (let received = 0; ; ) {
      const { done, value } = await this.query.next();
      if (done) {
        if (until === undefined || until === 'end') return;
        throw new StepError(`stream ended before ${until}`);
      }
      this.record.messages.push(recorded(value));
      received += 1;
      if (value.type === until || received >= most) return;
    }
  }

  saved(step) {
    const list = (values) => this.record.values.push(values.map(snake));
    if (step.list_sessions) {
      return towline.listSessions(step.list_sessions).then(list);
    }
    if (step.session_messages) {
      return towline.getSessionMessages(step.session_messages.id, step.session_messages).then(list);
    }
    if (step.rename_session) {
      return towline.renameSession(step.rename_session.id, step.rename_session.title, step.rename_session);
    }
    if (step.tag_session) {
      return towline.tagSession(step.tag_session.id, step.tag_session.tag ?? null, step.tag_session);
    }
    return undefined;
  }

  async step(step) {
    const has = (key) => step[key] !== undefined;
    const saved = this.saved(step);
    if (saved) {
      await saved;
    } else if (has('connect')) {
      this.prompts = new Prompts();
      this.query = towline.query({ prompt: this.prompts, options: this.options() });
      await this.query.initializationResult();
      if (typeof step.prompt === 'string') this.say(step.prompt);
    } else if (has('query')) {
      this.query = towline.query({ prompt: step.query, options: this.options() });
    } else if (has('send_user')) {
      this.say(step.send_user, step.session_id);
    } else if (has('send_user_fill')) {
      this.say('u'.repeat(step.send_user_fill));
    } else if (has('recv_until')) {
      await this.receive(step.recv_until);
    } else if (has('recv_n')) {
      await this.receive(undefined, step.recv_n);
    } else if (has('drop_iterator')) {
      await this.query.return();
    } else if (has('interrupt')) {
      await this.query.interrupt();
    } else if (has('set_model')) {
      await this.query.setModel(step.set_model);
    } else if (has('set_permission_mode')) {
      await this.query.setPermissionMode(step.set_permission_mode);
    } else if (has('mcp_status')) {
      this.record.values.push(await this.query.request('mcp_status'));
    } else if (has('server_info')) {
      this.record.values.push(await this.query.initializationResult());
    } else if (has('background')) {
      this.background.set(step.as, this.timed(step.background));
    } else if (has('join')) {
      await this.background.get(step.join);
    } else if (has('parallel')) {
      await Promise.all(step.parallel.map((one) => this.timed(one)));
    } else if (has('cancel_after_ms')) {
      const done = this.step(step.step);
      await within(step.cancel_after_ms, done).catch((error) => {
        if (!error.timedOut) throw error;
        done.catch(() => {});
      });
    } else if (has('sleep_ms')) {
      await new Promise((resolve) => setTimeout(resolve, step.sleep_ms));
    } else if (has('close')) {
      await this.close();
    } else {
      throw new StepError(`unknown host step ${JSON.stringify(step)}`);
    }
  }

  say(content, sessionId) {
    const message = { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
    this.query.send(sessionId === undefined ? message : { ...message, session_id: sessionId });
  }

  async close() {
    this.prompts?.end();
    await this.query?.return();
  }

  /** Does a step and judges it. */
  async timed(step) {
    const limit = step.timeout_ms ?? STEP;
    const started = performance.now();
    let error;
    try {
      await within(limit, this.step(step));
    } catch (thrown) {
      error = thrown;
    }
    const ms = Math.round(performance.now() - started);
    const name = named(step);
    const fail = judged(step, error);
    if (step.max_ms !== undefined && ms > step.max_ms) fail.push(`took ${ms} ms (max ${step.max_ms})`);
    const told = error && {
      type: error.name,
      text: String(error.message),
      exit_code: error.exitCode ?? null,
    };
    this.record.steps.push({ step: name, ms, error: told ?? null });
    this.record.fail.push(...fail.map((one) => `${name}: ${one}`));
  }

  async run() {
    const { host: steps } = this.document;
    for (const step of steps) {
      if (this.takesSetup(step)) continue;
      if (step.exit_without_close !== undefined) {
        this.write();
        process.exit(0);
      }
      await this.timed(step);
    }
    if (!steps.some((step) => step.close !== undefined)) {
      await within(LAST_CLOSE, this.close()).catch((error) => {
        this.record.fail.push(`final close: ${error.message}`);
      });
    }
    await within(NOTICE, Promise.allSettled(this.running)).catch(() => {});
    this.write();
  }

  write() {
    const { user, system } = process.cpuUsage();
    this.record.cpu_ms = Math.round((user + system) / 1000);
    writeFileSync(process.env.CASE_OUT, JSON.stringify(this.record));
  }
}

/** A message as it came, with the text of an assistant's blocks beside it. */
function recorded(message) {
  if (message.type !== 'assistant') return message;
  const content = message.message?.content;
  const blocks = Array.isArray(content) ? content : [];
  const text = blocks.filter((block) => block?.type === 'text').map((block) => block.text ?? '').join('');
  return { ...message, text, text_len: [...text].length };
}

/** The names of the cases' own form. */
function snake(value) {
  const name = (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const entries = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return Object.fromEntries(entries.map(([key, one]) => [name(key), one]));
}

const host = new Host(JSON.parse(readFileSync(process.argv.at(-1), 'utf8')));
process.on('uncaughtException', (error) => host.record.loop_errors.push(String(error.stack)));
process.on('unhandledRejection', (error) => host.record.loop_errors.push(String(error?.stack ?? error)));
await host.run();
