/**
 * Explains where a request would go and why not elsewhere, from the same function that chooses for calls. Sends nothing
 * and changes nothing.
 */
import type { NanoUsd } from '../../billing/money.ts';
import type { RequestNeeds } from '../../protocols/request/request-needs.ts';
import type { Route } from '../route.ts';
import { type Candidate, isUsable } from './candidate.ts';
import { type ChoiceState, type JudgedTarget, judgeTargets } from './choose.ts';
import { FILTER_WORDS, noTarget } from './filter-target.ts';
import { issuerOf } from './issuer.ts';
import type { RoutedRequest } from './routed-request.ts';

/** The explanation of one target. Times are on the clock of the choice. */
export interface ExplainedTarget {
  readonly target: string;
  readonly priority: number;
  readonly verdict: Candidate['verdict'];
  readonly why: Candidate['why'];
  /** A skipped target: when the reason ends. A chosen one: when it may begin. Null: unknown, or at once. */
  readonly untilMs: number | null;
  /** What keeps it from carrying the request: `takes images`. Null: it can. */
  readonly lacks: string | null;
  /** The name of the credential to use; null: none is usable. */
  readonly credential: string | null;
  /** The expected cost of this call; null: the target has no price. */
  readonly estimate: NanoUsd | null;
  /** Whether the conversation's prompt is expected in the target's cache. */
  readonly cache: 'warm' | 'cold';
  /** What a cold cache adds, included in `estimate`; 0 if it is warm. */
  readonly coldCache: NanoUsd;
  /** The issuer of reasoning that this target does not accept and that is removed for it; null: nothing is. */
  readonly strips: string | null;
}

export interface RouteExplanation {
  readonly model: string;
  readonly strategy: Route['routing']['strategy'];
  /** The name of the target that the conversation is pinned to; null: none. */
  readonly pin: string | null;
  readonly needs: readonly string[];
  readonly tags: readonly string[];
  readonly inputTokens: number;
  /** In the order in which they would be tried; the others follow. */
  readonly targets: readonly ExplainedTarget[];
  /** The message that the client would get, because no target can carry the request; null: some can. */
  readonly refusal: string | null;
}

/** As `choose`, with reasons and costs for every target. Never throws for a request that no target can carry. */
export function explainRoute(
  route: Route,
  request: RoutedRequest,
  state: ChoiceState,
  nowMs: number,
  seed: number,
): RouteExplanation {
  const { judged, failed, pinnedTo, issuer } = judgeTargets(route, request, state, nowMs, seed);
  const strippedIssuer = request.marks.signed ? issuer : null;
  return {
    model: route.model,
    strategy: route.routing.strategy,
    pin: pinnedTo,
    needs: request.needs === null ? [] : needWords(request.needs),
    tags: request.tags,
    inputTokens: request.inputTokens,
    targets: judged.map((one) => explainTarget(one, one.name === pinnedTo, strippedIssuer)),
    refusal: failed === null ? null : noTarget(route, request, failed).message,
  };
}

function explainTarget(judged: JudgedTarget, isWarm: boolean, issuer: string | null): ExplainedTarget {
  const { candidate, cost } = judged;
  const { target, verdict, why } = candidate;
  const credential = isUsable(candidate) ? candidate.credential : null;
  const isStripped = issuer !== null && credential !== null && issuerOf(target.upstream, credential) !== issuer;
  return {
    target: target.name,
    priority: target.priority,
    verdict,
    why,
    untilMs: isUsable(candidate) ? candidate.notBeforeMs || null : verdict === 'skipped' ? untilOf(candidate) : null,
    lacks: candidate.verdict === 'filtered' ? FILTER_WORDS[candidate.why] : null,
    credential: credential === null ? null : (target.upstream.credentials[credential]?.name ?? null),
    estimate: cost === null ? null : isWarm ? cost.warm : cost.cold,
    cache: isWarm ? 'warm' : 'cold',
    coldCache: cost === null || isWarm ? 0n : cost.cold - cost.warm,
    strips: isStripped ? issuer : null,
  };
}

function untilOf(candidate: Candidate): number | null {
  return candidate.verdict === 'skipped' ? candidate.untilMs : null;
}

/** The needs in the words of `route explain`. */
const NEEDS: ReadonlyArray<readonly [need: keyof RequestNeeds, word: string]> = [
  ['tools', 'tools'],
  ['image', 'images'],
  ['audio', 'audio'],
  ['pdf', 'files'],
  ['serverTool', 'server tools'],
  ['logprobs', 'log probabilities'],
  ['storedItem', 'stored files'],
  ['ownFormat', 'its own format'],
  ['reasoning', 'reasoning'],
  ['schema', 'a JSON schema'],
];

function needWords(needs: RequestNeeds): readonly string[] {
  return NEEDS.flatMap(([need, word]) => (needs[need] === false || needs[need] === null ? [] : [word]));
}
