/**
 * Defines the opaque data that providers send with a part of an answer and require back unchanged with it: Gemini's
 * signatures, and OpenRouter's `reasoning_details`. Chat completions define its form: members of the tool call or of the
 * message. https://ai.google.dev/gemini-api/docs/thought-signatures and
 * https://openrouter.ai/docs/use-cases/reasoning-tokens, read 2026-11-22.
 */
import type { Native } from '../generation/part.ts';
import { asObject, asText, type JsonObject, parseObject } from './json.ts';

/** Data on the call itself and on the message that holds the call. */
export interface HostData {
  readonly call: JsonObject | null;
  readonly message: JsonObject | null;
}

export function packHostData({ call, message }: HostData): Native {
  return { origin: 'chat', json: JSON.stringify({ call: call ?? undefined, message: message ?? undefined }) };
}

/** Null: none, or another format's data. */
export function unpackHostData(native: Native | undefined): HostData | null {
  const packed = native?.origin === 'chat' ? parseObject(native.json) : null;
  return packed && { call: asObject(packed.call), message: asObject(packed.message) };
}

/** A signature of Google as data of a part. */
export function packSignature(thought_signature: string): Native {
  return packHostData({ call: { extra_content: { google: { thought_signature } } }, message: null });
}

/** Google's signature in the data of a part; null: none. */
export function unpackSignature(native: Native | undefined): string | null {
  return signatureIn(unpackHostData(native)?.call?.extra_content);
}

/** Google's signature in a member `extra_content`; null: none. */
export function signatureIn(extraContent: unknown): string | null {
  return asText(asObject(asObject(extraContent)?.google)?.thought_signature);
}

/** Google's placeholder for a lost signature; the provider then skips the check. */
export const LOST_SIGNATURE = 'skip_thought_signature_validator';
