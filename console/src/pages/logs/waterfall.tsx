/**
 * Draws the time of a call as a waterfall: its attempts one below the other with the pause before, connect, wait and
 * stream, why each was made and how it ended, and a text breakdown.
 */
import { duration } from '../../lib/format.ts';
import { Badge, statusTone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { AttemptFacts } from './attempt-facts.tsx';
import type { CallView } from './use-call-list.ts';
import {
  type Attempt,
  describeCrash,
  layOutAttempts,
  type Phase,
  type Waterfall as Times,
  type WaterfallBar,
} from './waterfall-layout.ts';

const WIDTH = 1_000;
const BAR_MIN = 3;

const PHASES: readonly (readonly [phase: Phase, word: string, streamLabel: string])[] = [
  ['pause', 'Paused before attempts', 'Paused before attempts'],
  ['connect', 'Connect', 'Connect'],
  ['wait', 'Waiting for response', 'Waiting for first token'],
  ['stream', 'Receiving', 'Streaming'],
  ['unknown', 'After first byte', 'After first byte'],
];
const FILLS: Readonly<Record<Phase, { readonly fill: string; readonly opacity: number; readonly isThin?: true }>> = {
  pause: { fill: 'var(--amber)', opacity: 1, isThin: true },
  connect: { fill: 'var(--ink-3)', opacity: 1 },
  wait: { fill: 'var(--chart-1)', opacity: 0.4 },
  stream: { fill: 'var(--chart-1)', opacity: 1 },
  unknown: { fill: 'var(--ink-3)', opacity: 0.4 },
};

export function Waterfall({ call }: { readonly call: CallView }) {
  const crash = describeCrash(call);
  if (crash !== null) return <p className="text-ink-2">{crash}</p>;
  const times = layOutAttempts(call);
  const { bars, totalMs } = times;
  if (bars.length === 0) {
    return <p className="text-ink-2">Not sent to a provider: the request ended here after {duration(totalMs)}.</p>;
  }
  return (
    <Panel className="divide-y divide-line">
      {bars.map((bar, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts are identified by position
        <div key={at} className="grid grid-cols-1 items-center gap-x-4 gap-y-1 px-3 py-2 sm:grid-cols-[200px_1fr_72px]">
          <AttemptLabel attempt={bar.attempt} />
          <BarDrawing bar={bar} totalMs={totalMs} />
          <span className="figures sm:text-right">{duration(bar.attempt.duration_ms)}</span>
          <AttemptFacts attempt={bar.attempt} isOnly={bars.length === 1} />
        </div>
      ))}
      <Breakdown call={call} times={times} />
    </Panel>
  );
}

function BarDrawing({ bar, totalMs }: { readonly bar: WaterfallBar; readonly totalMs: number }) {
  const place = (ms: number) => (totalMs === 0 ? 0 : (ms / totalMs) * WIDTH);
  const endMs = Math.max(0, ...bar.segments.map(({ startMs, durationMs }) => startMs + durationMs));
  return (
    <svg
      viewBox={`0 0 ${WIDTH} 20`}
      preserveAspectRatio="none"
      className="h-5 w-full rounded-sm bg-sunken"
      aria-hidden="true"
    >
      {bar.segments.map(({ phase, startMs, durationMs }) => (
        <rect
          key={phase}
          x={Math.min(place(startMs), WIDTH - BAR_MIN)}
          y={FILLS[phase].isThin ? 9 : 5}
          width={Math.max(BAR_MIN, place(durationMs))}
          height={FILLS[phase].isThin ? 2 : 10}
          fill={FILLS[phase].fill}
          opacity={FILLS[phase].opacity}
        />
      ))}
      {bar.attempt.error !== null && (
        <rect x={place(endMs) - BAR_MIN} y={0} width={2 * BAR_MIN} height={20} fill="var(--red)" />
      )}
    </svg>
  );
}

/** The phases as text, with their colors; the rest of the total is the gateway's. */
function Breakdown({ call, times }: { readonly call: CallView; readonly times: Times }) {
  const { phases, totalMs, gatewayMs, isMarked } = times;
  const rate = tokenRate(call, phases.stream);
  return (
    <div className="figures flex flex-col gap-1 px-3 py-2 text-sm text-ink-2">
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        {PHASES.filter(([phase]) => phases[phase] > 0).map(([phase, word, streamLabel]) => (
          <li key={phase} className="flex items-center gap-1.5">
            <Swatch phase={phase} />
            {call.stream && isMarked ? streamLabel : phase === 'wait' && phases.unknown > 0 ? 'Until first byte' : word}{' '}
            {duration(phases[phase])}
          </li>
        ))}
        <li className="flex items-center gap-1.5">
          <span aria-hidden="true" className="size-2.5 rounded-xs border border-line bg-sunken" />
          Gateway {duration(gatewayMs)}
        </li>
        <li className="font-medium text-ink">Total {duration(totalMs)}</li>
        {rate !== null && <li>{rate} tokens/s</li>}
      </ul>
      {!isMarked && (
        <p>
          Recorded before first-token and last-byte times were tracked
          {phases.unknown > 0
            ? ': time after the first byte includes both provider and gateway.'
            : ': gateway time is shown before the attempts.'}
        </p>
      )}
    </div>
  );
}

function Swatch({ phase }: { readonly phase: Phase }) {
  const { fill, opacity, isThin } = FILLS[phase];
  return (
    <span
      aria-hidden="true"
      className={isThin ? 'h-0.5 w-2.5' : 'size-2.5 rounded-xs'}
      style={{ background: fill, opacity }}
    />
  );
}

/** Output tokens per second since the first token; null when unknown, or when the time is too short to measure. */
function tokenRate({ stream, usage }: CallView, streamMs: number): string | null {
  if (!stream || usage.output < 2 || streamMs < 50) return null;
  const rate = ((usage.output - 1) / streamMs) * 1_000;
  return rate < 10 ? rate.toFixed(1) : String(Math.round(rate));
}

function AttemptLabel({ attempt }: { readonly attempt: Attempt }) {
  const { provider, model, status, error } = attempt;
  const tone = status === null || error !== null ? 'bad' : statusTone(status);
  return (
    <div className="min-w-0">
      <p className="flex items-center gap-2">
        <Badge tone={tone}>{status ?? 'No response'}</Badge>
        <span className="truncate font-medium">{provider}</span>
      </p>
      <p className="truncate text-sm text-ink-2" title={model}>
        {model}
      </p>
    </div>
  );
}
