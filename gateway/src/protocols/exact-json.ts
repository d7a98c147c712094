/**
 * Reads and completes JSON texts verbatim: digits, order and duplicate keys survive, which a parse loses and a scan
 * refuses. The texts must already be known to be valid JSON, except those of arguments and schemas, which it checks.
 */
import { JsonEnd } from '../generation/json-end.ts';
import type { JsonText } from '../generation/part.ts';
import { type JsonNode, type JsonOutline, jsonText, member, stringValue } from '../wire/json-node.ts';
import type { JsonProblem } from '../wire/json-problem.ts';
import { scanJson } from '../wire/json-scan.ts';
import { spliceJson } from '../wire/json-splice.ts';
import { parseObject } from './json.ts';
import { refuseMember } from './request/translation-notes.ts';

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

/** The object with other keys on its first level, each value as written; the same text for anything else. */
export function renameKeys(json: JsonText, names: ReadonlyMap<string, string>): JsonText {
  let text = '';
  let from = 0;
  walk(json, '{', (start, keyEnd) => {
    const name = names.get(readKey(json.slice(start, keyEnd)));
    if (name !== undefined) {
      text += json.slice(from, start) + JSON.stringify(name);
      from = keyEnd;
    }
    return valueEnd(json, skipSpace(json, skipSpace(json, keyEnd) + 1));
  });
  return text + json.slice(from);
}

/** A key that was cut off stays as written. */
function readKey(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
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

/** For text that a model or a client wrote inside a body already checked against the operator's limits. */
const LIMITS = { depthMax: 1000, keysPerObjectMax: 1_000_000, outlineDepth: 1 };

const NO_ARGUMENTS = '{"type":"object","properties":{}}';

/** Arguments of a call as a JSON object; empty arguments are `{}`. Throws at `path` for anything else. */
export function exactArguments(written: string, path: string): JsonText {
  if (written.trim() === '') return '{}';
  const outcome = scanText(written);
  const whole = outcome.ok ? outcome.root.kind === 'object' : isDoubled(outcome, written);
  if (whole) return escapeHalves(written);
  const found = outcome.ok ? `JSON of kind ${outcome.root.kind}` : outcome.message;
  throw refuseMember(path, `found ${found}; expected JSON of an object: mend the call in the history`);
}

/**
 * The schema of a tool's arguments, with type object as Anthropic requires. Throws at `path` for a schema of another
 * type.
 */
export function objectSchema(schema: JsonText | null, path: string): JsonText {
  if (schema === null) return NO_ARGUMENTS;
  const outcome = scanText(schema);
  if (!outcome.ok) throw refuseMember(path, outcome.message);
  const { root } = outcome;
  if (root.kind !== 'object') throw refuseMember(path, `found ${root.kind}; expected a JSON Schema (an object)`);
  const type = member(root, 'type');
  if (type !== undefined && type.kind !== 'null') {
    if (stringValue(type) === 'object') return schema;
    const found = jsonText(type).slice(0, 60);
    throw refuseMember(
      path,
      `found a schema of type ${found}; expected "object": put the value into a property of one`,
    );
  }
  return Buffer.from(spliceJson(outcome, [{ set: ['type'], json: '"object"' }])).toString();
}

const SCHEMA_LIMITS = { ...LIMITS, outlineDepth: LIMITS.depthMax };

/** The root of a schema; null for a text that is no JSON object, or has duplicate members. */
export function scanSchema(schema: JsonText): JsonNode | null {
  const outcome = scanJson(Buffer.from(schema), SCHEMA_LIMITS);
  return outcome.ok && outcome.root.kind === 'object' ? outcome.root : null;
}

/** The key of a member as written, including quotes. */
export function keyText({ outline, keyStart, keyEnd }: JsonNode): JsonText {
  return Buffer.from(outline.bytes.subarray(keyStart, keyEnd)).toString();
}

export function writeObject(members: Iterable<readonly [key: JsonText, value: JsonText]>): JsonText {
  return `{${[...members].map(([key, value]) => `${key}:${value}`).join(',')}}`;
}

/** A schema of these keywords; `words`, on keywords that cannot be sent, join its description. */
export function writeSchema(keywords: ReadonlyMap<string, JsonText>, words: readonly string[]): JsonText {
  const written = new Map(keywords);
  if (words.length > 0) {
    const before: unknown = JSON.parse(keywords.get('description') ?? '""');
    const description = typeof before === 'string' && before !== '' ? `${before}\n\n` : '';
    written.set('description', JSON.stringify(`${description}{${words.join(', ')}}`));
  }
  return writeObject([...written].map(([keyword, text]) => [JSON.stringify(keyword), text]));
}

function scanText(text: string): JsonOutline | JsonProblem {
  return scanJson(Buffer.from(text), LIMITS);
}

/** Duplicate keys come from the model; upstream decides how to read them. */
function isDoubled(problem: JsonProblem, written: string): boolean {
  return problem.code === 'duplicate-key' && parseObject(written) !== null;
}

/** Lone surrogates have no UTF-8 encoding; JSON can hold them as escapes. */
function escapeHalves(json: string): JsonText {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
