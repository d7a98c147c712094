/**
 * Renders a key's daily cost as bars, with requests and errors as text. One tab stop; the arrow keys move between
 * days.
 */
import { type KeyboardEvent, useRef, useState } from 'react';
import { counted } from '../../lib/format.ts';
import { approximateUsd, exactUsd, shortUsd } from '../../lib/money.ts';
import { useNavigate } from '../../route/route.ts';
import { classNames } from '../../ui/class-names.ts';
import type { KeyPage } from './key.ts';

type Day = KeyPage['days'][number];

export function DayBars({ days, apiKey }: { readonly days: readonly Day[]; readonly apiKey: string }) {
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState(days.length - 1);
  const most = Math.max(...days.map((day) => approximateUsd(day.cost_nano_usd)), 0);
  const mostCalls = Math.max(...days.map((day) => day.requests), 0);
  const day = days[Math.min(at, days.length - 1)];

  function walk(event: KeyboardEvent): void {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 }[event.key];
    if (to === undefined || to < 0 || to >= days.length) return;
    event.preventDefault();
    setAt(to);
    list.current?.querySelectorAll<HTMLElement>('button')[to]?.focus();
  }

  return (
    <div className="flex flex-col gap-2 p-4">
      <p className="figures flex flex-wrap gap-x-4 gap-y-1" aria-live="off">
        {day !== undefined && (
          <>
            <span className="font-medium">{dayText(day.day)}</span>
            <span title={exactUsd(day.cost_nano_usd)}>{shortUsd(day.cost_nano_usd)}</span>
            <span className="text-ink-2">{counted(day.requests, 'request')}</span>
            <span className={day.errors > 0 ? 'text-red' : 'text-ink-3'}>{counted(day.errors, 'error')}</span>
          </>
        )}
      </p>
      <ul ref={list} onKeyDown={walk} aria-label="Cost per day" className="flex h-28 items-stretch gap-px sm:gap-0.5">
        {days.map((one, index) => {
          // Without a price, the bars show the number of calls.
          const share =
            most > 0 ? approximateUsd(one.cost_nano_usd) / most : mostCalls > 0 ? one.requests / mostCalls : 0;
          return (
            <li key={one.day} className="flex min-w-0 flex-1">
              <button
                type="button"
                tabIndex={index === at ? 0 : -1}
                aria-label={`${dayText(one.day)}: ${exactUsd(one.cost_nano_usd)}, ${counted(one.requests, 'request')}, ${counted(one.errors, 'error')}. View in logs`}
                onPointerEnter={() => setAt(index)}
                onFocus={() => setAt(index)}
                onClick={() => navigate({ to: '/app/logs', search: { key: apiKey, from: one.from, to: one.to } })}
                className={classNames('flex w-full items-end rounded-sm', index === at && 'bg-hover')}
              >
                <span
                  className={classNames('w-full rounded-[2px]', one.requests > 0 ? 'bg-accent' : 'bg-line-strong')}
                  style={{ height: one.requests > 0 ? `max(3px, ${share * 100}%)` : '1px' }}
                />
              </button>
            </li>
          );
        })}
      </ul>
      <div className="figures flex justify-between text-sm text-ink-3" aria-hidden="true">
        <span>{days[0] === undefined ? '' : dayText(days[0].day)}</span>
        <span>{days.at(-1) === undefined ? '' : dayText(days.at(-1)?.day ?? '')}</span>
      </div>
    </div>
  );
}

/** Days of usage are days in the account's zone, given as dates only: read and written as UTC. */
const WORDS = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-11-22` → `Nov 22`; other text is returned unchanged. */
export function dayText(day: string): string {
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00Z` : day);
  return Number.isNaN(at.getTime()) ? day : WORDS.format(at);
}
