/** Renders money, times and budgets: short, with the exact value in the tooltip. */

import { relativeTime } from '../lib/format.ts';
import { exactUsd, missingZeros, percentOf, shortUsd } from '../lib/money.ts';
import { useNow } from '../lib/timers.ts';
import { exactTime, timeTitle, useClockZone } from '../lib/zone.ts';
import { classNames } from './class-names.ts';

/** Null is shown as unpriced. In a column of numbers, the decimal points of short amounts align. */
export function Money({ nanoUsd, exact = false }: { readonly nanoUsd: string | null; readonly exact?: boolean }) {
  if (nanoUsd === null) return <span className="text-amber">Unpriced</span>;
  const whole = exactUsd(nanoUsd);
  const shown = exact ? whole : shortUsd(nanoUsd);
  return (
    <span className="figures money" title={whole} data-missing={exact ? undefined : missingZeros(shown)}>
      {shown}
    </span>
  );
}

/** Relative time, with the exact time in the tooltip. Null: `Never` or the given text. */
export function When({ at, never = 'Never' }: { readonly at: string | null; readonly never?: string }) {
  const nowMs = useNow();
  const zone = useClockZone();
  if (at === null) return <span className="text-ink-3">{never}</span>;
  return (
    <time dateTime={at} title={timeTitle(at, zone)} className="figures whitespace-nowrap">
      {relativeTime(at, nowMs)}
    </time>
  );
}

/** In the viewer's zone: `Nov 21, 2026, 14:03:11`, with the zone and UTC in the tooltip. */
export function ExactTime({ at }: { readonly at: string }) {
  const zone = useClockZone();
  return (
    <time dateTime={at} title={timeTitle(at, zone)}>
      {exactTime(at, zone)}
    </time>
  );
}

interface BudgetBarProps {
  readonly used: string;
  readonly held?: string;
  readonly limit: string;
  /** For example "Monthly budget". */
  readonly label: string;
}

/** Used and held amounts of a budget: amber from 80%, red when used up. */
export function BudgetBar({ used, held = '0', limit, label }: BudgetBarProps) {
  const usedPercent = Math.min(100, percentOf(used, limit));
  const heldPercent = Math.min(100 - usedPercent, percentOf(held, limit));
  const fill = usedPercent >= 100 ? 'bg-red' : usedPercent >= 80 ? 'bg-amber' : 'bg-accent';
  return (
    <div
      className="flex min-w-24 flex-col gap-1"
      title={`${exactUsd(used)} used, ${exactUsd(held)} reserved of ${exactUsd(limit)}`}
    >
      <div className="figures flex justify-between gap-2 text-sm">
        <span>{shortUsd(used)}</span>
        <span className="text-ink-3">of {shortUsd(limit)}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the native meter cannot show used and held amounts */}
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(usedPercent)}
        className="flex h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div className={classNames('h-full', fill)} style={{ width: `${usedPercent}%` }} />
        <div className="h-full bg-line-strong" style={{ width: `${heldPercent}%` }} />
      </div>
    </div>
  );
}
