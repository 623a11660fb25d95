/** Messages that have come, and how their JSON becomes objects. */
import { PIECES, SINGLE, type NativeSession } from './native.js';

/** Messages that have come: a text that is parsed when the first of them is taken. */
export interface Unread {
  /** `undefined` where the messages are there already. */
  text: string | undefined;
  single: boolean;
  messages: any[];
  /** How many characters they have, about. */
  size: number;
}

/** What a drain gave. */
export function unread(native: NativeSession, text: string, flags: number): Unread {
  if ((flags & PIECES) === 0) return { text, single: (flags & SINGLE) !== 0, messages: [], size: text.length };
  const [message, size] = joined(native, text);
  return { text: undefined, single: true, messages: [message], size };
}

export function parse({ text, single, messages }: Unread): any[] {
  if (text === undefined) return messages;
  return single ? [JSON.parse(text)] : JSON.parse(text);
}

/**
 * A message whose long strings come piece by piece, from the end: what was taken of its text is freed
 * on the other side, so that there are never two copies of it.
 */
function joined(native: NativeSession, text: string): [message: any, size: number] {
  const [message, ...paths]: [any, ...(string | number)[][]] = JSON.parse(text);
  let size = text.length;
  for (const path of paths.reverse()) {
    let string = '';
    for (let piece = native.piece(); piece !== null; piece = native.piece()) {
      string = (piece.startsWith('"') ? JSON.parse(piece) : piece) + string;
    }
    size += string.length;
    const last = path.pop()!;
    // The member is there, and the object's own, whatever its name is.
    path.reduce((value, step) => value[step], message)[last] = string;
  }
  return [message, size];
}
