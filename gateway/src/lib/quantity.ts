/** Parses durations (`30d`, `24h`, `15m`, `90s`, `300ms`), byte sizes and points in time as people write them. */

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

/** Binary units only, as memory is counted. */
const UNIT_BYTES = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
]);

/**
 * The bytes of a size such as `32MiB`, `256KiB` or `1000B`: a whole number followed by its unit.
 *
 * @throws RangeError that says what was found and what was expected.
 */
export function parseByteSize(text: string): number {
  const [, count, unit] = /^(\d{1,16})(B|KiB|MiB|GiB|TiB)$/.exec(text) ?? [];
  const unitBytes = unit === undefined ? undefined : UNIT_BYTES.get(unit);
  if (count === undefined || unitBytes === undefined) {
    const found = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new RangeError(
      `found ${JSON.stringify(found)}, expected a whole number and a unit: B, KiB, MiB, GiB or TiB (such as 32MiB)`,
    );
  }
  const bytes = Number(count) * unitBytes;
  if (!Number.isSafeInteger(bytes)) throw new RangeError(`found ${text}, expected at most 8191TiB`);
  return bytes;
}

/** A day, or an instant with its zone. */
const INSTANT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?(Z|[+-][01][0-9]:[0-5][0-9]))?$/;

/**
 * Unix ms of a day (`2026-12-01`: its first instant in UTC) or of an instant with its zone (`2026-12-01T08:00:00Z`,
 * `2026-12-01T08:00+01:00`).
 * @throws RangeError if the text is neither, or names a day that does not exist.
 */
export function parseInstantMs(text: string): number {
  const match = INSTANT.exec(text);
  const [, year, month, day] = match ?? [];
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (match === null || midnight.getUTCDate() !== Number(day) || midnight.getUTCMonth() !== Number(month) - 1) {
    throw new RangeError(
      `found ${JSON.stringify(text.slice(0, 40))}, expected a day such as 2026-12-01, or a moment such as 2026-12-01T08:00:00Z`,
    );
  }
  return Date.parse(text);
}
