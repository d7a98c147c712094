/** Keeps the conversation of a translated response with the end of its call, where the operator turned that on. */
import { asArray, asObject, asText } from '../../protocols/json.ts';
import type { StoredByCall } from '../../store/ports/stored-state.ts';
import { jsonText, member, stringValue } from '../../wire/json-node.ts';
import type { Identified, Routed } from '../call.ts';
import { CONVERSATION_KEPT_MS, type EndedResponse } from './open-stored-state.ts';
import { THINGS_MAX } from './stored-by.ts';

/** The provider's name in the rows of state that this gateway keeps itself. */
export const KEPT_HERE = '';

/** Whether the response of a translated call must be kept. A workspace that stores no bodies stores no responses. */
export function isToBeKept({ settings, protocol, outline, principal }: Routed): boolean {
  const isOn = settings.config.defaults.storeResponses && protocol.name === 'responses';
  return isOn && principal.bodies !== 'off' && member(outline.root, 'store')?.kind !== 'false';
}

/** Keeps the response before its call ends. A failure is logged: the answer goes on, and cannot be continued. */
export async function keepResponse(call: Routed, ended: EndedResponse): Promise<void> {
  const { deps, principal, requestId, atMs } = call;
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const conversation = { input: inputOf(call), response: JSON.stringify(ended.object) };
  try {
    ended.isKept = await deps.storedState.keep(owner, requestId, conversation, atMs + CONVERSATION_KEPT_MS);
  } catch (cause) {
    deps.log.fault(requestId, 'a response could not be kept', cause);
  }
}

/** The items of the input as JSON, separated by commas. */
export function inputOf({ outline }: Pick<Routed, 'outline'>): string {
  const input = member(outline.root, 'input');
  if (input === undefined) return '';
  const text = stringValue(input);
  return text === undefined ? jsonText(input).slice(1, -1).trim() : JSON.stringify({ role: 'user', content: text });
}

/** The rows of a response that is kept here; undefined: it is not. */
export function storedHere(call: Identified, tokens: number, output_tokens: number): StoredByCall | undefined {
  const { ended, target, atMs } = call;
  if (ended === null || !ended.isKept || target === null) return undefined;
  const ids = asArray(ended.object.output).flatMap((item) => asText(asObject(item)?.id) ?? []);
  const items = ids.slice(0, THINGS_MAX).map((id) => ({ kind: 'item', id }));
  const things = [{ kind: 'response', id: asText(ended.object.id) ?? '' }, ...items];
  const place = { provider: KEPT_HERE, model: target.upstream.model, credential: KEPT_HERE };
  return { ...place, tokens, output_tokens, expires_at_ms: atMs + CONVERSATION_KEPT_MS, things };
}
