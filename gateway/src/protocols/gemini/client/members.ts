/**
 * Reads members of Gemini's JSON as protobuf does: each in camel case or in snake case, and a list of one element with or
 * without its brackets. Null counts as absent. https://protobuf.dev/programming-guides/json, read 2026-11-23.
 */
import { children, elements, type JsonNode, member, memberName } from '../../../wire/json-node.ts';
import { isVoid, type RequestReading, readText, UNKNOWN } from '../../openai/read-member.ts';

/** Snake-case names by the camel-case names of this half's own tables. */
const SNAKE = new Map<string, string>();

function snakeOf(name: string): string {
  let snake = SNAKE.get(name);
  if (snake === undefined) {
    snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SNAKE.set(name, snake);
  }
  return snake;
}

/** The value of a member by its camel-case name; undefined where it is absent or null. */
export function given(node: JsonNode, name: string): JsonNode | undefined {
  const found = member(node, name) ?? member(node, snakeOf(name));
  return found === undefined || found.kind === 'null' ? undefined : found;
}

/** The camel-case name of a member. */
export function nameOf(node: JsonNode): string {
  const name = memberName(node);
  return name.includes('_') ? name.replaceAll(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name;
}

/** The elements of a list; a value without brackets is its only one. */
export function listOf(node: JsonNode): readonly JsonNode[] {
  return node.kind === 'array' ? elements(node) : [node];
}

/** Null: absent. Throws CallFailure for another value than a string. */
export function readOptionalText(node: JsonNode, name: string, path: string): string | null {
  const found = given(node, name);
  return found === undefined ? null : readText(found, path);
}

/** Drops unknown members, reported as `place.member`: without indices, so that a long conversation reports each once. */
export function dropUnknown(
  node: JsonNode,
  known: ReadonlySet<string>,
  place: string,
  { notes }: RequestReading,
): void {
  for (const found of children(node)) {
    const name = nameOf(found);
    if (!known.has(name) && !isVoid(found)) notes.drop(`${place}.${name}`, UNKNOWN);
  }
}
