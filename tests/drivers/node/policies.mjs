// Callbacks that do what a policy of a case says.

const AT_A_BARRIER = 5_000;

/** Waits until the promise settles or the request is taken back. */
async function unlessAborted(signal, promise) {
  if (signal.aborted) throw signal.reason;
  let abort;
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function barrier(host, name, count) {
  const one = host.barriers.get(name) ?? { come: 0, waiting: [] };
  host.barriers.set(name, one);
  one.come += 1;
  if (one.come >= count) {
    for (const open of one.waiting.splice(0)) open();
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('nobody else came to the barrier')), AT_A_BARRIER);
    one.waiting.push(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

async function settle(host, kind, policy, tool, signal, input) {
  const { by_tool: byTool } = policy;
  let now = byTool ? (byTool[tool] ?? {}) : policy;
  for (;;) {
    if (now.barrier) {
      await unlessAborted(signal, barrier(host, now.name ?? kind, now.barrier));
    } else if (now.sleep_ms !== undefined) {
      let timer;
      const slept = new Promise((resolve) => (timer = setTimeout(resolve, now.sleep_ms)));
      try {
        await unlessAborted(signal, slept);
      } finally {
        // Or it would keep the program alive.
        clearTimeout(timer);
      }
    } else if (now.call) {
      await host.step(now.call);
    } else {
      return answer(kind, now, input);
    }
    now = now.then ?? {};
  }
}

function answer(kind, policy, input) {
  if (policy.raise !== undefined) throw new Error(String(policy.raise));
  if (kind === 'permission') {
    if (policy.return_raw !== undefined) return policy.return_raw;
    if (policy.deny !== undefined) {
      const interrupt = policy.interrupt === true ? { interrupt: true } : {};
      return { behavior: 'deny', message: String(policy.deny), ...interrupt };
    }
    return { behavior: 'allow', updatedInput: policy.updated_input ?? input };
  }
  if (kind === 'hook') return policy.return ?? {};
  if (policy.return_big) return { content: [{ type: 'text', text: 'y'.repeat(policy.return_big) }] };
  return policy.return;
}

/** Runs a callback of the case. */
export async function call(host, kind, policy, tool, signal, input) {
  const running = settle(host, kind, policy ?? {}, tool, signal, input);
  host.running.add(running);
  try {
    return await running;
  } catch (error) {
    if (signal.aborted) host.record.cancelled += 1;
    throw error;
  } finally {
    host.running.delete(running);
  }
}
