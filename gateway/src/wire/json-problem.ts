/** Words the messages of refused JSON texts: where, what was found, what was expected. */

/** Why a text was refused. */
export type JsonProblemCode =
  | 'empty'
  | 'bom'
  | 'utf8'
  | 'syntax'
  | 'depth'
  | 'keys'
  | 'key-length'
  | 'duplicate-key'
  | 'outline-size';

/** A refusal. `message` is complete and safe to show to the client: it quotes keys and single bytes, never a value. */
export interface JsonProblem {
  readonly ok: false;
  readonly code: JsonProblemCode;
  readonly message: string;
  /** The position of the problem, in bytes from 0. */
  readonly offset: number;
  /** The same place as line and column, both from 1, the column in bytes. */
  readonly line: number;
  readonly column: number;
  /** The path of the value that contains it, such as `messages[3].content`; empty for the root. */
  readonly path: string;
}

const KEY_CHARS_MAX = 64;

/** Formats `invalid JSON at messages[3].content (line 1, column 812): found …; expected …`. */
export function describeProblem(
  code: JsonProblemCode,
  place: Pick<JsonProblem, 'offset' | 'line' | 'column' | 'path'>,
  found: string,
  expected: string,
): JsonProblem {
  const lines = `line ${place.line}, column ${place.column}`;
  const where = place.path === '' ? lines : `${place.path} (${lines})`;
  const message = `invalid JSON at ${where}: found ${found}; expected ${expected}`;
  return { ok: false, code, message, ...place };
}

/** Appends a member to a path: `a.b`, or `a["odd key"]`; a long key is truncated and marked with `…`. */
export function memberPath(path: string, key: string): string {
  if (/^[A-Za-z_$][\w$-]{0,63}$/.test(key)) return path === '' ? key : `${path}.${key}`;
  return `${path}[${quoteKey(key)}]`;
}

/** A key in quotes for a message, truncated if long. */
export function quoteKey(key: string): string {
  return key.length <= KEY_CHARS_MAX ? JSON.stringify(key) : `${JSON.stringify(key.slice(0, KEY_CHARS_MAX))}…`;
}

/** A byte of the text for a message: a printable character in quotes, others by number. */
export function nameByte(byte: number | undefined): string {
  if (byte === undefined) return 'the end of the text';
  if (byte > 0x20 && byte < 0x7f) return byte === 0x27 ? `"'"` : `'${String.fromCharCode(byte)}'`;
  return `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
