/**
 * Words the refusal of a stored thing that the caller's workspace does not own. An unknown id and one of another workspace
 * are the same to the caller. Source: contract, 10.12.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { StoredKind, StoredReference } from '../../protocols/stored/stored-references.ts';

const WHOLE = 'send the whole input with each request, with "store": false';

/** What is missing, and what to do. */
const WORDS: { readonly [kind in StoredKind]: string } = {
  response: `found the id of a response that is not stored for this workspace; ${WHOLE}`,
  conversation: `found a conversation that is not stored for this workspace; ${WHOLE}`,
  item: `found an item that is not stored for this workspace; send the item itself, and for reasoning request "include": ["reasoning.encrypted_content"] with "store": false`,
  prompt:
    'found a prompt that is not stored for this workspace; send its text as instructions and input, or have the operator allow it',
  file: 'found a file that is not stored for this workspace; send the content itself',
  vector_store: 'found a vector store that is not stored for this workspace; have the operator allow it',
  container: 'found a container that is not stored for this workspace; leave the id out for a new one',
  connector: 'found a connector that is not stored for this workspace; have the operator allow it',
  skill: 'found a skill that is not stored for this workspace; have the operator allow it',
  batch: 'found a batch that is not stored for this workspace',
  cache: 'found a cache that is not stored for this workspace; send the content itself',
  voice: 'found a voice that is not stored for this workspace; name one of the provider, or have the operator allow it',
  audio: 'found the sound of an answer that is not stored for this workspace, or that has expired; send its transcript',
  address:
    "found an address that the provider reads with the operator's account; send the content itself, or a public https URL",
};

/** `invalid_request` for an address and for the earlier response, whose code clients know; else `not_found`. */
export function refuseReference({ path, kind }: StoredReference): CallFailure {
  const message = `${path}: ${WORDS[kind]}`;
  if (kind === 'address' || path === 'previous_response_id') return invalidRequest(message, path);
  return new CallFailure('not_found', message, { param: path });
}
