/**
 * Divides a time range into buckets of minutes, hours or days in the account's time zone, and reads sums by key or
 * workspace over given time spans.
 */
import { dayAt } from '../../admission/window.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { UsageBuckets, UsageQuestion, UsageReader } from '../../store/ports/usage.ts';
import { EVERY_CALL } from '../logs/call-condition.ts';
import { orRefuse, PAGE_MS_MAX } from './usage-parts.ts';

export type UsageStep = 'minute' | 'hour' | 'day';

export interface UsageRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: UsageStep;
  /** Unix ms, ascending; the first may begin before the range. */
  readonly buckets: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BUCKETS_MAX = 750;
const MINUTES_UP_TO_MS = 3 * HOUR_MS;
/** A week with the extra hour where clocks are set back. */
const HOURS_UP_TO_MS = 7 * DAY_MS + HOUR_MS;

/** @throws ConsoleFailure where the range is empty or has too many buckets for a page. */
export function cutRange(
  { from, to, step }: { readonly from: string; readonly to: string; readonly step: UsageStep | 'auto' },
  timeZone: string,
): UsageRange {
  const [fromMs, toMs] = parseRange(from, to);
  const chosen = step === 'auto' ? chooseStep(toMs - fromMs) : step;
  const buckets: number[] = [];
  for (let at = beginningOf(chosen, timeZone, fromMs); at < toMs; at = nextOf(chosen, timeZone, at)) {
    buckets.push(at);
    if (buckets.length > BUCKETS_MAX) refuse(chosen);
  }
  return { fromMs, toMs, step: chosen, buckets };
}

/** Unix ms. @throws ConsoleFailure */
export function parseRange(from: string, to: string): readonly [fromMs: number, toMs: number] {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (fromMs >= toMs) {
    throw new ConsoleFailure('invalid', `to: found ${to}, which is not after ${from}; expected a later time`, {
      member: 'to',
    });
  }
  return [fromMs, toMs];
}

function chooseStep(lengthMs: number): UsageStep {
  if (lengthMs <= MINUTES_UP_TO_MS) return 'minute';
  return lengthMs <= HOURS_UP_TO_MS ? 'hour' : 'day';
}

function beginningOf(step: UsageStep, timeZone: string, atMs: number): number {
  if (step === 'minute') return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const { startMs } = dayAt(timeZone, atMs);
  return step === 'day' ? startMs : startMs + Math.floor((atMs - startMs) / HOUR_MS) * HOUR_MS;
}

/** Hours count from the start of their day, so that they match local clock hours in every zone. */
function nextOf(step: UsageStep, timeZone: string, atMs: number): number {
  if (step === 'minute') return atMs + MINUTE_MS;
  const dayEndMs = dayAt(timeZone, atMs).endMs;
  return step === 'day' ? dayEndMs : Math.min(atMs + HOUR_MS, dayEndMs);
}

function refuse(step: UsageStep): never {
  const coarser = step === 'minute' ? ', or step=hour' : step === 'hour' ? ', or step=day' : '';
  throw new ConsoleFailure(
    'invalid',
    `the range has more than ${BUCKETS_MAX} ${step}s; choose a shorter range${coarser}`,
    { member: 'step' },
  );
}

interface SpansQuestion {
  readonly account: string;
  /** Of keys: the workspaces whose requests count; null: all. A key may have been moved. */
  readonly workspaces?: readonly string[] | null;
  /** The account's time zone. */
  readonly timeZone: string;
  readonly by: 'key' | 'workspace';
  readonly ids: readonly string[];
  /** Unix ms, ascending: the start of each span, then the end of the last. */
  readonly bounds: readonly number[];
}

/** The maximum number of groups in one result. */
const IDS_OF_A_QUESTION = 100;

/** For each id with a call: the sums of each span; null: no call. Without latencies. */
export async function readSpans(
  usage: Pick<UsageReader, 'readUsage'>,
  { account, workspaces = null, timeZone, by, ids, bounds }: SpansQuestion,
): Promise<ReadonlyMap<string, UsageBuckets>> {
  const spans = new Map<string, UsageBuckets>();
  const buckets = bounds.slice(0, -1);
  const [fromMs, toMs] = [bounds[0], bounds.at(-1)];
  if (fromMs === undefined || toMs === undefined) return spans;
  const questions: Record<string, UsageQuestion> = {};
  for (let first = 0; first < ids.length; first += IDS_OF_A_QUESTION) {
    const some = ids.slice(first, first + IDS_OF_A_QUESTION);
    questions[first] = {
      tenant: { account, workspaces: by === 'workspace' ? some : workspaces },
      condition: { ...EVERY_CALL, keys: by === 'key' ? some : null },
      fromMs,
      toMs,
      buckets,
      timeZone,
      by: [by],
      owners: null,
      latencies: 'none',
      rankedBy: 'cost',
      drawn: IDS_OF_A_QUESTION,
      timeMsMax: PAGE_MS_MAX,
    };
  }
  for (const { groups } of Object.values(await orRefuse(usage.readUsage(questions)))) {
    for (const { values, buckets: own } of groups) {
      if (typeof values[0] === 'string' && own !== null) spans.set(values[0], own);
    }
  }
  return spans;
}
