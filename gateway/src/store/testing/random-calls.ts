/**
 * Generates calls for tests and measurements of usage: of several accounts, keys, models, end users and sessions, with
 * prices and faults.
 */

import { parsePriceVersion } from '../../billing/price.ts';
import { costNanoUsd } from '../../billing/price-book.ts';
import { type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { AttemptRecord, CallRecord } from '../ports/records.ts';
import { sampleRecord } from './sample-record.ts';

/** Numbers from 0 (inclusive) to 1 (exclusive), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Variety {
  readonly accounts: readonly string[];
  readonly keysPerAccount: number;
  readonly models: number;
  readonly endUsersPerAccount: number;
  /** Calls of a session follow one another within this time. */
  readonly sessionMs: number;
}

const FAULTS = [
  [429, 'rate_limited'],
  [400, 'invalid_request'],
  [500, 'upstream_failed'],
  [499, 'client_left'],
  [200, 'upstream_truncated'],
] as const;

const PROVIDERS = ['openai', 'anthropic', 'groq'];

/** A call that arrived at `atMs`; `nth` makes its id unique. */
export function randomCall(random: () => number, variety: Variety, atMs: number, nth: number): CallRecord {
  const pick = (count: number) => Math.floor(random() ** 2 * count);
  const account = variety.accounts[pick(variety.accounts.length)] ?? 'default';
  const key = pick(variety.keysPerAccount);
  const model = pick(variety.models);
  const isPriced = model % 7 !== 6;
  const [status, error] = random() < 0.06 ? (FAULTS[pick(FAULTS.length)] ?? [200, null]) : [200, null];
  const reasoning = pick(400);
  const usage: Usage = {
    input: pick(4_000),
    cache_read: random() < 0.5 ? pick(20_000) : 0,
    cache_write_5m: random() < 0.1 ? pick(2_000) : 0,
    cache_write_1h: 0,
    output: reasoning + pick(2_000),
    reasoning,
  };
  const price_version = isPriced ? `config@${(model % 5) + 1}_0.1_${(model % 5) + 2}.25_4_15.000001_15` : null;
  const cost = price_version === null ? null : costNanoUsd(usage, parsePriceVersion(price_version));
  const hasSession = random() < 0.6;
  const attempts = random() < 0.2 ? [lostAttempt(random() < 0.5, pick(4_000), price_version)] : [];
  return sampleRecord(requestIdFloor(atMs) + nth.toString(16).padStart(20, '0'), {
    at_ms: atMs,
    account,
    workspace: account === 'default' && key % 3 !== 0 ? 'default' : `${account}-w${key % 3}`,
    key_id: `key_${account}_${key}`,
    key_name: `key ${key}`,
    end_user: random() < 0.4 ? `user-${pick(variety.endUsersPerAccount)}` : null,
    session: hasSession ? `session-${key}-${Math.floor(atMs / variety.sessionMs)}` : null,
    trace_id: nth % 10 === 0 ? (nth % 30).toString(16).padStart(32, '0') : null,
    protocol: key % 2 === 0 ? 'chat' : 'messages',
    model: error === 'invalid_request' ? null : `model-${model}`,
    provider: error === 'rate_limited' ? null : (PROVIDERS[model % PROVIDERS.length] ?? null),
    status,
    error,
    usage,
    price_version,
    cost_nano_usd: cost === null ? null : cost.toString(),
    ttfb_ms: error === null ? 80 + pick(2_000) : null,
    duration_ms: 100 + pick(60_000),
    attempts: [...attempts, { provider: 'openai', model: 'm', status, error, duration_ms: 90 }],
  });
}

/** An attempt before the one that answered. */
function lostAttempt(isTold: boolean, input: number, price_version: string | null): AttemptRecord {
  const usage: Usage = { ...ZERO_USAGE, input, output: isTold ? 9 : 0 };
  const lost = { provider: 'lab', model: 'm', status: isTold ? 200 : null, error: 'upstream_failed', duration_ms: 12 };
  const billed = isTold ? 'yes' : 'maybe';
  if (price_version === null) return { ...lost, billed, usage, cost_nano_usd: null };
  const cost = costNanoUsd(usage, parsePriceVersion(price_version)).toString();
  return { ...lost, billed, usage, price_version, cost_nano_usd: cost };
}
