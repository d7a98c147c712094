/**
 * Expands a request that continues responses kept here: the earlier conversation takes the place of
 * `previous_response_id`, and items that of references to them. Then it goes to any target like a whole request.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { asArray, asObject } from '../../protocols/json.ts';
import type { StoredReference } from '../../protocols/stored/stored-references.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import { elements, jsonText, member } from '../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';
import type { Identified } from '../call.ts';
import { type ReadCall, readCall } from '../request/read-body.ts';
import { inputOf } from './keep-response.ts';
import type { Conversation } from './open-stored-state.ts';
import { refuseReference } from './refuse-reference.ts';

/** A reference, and the row of what is kept here for it. */
export interface KeptReference {
  readonly reference: StoredReference;
  readonly row: StoredRow;
}

const EARLIER = 'previous_response_id';

/** Whether something kept here can take the place of the reference. */
export function isExpandable({ path, kind }: StoredReference): boolean {
  return path === EARLIER || kind === 'item';
}

/** Throws CallFailure as a refused reference for what is gone, `body_too_large` for too much of it. */
export async function expandRequest(
  call: Identified,
  { outline }: ReadCall,
  kept: readonly KeptReference[],
): Promise<ReadCall> {
  const { limits } = call.settings.config;
  const conversations = await readConversations(call, kept);
  const earlier = kept.find(({ reference }) => reference.path === EARLIER);
  const items = new Map<string, string>();
  for (const { reference, row } of kept) {
    if (reference.kind === 'item') items.set(reference.path, itemOf(conversations, row, reference));
  }
  const own = inputWith(outline, items);
  const before = earlier === undefined ? [] : wholeOf(conversations.get(earlier.row.request_id), earlier.reference);
  const input = [...before, own].filter((text) => text !== '').join(',');
  const edits: JsonEdit[] = [{ set: ['input'], json: `[${input}]` }];
  if (earlier !== undefined) {
    edits.push({ remove: [EARLIER] });
    call.continues = earlier.reference.id;
  }
  const bytes = spliceJson(outline, edits);
  if (bytes.length > limits.bodyBytesMax) {
    throw new CallFailure(
      'body_too_large',
      `the request with the conversation that it continues is larger than ${limits.bodyBytesMax} bytes; send less of it as a whole, with "store": false`,
    );
  }
  return readCall(bytes, call.protocol, { limits, version: call.version, countOnly: false });
}

type Conversations = ReadonlyMap<string, Conversation>;

async function readConversations(call: Identified, kept: readonly KeptReference[]): Promise<Conversations> {
  const { deps, principal } = call;
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const found = new Map<string, Conversation>();
  for (const { reference, row } of kept) {
    if (found.has(row.request_id)) continue;
    const conversation = await deps.storedState.read(owner, row.request_id).catch((cause: unknown) => {
      throw new CallFailure('store_unavailable', 'stored responses cannot be read at the moment; try again shortly', {
        retryAfterSeconds: 2,
        cause,
      });
    });
    if (conversation === null) throw refuseReference(reference);
    found.set(row.request_id, conversation);
  }
  return found;
}

/** The items of the request as JSON, with kept ones in the place of references (by the path of the reference). */
function inputWith(outline: ReadCall['outline'], items: ReadonlyMap<string, string>): string {
  const input = member(outline.root, 'input');
  if (items.size === 0 || input?.kind !== 'array') return inputOf({ outline });
  return elements(input)
    .map((item, index) => items.get(`input.${index}`) ?? jsonText(item))
    .join(',');
}

function itemOf(conversations: Conversations, row: StoredRow, reference: StoredReference): string {
  const item = outputOf(conversations.get(row.request_id)).find((one) => asObject(one)?.id === reference.id);
  if (item === undefined) throw refuseReference(reference);
  return JSON.stringify(item);
}

function wholeOf(conversation: Conversation | undefined, reference: StoredReference): string[] {
  if (conversation === undefined) throw refuseReference(reference);
  return [conversation.input, ...outputOf(conversation).map((item) => JSON.stringify(item))];
}

function outputOf(conversation: Conversation | undefined): readonly unknown[] {
  return conversation === undefined ? [] : asArray(asObject(JSON.parse(conversation.response))?.output);
}
