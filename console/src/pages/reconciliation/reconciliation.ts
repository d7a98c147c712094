/** Words and figures of reconciliations. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Summary = Reply<'GET /reconciliations'>['reconciliations'][number];
export type Comparison = Reply<'GET /reconciliations/{reconciliation}'>;
export type ComparedDay = Comparison['days'][number];
export type Finding = Comparison['list'][number];
export type Cause = Finding['cause'];

export const CAUSES: Readonly<Record<Cause, { readonly name: string; readonly tone: Tone; readonly remedy: string }>> =
  {
    missing_call: {
      name: 'Missing call',
      tone: 'bad',
      remedy: 'Look for the credential in another program, and rotate it.',
    },
    double: { name: 'Billed twice', tone: 'bad', remedy: 'Claim it at the provider, with both IDs.' },
    wrong_tier: {
      name: 'Wrong tier',
      tone: 'attention',
      remedy: 'Check the service tier that the request named, and the price of the model.',
    },
    price: {
      name: 'Other price',
      tone: 'attention',
      remedy: 'Compare the price of the model with the provider’s list.',
    },
    usage: { name: 'Other usage', tone: 'attention', remedy: 'Claim it at the provider, with the ID of the request.' },
    unpriced: { name: 'No price', tone: 'attention', remedy: 'Set a price for the model.' },
    not_billed: { name: 'Not billed', tone: 'neutral', remedy: 'Wait for a later export.' },
    retried_attempt: {
      name: 'Retried attempt',
      tone: 'neutral',
      remedy: 'The operator pays it. If there are many, compare the time limits of the provider.',
    },
    cut_stream: {
      name: 'Cut stream',
      tone: 'neutral',
      remedy: 'The record has an estimate. Nothing to do, unless there are many.',
    },
    other_day: { name: 'Other day', tone: 'neutral', remedy: 'Compare in the provider’s time zone: --time-zone.' },
  };

/** Above this share of the billed amount a difference needs attention. */
const ATTENTION_BASIS_POINTS = 100n;

interface Amounts {
  readonly billed_nano_usd: string;
  readonly recorded_nano_usd: string;
}

export function differenceOf({ billed_nano_usd, recorded_nano_usd }: Amounts): string {
  return (BigInt(billed_nano_usd) - BigInt(recorded_nano_usd)).toString();
}

/** `+2.31%`; null: nothing was billed. */
export function differencePercent(amounts: Amounts): string | null {
  const billed = BigInt(amounts.billed_nano_usd);
  if (billed === 0n) return null;
  const points = (BigInt(differenceOf(amounts)) * 10_000n) / billed;
  const size = points < 0n ? -points : points;
  const sign = points < 0n ? '−' : points > 0n ? '+' : '';
  return `${sign}${size / 100n}.${String(size % 100n).padStart(2, '0')}%`;
}

export function needsAttention(amounts: Amounts): boolean {
  const billed = BigInt(amounts.billed_nano_usd);
  const difference = BigInt(differenceOf(amounts));
  const size = difference < 0n ? -difference : difference;
  return size * 10_000n > (billed < 0n ? -billed : billed) * ATTENTION_BASIS_POINTS;
}

/** A day whose amounts differ, or that has findings. */
export function isDifferent({ billed_nano_usd, recorded_nano_usd, explained_nano_usd }: ComparedDay): boolean {
  return (billed_nano_usd ?? recorded_nano_usd) !== recorded_nano_usd || explained_nano_usd !== '0';
}
