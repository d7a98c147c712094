/** Ties what a call left at its provider to the caller's workspace. The rows are written with the call's end. */
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { StoredByCall, StoredThing } from '../../store/ports/stored-state.ts';
import { member } from '../../wire/json-node.ts';
import type { Routed } from '../call.ts';

/** How long rows are kept: OpenAI keeps responses for 30 days, and other hosts no longer (2026-11). */
export const RESPONSES_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** The form of ids at providers, which JSON writes as they are. Another one is not stored, and so cannot be named later. */
const ID = /^[\w.:/+=-]{1,256}$/;
/** More than any answer has items; bounds the frame of the end. */
export const THINGS_MAX = 2_000;

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
