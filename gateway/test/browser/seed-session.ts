/** Makes the requests of one run of an agent, whose prompt cache breaks in several ways, for the seeded gateway. */
import { parsePriceVersion } from '../../src/billing/price.ts';
import { costNanoUsd } from '../../src/billing/price-book.ts';
import { requestIdFloor } from '../../src/lib/request-id.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { sampleRecord } from '../../src/store/testing/sample-record.ts';
import type { MadeKey } from '../http-contract/make-key.ts';

/** Its name: with characters that an address must encode. */
export const AGENT_RUN = 'refactor billing 2026 #7';

/** USD per million tokens: input 3, output 15, cache read 0.3, cache write 3.75 and 6. */
const PRICE = 'config@3_0.3_3.75_6_15_15';
const MODEL = { provider: 'lab', model: 'gpt-5-2026-01-01' };
const OTHER = { provider: 'lab', model: 'gpt-4.1-2026-01-01' };

interface Step {
  /** After the request before. */
  readonly afterMs?: number;
  readonly cached: number;
  readonly written: number;
  readonly target?: typeof MODEL;
  readonly failed?: true;
}

/** Breaks at requests 6 (the pause), 9 (another model) and 12 (the prompt itself). */
const STEPS: readonly Step[] = [
  { cached: 0, written: 14_200 },
  { cached: 14_200, written: 1_900 },
  { cached: 16_100, written: 2_400 },
  { cached: 18_500, written: 1_100 },
  { cached: 19_600, written: 3_000 },
  { afterMs: 14 * 60_000, cached: 0, written: 24_100 },
  { cached: 24_100, written: 2_050 },
  { cached: 26_150, written: 900, failed: true },
  { cached: 0, written: 27_800, target: OTHER },
  { cached: 27_050, written: 1_700 },
  { cached: 28_750, written: 2_200 },
  { cached: 9_400, written: 22_900 },
  { cached: 32_300, written: 1_450 },
  { cached: 33_750, written: 800 },
];

const STEP_MS = 40_000;

/** In order; the last one arrives at `endMs` (unix ms). */
export function agentRun(endMs: number, key: (MadeKey & { readonly name: string }) | undefined): CallRecord[] {
  const price = parsePriceVersion(PRICE);
  const lengthMs = STEPS.reduce((sum, { afterMs = STEP_MS }) => sum + afterMs, -STEP_MS);
  let atMs = endMs - lengthMs - STEP_MS;
  return STEPS.map(({ afterMs = STEP_MS, cached, written, target = MODEL, failed }, nth) => {
    atMs += afterMs;
    const usage = {
      input: 40 + nth,
      cache_read: cached,
      cache_write_5m: written,
      cache_write_1h: 0,
      output: 700 + 90 * (nth % 5),
      reasoning: 0,
    };
    const status = failed === undefined ? 200 : 499;
    const error = failed === undefined ? null : 'client_left';
    return sampleRecord(`${requestIdFloor(atMs)}${nth.toString(16).padStart(20, 'a')}`, {
      at_ms: atMs,
      key_id: key?.id ?? '',
      key_name: key?.name ?? '',
      end_user: null,
      session: AGENT_RUN,
      protocol: 'messages',
      model: target.model.slice(0, -'-2026-01-01'.length),
      served_model: target.model,
      provider: target.provider,
      status,
      error,
      usage,
      price_version: PRICE,
      cost_nano_usd: costNanoUsd(usage, price).toString(),
      duration_ms: 6_000 + 400 * (nth % 4),
      attempts: [{ ...target, status, error, duration_ms: 5_900 }],
    });
  });
}
