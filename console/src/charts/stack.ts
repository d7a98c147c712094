/** Computes stacking for column charts, and finds the column and segment at a position. */

export interface Series {
  readonly name: string;
  /** A CSS color, or `var(--…)`. */
  readonly color: string;
  /** One per column; null when nothing was measured. */
  readonly values: readonly (number | null)[];
}

/** The upper edge of each segment, first series at the bottom. Null where no series has a value. */
export function stackUp(series: readonly Series[]): (number | null)[][] {
  const heights: (number | null)[] = (series[0]?.values ?? []).map(() => null);
  return series.map(({ values }) =>
    values.map((value, at) => {
      if (value !== null) heights[at] = (heights[at] ?? 0) + value;
      return heights[at] ?? null;
    }),
  );
}

/** The column at `x` of a plot `width` wide with `count` columns of equal width; null outside the plot. */
export function columnAt(x: number, width: number, count: number): number | null {
  if (width <= 0 || count === 0 || x < 0 || x > width) return null;
  return Math.min(count - 1, Math.floor((x / width) * count));
}

/** The series whose segment of a column contains `value`; null above all of them. `stacked` comes from `stackUp`. */
export function seriesAt(
  stacked: readonly (readonly (number | null)[])[],
  column: number,
  value: number,
): number | null {
  const at = stacked.findIndex((edges, index) => {
    const upper = edges[column] ?? 0;
    const lower = index === 0 ? 0 : (stacked[index - 1]?.[column] ?? 0);
    return upper > lower && value <= upper;
  });
  return at === -1 ? null : at;
}

/** The series whose point in a column is nearest to `value`; null when none has a value. */
export function nearestSeries(series: readonly Series[], column: number, value: number): number | null {
  let nearest: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, { values }] of series.entries()) {
    const own = values[column];
    if (own === null || own === undefined || Math.abs(own - value) >= least) continue;
    nearest = at;
    least = Math.abs(own - value);
  }
  return nearest;
}

/** A range of columns, in ascending order. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

export function spanOf(one: number, other: number): Span {
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

/**
 * Chooses the columns whose labels are drawn, so that labels of `labelPx` do not overlap: columns that start a day if
 * there are several, else evenly spaced columns.
 */
export function labelledColumns(startsDay: readonly boolean[], width: number, labelPx: number): number[] {
  if (startsDay.length === 0 || width <= 0) return [];
  const days = [...startsDay.keys()].filter((at) => startsDay[at]);
  const chosen = days.length >= DAYS_MIN ? days : [...startsDay.keys()];
  const every = Math.max(1, Math.ceil((chosen.length * labelPx) / width));
  return chosen.filter((_, at) => at % every === 0);
}

const DAYS_MIN = 3;
