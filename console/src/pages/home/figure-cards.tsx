/** Renders the four figures above the chart, each with its change and sparkline; pressing one charts it. */

import { Sparkline } from '../../charts/sparkline.tsx';
import { share } from '../../lib/format.ts';
import { classNames } from '../../ui/class-names.ts';
import { barValue, change, coarser, figure, METRIC_NAMES, METRICS, type Metric, type Overview } from './overview.ts';

interface FigureCardsProps {
  readonly overview: Overview;
  readonly chosen: Metric;
  /** "7 days". */
  readonly rangeLabel: string;
  readonly onChoose: (metric: Metric) => void;
}

const BARS = 24;

export function FigureCards({ overview, chosen, rangeLabel, onChoose }: FigureCardsProps) {
  const { sums, before, series } = overview;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {METRICS.map((metric) => {
        const changed = change(sums, before, metric);
        const about = detail(overview, metric);
        const values = series.map((one) => barValue(one, metric));
        return (
          <button
            key={metric}
            type="button"
            aria-pressed={metric === chosen}
            onClick={() => onChoose(metric)}
            className={classNames(
              'flex min-w-0 flex-col gap-0.5 rounded-lg border bg-panel px-4 py-3 text-left transition-colors duration-120',
              metric === chosen ? 'border-accent' : 'border-line hover:border-line-strong',
            )}
          >
            <span className="truncate text-sm text-ink-2">{METRIC_NAMES[metric]}</span>
            <span className="flex items-end justify-between gap-2">
              <span className="figures text-figure font-semibold tracking-[-0.01em]">{figure(sums, metric)}</span>
              <span className="mb-1.5 hidden sm:block">
                <Sparkline
                  values={coarser(values, BARS, metric)}
                  label={`${METRIC_NAMES[metric]}, last ${rangeLabel}`}
                />
              </span>
            </span>
            <span className="figures flex min-h-4 flex-wrap gap-x-2 text-sm text-ink-3 *:whitespace-nowrap">
              {about !== null && <span>{about}</span>}
              {changed !== null && (
                <span>
                  {changed}
                  <span className="max-xl:sr-only"> vs previous {rangeLabel}</span>
                </span>
              )}
            </span>
          </button>
        );
      })}
    </div>
  );
}

/** Additional detail for a figure. */
function detail({ sums }: Overview, metric: Metric): string | null {
  if (metric === 'errors') return `${share(sums.errors, sums.requests)} of requests`;
  if (metric === 'cost' && sums.unpriced > 0) return `${sums.unpriced} unpriced requests`;
  return metric === 'ttfb' ? 'Median' : null;
}
