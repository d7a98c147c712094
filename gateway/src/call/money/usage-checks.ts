/**
 * Owns what is odd about the numbers that upstream gave for a call: what they say against each other, and where they are far
 * from our own cheap estimate. Judges only; upstream's numbers are billed all the same (money design, "Units").
 */
import { NO_FLAGS, type Usage, type UsageFlag } from '../../generation/usage.ts';
import type { AnswerFacts } from '../../protocols/protocol.ts';
import { estimateTokens } from '../attempt/estimate-tokens.ts';
import type { Call } from '../call.ts';
import { mostOutputTokens } from '../plan/most-output.ts';
import type { LearntRatio } from './token-ratio.ts';

/** Far is so many times as much, and so many tokens more. Every script, code and base64 lie within it. */
const FAR_TIMES = 4;
const FAR_TOKENS = 1_000;

/** What of a call is looked at. */
type Judged = Pick<Call, 'facts' | 'route'>;

/** Of a complete answer whose usage upstream gave; else there is nothing to judge. */
export function flagUsage(call: Judged, facts: AnswerFacts, ratio: LearntRatio): readonly UsageFlag[] {
  if (facts.usage === null) return NO_FLAGS;
  let flags = facts.usageFlags;
  if (isInputFar(call, facts.usage)) flags = [...flags, 'far_input'];
  if (isOutputFar(call, facts, facts.usage, ratio)) flags = [...flags, 'far_output'];
  return flags;
}

function isInputFar({ facts }: Judged, { input, cache_read, cache_write_5m, cache_write_1h }: Usage): boolean {
  if (facts === null) return false;
  const told = input + cache_read + cache_write_5m + cache_write_1h;
  const own = estimateTokens(facts.inputBytes);
  // What an image or a document takes is not known from its bytes.
  return isFar(own, told) || (facts.mediaParts === 0 && isFar(told, own));
}

function isOutputFar({ facts: asked, route }: Judged, facts: AnswerFacts, usage: Usage, ratio: LearntRatio): boolean {
  if (route === null) return false;
  const { upstream, traits } = route;
  const { output, reasoning } = usage;
  const { outputBytes, reasoningBytes, outputBytesMax } = facts;
  // What is shown as reasoning may be results of tools, which nobody counts (Groq's compound models, recorded in 2025).
  const textBytes = outputBytes - reasoningBytes;
  if (textBytes > FAR_TOKENS && isFar(ratio.tokensIn(upstream, textBytes), output)) return true;
  if (output <= FAR_TOKENS) return false;
  const most = asked === null ? null : mostOutputTokens(asked, route);
  if (most !== null && isFar(output, most)) return true;
  // Reasoning that is not shown has tokens and no bytes: only where it is told apart, or there is none, is more too much.
  const isAllShown = reasoning > 0 || traits.takes.reasoning === false;
  return isAllShown && outputBytesMax > 0 && isFar(shownTokens(usage), ratio.tokensIn(upstream, outputBytesMax));
}

/** Tokens of the output that have text, as far as upstream told those apart that have none. */
export function shownTokens({ output, reasoning, apart }: Usage): number {
  return output - reasoning - (apart?.audio_output ?? 0) - (apart?.image_output ?? 0);
}

function isFar(more: number, less: number): boolean {
  return more > less * FAR_TIMES && more - less > FAR_TOKENS;
}
