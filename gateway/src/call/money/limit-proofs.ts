/**
 * Finds the output limit that a call sends, and tracks which targets are proven to honor such limits, so that a
 * non-streamed answer cannot cost more than was held for it. In memory only: after a restart every target except the
 * vendors' own hosts is unproven again. Decision 0025.
 */

import { type ClientProtocolName, speaks } from '../../protocols/names.ts';
import type { OutputLimitMember, RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { Target } from '../../routing/route.ts';

/**
 * The limit on the cost of an answer. `limit`: the caller's limit; the target is proven to honor it. `meter`: metering
 * of a stream. `slice`: the same, and the target is known to exceed limits, so a limit below one slice is not trusted.
 * `nothing`: the target does not stream either.
 */
export type LimitTrust = 'limit' | 'meter' | 'slice' | 'nothing';

/** How a target fails to stream: it refuses, or it answers in one piece. */
export type StreamingFault = 'refuses' | 'ignores';

/** The output limit sent to an upstream. */
export interface AnswerLimit {
  /** Null: the target may read a member of the request as a different limit, so no proof counts. */
  readonly member: OutputLimitMember | null;
  /** Per answer. */
  readonly tokens: number;
}

/** An upstream's answer under the limit that it was sent. */
export interface LimitedAnswer {
  readonly upstream: Upstream;
  readonly limit: AnswerLimit;
  readonly answers: number;
  /** Tokens of all answers combined. */
  readonly output: number;
  /** The answer was complete, counted by upstream, and ended by its limit. */
  readonly endedByLimit: boolean;
  readonly requestId: string;
}

/** Warning to the operator: once an hour per target. */
export interface LimitExceeded {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  readonly limit: number;
  readonly output: number;
  readonly requestId: string;
  /** Answers above their limit since the last warning, including this one. */
  readonly calls: number;
}

interface TargetProof {
  /**
   * By member, the smallest limit that ended an answer. It proves nothing for smaller limits: the target may have its
   * own minimum.
   */
  readonly provenFrom: Map<OutputLimitMember, number>;
  /**
   * The target exceeded a limit and has not been proven since; then even a vendor's own host does not count as proven.
   */
  exceeded: boolean;
  reportedAtMs: number;
  unreported: number;
}

const REPORT_EVERY_MS = 3_600_000;
/** Beyond this the oldest target is dropped. */
const TARGETS_MAX = 10_000;

export class LimitProofs {
  readonly #warn: (exceeded: LimitExceeded) => void;
  readonly #targets = new Map<string, TargetProof>();
  readonly #unstreamed = new Map<string, StreamingFault>();

  /** `warn` must not throw. */
  constructor(warn: (exceeded: LimitExceeded) => void) {
    this.#warn = warn;
  }

  trustOf(upstream: Upstream, limit: AnswerLimit): LimitTrust {
    if (upstream.alwaysHonorsLimits) return 'limit';
    const name = upstream.key;
    const target = this.#targets.get(name);
    if (isProven(upstream, target, limit)) return 'limit';
    const fault = this.#unstreamed.get(name);
    const exceeded = target?.exceeded === true;
    if (fault === 'refuses' || (fault === 'ignores' && exceeded)) return 'nothing';
    return exceeded ? 'slice' : 'meter';
  }

  note(answer: LimitedAnswer, nowMs: number): void {
    const { upstream, limit, answers, output } = answer;
    const { member, tokens } = limit;
    if (upstream.alwaysHonorsLimits) return;
    if (output > tokens * answers) {
      const target = this.#targetOf(upstream);
      target.exceeded = true;
      target.provenFrom.clear();
      this.#tellOf(target, answer, nowMs);
    } else if (answer.endedByLimit && answers === 1 && member !== null) {
      const target = this.#targetOf(upstream);
      const from = target.provenFrom.get(member);
      if (from === undefined || tokens < from) target.provenFrom.set(member, tokens);
      target.exceeded = false;
    }
  }

  /** How the target responded to a stream request; null: with a stream. */
  noteStreaming(upstream: Upstream, fault: StreamingFault | null): void {
    if (upstream.alwaysHonorsLimits) return;
    if (fault === null && this.#unstreamed.size > 0) this.#unstreamed.delete(upstream.key);
    if (fault !== null && this.#unstreamed.size < TARGETS_MAX) this.#unstreamed.set(upstream.key, fault);
  }

  #targetOf(upstream: Upstream): TargetProof {
    const name = upstream.key;
    let target = this.#targets.get(name);
    if (target !== undefined) return target;
    const [oldest] = this.#targets.keys();
    if (oldest !== undefined && this.#targets.size >= TARGETS_MAX) this.#targets.delete(oldest);
    target = { provenFrom: new Map(), exceeded: false, reportedAtMs: Number.NEGATIVE_INFINITY, unreported: 0 };
    this.#targets.set(name, target);
    return target;
  }

  #tellOf(target: TargetProof, { upstream, limit, answers, output, requestId }: LimitedAnswer, nowMs: number): void {
    target.unreported += 1;
    if (nowMs - target.reportedAtMs < REPORT_EVERY_MS) return;
    const { provider, model } = upstream;
    this.#warn({ provider, model, limit: limit.tokens * answers, output, requestId, calls: target.unreported });
    target.reportedAtMs = nowMs;
    target.unreported = 0;
  }
}

function isProven(upstream: Upstream, target: TargetProof | undefined, { member, tokens }: AnswerLimit): boolean {
  if (member === null) return false;
  const from = target?.provenFrom.get(member);
  if (from !== undefined && tokens >= from) return true;
  return target?.exceeded !== true && upstream.provenLimits.includes(member);
}

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

/** Null: only the model limits the output, or answers have no output tokens. */
export function sentLimit(
  facts: RequestFacts,
  protocol: ClientProtocolName,
  target: Pick<Target, 'upstream' | 'traits'>,
): SentLimit | null {
  const { outputTokensMax, mayChangeLimit } = facts;
  if ((outputTokensMax === null || outputTokensMax === 0) && !mayChangeLimit) return null;
  const member = mayChangeLimit ? null : memberOf(facts, protocol, target);
  return { member, tokens: outputTokensMax ?? 0, mostWithoutIt: mostWithoutLimit(facts, target) };
}

/** The caller's own member if its bytes pass through with one limit, otherwise the one that upstream knows. */
function memberOf(
  { outputLimitMember, otherLimit }: RequestFacts,
  protocol: ClientProtocolName,
  { upstream, traits }: Pick<Target, 'upstream' | 'traits'>,
): OutputLimitMember | null {
  const known = upstream.protocolFor[protocol]?.outputLimitMember(traits) ?? null;
  if (speaks(upstream.protocols, protocol)) return otherLimit === null ? outputLimitMember : known;
  return known;
}

/** All answers combined, by the caller's own limit, else the catalog's; null: unlimited. */
export function mostOutputTokens(facts: RequestFacts, { traits }: Pick<Target, 'traits'>): number | null {
  return ofAll(facts, facts.outputTokensMax ?? traits.outputTokensMax);
}

/** The same for a host that ignores the caller's limit. */
function mostWithoutLimit(facts: RequestFacts, { traits }: Pick<Target, 'traits'>): number | null {
  return ofAll(facts, traits.outputTokensMax);
}

function ofAll({ answers }: RequestFacts, one: number | null): number | null {
  return one === null ? null : Math.min(Number.MAX_SAFE_INTEGER, one * answers);
}
