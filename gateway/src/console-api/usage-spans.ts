/** Owns what keys or workspaces came to in spans of time, as the usage page has it. Knows no page. */
import type { UsageBuckets, UsageQuestion, UsageReader } from '../store/usage-port.ts';
import { EVERY_CALL } from './call-condition.ts';
import { orRefuse } from './read-refusal.ts';
import { PAGE_MS_MAX } from './usage-parts.ts';

export interface SpansQuestion {
  readonly account: string;
  /** The account's. */
  readonly timeZone: string;
  readonly by: 'key' | 'workspace';
  readonly ids: readonly string[];
  /** Unix ms, ascending: a span begins at each but the last, where the last one ends. */
  readonly bounds: readonly number[];
}

/** An answer tells so many groups apart. */
const IDS_OF_A_QUESTION = 100;

/** For each id that had a call: the sums of each span; null: no call. Without latencies. */
export async function readSpans(
  usage: Pick<UsageReader, 'readUsage'>,
  { account, timeZone, by, ids, bounds }: SpansQuestion,
): Promise<ReadonlyMap<string, UsageBuckets>> {
  const spans = new Map<string, UsageBuckets>();
  const buckets = bounds.slice(0, -1);
  const [fromMs, toMs] = [bounds[0], bounds.at(-1)];
  if (fromMs === undefined || toMs === undefined) return spans;
  const questions: Record<string, UsageQuestion> = {};
  for (let first = 0; first < ids.length; first += IDS_OF_A_QUESTION) {
    const some = ids.slice(first, first + IDS_OF_A_QUESTION);
    questions[first] = {
      tenant: { account, workspaces: by === 'workspace' ? some : null },
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
