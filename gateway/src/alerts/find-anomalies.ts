/** Finds days on which an account spends much more than usual on that weekday. */
import type { AlertRule, FoundAlert } from '../store/ports/books/alerts.ts';
import { foundAlert, shownUsd } from './found-alert.ts';

/** Nano-USD by the account's days. */
export interface ObservedDays {
  /** When today began, unix ms. */
  readonly startMs: number;
  /** Such as `Tuesday`. */
  readonly weekday: string;
  readonly today: bigint;
  /** The same weekday of the last weeks. */
  readonly before: readonly bigint[];
}

/** Weeks with spend that make a usual day, and the least spend that is reported. */
const WEEKS_MIN = 2;
const SPENT_MIN = 1_000_000_000n;

function toCents(amount: bigint): bigint {
  return amount - (amount % 10_000_000n);
}

export function findAnomalies(
  own: readonly AlertRule[],
  { startMs, weekday, today, before }: ObservedDays,
  nowMs: number,
): readonly FoundAlert[] {
  const spent = before.filter((amount) => amount > 0n);
  if (spent.length < WEEKS_MIN || today < SPENT_MIN) return [];
  const usual = spent.reduce((sum, amount) => sum + amount, 0n) / BigInt(spent.length);
  if (usual === 0n) return [];
  const percent = (today * 100n) / usual;
  const text = `The account spent ${shownUsd(toCents(today))} today, ${percent}% of a usual ${weekday} (${shownUsd(toCents(usual))}).`;
  const remedy = { label: 'Show usage', page: '/app/usage' };
  return own
    .filter(({ threshold }) => percent >= threshold)
    .map((rule) => foundAlert(rule, { event: ['anomaly', startMs], text, remedy, repeatMs: null }, nowMs));
}
