/** Counts what the live tail found since the page was opened, and pauses it. Loaded with the live tail. */
import { Pause, Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { counted, wholeNumber } from '../../lib/format.ts';
import { Money } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import type { CallList } from './use-call-list.ts';

interface LiveBarProps {
  readonly list: CallList;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const MINUTE_MS = 60_000;

export default function LiveBar({ list, isPaused, onPause }: LiveBarProps) {
  const { requests, errors, costNanoUsd } = list.arrived;
  const waiting = list.waiting.length;
  return (
    <fieldset className="flex min-h-8 flex-wrap items-center gap-x-5 gap-y-1">
      <legend className="sr-only">Live tail</legend>
      <span className="flex items-center gap-2 font-medium">
        <span
          aria-hidden="true"
          className={`size-2 rounded-full ${isPaused ? 'bg-ink-3' : 'animate-[pulse-soft_1.6s_ease-in-out_infinite] bg-accent'}`}
        />
        {isPaused ? 'Paused' : 'Live'}
      </span>
      <Figure name="since this page opened">{counted(requests, 'request')}</Figure>
      <Figure>
        <span className={errors > 0 ? 'text-red' : undefined}>{counted(errors, 'error')}</span>
      </Figure>
      <Figure name="cost">
        <Money nanoUsd={costNanoUsd.toString()} />
      </Figure>
      <Figure name="requests/min">{wholeNumber(endedSince(list, Date.now() - MINUTE_MS))}</Figure>
      <span className="ml-auto flex items-center gap-3">
        <span role="status" className="text-ink-2">
          {isPaused && waiting > 0 && `${counted(waiting, 'request')} ${waiting === 1 ? 'waits' : 'wait'}`}
        </span>
        <Button
          icon={isPaused ? <Play size={14} aria-hidden="true" /> : <Pause size={14} aria-hidden="true" />}
          onClick={() => onPause(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      </span>
    </fieldset>
  );
}

function Figure({ name, children }: { readonly name?: string; readonly children: ReactNode }) {
  return (
    <span className="whitespace-nowrap text-ink-2">
      <span className="figures font-medium text-ink">{children}</span> {name}
    </span>
  );
}

/** Listed requests that ended since then, in Unix ms: the rate of the last minute. */
function endedSince({ calls, waiting }: CallList, sinceMs: number): number {
  return [...waiting, ...calls].filter(({ at, duration_ms: ms }) => Date.parse(at) + ms >= sinceMs).length;
}
