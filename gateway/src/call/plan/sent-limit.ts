/** Finds the output limit that an upstream is sent with a call, and tells the proofs whether its answer kept to it. */
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { AnswerFacts, ProtocolName } from '../../protocols/protocol.ts';
import { PROTOCOLS } from '../../protocols/registry.ts';
import type { OutputLimitMember } from '../../protocols/request/output-limit.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route } from '../../routing/route.ts';
import type { Call } from '../call.ts';
import type { MoneyDesk } from '../money/billing-deps.ts';
import { mostWithoutLimit } from './most-output.ts';

/** An output limit that a target may honour or not. */
export interface SentLimit {
  /** Null: the request has a member that the target may read as another limit than what binds, whatever is proven of it. */
  readonly member: OutputLimitMember | null;
  /** Of each of the answers. */
  readonly tokens: number;
  /** What all answers may have at a target that ignores it; null: nobody knows. */
  readonly mostWithoutIt: number | null;
}

/** Null: the model alone bounds the output. */
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

/** The caller's own member where its bytes pass through with one limit, else the one that the upstream knows. */
function memberOf(
  { outputLimitMember, otherLimit }: RequestFacts,
  protocol: ProtocolName,
  { upstream, traits }: Pick<Route, 'upstream' | 'traits'>,
): OutputLimitMember | null {
  const known = traits.chat.outputLimitMember;
  if (upstream.protocols.includes(protocol)) return otherLimit === null ? outputLimitMember : known;
  return upstream.protocols[0] === 'messages' ? 'max_tokens' : known;
}

/** Our own count of a text may be wrong by so much. */
const COUNT_MARGIN = 1.25;

interface EndedAnswer {
  /** Null: it is whole. */
  readonly failure: FailureKind | null;
  readonly facts: AnswerFacts | null;
}

/** Tells the proofs what an answer says of its target, whether it came whole or not. */
export function noteLimit(call: Call, { failure, facts }: EndedAnswer, { limitProofs, ratio }: MoneyDesk): void {
  const { route, facts: asked } = call;
  if (route === null || asked === null || facts === null || asked.outputTokensMax === null) return;
  const { upstream } = route;
  const { outputTokensMax: tokens, answers } = asked;
  // Runs of other kinds (a compaction, an advisor) have limits of their own, and are in the sum.
  if (facts.finish_reason === 'compaction' || facts.usageSoFar?.apart?.parts !== undefined) return;
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
