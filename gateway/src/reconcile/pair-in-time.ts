/** Pairs lines with attempts of the same kind in the order of time, in a time that grows with their number only. */
import type { OwnAttempt } from './own-attempts.ts';

interface Timed {
  readonly day: string;
  readonly atMs: number | null;
}

const HALF_DAY_MS = 43_200_000;

/** Attempts by a key, each list in the order of time. */
export function indexByTime(
  attempts: readonly OwnAttempt[],
  keyOf: (own: OwnAttempt) => string,
): ReadonlyMap<string, readonly OwnAttempt[]> {
  return Map.groupBy(
    [...attempts].sort((one, other) => one.atMs - other.atMs),
    keyOf,
  );
}

/**
 * Pairs each line with the first unused attempt of its key that is at most `withinMs` away, both in the order of time.
 * Lines without an attempt are returned.
 */
export function pairInTime<Line extends Timed>(
  lines: readonly Line[],
  index: ReadonlyMap<string, readonly OwnAttempt[]>,
  keyOf: (line: Line) => string | null,
  withinMs: number,
  used: ReadonlySet<OwnAttempt>,
  take: (line: Line, own: OwnAttempt) => void,
): readonly Line[] {
  const left: Line[] = [];
  for (const [key, group] of Map.groupBy(lines, keyOf)) {
    const candidates = (key === null ? undefined : index.get(key)) ?? [];
    let next = 0;
    for (const line of group.sort((one, other) => timeOf(one) - timeOf(other))) {
      const atMs = timeOf(line);
      while (next < candidates.length && isPast(candidates[next], atMs - withinMs, used)) next += 1;
      const own = candidates[next];
      if (own === undefined || own.atMs > atMs + withinMs) {
        left.push(line);
        continue;
      }
      next += 1;
      take(line, own);
    }
  }
  return left;
}

/** The attempt nearest in time, used or not, within a limit. */
export function findNearest(line: Timed, candidates: readonly OwnAttempt[], withinMs: number): OwnAttempt | undefined {
  const atMs = timeOf(line);
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((candidates[middle]?.atMs ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  const near = [candidates[low - 1], candidates[low]].filter((own) => own !== undefined);
  const distance = (own: OwnAttempt) => Math.abs(own.atMs - atMs);
  const [best] = near.sort((one, other) => distance(one) - distance(other));
  return best !== undefined && distance(best) <= withinMs ? best : undefined;
}

/** A line without a time is in the middle of its day. */
function timeOf({ atMs, day }: Timed): number {
  return atMs ?? Date.parse(day) + HALF_DAY_MS;
}

function isPast(own: OwnAttempt | undefined, fromMs: number, used: ReadonlySet<OwnAttempt>): boolean {
  return own !== undefined && (own.atMs < fromMs || used.has(own));
}
