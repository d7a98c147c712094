/** Owns our own count of a request's tokens, where upstream has no counter or counts in another format. */
import { CallFailure } from '../errors/call-failure.ts';
import { estimatePromptTokens } from '../generation/estimate-tokens.ts';
import { familyOf } from '../generation/token-families.ts';
import { startNotes } from '../protocols/translation-notes.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { type RoutedCall, scanDeeper } from './plan-call.ts';

/** Tokens of the whole prompt; what the canonical language cannot tell is counted by its bytes. */
export async function countTokens(routed: RoutedCall & { readonly outline: JsonOutline }): Promise<number> {
  const { call, protocol, route } = routed;
  try {
    const request = protocol.codec.parseRequest(await scanDeeper(routed), startNotes(false));
    return estimatePromptTokens(request, familyOf(route.upstream.model));
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return estimateTokens(call.facts?.inputBytes ?? 0);
  }
}
