/** Finds the output limit that a call sends upstream, and reports to the limit proofs whether the answer honored it. */
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { AnswerFacts, ProtocolName } from '../../protocols/protocol.ts';
import { PROTOCOLS } from '../../protocols/registry.ts';
import type { OutputLimitMember } from '../../protocols/request/output-limit.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route } from '../../routing/route.ts';
import type { Call } from '../call.ts';
import type { BillingDeps } from '../money/billing-deps.ts';
import { mostWithoutLimit } from './output-maximum.ts';

/** An output limit that a target may or may not honor. */
export interface SentLimit {
  /**
   * Null: the target may read a member of the request as a limit other than the one that applies, so no proof counts.
   */
  readonly member: OutputLimitMember | null;
  /** Per answer. */
  readonly tokens: number;
  /** Maximum tokens of all answers at a target that ignores the limit; null: unknown. */
  readonly mostWithoutIt: number | null;
}

/** Null: only the model limits the output. */
export function sentLimit(
  facts: RequestFacts,
  protocol: ProtocolName,
  route: Pick<Route, 'upstream' | 'traits'>,
): SentLimit | null {
  const { outputTokensMax, mayChangeLimit } = facts;
  if (outputTokensMax === null && !mayChangeLimit) return null;
  const member = mayChangeLimit ? null : memberOf(facts, protocol, route);
  return { member, tokens: outputTokensMax ?? 0, mostWithoutIt: mostWithoutLimit(facts, route) };
}

/** The caller's own member if its bytes pass through with one limit, otherwise the one that upstream knows. */
function memberOf(
  { outputLimitMember, otherLimit }: RequestFacts,
  protocol: ProtocolName,
  { upstream, traits }: Pick<Route, 'upstream' | 'traits'>,
): OutputLimitMember | null {
  const known = traits.chat.outputLimitMember;
  if (upstream.protocols.includes(protocol)) return otherLimit === null ? outputLimitMember : known;
  return upstream.protocols[0] === 'messages' ? 'max_tokens' : known;
}

/** Our own count of a text may be off by this factor. */
const COUNT_MARGIN = 1.25;

interface EndedAnswer {
  /** Null: the answer is complete. */
  readonly failure: FailureKind | null;
  readonly facts: AnswerFacts | null;
}

/** Reports to the proofs what an answer shows about its target, whether or not it was complete. */
export function noteLimit(call: Call, { failure, facts }: EndedAnswer, { limitProofs, ratio }: BillingDeps): void {
  const { route, facts: asked } = call;
  if (route === null || asked === null || facts === null || asked.outputTokensMax === null) return;
  const { upstream } = route;
  const { outputTokensMax: tokens, answers } = asked;
  // Runs of other kinds (a compaction, an advisor) have their own limits but are part of the sum.
  if (facts.finish_reason === 'compaction' || facts.usageSoFar?.extras?.parts !== undefined) return;
  const told = facts.usage?.output ?? null;
  const isCut = facts.finish_reason === PROTOCOLS[call.protocol].cutReason;
  const endedByLimit = failure === null && told !== null && isCut;
  const counted = told ?? Math.floor(ratio.tokensIn(upstream, facts.outputBytes) / COUNT_MARGIN);
  const output = Math.max(counted, facts.usageSoFar?.output ?? 0);
  if (!endedByLimit && output <= tokens * answers) return;
  const limit = sentLimit(asked, call.protocol, route);
  if (limit === null) return;
  limitProofs.note({ upstream, limit, answers, output, endedByLimit, requestId: call.requestId }, Date.now());
}
