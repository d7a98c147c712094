/** Owns the time zones that can be chosen. */

/** Every zone the browser knows, `UTC` first, and the one that stands even where the browser does not know it. */
export function timeZones(current: string): readonly string[] {
  return [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])];
}
