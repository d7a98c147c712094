/** Owns the end of a call: usage and its source by the table of who pays, cost, one record. Exactly once per call. */
import { costNanoUsd } from '../billing/cost.ts';
import type { FailureKind } from '../errors/failure-kinds.ts';
import { type Usage, type UsageSource, ZERO_USAGE } from '../generation/usage.ts';
import { maskKeys } from '../lib/mask-keys.ts';
import type { AnswerFacts } from '../protocols/protocol.ts';
import type { CallRecord, CallRecorder } from '../store/ports.ts';
import type { Call } from './call.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** How a call ended. `status` is what the client got; `failure` is null only for a complete answer. */
export interface Outcome {
  readonly status: number;
  readonly failure: FailureKind | null;
  /** What the answer told of itself, as far as it came; null: no answer began. */
  readonly facts: AnswerFacts | null;
}

export interface Settlement {
  readonly costNanoUsd: bigint | null;
  /** Resolves when the record is durable. */
  readonly durable: Promise<void>;
}

/** Makes the call's record and hands it to the recorder. A second settlement of a call is a fault and throws. */
export function settle(call: Call, outcome: Outcome, recorder: CallRecorder): Settlement {
  if (call.settled) throw new Error(`call ${call.requestId} is settled already`);
  call.settled = true;
  const { usage, source } = decideUsage(call, outcome);
  const price = call.route?.price ?? null;
  const cost = source === 'void' ? 0n : price === null ? null : costNanoUsd(usage, price);
  const record = buildRecord(call, outcome, usage, source, cost);
  return { costNanoUsd: cost, durable: record === null ? Promise.resolve() : recorder.append(record) };
}

/** Who pays for what. Source: money design, "Who pays": whoever broke it pays. */
function decideUsage(call: Call, { failure, facts }: Outcome): { usage: Usage; source: UsageSource } {
  if (!call.dispatched) return { usage: ZERO_USAGE, source: 'void' };
  if (failure === null) {
    const usage = facts?.usage ?? null;
    return usage === null ? { usage: countUsage(call, facts), source: 'counted' } : { usage, source: 'upstream' };
  }
  const produced = facts !== null && facts.outputBytes > 0;
  if (failure === 'client_left' || failure === 'reader_too_slow' || produced) return partialUsage(call, facts, failure);
  return { usage: ZERO_USAGE, source: 'void' };
}

/** An answer that ended early: upstream's count of the input where it gave one, and at least what came of the output. */
function partialUsage(call: Call, facts: AnswerFacts | null, failure: FailureKind) {
  const soFar = facts?.usageSoFar ?? null;
  const counted = countUsage(call, facts);
  if (soFar === null) {
    const source: UsageSource = failure === 'client_left' || failure === 'reader_too_slow' ? 'counted' : 'partial';
    return { usage: counted, source };
  }
  return { usage: { ...soFar, output: Math.max(soFar.output, counted.output) }, source: 'partial' as const };
}

function countUsage(call: Call, facts: AnswerFacts | null): Usage {
  return {
    ...ZERO_USAGE,
    input: estimateTokens(call.facts?.inputBytes ?? 0),
    output: estimateTokens(facts?.outputBytes ?? 0),
  };
}

/** What a caller or an upstream wrote, for the record: a key sent in the wrong place must not be kept. */
function masked(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : maskKeys(text);
}

function buildRecord(
  call: Call,
  { status, failure, facts }: Outcome,
  usage: Usage,
  usage_source: UsageSource,
  cost: bigint | null,
): CallRecord | null {
  const { principal, route } = call;
  if (principal === null) return null;
  return {
    request_id: call.requestId,
    at_ms: call.atMs,
    account: principal.accountId,
    workspace: principal.workspaceId,
    key_id: principal.keyId,
    key_name: principal.keyName,
    end_user: masked(call.facts?.endUser),
    session: masked(call.session),
    protocol: call.protocol,
    model: masked(call.facts?.model),
    served_model: masked(facts?.model ?? (call.dispatched ? route?.upstream.model : null)),
    provider: call.dispatched ? (route?.upstream.provider ?? null) : null,
    stream: call.facts?.stream ?? false,
    status,
    error: failure,
    finish_reason: facts?.finish_reason ?? null,
    usage,
    usage_source,
    price_version: route?.price?.version ?? null,
    cost_nano_usd: cost === null ? null : cost.toString(),
    ttfb_ms: call.firstByteMs === null ? null : Math.round(call.firstByteMs - call.startMs),
    duration_ms: Math.round(performance.now() - call.startMs),
    attempts: call.attempts,
  };
}
