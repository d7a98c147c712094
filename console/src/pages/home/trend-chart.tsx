/**
 * Renders the trend of one figure: bars for amounts, a line for times. The pointer or the arrow keys select a column; a
 * press opens its calls.
 */

import { type KeyboardEvent, useRef, useState } from 'react';
import { counted, duration, shortNumber } from '../../lib/format.ts';
import { useColumnZone } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { classNames } from '../../ui/class-names.ts';
import {
  areDays,
  barValue,
  bucketEnd,
  bucketLabel,
  figure,
  METRIC_NAMES,
  METRICS,
  type Metric,
  type Overview,
  type Sums,
  scaleTop,
} from './overview.ts';

interface TrendChartProps {
  readonly overview: Overview;
  readonly metric: Metric;
  readonly rangeLabel: string;
  /** Target page of a column. */
  readonly opens: '/app/logs' | '/app/usage';
}

export function TrendChart({ overview, metric, rangeLabel, opens }: TrendChartProps) {
  const { buckets, series, sums } = overview;
  const timeZone = useColumnZone(areDays(buckets) ? 'day' : 'hour');
  const [read, setRead] = useState<number | null>(null);
  const [at, setAt] = useState(buckets.length - 1);
  const columns = useRef<HTMLUListElement>(null);
  const values = series.map((one) => barValue(one, metric));
  const top = scaleTop(Math.max(0, ...values.map((value) => value ?? 0)));
  const shown = read === null ? sums : (series[read] ?? null);

  function walk(event: KeyboardEvent): void {
    const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buckets.length - 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    columns.current?.querySelectorAll('a')[Math.min(buckets.length - 1, Math.max(0, step))]?.focus();
  }

  return (
    <figure className="flex h-full min-w-0 flex-col gap-3 p-4">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-medium">{METRIC_NAMES[metric]}</span>
        <span className="figures text-sm text-ink-2">
          {read === null
            ? `${rangeLabel.replace(/s$/, '').replace(' ', '-')} total`
            : bucketLabel(buckets, read, timeZone)}
          : {words(shown)}
        </span>
      </figcaption>
      <div className="relative ml-14 min-h-44 flex-1">
        <Scale top={top} metric={metric} />
        {metric === 'ttfb' && <Line values={values} top={top} />}
        <ul
          ref={columns}
          aria-label={`${METRIC_NAMES[metric]}, last ${rangeLabel}`}
          className="absolute inset-0 flex"
          onKeyDown={walk}
          onPointerLeave={() => setRead(null)}
        >
          {buckets.map((bucket, index) => (
            <li key={bucket} className="h-full min-w-0 flex-1">
              <Link
                to={opens}
                search={{ from: bucket, to: bucketEnd(buckets, index) }}
                aria-label={`${bucketLabel(buckets, index, timeZone)}: ${words(series[index] ?? null)}`}
                tabIndex={index === Math.min(at, buckets.length - 1) ? 0 : -1}
                onFocus={() => {
                  setAt(index);
                  setRead(index);
                }}
                onBlur={() => setRead(null)}
                onPointerEnter={() => setRead(index)}
                className={classNames(
                  'flex h-full items-end rounded-sm px-[8%] outline-offset-[-2px]',
                  read === index && 'bg-hover',
                )}
              >
                {metric !== 'ttfb' && (
                  <Bar value={values[index] ?? 0} sums={series[index] ?? null} top={top} metric={metric} />
                )}
              </Link>
            </li>
          ))}
        </ul>
      </div>
      <p aria-hidden="true" className="figures ml-14 flex justify-between text-sm text-ink-3">
        {[0, Math.floor((buckets.length - 1) / 2), buckets.length - 1].map((index, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: three fixed positions
          <span key={place}>{buckets.length === 0 ? '' : bucketLabel(buckets, index, timeZone)}</span>
        ))}
      </p>
    </figure>
  );
}

/** All four figures of a column. */
function words(sums: Sums | null): string {
  if (sums === null) return 'no requests';
  return METRICS.map((metric) => {
    const text = figure(sums, metric);
    if (metric === 'requests') return `${text} ${sums.requests === 1 ? 'request' : 'requests'}`;
    if (metric === 'errors') return counted(sums.errors, 'error');
    return metric === 'ttfb' ? (sums.ttfb_p50_ms === null ? null : `first token ${text}`) : text;
  })
    .filter((one) => one !== null)
    .join(', ');
}

interface BarProps {
  readonly value: number;
  readonly sums: Sums | null;
  readonly top: number;
  readonly metric: Metric;
}

/** Failed requests are drawn on top of the others. */
function Bar({ value, sums, top, metric }: BarProps) {
  if (value <= 0) return <span className="h-px w-full bg-line-strong" />;
  const failed = metric === 'requests' ? (sums?.errors ?? 0) / value : metric === 'errors' ? 1 : 0;
  return (
    <span
      className="flex min-h-0.5 w-full flex-col overflow-hidden rounded-t-[2px]"
      style={{ height: `${(value / top) * 100}%` }}
    >
      <span className="w-full bg-red" style={{ height: `${failed * 100}%` }} />
      <span className="w-full flex-1 bg-accent" />
    </span>
  );
}

/** Breaks where there was no call. */
function Line({ values, top }: { readonly values: readonly (number | null)[]; readonly top: number }) {
  const path = values
    .map((value, index) => {
      if (value === null) return '';
      const isFirst = index === 0 || values[index - 1] === null;
      return `${isFirst ? 'M' : 'L'}${index + 0.5} ${100 - (value / top) * 100}`;
    })
    .join('');
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${Math.max(1, values.length)} 100`}
      preserveAspectRatio="none"
      className="absolute inset-0 size-full"
    >
      <path
        d={path}
        fill="none"
        stroke="var(--accent)"
        strokeWidth={2}
        strokeLinejoin="round"
        strokeLinecap="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

function Scale({ top, metric }: { readonly top: number; readonly metric: Metric }) {
  const text = (value: number): string => {
    if (metric === 'cost') return `$${trimmed(value)}`;
    return metric === 'ttfb' ? duration(value) : shortNumber(value);
  };
  return (
    <div aria-hidden="true" className="absolute inset-0">
      {[top, top / 2].map((value, index) => (
        <div key={value} className="absolute inset-x-0 border-t border-line" style={{ top: `${index * 50}%` }}>
          {/* Counts have no fractions. */}
          {(metric === 'cost' || metric === 'ttfb' || Number.isInteger(value)) && (
            <span className="figures absolute -top-2 right-full mr-2 text-xs whitespace-nowrap text-ink-3">
              {text(value)}
            </span>
          )}
        </div>
      ))}
      <div className="absolute inset-x-0 bottom-0 border-t border-line-strong" />
    </div>
  );
}

/** Formats a round scale value without float noise. */
function trimmed(value: number): string {
  return value >= 1 ? shortNumber(value) : String(Number(value.toPrecision(2)));
}
