/** Checks the top-level members of a request by the table of its format. */
import { invalidRequest } from '../errors/call-failure.ts';
import { type JsonNode, type JsonOutline, member, memberName, numberValue } from '../wire/json-node.ts';
import { type CheckContext, checkType, type MemberType, mayChangeLimit, refuse } from './request/request-facts.ts';
import { noteUnknownMember, type StoredReference } from './stored/stored-references.ts';

export type MemberCheck = (node: JsonNode, context: CheckContext) => void;

/** The check of each member: by type and range, or its own, which precedes. */
export function memberChecks(
  types: Readonly<Record<string, MemberType>>,
  own: Readonly<Record<string, MemberCheck>>,
): ReadonlyMap<string, MemberCheck> {
  const byType = Object.entries(types).map(([name, type]): [string, MemberCheck] => [
    name,
    (node) => checkType(node, name, type),
  ]);
  return new Map([...byType, ...Object.entries(own)]);
}

/** The body. Throws CallFailure `invalid_request` unless it is an object. */
export function bodyOf({ root }: JsonOutline): JsonNode {
  if (root.kind !== 'object') throw invalidRequest(`the body is ${root.kind}; expected a JSON object`);
  return root;
}

/**
 * Checks the members. Returns whether one without a check may change the output limit at some provider; of the others
 * without a check, `note` adds the stored references to `found`. Throws CallFailure for the first invalid member.
 */
export function checkMembers(
  members: readonly JsonNode[],
  checks: ReadonlyMap<string, MemberCheck>,
  context: CheckContext,
  found: StoredReference[],
  note = noteUnknownMember,
): boolean {
  let changesLimit = false;
  for (const node of members) {
    const name = memberName(node);
    const check = checks.get(name);
    if (check !== undefined) check(node, context);
    else if (mayChangeLimit(name)) changesLimit = true;
    else note(node, name, found);
  }
  return changesLimit;
}

/** The value of `model`. Throws CallFailure `invalid_request` without one. */
export function modelOf(root: JsonNode): JsonNode {
  return requireMember(root, 'model', 'the name of a model; GET /v1/models lists them');
}

/** Throws CallFailure `invalid_request` that says what was expected. */
export function requireMember(root: JsonNode, name: string, expected: string): JsonNode {
  const found = member(root, name);
  if (found === undefined) throw refuse(name, null, expected);
  return found;
}

/** A number that was checked or is left to upstream to judge; null: absent. */
export function givenNumber(root: JsonNode, name: string): number | null {
  const node = member(root, name);
  return (node === undefined ? undefined : numberValue(node)) ?? null;
}
