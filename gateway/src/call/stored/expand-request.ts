/**
 * Expands a request that continues responses kept here: the earlier conversation takes the place of
 * `previous_response_id`, and items that of references to them. Then it goes to any target like a whole request.
 */
import type { Limits } from '../../config/limits.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { asArray, asObject } from '../../protocols/json.ts';
import type { StoredReference } from '../../protocols/stored/stored-references.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import { elements, jsonText, member } from '../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';
import type { Identified } from '../call.ts';
import { type ReadCall, readCall } from '../request/read-body.ts';
import type { Conversation } from './open-stored-state.ts';
import { refuseReference } from './refuse-reference.ts';
import { inputOf } from './stored-by.ts';

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
  const texts = await readTexts(call, kept);
  const earlier = texts.get(EARLIER) ?? '';
  const own = inputWith(outline, texts);
  const edits: JsonEdit[] = [{ set: ['input'], json: `[${joinTexts([earlier, own])}]` }];
  if (texts.has(EARLIER)) {
    edits.push({ remove: [EARLIER] });
    call.continues = kept.find(({ reference }) => reference.path === EARLIER)?.reference.id ?? null;
  }
  const bytes = spliceJson(outline, edits);
  if (bytes.length > limits.bodyBytesMax) throw tooLarge(limits);
  return readCall(bytes, call.protocol, { limits, version: call.version, countOnly: false });
}

function tooLarge({ bodyBytesMax }: Limits): CallFailure {
  return new CallFailure(
    'body_too_large',
    `the request with the conversation that it continues is larger than ${bodyBytesMax} bytes; send less of it as a whole, with "store": false`,
  );
}

/**
 * The items that take the place of each reference, as JSON, by its path. One conversation is in memory at a time, and no
 * more of all than one request may have: a few bytes can name the same item many times.
 */
async function readTexts(call: Identified, kept: readonly KeptReference[]): Promise<ReadonlyMap<string, string>> {
  const { limits } = call.settings.config;
  const texts = new Map<string, string>();
  let length = 0;
  for (const [requestId, references] of Map.groupBy(kept, ({ row }) => row.request_id)) {
    const conversation = await readConversation(call, requestId);
    const output = conversation === null ? [] : asArray(asObject(JSON.parse(conversation.response))?.output);
    const items = output.map((item) => JSON.stringify(item));
    const textOf = new Map(output.map((item, index) => [asObject(item)?.id, items[index]]));
    for (const { reference } of references) {
      const isEarlier = reference.path === EARLIER;
      const text = isEarlier ? joinTexts([conversation?.input ?? '', ...items]) : textOf.get(reference.id);
      if (conversation === null || text === undefined) throw refuseReference(reference);
      length += text.length;
      if (length > limits.bodyBytesMax) throw tooLarge(limits);
      texts.set(reference.path, text);
    }
  }
  return texts;
}

/** Items as JSON, separated by commas. */
function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(',');
}

async function readConversation({ deps, principal }: Identified, requestId: string): Promise<Conversation | null> {
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  try {
    return await deps.storedState.read(owner, requestId);
  } catch (cause) {
    throw new CallFailure('store_unavailable', 'stored responses cannot be read at the moment; try again shortly', {
      retryAfterSeconds: 2,
      cause,
    });
  }
}

/** The items of the request as JSON, with kept ones in the place of references. */
function inputWith(outline: ReadCall['outline'], texts: ReadonlyMap<string, string>): string {
  const input = member(outline.root, 'input');
  if (input?.kind !== 'array') return inputOf({ outline });
  return elements(input)
    .map((item, index) => texts.get(`input.${index}`) ?? jsonText(item))
    .join(',');
}
