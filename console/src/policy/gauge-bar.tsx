/** Renders one live gauge: used and held amounts of a limit, and when it resets. */

import { relativeTime } from '../lib/format.ts';
import { percentOf, shortUsd } from '../lib/money.ts';
import { useNow } from '../lib/timers.ts';
import { classNames } from '../ui/class-names.ts';
import { type Gauge, gaugeAmount, gaugeName, subjectName } from './caps-text.ts';

interface GaugeBarProps {
  readonly gauge: Gauge;
  /** Shows a label above the bar: what it measures, and subject limit it is. */
  readonly named?: boolean;
  /** The name of its subject. Default: the id. */
  readonly subject?: string;
  /** The key of the page. */
  readonly ownKey?: string | null;
  /** Shows who set the limit, for subjects with limits of two layers. */
  readonly layered?: boolean;
}

export function GaugeBar({ gauge, named = false, subject: called, ownKey = null, layered = false }: GaugeBarProps) {
  const nowMs = useNow();
  const { sort, limit, used, held } = gauge;
  const usedPercent = Math.min(100, percentOf(used, limit));
  const heldPercent = Math.min(100 - usedPercent, percentOf(held, limit));
  const full = usedPercent + heldPercent;
  const fill = full >= 100 ? 'bg-red' : full >= 80 ? 'bg-amber' : 'bg-accent';
  const name = gaugeName(gauge);
  const subject = `${subjectName(gauge.subject, ownKey, called)}${layered ? `, set by the ${gauge.layer}` : ''}`;
  const short = (amount: string) => (sort === 'budget' ? shortUsd(amount) : gaugeAmount(sort, amount));
  const whole = `${gaugeAmount(sort, used)} used, ${gaugeAmount(sort, held)} reserved of ${gaugeAmount(sort, limit)}`;
  return (
    <div className="flex min-w-24 flex-col gap-1" title={`${name}: ${whole}`}>
      {named && (
        <div className="flex items-baseline justify-between gap-3">
          <span className="font-medium">{name}</span>
          <span className="truncate text-sm text-ink-3 first-letter:uppercase">{subject}</span>
        </div>
      )}
      <div className="figures flex justify-between gap-2 text-sm">
        <span className={full >= 100 ? 'font-medium text-red' : undefined}>{short(used)}</span>
        <span className="text-ink-3">of {short(limit)}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the native meter cannot show used and held amounts */}
      <div
        role="meter"
        aria-label={`${name}, ${subject}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(full)}
        aria-valuetext={whole}
        className="flex h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div className={classNames('h-full', fill)} style={{ width: `${usedPercent}%` }} />
        <div className="h-full bg-line-strong" style={{ width: `${heldPercent}%` }} />
      </div>
      {named && sort === 'budget' && gauge.resets_at !== null && (
        <span className="text-sm text-ink-3">Resets {relativeTime(gauge.resets_at, nowMs)}</span>
      )}
    </div>
  );
}
