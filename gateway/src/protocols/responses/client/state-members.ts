/**
 * Refuses members that name state which the provider keeps under the operator's account: earlier responses, items,
 * conversations, files, containers. Nothing ties such state to a workspace yet, so any of it may be another caller's.
 * Source: contract, 10.12; specification of the Responses API, 0.8 and E.1.
 */
import { CallFailure, invalidRequest } from '../../../errors/call-failure.ts';
import { elements, type JsonNode, member, stringValue } from '../../../wire/json-node.ts';
import { isGiven, typeOf } from '../../request/request-needs.ts';
import { OWN_ID } from '../shared/response-object.ts';

const WHOLE = 'send the whole input with each request, with "store": false';

/** Members of the body, each with the reason for the refusal and the remedy. */
const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', `found the id of an earlier response, and none is stored here; ${WHOLE}`],
  ['conversation', `found a conversation, and none is stored here; ${WHOLE}`],
  ['prompt', 'found a stored prompt, which cannot be used here; send its text as instructions and input'],
]);

/** The code that the format has for the refusal of a member. Codex sends everything again after the first. */
export const CODE_OF_MEMBER: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', 'previous_response_not_found'],
  ['conversation', 'unsupported_parameter'],
  ['prompt', 'unsupported_parameter'],
  ['background', 'unsupported_parameter'],
]);

/** Throws CallFailure `invalid_request` for a member of the body that names state. */
export function refuseStateMember(node: JsonNode, name: string): void {
  if (node.kind === 'null') return;
  if (name === 'background' && node.kind === 'true') {
    throw invalidRequest('background: responses cannot run in the background here; leave it out, and stream', name);
  }
  if (name === 'prompt_cache_options' && node.kind === 'object' && isGiven(node, 'comparison_response_id')) {
    throw notStored(`${name}.comparison_response_id`);
  }
  const why = MEMBERS.get(name);
  if (why !== undefined) throw invalidRequest(`${name}: ${why}`, name);
}

/** Items that the provider completes from its store, unless this member has their content. */
const CONTENT_OF: ReadonlyMap<string | null, string> = new Map([
  ['reasoning', 'encrypted_content'],
  ['image_generation_call', 'result'],
]);

/**
 * Throws CallFailure `invalid_request` for an item of the input that refers to a stored one, `not_found` for an item or
 * one of its tools that names something stored.
 */
export function refuseStoredItem(item: JsonNode, path: string): void {
  refuseStoredTool(item, path);
  refuseStoredTools(member(item, 'tools'), `${path}.tools`);
  const type = typeOf(item);
  if (type === 'item_reference' || (type === null && member(item, 'role') === undefined)) {
    throw invalidRequest(
      `${path}: found a reference to a stored item, and none is stored here; send the item itself, with "store": false`,
      path,
    );
  }
  const content = CONTENT_OF.get(type);
  const id = member(item, 'id');
  if (content === undefined || id === undefined || id.kind === 'null' || isGiven(item, content)) return;
  if (stringValue(id)?.includes(OWN_ID)) return;
  throw invalidRequest(
    `${path}: found a ${type} item with an id but without ${content}, which names a stored item, and none is stored ` +
      `here; request "include": ["reasoning.encrypted_content"] with "store": false, or leave the item out`,
    path,
  );
}

/** Members of a content part, a tool or its settings that name something stored. */
const IDS = ['file_id', 'file_ids', 'vector_store_ids', 'container_id', 'connector_id'] as const;

/** Throws CallFailure `not_found` for a file, store, container or connector that an object or its settings name. */
export function refuseStoredIds(holder: JsonNode, path: string): void {
  if (holder.kind !== 'object') return;
  for (const name of IDS) if (isGiven(holder, name)) throw notStored(`${path}.${name}`);
}

/** The same for each tool of a list. */
export function refuseStoredTools(tools: JsonNode | undefined, path: string): void {
  if (tools === undefined) return;
  for (const [index, tool] of elements(tools).entries()) refuseStoredTool(tool, `${path}.${index}`);
}

/** A tool, or the item of its call: its container, environment or mask may name something stored too. */
function refuseStoredTool(tool: JsonNode, path: string): void {
  if (tool.kind !== 'object') return;
  refuseStoredIds(tool, path);
  for (const name of ['container', 'environment', 'input_image_mask']) {
    const settings = member(tool, name);
    if (settings === undefined) continue;
    if (settings.kind === 'string' && stringValue(settings) !== 'auto') throw notStored(`${path}.${name}`);
    refuseStoredIds(settings, `${path}.${name}`);
  }
}

function notStored(path: string): CallFailure {
  return new CallFailure(
    'not_found',
    `${path}: found the id of something stored at the provider, and none is stored for this workspace; send the content itself`,
    { param: path },
  );
}
