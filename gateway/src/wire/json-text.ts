/** Owns turning a checked JSON span into JavaScript text. It checks nothing: the scan has. */

import { BACKSLASH } from './json-bytes.ts';

/** The text of a JSON string token, quotes included in the span, with its escapes resolved; lone surrogates stay what they are. */
export function stringText(bytes: Uint8Array, start: number, end: number): string {
  for (let i = start; i < end; i++)
    if (bytes[i] === BACKSLASH) return JSON.parse(spanText(bytes, start, end)) as string;
  return spanText(bytes, start + 1, end - 1);
}

/** The text of `bytes[start, end)`, decoded as UTF-8. */
export function spanText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}
