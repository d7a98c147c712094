/** Parses durations as people write them (`30d`, `24h`, `15m`, `90s`, `300ms`). Knows no calendar. */

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** A hundred years: a longer duration is a typing error, and sums with unix ms stay exact far below 2^53. */
const DURATION_MS_MAX = 36_525 * 86_400_000;

/**
 * The milliseconds of a duration such as `30d`, `24h`, `15m`, `90s` or `300ms`: a whole number followed by its unit.
 * Zero is allowed; the caller decides whether it makes sense.
 *
 * @throws RangeError that says what was found and what was expected.
 */
export function parseDurationMs(text: string): number {
  const [, count, unit] = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = unit === undefined ? undefined : UNIT_MS.get(unit);
  if (count === undefined || unitMs === undefined) {
    throw new RangeError(
      `found ${JSON.stringify(shorten(text))}, expected a whole number and a unit: ms, s, m, h or d (such as 90s, 15m or 30d)`,
    );
  }
  const durationMs = Number(count) * unitMs;
  if (durationMs > DURATION_MS_MAX) throw new RangeError(`found ${text}, expected at most 36525d (a hundred years)`);
  return durationMs;
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
