/**
 * Defines the unit of every answer body: one SSE record, or a whole plain body, with the usage it reports. Does no I/O.
 */

/** A usage object with the protocol's own member names. */
export type WireUsage = Readonly<Record<string, unknown>>;

/**
 * One SSE record with its blank line, or a plain body (or a slice of one). `usage` is what these bytes report, else
 * null.
 */
export interface BodyPart {
  readonly bytes: Uint8Array;
  readonly usage: WireUsage | null;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const LF = 10;
const CR = 13;

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes leniently: invalid UTF-8 becomes U+FFFD, because the text is only inspected, never sent on. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Joins parts into one run of bytes. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  let total = 0;
  for (const piece of pieces) total += piece.byteLength;
  const joined = new Uint8Array(total);
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.byteLength;
  }
  return joined;
}

/**
 * Returns the usage that a JSON text reports: top-level `usage` or `usageMetadata`, or `message.usage` of
 * `message_start`.
 */
function usageIn(json: string): WireUsage | null {
  if (!json.includes('"usage"') && !json.includes('"usageMetadata"')) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  if (isObject(parsed.usage)) return parsed.usage;
  if (isObject(parsed.usageMetadata)) return parsed.usageMetadata;
  if (isObject(parsed.message) && isObject(parsed.message.usage)) return parsed.message.usage;
  return null;
}

/** Returns the joined `data:` lines of one SSE record; null if it has none (a comment, a lone event line). */
export function sseDataOf(recordText: string): string | null {
  const lines = recordText.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
}

/** A plain body as one part. */
export function plainPart(bytes: Uint8Array): BodyPart {
  return { bytes, usage: usageIn(textOf(bytes)) };
}

/** One SSE record given as text, blank line included. */
export function recordPart(text: string): BodyPart {
  return { bytes: utf8(text), usage: usageIn(sseDataOf(text) ?? '') };
}

function lineEndLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] === CR) return bytes[at + 1] === LF ? 2 : 1;
  return 0;
}

/**
 * Splits an SSE body into its records without changing a byte: each part ends with its blank line, the last may lack
 * one. LF, CRLF and CR all end a line (https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.5).
 */
export function splitRecords(body: Uint8Array): BodyPart[] {
  const parts: BodyPart[] = [];
  const push = (from: number, to: number): void => {
    const bytes = body.subarray(from, to);
    parts.push({ bytes, usage: usageIn(sseDataOf(textOf(bytes)) ?? '') });
  };
  let start = 0;
  let at = 0;
  while (at < body.byteLength) {
    const first = lineEndLength(body, at);
    if (first === 0) {
      at += 1;
      continue;
    }
    at += first;
    let blank = lineEndLength(body, at);
    if (blank === 0) continue;
    while (blank > 0) {
      at += blank;
      blank = lineEndLength(body, at);
    }
    push(start, at);
    start = at;
  }
  if (start < body.byteLength) push(start, body.byteLength);
  return parts;
}
