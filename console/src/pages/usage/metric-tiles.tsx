/** Renders the row of metrics: each with its amount over the range; one is selected for the chart. */
import { useId } from 'react';
import { classNames } from '../../ui/class-names.ts';
import {
  changeText,
  METRIC_NAMES,
  type MetricName,
  metricOf,
  type Percentile,
  tileText,
  type UsageReply,
} from './metrics.ts';

interface MetricTilesProps {
  readonly reply: UsageReply | null;
  readonly chosen: MetricName;
  readonly percentile: Percentile;
  readonly onChoose: (metric: MetricName) => void;
}

export function MetricTiles({ reply, chosen, percentile, onChoose }: MetricTilesProps) {
  const name = useId();
  return (
    <fieldset className="grid min-w-0 grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4 lg:grid-cols-7">
      <legend className="sr-only">Metric</legend>
      {METRIC_NAMES.map((one) => {
        const metric = metricOf(one, percentile);
        const change = reply === null ? null : changeText(metric, reply.total, reply.before);
        return (
          <label
            key={one}
            className={classNames(
              'relative flex cursor-pointer flex-col px-3 py-2 last:max-lg:col-span-full has-focus-visible:z-10 has-focus-visible:outline-2 has-focus-visible:outline-accent',
              one === chosen ? 'bg-accent-soft' : 'bg-panel hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name={name}
              checked={one === chosen}
              onChange={() => onChoose(one)}
              className="sr-only"
            />
            <span
              className={classNames(
                'truncate text-sm',
                one === chosen ? 'font-medium text-accent-strong' : 'text-ink-2',
              )}
            >
              {metric.word}
            </span>
            <span className="figures flex items-baseline gap-2 text-[17px]/7 font-semibold">
              {reply === null ? <span className="text-ink-3">–</span> : tileText(metric, reply.total)}
              {change !== null && <span className="text-sm font-normal text-ink-2">{change}</span>}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
