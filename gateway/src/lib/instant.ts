/** Parses days and instants as people write them. Knows no clock, and no time zone except the written one. */

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
