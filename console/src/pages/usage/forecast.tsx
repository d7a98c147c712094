/** Renders the forecast of the month's cost. */
import { exactUsd, percentOf, shortUsd } from '../../lib/money.ts';
import { Panel } from '../../ui/page.tsx';
import type { UsageReply } from './metrics.ts';

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
