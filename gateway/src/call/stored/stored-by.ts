/**
 * Ties what a call left at its provider, or here, to the caller's workspace, with the rows of the call's end. The
 * conversation of a translated response is kept here, where the operator turned that on.
 */

import { asArray, asObject, asText } from '../../protocols/json.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { StoredByCall, StoredThing } from '../../store/ports/stored-state.ts';
import { jsonText, member, stringValue } from '../../wire/json-node.ts';
import type { Identified, Routed } from '../call.ts';
import { CONVERSATION_KEPT_MS, type EndedResponse } from './open-stored-state.ts';

/** How long rows are kept: OpenAI keeps responses for 30 days, and other hosts no longer (2026-11). */
export const RESPONSES_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** The form of ids at providers, which JSON writes as they are. Another one is not stored, and so cannot be named later. */
const ID = /^[\w.:/+=-]{1,256}$/;
/** More than any answer has items; bounds the frame of the end. */
const THINGS_MAX = 2_000;

/** What may be named later. */
export function thingsOf(kept: readonly StoredThing[]): readonly StoredThing[] {
  return kept.filter(({ id }) => ID.test(id)).slice(0, THINGS_MAX);
}

/** Undefined: the provider keeps nothing that may be named later. `tokens`: of prompt and answer; `output_tokens`: of the answer. */
export function storedBy(
  call: Routed,
  facts: AnswerFacts | null,
  tokens: number,
  output_tokens: number,
): StoredByCall | undefined {
  const { upstream } = call.target;
  const kept = facts?.stored;
  if (kept === undefined || !upstream.state.isKept) return;
  const isStored = member(call.outline.root, 'store')?.kind !== 'false';
  // The sound of an answer is kept whether the answer is or not.
  const things = thingsOf(isStored ? kept : kept.filter(({ kind }) => kind === 'audio'));
  if (things.length === 0) return;
  const credential = upstream.credentials[call.credential]?.name ?? 'default';
  const { provider, model } = upstream;
  const stated = kept.map(({ expiresAtMs }) => expiresAtMs ?? Number.POSITIVE_INFINITY);
  const expires_at_ms = Math.min(call.atMs + RESPONSES_KEPT_MS, ...stated);
  return { provider, model, credential, tokens, output_tokens, expires_at_ms, things };
}

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
  if (input === undefined || input.kind === 'null') return '';
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
