/** Reads and type-checks members and cache marks of bodies, where null counts as absent, as OpenAI's formats have them. */
import type { CacheMark } from '../../generation/part.ts';
import type { Feature } from '../../generation/request.ts';
import {
  children,
  elements,
  type JsonNode,
  member,
  memberName,
  numberValue,
  stringValue,
} from '../../wire/json-node.ts';
import { checkBoolean, checkInteger, checkNumber, refuse } from '../request/request-facts.ts';
import type { TranslationNotes } from '../request/translation-notes.ts';

/** State collected while one request is parsed. */
export interface RequestReading {
  readonly notes: TranslationNotes;
  /** The member that requested each feature. */
  readonly named: { [feature in Feature]?: string };
}

/** The member's value; undefined where it is absent or null. */
export function given(node: JsonNode, name: string): JsonNode | undefined {
  const found = member(node, name);
  return found === undefined || found.kind === 'null' ? undefined : found;
}

/** A required string. Throws CallFailure. */
export function readText(node: JsonNode | undefined, path: string, expected = 'a string'): string {
  const text = node === undefined ? undefined : stringValue(node);
  if (text === undefined) throw refuse(path, node ?? null, expected);
  return text;
}

/** A required, non-empty string. Throws CallFailure. */
export function readName(node: JsonNode | undefined, path: string, expected: string): string {
  const name = readText(node, path, expected);
  if (name === '') throw refuse(path, node ?? null, expected);
  return name;
}

export function readOptionalText(node: JsonNode, name: string, path: string): string | null {
  const found = given(node, name);
  return found === undefined ? null : readText(found, path);
}

export function readOptionalBoolean(node: JsonNode, name: string, path: string): boolean | null {
  const found = given(node, name);
  return found === undefined ? null : checkBoolean(found, path);
}

/** A required object. Throws CallFailure. */
export function readObject(node: JsonNode | undefined, path: string, expected = 'an object'): JsonNode {
  if (node?.kind !== 'object') throw refuse(path, node ?? null, expected);
  return node;
}

/** The elements of a required array. Throws CallFailure. */
export function readList(node: JsonNode, path: string, expected: string): readonly JsonNode[] {
  if (node.kind !== 'array') throw refuse(path, node, expected);
  return elements(node);
}

/** A top-level feature that is a number within a range. */
export function readNumberFeature(
  root: JsonNode,
  feature: Feature & ('temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty'),
  range: readonly [number, number],
  reading: RequestReading,
): number | null {
  const found = given(root, feature);
  if (found === undefined) return null;
  checkNumber(found, feature, ...range);
  reading.named[feature] = feature;
  return numberValue(found) ?? null;
}

/** A top-level feature that is an integer. */
export function readIntegerFeature(
  root: JsonNode,
  member: string,
  feature: Feature,
  least: number,
  reading: RequestReading,
): number | null {
  const found = given(root, member);
  if (found === undefined) return null;
  checkInteger(found, member, least, true);
  reading.named[feature] = member;
  return numberValue(found) ?? null;
}

/** A top-level feature that is true or false. */
export function readBooleanFeature(
  root: JsonNode,
  feature: Feature & 'parallel_tool_calls',
  reading: RequestReading,
): boolean | null {
  const found = readOptionalBoolean(root, feature, feature);
  if (found !== null) reading.named[feature] = feature;
  return found;
}

/** A top-level feature that is a string. */
export function readTextFeature(
  root: JsonNode,
  member: string,
  feature: Feature,
  reading: RequestReading,
): string | null {
  const found = readOptionalText(root, member, member);
  if (found !== null) reading.named[feature] = member;
  return found;
}

/**
 * Drops unknown members, reported as `place.member`: without indices, so that a long conversation reports each once.
 * Does not report void values (null, false, an empty string, array or object).
 */
export function dropUnknown(
  node: JsonNode,
  known: ReadonlySet<string>,
  place: string,
  { notes }: RequestReading,
): void {
  for (const found of children(node)) {
    const name = memberName(found);
    if (!known.has(name) && !isVoid(found)) notes.drop(place === '' ? name : `${place}.${name}`, UNKNOWN);
  }
}

export const UNKNOWN = 'is no member that can be carried to the model behind this name';

/** Whether a value means the same as its absence. */
export function isVoid(node: JsonNode): boolean {
  switch (node.kind) {
    case 'null':
    case 'false':
      return true;
    case 'string':
      return stringValue(node) === '';
    case 'array':
    case 'object':
      return children(node).length === 0;
    default:
      return false;
  }
}

export const MARK_MEMBERS = ['cache_control', 'prompt_cache_breakpoint'] as const;

const KNOWN = new Set(['type', 'mode', 'ttl']);

const TTL_MINUTES: ReadonlyMap<string, number> = new Map([
  ['5m', 5],
  ['30m', 30],
  ['1h', 60],
  ['12h', 720],
]);

/** The cache mark on a part, message, tool or whole request; null: none. Wire reference A.3 and C.7. */
export function parseCacheMark(holder: JsonNode, path: string, reading: RequestReading): CacheMark | null {
  for (const name of MARK_MEMBERS) {
    const found = given(holder, name);
    if (found === undefined) continue;
    const at = path === '' ? name : `${path}.${name}`;
    const mark = readObject(found, at, 'an object such as {"type":"ephemeral"}');
    dropUnknown(mark, KNOWN, name, reading);
    reading.named.cache_marks ??= name;
    return { ttlMinutes: parseTtl(mark, `${at}.ttl`) };
  }
  return null;
}

function parseTtl(mark: JsonNode, path: string): number | null {
  const ttl = readOptionalText(mark, 'ttl', path);
  if (ttl === null) return null;
  const minutes = TTL_MINUTES.get(ttl);
  if (minutes === undefined)
    throw refuse(path, given(mark, 'ttl') ?? null, `one of ${[...TTL_MINUTES.keys()].join(', ')}`);
  return minutes;
}
