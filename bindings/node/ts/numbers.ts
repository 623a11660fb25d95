/** Numbers that JSON has no words for, other values that it has none for, and numbers that a clock has no use for. */
import { TowlineError } from './errors.js';

/** What JSON would leave out, or refuse without a name. */
const WORDLESS: Partial<Record<string, string>> = { bigint: 'a BigInt', function: 'a function', symbol: 'a symbol' };

/**
 * Throws for what JSON cannot say, anywhere in the options: a number that is none or has no end (it would
 * make `null` of it), a BigInt, a function, a symbol, an object within itself.
 */
export function checkValues(what: string, given: object, path = '', within: object[] = []): void {
  for (const [name, value] of Object.entries(given)) {
    const at = path === '' ? name : Array.isArray(given) ? `${path}[${name}]` : `${path}.${name}`;
    const wrong = (text: string): TowlineError => new TowlineError('INVALID_OPTIONS', `${what} ${at} ${text}`);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      const ms = name.endsWith('Ms') ? ' of milliseconds' : '';
      throw wrong(`must be a finite number${ms}, not ${value}`);
    }
    const wordless = WORDLESS[typeof value];
    if (wordless !== undefined) throw wrong(`cannot be ${wordless}`);
    // What is no plain object writes itself in its own way.
    const isPlain = Array.isArray(value) || (typeof value === 'object' && value !== null && !(typeof value.toJSON === 'function'));
    if (!isPlain) continue;
    if (within.includes(value)) throw wrong('cannot be an object that is within itself');
    checkValues(what, value, at, [...within, value]);
  }
}

/** Throws for what is no time to wait. */
export function checkMilliseconds(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new TowlineError('INVALID_ARGUMENT', `${name} has to be a number of milliseconds, 0 or more, or null for no limit, and it is ${shown}`);
}
