/** Tests that a stream never exceeds its hold, and that its progress is recorded often enough. */
import { afterEach, describe, expect, mock, spyOn, test } from 'bun:test';
import { SLICE_TOKENS } from '../../billing/reserve.ts';
import type { CallFailure } from '../../errors/call-failure.ts';
import { type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { StreamObserver } from '../../protocols/upstream-protocol.ts';
import { type HeldPlan, holdMoney } from '../testing/held-money.ts';
import { StreamMeter } from './stream-meter.ts';

const INPUT_TOKENS = 7;
const SLICE = BigInt(SLICE_TOKENS);

/** A stream whose every byte is a token: `come` reports how many there are, and whether they may be sent. */
async function meter(plan: HeldPlan & { readonly onGranted?: () => void }) {
  const { money, ledger } = await holdMoney(plan);
  let outputBytes = 0;
  let usageSoFar: Usage | null = null;
  const facts = () => ({
    usage: null,
    usageFlags: [],
    usageSoFar,
    finish_reason: null,
    model: null,
    outputBytes,
    reasoningBytes: 0,
    outputBytesMax: outputBytes,
  });
  // Each byte of a read is half a byte of output.
  const preview = ({ length }: Uint8Array, start: number) => ({ end: length, outputBytes: (length - start) / 2 });
  const observer: Pick<StreamObserver, 'facts' | 'preview'> = { facts, preview };
  const reports: string[] = [];
  const metered = new StreamMeter({
    money,
    observer: observer as StreamObserver,
    tokensIn: (bytes) => bytes,
    inputTokens: INPUT_TOKENS,
    onGranted: plan.onGranted ?? (() => reports.push('granted')),
    onRefused: ({ kind }: CallFailure) => reports.push(kind),
  });
  const come = (bytes: number, soFar: Usage | null = null): boolean => {
    outputBytes = bytes;
    usageSoFar = soFar;
    return metered.covers();
  };
  return { metered, money, ledger, reports, come };
}

/** Lets the pending requests be answered. */
const answered = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a stream', () => {
  test('requests its next slice while a quarter of the last one is left, without waiting', async () => {
    const { money, ledger, reports, come } = await meter({ cap: SLICE * 9n });
    expect(come((SLICE_TOKENS * 3) / 4 - 1)).toBe(true);
    expect(ledger.kept).toEqual([]);
    expect(come((SLICE_TOKENS * 3) / 4)).toBe(true);
    await answered();
    expect([ledger.kept, money.allowedTokens]).toEqual([[`extend req_1 #1 ${SLICE}`], 2 * SLICE_TOKENS]);
    expect(come(SLICE_TOKENS + 1)).toBe(true);
    expect(reports).not.toContain('quota_exceeded');
  });

  test('a stream beyond its hold waits for an extension, however much arrived meanwhile', async () => {
    const { reports, come } = await meter({ cap: SLICE * 9n });
    expect(come(SLICE_TOKENS + 1)).toBe(false);
    expect(come(SLICE_TOKENS * 4)).toBe(false);
    expect(reports).toEqual([]);
    await answered();
    expect(reports).toEqual(['granted']);
    expect(come(SLICE_TOKENS * 4)).toBe(true);
  });

  test('a stream refused an extension continues to the end of its hold, and no further', async () => {
    const { money, reports, come } = await meter({ cap: SLICE + SLICE / 2n });
    expect(come(SLICE_TOKENS)).toBe(true);
    await answered();
    expect(reports).not.toContain('quota_exceeded');
    expect(money.allowedTokens).toBe(SLICE_TOKENS);
    expect(come(SLICE_TOKENS + 1)).toBe(false);
    await answered();
    expect(reports.at(-1)).toBe('quota_exceeded');
  });

  test('a stream whose extension cannot be stored ends, but not for lack of money', async () => {
    const { ledger, reports, come } = await meter({ cap: SLICE * 9n });
    ledger.failing.add('extend');
    expect(come(SLICE_TOKENS + 1)).toBe(false);
    await answered();
    expect(reports).toEqual(['store_unavailable']);
  });

  test('a stream whose reader fails at the waiting bytes ends, but not for lack of money', async () => {
    const { reports, come } = await meter({
      cap: SLICE * 9n,
      onGranted() {
        throw new Error('a fault');
      },
    });
    expect(come(SLICE_TOKENS + 1)).toBe(false);
    await answered();
    expect(reports).toEqual(['gateway_fault']);
  });

  test('reports whether it would cover more, without requesting it', async () => {
    const { metered, ledger, come } = await meter({ cap: SLICE * 9n });
    come(1_000);
    expect([SLICE_TOKENS - 1_000, SLICE_TOKENS - 999].map((bytes) => metered.coversMore(bytes))).toEqual([true, false]);
    const twice = 2 * (SLICE_TOKENS - 1_000);
    expect([twice, twice + 2].map((size) => metered.coveredEnd(new Uint8Array(size), 0))).toEqual([twice, 0]);
    await answered();
    expect(ledger.kept).toEqual([]);
  });

  test('a stream with many unread bytes requests all of them at once, or one slice if that is refused', async () => {
    const [rich, poor] = [await meter({ cap: SLICE * 9n }), await meter({ cap: SLICE * 3n })];
    for (const { metered, come } of [rich, poor]) {
      metered.expect(3);
      expect(come(SLICE_TOKENS + 1)).toBe(false);
      await answered();
    }
    expect(rich.ledger.kept).toContain(`extend req_1 #1 ${SLICE * 4n}`);
    expect(poor.ledger.kept).toContain(`extend req_1 #1 ${SLICE}`);
    expect([rich.reports, poor.reports]).toEqual([['granted'], ['granted']]);
  });

  test('requests one slice at a time', async () => {
    const { ledger, come } = await meter({ cap: SLICE * 9n });
    for (let bytes = (SLICE_TOKENS * 3) / 4; bytes < SLICE_TOKENS; bytes++) come(bytes);
    await answered();
    expect(ledger.kept.filter((what) => what.startsWith('extend'))).toHaveLength(1);
  });
});

describe('its progress', () => {
  afterEach(() => mock.restore());
  const checkpoints = (kept: readonly string[]) => kept.filter((what) => what.startsWith('checkpoint'));

  test('is noted every 2,000 tokens, with our estimate of the input', async () => {
    const { ledger, come } = await meter({ cap: SLICE * 9n });
    for (const bytes of [1_999, 2_000, 2_001, 3_999, 4_000]) come(bytes);
    expect(checkpoints(ledger.kept)).toEqual([
      `checkpoint req_1 output 2000 cost ${2_000 + INPUT_TOKENS}`,
      `checkpoint req_1 output 4000 cost ${4_000 + INPUT_TOKENS}`,
    ]);
  });

  test('is noted every 5 s, where there is any', async () => {
    let nowMs = 1_000;
    spyOn(performance, 'now').mockImplementation(() => nowMs);
    const { ledger, come } = await meter({ cap: SLICE * 9n });
    come(10);
    nowMs += 4_999;
    come(11);
    expect(checkpoints(ledger.kept)).toEqual([]);
    nowMs += 1;
    come(12);
    nowMs += 60_000;
    come(12);
    expect(checkpoints(ledger.kept)).toEqual([`checkpoint req_1 output 12 cost ${12 + INPUT_TOKENS}`]);
  });

  test('the count is upstream’s if it has one, and never below the received output', async () => {
    const { ledger, come } = await meter({ cap: SLICE * 9n });
    come(2_000, { ...ZERO_USAGE, input: 100, output: 1 });
    come(4_000, { ...ZERO_USAGE, input: 100, output: 5_000 });
    expect(checkpoints(ledger.kept)).toEqual([
      'checkpoint req_1 output 2000 cost 2100',
      'checkpoint req_1 output 5000 cost 5100',
    ]);
  });
});
