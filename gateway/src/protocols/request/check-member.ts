/** Validates single request members and words their errors. Independent of the protocol. */
import type { Limits } from '../../config/limits.ts';
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import {
  children,
  elements,
  isInteger,
  type JsonNode,
  jsonText,
  memberName,
  numberValue,
  stringValue,
} from '../../wire/json-node.ts';

const FOUND_CHARS_MAX = 60;

/**
 * The type and range of a member, as in JSON Schema: the check and the OpenAPI document are made from it. Null counts
 * as absent if `isNullable`.
 */
export type MemberType =
  | { readonly type: 'boolean'; readonly isNullable: true; readonly default?: boolean }
  | {
      readonly type: 'number';
      readonly isNullable: true;
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
    }
  | { readonly type: 'integer'; readonly isNullable: boolean; readonly minimum: number; readonly maximum?: number };

export function checkType(node: JsonNode, path: string, type: MemberType): void {
  if (type.type === 'boolean') checkBoolean(node, path);
  else if (type.type === 'number') checkNumber(node, path, type.minimum, type.maximum);
  else checkInteger(node, path, type.minimum, type.isNullable, type.maximum);
}

/** An `invalid_request` error that names the member, what was found and what was expected. */
export function refuse(path: string, node: JsonNode | null, expected: string): CallFailure {
  return invalidRequest(`${path}: found ${node === null ? 'nothing' : found(node)}; expected ${expected}`, path);
}

/** Describes the value in a word or as a short excerpt. */
function found(node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return node.end - node.start > FOUND_CHARS_MAX ? 'a long string' : jsonText(node);
  return jsonText(node).slice(0, FOUND_CHARS_MAX);
}

export function checkKind(node: JsonNode, path: string, kinds: readonly JsonNode['kind'][], expected: string): void {
  if (!kinds.includes(node.kind)) throw refuse(path, node, expected);
}

/** A boolean; null counts as absent. */
export function checkBoolean(node: JsonNode, path: string): boolean {
  if (node.kind === 'true') return true;
  if (node.kind !== 'false' && node.kind !== 'null') throw refuse(path, node, 'true or false');
  return false;
}

/** A number within an inclusive range; null counts as absent. */
export function checkNumber(node: JsonNode, path: string, least: number, most: number): void {
  if (node.kind === 'null') return;
  const value = numberValue(node);
  if (value === undefined || !(value >= least && value <= most)) {
    throw refuse(path, node, `a number from ${least} to ${most}`);
  }
}

/** An integer of at least `least`, and at most `most`; null counts as absent if `nullable`. */
export function checkInteger(
  node: JsonNode,
  path: string,
  least: number,
  nullable: boolean,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (nullable && node.kind === 'null') return;
  const value = numberValue(node);
  if (value === undefined || !isInteger(node) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw refuse(path, node, `an integer ${range}`);
  }
}

/** A string of 1 (or `charsMin`) to `charsMax` characters without control characters. */
export function checkText(node: JsonNode, path: string, charsMax: number, charsMin = 0): string {
  const value = stringValue(node);
  const expected = `a string of ${charsMin} to ${charsMax} characters without control characters`;
  if (value === undefined || value.length < charsMin || isLonger(value, charsMax) || hasControl(value)) {
    throw refuse(path, node, expected);
  }
  return value;
}

/** Whether a text has more than `charsMax` characters, in code points as in JSON Schema. */
function isLonger(text: string, charsMax: number): boolean {
  if (text.length <= charsMax) return false;
  if (text.length > charsMax * 2) return true;
  let chars = 0;
  for (const _ of text) chars += 1;
  return chars > charsMax;
}

/** The elements of an array of `least` to `most` elements. */
export function checkArray(node: JsonNode, path: string, least: number, most: number): JsonNode[] {
  if (node.kind !== 'array') throw refuse(path, node, 'an array');
  const found = elements(node);
  if (found.length < least || found.length > most) {
    throw invalidRequest(`${path}: found ${found.length} elements; expected ${least} to ${most}`, path);
  }
  return found;
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 32 || (code >= 127 && code < 160)) return true;
  }
  return false;
}

/** Null counts as absent; values that are not strings pass (upstream judges them). */
export function checkMetadata(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkKind(node, 'metadata', ['object'], 'an object');
  for (const value of children(node)) {
    const name = memberName(value);
    if (isLonger(name, limits.metadataKeyMax)) {
      throw refuse('metadata', node, `keys of at most ${limits.metadataKeyMax} characters`);
    }
    if (stringValue(value) !== undefined) checkText(value, `metadata.${name}`, limits.metadataValueMax);
  }
}

/** Null counts as absent. */
export function checkTools(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkArray(node, 'tools', 0, limits.toolsMax).forEach((tool, index) => {
    checkKind(tool, `tools.${index}`, ['object'], 'a tool definition (an object)');
  });
}
