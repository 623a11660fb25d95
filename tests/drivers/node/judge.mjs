// How steps fail, and whether that is what the case wants.

export class StepError extends Error {
  name = 'Driver';
  timedOut = false;

  static timeout(limit) {
    const error = new StepError(`step did not finish within ${limit} ms`);
    error.name = 'Timeout';
    error.timedOut = true;
    return error;
  }
}

/** A step's name: the step without what it is judged by, cut. */
export function named({ error: _, max_ms: __, timeout_ms: ___, ...step }) {
  return JSON.stringify(step).slice(0, 100);
}

/** What is wrong with how a step ended. */
export function judged({ error: wanted }, error) {
  if (!error) return wanted && wanted !== 'optional' ? ['no error'] : [];
  const text = String(error.message);
  const shown = `${error.name}: ${text.slice(0, 300)}`;
  if (!wanted) return [`unexpected ${shown}`];
  const fail = [];
  if (typeof wanted === 'object') {
    for (const part of wanted.contains ?? []) {
      if (!text.includes(part)) fail.push(`error lacks ${JSON.stringify(part)}: ${shown}`);
    }
    for (const part of wanted.lacks ?? []) {
      if (text.includes(part)) fail.push(`error has ${JSON.stringify(part)}: ${shown}`);
    }
    if (wanted.exit_code !== undefined && wanted.exit_code !== error.exitCode) {
      fail.push(`exit code ${error.exitCode}, wanted ${wanted.exit_code} (${shown})`);
    }
  }
  if (error.timedOut && wanted !== 'optional') fail.push('hung instead of an error');
  return fail;
}
