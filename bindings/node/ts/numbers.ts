/** Numbers that JSON has no words for, and those that a clock has no use for. */
import { TowlineError } from './errors.js';

/** Throws for a number that is none or has no end, anywhere in the options: JSON would make `null` of it. */
export function checkNumbers(what: string, given: object, path = '', within: object[] = []): void {
  for (const [name, value] of Object.entries(given)) {
    const at = path === '' ? name : Array.isArray(given) ? `${path}[${name}]` : `${path}.${name}`;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      const ms = name.endsWith('Ms') ? ' of milliseconds' : '';
      throw new TowlineError('INVALID_OPTIONS', `${what} ${at} must be a finite number${ms}, not ${value}`);
    }
    // What is no plain object writes itself in its own way.
    const isPlain = Array.isArray(value) || (typeof value === 'object' && value !== null && !(typeof value.toJSON === 'function'));
    if (isPlain && !within.includes(value)) checkNumbers(what, value, at, [...within, value]);
  }
}

/** Throws for what is no time to wait. */
export function checkMilliseconds(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new TowlineError('INVALID_ARGUMENT', `${name} has to be a number of milliseconds, 0 or more, or null for no limit, and it is ${shown}`);
}
