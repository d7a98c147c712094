/** Renders the row of metrics, each with its amount over the range, and the forecast of the month's cost. */
import { useId } from 'react';
import { exactUsd, percentOf, shortUsd } from '../../lib/money.ts';
import { classNames } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
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

export function Forecast({ forecast }: { readonly forecast: NonNullable<UsageReply['forecast']> }) {
  const { month_nano_usd: month, spent_nano_usd: spent, budget_nano_usd: budget } = forecast;
  const isOver = budget !== null && BigInt(month) > BigInt(budget);
  const scale = budget === null || isOver ? month : budget;
  const spentPercent = Math.min(100, percentOf(spent, scale));
  const monthPercent = Math.min(100, percentOf(month, scale));
  return (
    <Panel className="flex flex-col justify-center gap-2 px-4 py-3">
      <p>
        <span className="text-ink-2">Forecast for this month: </span>
        <span className="figures font-semibold" title={exactUsd(month)}>
          {shortUsd(month)}
        </span>
        {budget === null ? (
          <span className="text-ink-2"> (no monthly budget)</span>
        ) : (
          <span className={isOver ? 'font-medium text-red' : 'text-ink-2'}>
            {isOver
              ? `, ${shortUsd((BigInt(month) - BigInt(budget)).toString())} over the budget of ${shortUsd(budget)}`
              : ` of the budget of ${shortUsd(budget)}`}
          </span>
        )}
      </p>
      <div
        role="img"
        aria-label={`${shortUsd(spent)} spent so far, ${shortUsd(month)} forecast`}
        className="relative h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div className="absolute inset-y-0 left-0 bg-line-strong" style={{ width: `${monthPercent}%` }} />
        <div
          className={`absolute inset-y-0 left-0 ${isOver ? 'bg-red' : 'bg-accent'}`}
          style={{ width: `${spentPercent}%` }}
        />
      </div>
      <p className="figures text-sm text-ink-2">{shortUsd(spent)} spent this month</p>
    </Panel>
  );
}
