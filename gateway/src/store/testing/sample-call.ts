/** Builds a metered call for tests: its hold, and a settlement whose record follows from usage and price. */

import { parsePriceVersion } from '../../billing/price.ts';
import { costNanoUsd } from '../../billing/price-book.ts';
import { type MediaAndToolUsage, type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { CallDraft, DetachedJob, Hold, Settlement } from '../ports/ledger.ts';
import type { AttemptRecord, Billed, CallRecord } from '../ports/records.ts';
import { sampleRecord } from './sample-record.ts';

/** An output token costs 2 nano-USD, an input token 1. */
export const PRICE_VERSION = 'config@0.001_0.001_0.001_0.001_0.002_0.002';

/** The same, with audio output at 8 nano-USD per token and searches at 5 each. */
const APART_PRICE_VERSION = `${PRICE_VERSION},audio_output=0.008;web_search=0.000005/1000`;

/** The cost of a record's usage at its price, as `verify` computes it. */
export function recompute(usage: Usage, priceVersion: string): bigint {
  return costNanoUsd(usage, parsePriceVersion(priceVersion));
}

function draftOf(request_id: string, changes: Partial<CallDraft> = {}): CallDraft {
  const record = sampleRecord(request_id, { price_version: PRICE_VERSION });
  return {
    request_id,
    at_ms: record.at_ms,
    account: record.account,
    workspace: record.workspace,
    key_id: record.key_id,
    key_name: record.key_name,
    end_user: record.end_user,
    session: record.session,
    trace_id: record.trace_id,
    protocol: record.protocol,
    model: record.model,
    served_model: record.served_model,
    provider: record.provider,
    stream: record.stream,
    price_version: record.price_version,
    ...changes,
  };
}

export function heldCall(request_id: string, amount: bigint, account = 'default'): Hold {
  return { draft: draftOf(request_id, { account }), amount };
}

/** A response that goes on in the background. */
export function jobOf(id: string): DetachedJob {
  const place = { provider: 'openai', model: 'gpt-5-mini', credential: 'default' };
  const held_tokens = { input: 10, output: 20 };
  const rest = { deadline_ms: 1_790_172_800_000, held_tokens, price_version: PRICE_VERSION, attempts: [] };
  return { kind: 'response', id, ...place, ...rest };
}

/** An attempt that failed after it made `output` tokens, by the provider's word or by an estimate. */
export function lostAttempt(billed: Billed, output: number): AttemptRecord {
  const usage = usageOf(output);
  const cost_nano_usd = recompute(usage, PRICE_VERSION).toString();
  const attempt = { provider: 'lab', model: 'm', status: null, error: 'upstream_failed', duration_ms: 9 };
  return { ...attempt, billed, usage, price_version: PRICE_VERSION, cost_nano_usd };
}

/** Usage of `output` tokens only. */
export function usageOf(output: number): Usage {
  return { ...ZERO_USAGE, output };
}

export interface SettledParts {
  readonly held: bigint;
  readonly output: number;
  /** Usage of audio, images and tools that ran upstream. */
  readonly extras?: MediaAndToolUsage;
  readonly account?: string;
  readonly changes?: Partial<CallRecord>;
}

/** The settlement of a call that held `held` and produced `output` tokens; the cost beyond the hold is absorbed. */
export function settledCall(request_id: string, parts: SettledParts): Settlement {
  const { held, output, account = 'default', changes = {} } = parts;
  const price = parts.extras === undefined ? PRICE_VERSION : APART_PRICE_VERSION;
  const usage: Usage = { ...usageOf(output), ...(parts.extras && { extras: parts.extras }) };
  const cost = recompute(usage, price);
  const posted = cost < held ? cost : held;
  const record = sampleRecord(request_id, {
    account,
    usage,
    price_version: price,
    cost_nano_usd: cost.toString(),
    ...changes,
  });
  return { record, posted, released: held - posted, writtenOff: cost - posted };
}
