/** Owns the reading of JSON that somebody else wrote: narrowing without trust. Parses nothing by itself. */

export type JsonObject = { readonly [member: string]: unknown };

/** The value as an object with members; null for anything else, arrays too. */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The object that a JSON text holds; null where it is not JSON, or no object. */
export function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The value as an array; empty for anything else. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text that is not empty; null for anything else. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** More than any model takes and makes in one call; the ledger's 64 bits hold what it costs at the highest price. */
const TOKENS_MAX = 10_000_000;

/** A count of tokens: an integer from 0 to TOKENS_MAX; `absent` where there is none; `invalid` for anything else. */
export function asCount(value: unknown): number | 'absent' | 'invalid' {
  if (value === undefined || value === null) return 'absent';
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : 'invalid';
}

/** A count of tokens; 0 where there is none that holds. */
export function countOrZero(value: unknown): number {
  const count = asCount(value);
  return typeof count === 'number' ? count : 0;
}

/** Bytes of all text inside a value, to count tokens by where upstream counted none. Depth is bounded by the caller's parse. */
export function textBytes(value: unknown): number {
  const open: unknown[] = [value];
  let bytes = 0;
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    if (typeof next === 'string') bytes += Buffer.byteLength(next);
    else if (Array.isArray(next)) open.push(...next.slice(0, 100_000));
    else if (typeof next === 'object' && next !== null) open.push(...Object.values(next));
  }
  return bytes;
}
