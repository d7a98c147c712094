/**
 * Owns what is odd about the numbers that upstream gave for a call: what they say against each other, and where they are far
 * from our own cheap estimate. Judges only; upstream's numbers are billed all the same (money design, "Units").
 */
import { NO_FLAGS, type Usage, type UsageFlag } from '../generation/usage.ts';
import type { AnswerFacts } from '../protocols/protocol.ts';
import type { Call } from './call.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { LearntRatio } from './learnt-ratio.ts';

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
  if (isOutputFar(call, facts.usage, facts.outputBytes, ratio)) flags = [...flags, 'far_output'];
  return flags;
}

function isInputFar({ facts }: Judged, { input, cache_read, cache_write_5m, cache_write_1h }: Usage): boolean {
  if (facts === null) return false;
  const told = input + cache_read + cache_write_5m + cache_write_1h;
  const own = estimateTokens(facts.inputBytes);
  // What an image or a document takes is not known from its bytes.
  return isFar(own, told) || (facts.mediaParts === 0 && isFar(told, own));
}

/** Of an answer in one piece the bytes are not counted: 0. */
function isOutputFar({ route }: Judged, { output, reasoning }: Usage, bytes: number, ratio: LearntRatio): boolean {
  if (route === null || bytes === 0) return false;
  const own = ratio.tokensIn(route.upstream.model, bytes);
  // Reasoning that is not shown has tokens and no bytes: only where it is told apart, or there is none, is more too much.
  const isAllShown = reasoning > 0 || route.traits.takes.reasoning === false;
  return isFar(own, output) || (isAllShown && isFar(output - reasoning, own));
}

function isFar(more: number, less: number): boolean {
  return more > less * FAR_TIMES && more - less > FAR_TOKENS;
}
