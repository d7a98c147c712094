/** Labels the buckets of a chart in a time zone. */

export type Step = 'minute' | 'hour' | 'day';

export interface BucketLabel {
  /** Under the chart: `Nov 21`, `14:00`. */
  readonly short: string;
  /** In words: `Nov 21, 14:00`. */
  readonly full: string;
  readonly startsDay: boolean;
}

/** One label per bucket. Hours and minutes show the date when a day starts. Throws RangeError for an unknown zone. */
export function bucketLabels(buckets: readonly string[], step: Step, timeZone: string): BucketLabel[] {
  const day = new Intl.DateTimeFormat('en-US', { timeZone, day: 'numeric', month: 'short' });
  const wholeDay = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return buckets.map((iso) => {
    const at = new Date(iso);
    if (step === 'day') return { short: day.format(at), full: wholeDay.format(at), startsDay: true };
    const time = clock.format(at);
    return {
      short: time === '00:00' ? day.format(at) : time,
      full: `${day.format(at)}, ${time}`,
      startsDay: time === '00:00',
    };
  });
}

const STEP_MS: Readonly<Record<Step, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Start and end of the columns `first` to `last`; the last bucket ends with the range. */
export function spanTimes(
  buckets: readonly string[],
  span: { readonly first: number; readonly last: number },
  step: Step,
  rangeEnd: string,
): { from: string; to: string } | null {
  const from = buckets[span.first];
  const last = buckets[span.last];
  if (from === undefined || last === undefined) return null;
  const next = buckets[span.last + 1];
  const end = Math.min(Date.parse(last) + STEP_MS[step], Math.max(Date.parse(rangeEnd), Date.parse(last) + 1));
  return { from, to: next ?? new Date(end).toISOString() };
}
