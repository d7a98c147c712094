/**
 * Divides ranges of ids into steps, newest first, each as long as some milliseconds of reading allow: a search for rare
 * records can then stop within a range, and continue there.
 */
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { IdRange } from '../usage/find-ids.ts';

const FIRST_STEP_MS = 3_600_000;
/** A step that took less is doubled, one that took longer is halved. */
const SHORT_MS = 10;
const LONG_MS = 40;
const STEP_MS_MIN = 60_000;

/** The reader of a step has read it when it asks for the next one. */
export function* stepRanges(ranges: Iterable<IdRange>, nowMs = Date.now): Iterable<IdRange> {
  let stepMs = FIRST_STEP_MS;
  for (const { from, below } of ranges) {
    let end = below;
    let endMs = timeOf(below) ?? nowMs();
    for (;;) {
      const startMs = endMs - stepMs;
      const start = requestIdFloor(startMs);
      const isLast = startMs <= 0 || start <= from;
      const beganMs = performance.now();
      yield { from: isLast ? from : start, below: end };
      if (isLast) break;
      const tookMs = performance.now() - beganMs;
      if (tookMs < SHORT_MS) stepMs *= 2;
      else if (tookMs > LONG_MS) stepMs = Math.max(STEP_MS_MIN, stepMs / 2);
      end = start;
      endMs = startMs;
    }
  }
}

/** Unix ms of an id; null: the bound of a range that has no end. */
function timeOf(id: string): number | null {
  const [, digits] = /^req_([0-9a-f]{12})/.exec(id) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}
