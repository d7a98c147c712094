/** Narrows untrusted JSON values to objects, arrays, strings, token counts and counts of server-side tool requests. */

export type JsonObject = { readonly [member: string]: unknown };

/** The value as an object; null for anything else, including arrays. */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** Parses a JSON object; null if the text is not JSON or not an object. */
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

/** The value as a non-empty string; null for anything else. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Longer than any name; more would be repeated in each chunk of a stream, and no frame of the journal would hold it. */
const NAME_CHARS_MAX = 256;

/** A name or word of a provider, such as a model or a reason: as `asText`, cut where it is longer than any. */
export function asName(value: unknown): string | null {
  const text = asText(value);
  return text === null || text.length <= NAME_CHARS_MAX ? text : text.slice(0, NAME_CHARS_MAX).toWellFormed();
}

/** More than any model reads and writes in one call; at the highest price the cost still fits the ledger's 64 bits. */
const TOKENS_MAX = 10_000_000;

/** A token count: an integer from 0 to TOKENS_MAX; `absent` for undefined and null; `invalid` for anything else. */
export function asCount(value: unknown): number | 'absent' | 'invalid' {
  if (value === undefined || value === null) return 'absent';
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : 'invalid';
}

/** A token count; 0 if absent or invalid. */
export function countOrZero(value: unknown): number {
  const count = asCount(value);
  return typeof count === 'number' ? count : 0;
}

/** UTF-8 bytes of all strings in a value, to estimate uncounted tokens. The caller's parse bounds the depth. */
export function textBytes(value: unknown): number {
  const open: unknown[] = [value];
  let bytes = 0;
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    if (typeof next === 'string') bytes += Buffer.byteLength(next);
    // Member by member: a call takes no million arguments.
    else if (Array.isArray(next)) for (const one of next.slice(0, 100_000)) open.push(one);
    else if (typeof next === 'object' && next !== null) for (const one of Object.values(next)) open.push(one);
  }
  return bytes;
}

/** The number of requests of one kind of tool. */
export type ToolRequests = readonly [kind: string, requests: number];

/** More requests of one kind than any answer makes: a larger count is invalid. Keeps a bill within 64 bits. */
const REQUESTS_MAX = 10_000;

const REQUESTS_MEMBER = /^(.+)_requests$/;

/** Requests by kind of a `server_tool_use` object, including unknown kinds and counts of 0. */
export function readServerToolUse(value: unknown): readonly ToolRequests[] {
  const given = asObject(value);
  if (given === null) return [];
  return Object.keys(given).flatMap((name) => {
    const kind = REQUESTS_MEMBER.exec(name)?.[1];
    const requests = readRequests(given[name]);
    return kind === undefined || requests === null ? [] : [[kind, requests] as const];
  });
}

/** Null: absent or invalid. */
export function readRequests(value: unknown): number | null {
  const count = asCount(value);
  return typeof count === 'number' && count <= REQUESTS_MAX ? count : null;
}
