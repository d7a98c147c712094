/**
 * Extracts values from a JSON text verbatim: digits, order and duplicate keys survive, which a parse loses and a scan
 * refuses. The text must already be known to be valid JSON.
 */

import { JsonEnd } from '../generation/json-end.ts';
import type { JsonText } from '../generation/part.ts';

/** The text of an object's member, the last one if the key is duplicated (as JSON.parse reads it); null: absent. */
export function memberText(json: JsonText, name: string): JsonText | null {
  const plain = JSON.stringify(name);
  let found: JsonText | null = null;
  walk(json, '{', (start, keyEnd) => {
    const key = json.slice(start, keyEnd);
    const valueStart = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = valueEnd(json, valueStart);
    if (key === plain || (key.includes('\\') && JSON.parse(key) === name)) found = json.slice(valueStart, end);
    return end;
  });
  return found;
}

/** The text of the value at a path of member names and array indices; null: absent. */
export function valueText(json: JsonText, path: ReadonlyArray<string | number>): JsonText | null {
  let found: JsonText | null = json;
  for (const step of path) {
    if (found === null) return null;
    found = typeof step === 'string' ? memberText(found, step) : (elementTexts(found)[step] ?? null);
  }
  return found;
}

/** The texts of an array's elements; none for anything else. */
export function elementTexts(json: JsonText): JsonText[] {
  const texts: JsonText[] = [];
  walk(json, '[', (start, end) => {
    texts.push(json.slice(start, end));
    return end;
  });
  return texts;
}

/** Visits the values (of an object: the keys) on the first level; `visit` returns the end of the entry. */
function walk(json: string, bracket: '{' | '[', visit: (start: number, end: number) => number): void {
  let at = skipSpace(json, 0);
  if (json[at] !== bracket) return;
  at = skipSpace(json, at + 1);
  while (at < json.length && json[at] !== '}' && json[at] !== ']') {
    const next = skipSpace(json, visit(at, valueEnd(json, at)));
    at = json[next] === ',' ? skipSpace(json, next + 1) : next;
  }
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (isSpace(json.charCodeAt(at))) at += 1;
  return at;
}

function valueEnd(json: string, start: number): number {
  const first = json[start];
  if (first === '{' || first === '[' || first === '"') {
    const end = new JsonEnd().push(json, start);
    return end === -1 ? json.length : end;
  }
  let at = start;
  while (at < json.length && !isSpace(json.charCodeAt(at)) && !',]}'.includes(json.charAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
