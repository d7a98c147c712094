/**
 * Finds what a Responses request names that the provider keeps under the operator's account, beyond the members that all
 * formats share: earlier responses, conversations, prompts, items. Source: contract, 10.12; specification of the Responses
 * API, 0.8 and E.1.
 */
import { children, type JsonNode, member, memberName, stringValue } from '../../../wire/json-node.ts';
import { typeOf } from '../../request/request-needs.ts';
import { findReferences, noteIds, type StoredKind, type StoredReference } from '../../stored/stored-references.ts';
import { OWN_ID } from '../shared/response-object.ts';

/** Members of the body. */
const MEMBERS: ReadonlyMap<string, StoredKind> = new Map([
  ['previous_response_id', 'response'],
  ['conversation', 'conversation'],
  ['prompt', 'prompt'],
]);

/** The code that the format has for the refusal of a member. Codex sends everything again after the first. */
export const CODE_OF_MEMBER: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', 'previous_response_not_found'],
  ['conversation', 'unsupported_parameter'],
  ['prompt', 'unsupported_parameter'],
  ['background', 'unsupported_parameter'],
]);

/** Adds the references of a member of the body. */
export function noteStateMember(node: JsonNode, name: string, found: StoredReference[]): void {
  const kind = MEMBERS.get(name);
  if (kind !== undefined) noteIds(node, kind, name, found);
  if (name === 'prompt_cache_options') findReferences(node, name, found);
  else if (name === 'prompt') noteVariables(member(node, 'variables'), found);
}

/** Adds the files among a prompt's variables, whose names are the author's: none of them says what the value is. */
function noteVariables(variables: JsonNode | undefined, found: StoredReference[]): void {
  for (const value of variables?.kind === 'object' ? children(variables) : []) {
    findReferences(value, `prompt.variables.${memberName(value)}`, found);
  }
}

/** Items that the provider completes from its store, unless this member has their content. */
const CONTENT_OF: ReadonlyMap<string | null, string> = new Map([
  ['reasoning', 'encrypted_content'],
  ['image_generation_call', 'result'],
]);

/** Adds an item of the input that stands for a stored one, and what the item names. */
export function noteItem(item: JsonNode, path: string, found: StoredReference[]): void {
  findReferences(item, path, found);
  const type = typeOf(item);
  const id = member(item, 'id');
  if (type === 'item_reference' || (type === null && member(item, 'role') === undefined)) {
    found.push({ path, kind: 'item', id: (id === undefined ? undefined : stringValue(id)) ?? '' });
    return;
  }
  const content = CONTENT_OF.get(type);
  if (content === undefined || id === undefined || id.kind === 'null' || hasText(item, content)) return;
  if (!stringValue(id)?.includes(OWN_ID)) noteIds(id, 'item', path, found);
}

/** Whether a member is a text that is not empty; it may be long, and is not decoded. */
function hasText(item: JsonNode, name: string): boolean {
  const node = member(item, name);
  return node?.kind === 'string' && node.end - node.start > '""'.length;
}
