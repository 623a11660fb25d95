/** Values in words. */

/** The JSON of a value, which has some. */
export function stringified(what: string, value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${what} is a ${typeof value}, for which JSON has no words`);
  return text;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
