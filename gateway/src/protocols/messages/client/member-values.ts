/**
 * Reads the members of a request object by their required type; `null` counts as absent. Also parses cache marks, and
 * reports unread members.
 */
import type { CacheMark } from '../../../generation/part.ts';
import { children, type JsonNode, member, memberName, numberValue, stringValue } from '../../../wire/json-node.ts';
import { memberPath } from '../../../wire/json-problem.ts';
import { checkBoolean, refuse } from '../../request/request-facts.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';

/** The member's value; null if absent or `null`. */
export function given(node: JsonNode, name: string): JsonNode | null {
  const value = member(node, name);
  return value === undefined || value.kind === 'null' ? null : value;
}

/** A text that may be empty. Throws if it is absent or not a string. */
export function requiredText(node: JsonNode, name: string, path: string): string {
  return optionalText(node, name, path) ?? throwAbsent(memberPath(path, name), 'a string');
}

export function optionalText(node: JsonNode, name: string, path: string): string | null {
  const value = given(node, name);
  if (value === null) return null;
  const text = stringValue(value);
  if (text === undefined) throw refuse(memberPath(path, name), value, 'a string');
  return text;
}

export function requiredObject(node: JsonNode, name: string, path: string, expected: string): JsonNode {
  return optionalObject(node, name, path, expected) ?? throwAbsent(memberPath(path, name), expected);
}

export function optionalObject(node: JsonNode, name: string, path: string, expected: string): JsonNode | null {
  const value = given(node, name);
  if (value !== null && value.kind !== 'object') throw refuse(memberPath(path, name), value, expected);
  return value;
}

/** True only if the member is `true`. */
export function optionalFlag(node: JsonNode, name: string, path: string): boolean {
  const value = given(node, name);
  return value !== null && checkBoolean(value, memberPath(path, name));
}

/** A number within a closed range; an integer if `whole`. */
export function optionalNumber(
  node: JsonNode,
  name: string,
  least: number,
  most: number,
  whole = false,
): number | null {
  const value = given(node, name);
  if (value === null) return null;
  const found = numberValue(value);
  if (found === undefined || !(found >= least && found <= most) || (whole && !Number.isSafeInteger(found))) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw refuse(name, value, `${whole ? 'an integer' : 'a number'} ${range}`);
  }
  return found;
}

/** The member as one of the allowed strings; null if absent. */
export function optionalWord<Word extends string>(
  node: JsonNode,
  name: string,
  path: string,
  words: readonly Word[],
): Word | null {
  const value = given(node, name);
  if (value === null) return null;
  const text = stringValue(value);
  const word = words.find((one) => one === text);
  if (word === undefined) throw refuse(memberPath(path, name), value, words.map((one) => `"${one}"`).join(' or '));
  return word;
}

/**
 * Reports every member that is not read; `null` needs no report. `prefix` is the path of the object as the client would
 * write it.
 */
export function dropOthers(node: JsonNode, known: ReadonlySet<string>, prefix: string, notes: TranslationNotes): void {
  for (const value of children(node)) {
    if (value.kind === 'null') continue;
    const name = memberName(value);
    if (!known.has(name))
      notes.drop(memberPath(prefix, name), 'only Anthropic understands it, and it goes to another host');
  }
}

function throwAbsent(path: string, expected: string): never {
  throw refuse(path, null, expected);
}

const KNOWN = new Set(['type', 'ttl']);
const TTL_MINUTES = { '5m': 5, '1h': 60 } as const;

/** The mark on a block, a tool or (`path` empty) the request; null if absent. */
export function parseCacheMark(node: JsonNode, path: string, notes: TranslationNotes): CacheMark | null {
  const mark = optionalObject(node, 'cache_control', path, 'an object {"type": "ephemeral"}');
  if (mark === null) return null;
  const at = memberPath(path, 'cache_control');
  if (optionalWord(mark, 'type', at, ['ephemeral']) === null) throw refuse(`${at}.type`, null, '"ephemeral"');
  const ttl = optionalWord(mark, 'ttl', at, ['5m', '1h']);
  dropOthers(mark, KNOWN, 'cache_control', notes);
  return { ttlMinutes: ttl === null ? null : TTL_MINUTES[ttl] };
}
