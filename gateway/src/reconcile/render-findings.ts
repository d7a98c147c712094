/** Renders findings for people: the words of a cause, a difference in percent, and CSV. */
import { formatNanoUsd } from '../billing/money.ts';
import type { Cause, Finding } from '../store/ports/books/reconciliation.ts';
import { parseAmount } from './invoice-line.ts';

const WORDS: Readonly<Record<Cause, string>> = {
  missing_call: 'Missing call',
  double: 'Billed twice',
  wrong_tier: 'Wrong tier',
  retried_attempt: 'Retried attempt',
  cut_stream: 'Cut stream',
  other_day: 'Other day',
  price: 'Other price',
  usage: 'Other usage',
  not_billed: 'Not billed',
  unpriced: 'No price',
};

export function causeWords(cause: Cause): string {
  return WORDS[cause];
}

/** The difference relative to the billed amount, in basis points; null: nothing was billed. */
function differenceBasisPoints({
  billed,
  recorded,
}: {
  readonly billed: bigint;
  readonly recorded: bigint;
}): number | null {
  if (billed === 0n) return recorded === 0n ? 0 : null;
  return Number(((billed - recorded) * 10_000n) / billed);
}

/** `+2.31%`. */
export function differencePercent(amounts: { readonly billed: bigint; readonly recorded: bigint }): string {
  const points = differenceBasisPoints(amounts);
  if (points === null) return 'nothing billed';
  const size = Math.abs(points);
  return `${points < 0 ? '-' : points > 0 ? '+' : ''}${Math.floor(size / 100)}.${String(size % 100).padStart(2, '0')}%`;
}

/** Whether the difference exceeds a part of the bill, a decimal number of percent. @throws InvoiceError */
export function exceedsPercent(
  { billed, recorded }: { readonly billed: bigint; readonly recorded: bigint },
  percent: string,
): boolean {
  const limit = parseAmount(percent, '--fail-above');
  const [difference, whole] = [billed - recorded, billed < 0n ? -billed : billed];
  return (difference < 0n ? -difference : difference) * 100n * ATTO > whole * limit;
}

const ATTO = 10n ** 18n;
const COLUMNS = ['day', 'model', 'cause', 'usd', 'count', 'request_id', 'attempt', 'provider_request_id', 'detail'];

/** Texts that a spreadsheet would run as a formula get an apostrophe. */
export function renderFindingsCsv(findings: readonly Finding[]): string {
  const rows = findings.map((each) => [
    each.day,
    each.model,
    each.cause,
    formatNanoUsd(each.amount),
    String(each.count),
    each.requestId ?? '',
    each.attempt === null ? '' : String(each.attempt),
    each.providerRequestId ?? '',
    each.detail,
  ]);
  return [COLUMNS, ...rows].map((cells) => `${cells.map(field).join(',')}\r\n`).join('');
}

function field(text: string): string {
  const safe = /^[=+@\t\r]|^-(?![0-9.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
