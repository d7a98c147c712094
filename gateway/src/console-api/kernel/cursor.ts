/** Encodes the position in a list as an opaque cursor, here the number of the last row, and parses time ranges. */
import { ConsoleFailure } from './console-failure.ts';

/** Null: from the newest. Throws `invalid`. */
export function readCursor(before: string | undefined): number | null {
  if (before === undefined) return null;
  const seq = /^[1-9]\d{0,15}$/.test(before) ? Number(before) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw new ConsoleFailure('invalid', 'before: expected the value of next from the previous page', {
    member: 'before',
  });
}

export function renderCursor(seq: number | null): string | null {
  return seq === null ? null : String(seq);
}

/** Unix ms. Throws `invalid` for an invalid range. */
export function readRange({
  from,
  to,
}: {
  readonly from: string;
  readonly to: string;
}): readonly [fromMs: number, toMs: number] {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (fromMs < toMs) return [fromMs, toMs];
  throw new ConsoleFailure('invalid', `to: found ${to}, expected a time after from (${from})`, { member: 'to' });
}
