/** Owns the days of a zone that are asked for again and again: each is looked up in the calendar once, which takes 20 µs. */
import { windowAt } from './window.ts';

export interface Day {
  readonly startMs: number;
  readonly endMs: number;
}

/** Thirty years of one zone. */
const KNOWN_MAX = 10_000;
/** Zone and beginning → end. */
const ends = new Map<string, number>();

/** The day that holds `atMs` (unix ms) by the clocks of an IANA zone. Quick where the day begins at that moment. */
export function dayAt(timeZone: string, atMs: number): Day {
  const known = ends.get(`${timeZone} ${atMs}`);
  if (known !== undefined) return { startMs: atMs, endMs: known };
  const { startMs, endMs } = windowAt('day', timeZone, atMs);
  const day = { startMs, endMs: endMs ?? Number.POSITIVE_INFINITY };
  if (ends.size >= KNOWN_MAX) ends.clear();
  ends.set(`${timeZone} ${startMs}`, day.endMs);
  return day;
}
