/** Owns the drawing of a call's attempts one behind the other, and the same in words. */
import { duration } from '../../lib/numbers.ts';
import { Badge, statusTone } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import type { CallView } from './call-list.ts';
import { describeCrash, layOutAttempts, type WaterfallBar } from './waterfall-layout.ts';

const WIDTH = 1_000;
const BAR_MIN = 3;

export function Waterfall({ call }: { readonly call: CallView }) {
  const crash = describeCrash(call);
  if (crash !== null) return <p className="text-ink-2">{crash}</p>;
  const { bars, totalMs, firstByteMs, gatewayMs } = layOutAttempts(call);
  if (bars.length === 0) {
    return <p className="text-ink-2">No provider was asked: the call ended here after {duration(totalMs)}.</p>;
  }
  const place = (ms: number) => (totalMs === 0 ? 0 : (ms / totalMs) * WIDTH);
  return (
    <Panel className="divide-y divide-line">
      {bars.map((bar, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its place
        <div key={at} className="grid grid-cols-1 items-center gap-x-4 gap-y-1 px-3 py-2 sm:grid-cols-[200px_1fr_72px]">
          <AttemptWords bar={bar} />
          <svg
            viewBox={`0 0 ${WIDTH} 20`}
            preserveAspectRatio="none"
            className="h-5 w-full rounded-sm bg-sunken"
            aria-hidden="true"
          >
            <rect
              x={Math.min(place(bar.startMs), WIDTH - BAR_MIN)}
              y={5}
              width={Math.max(BAR_MIN, place(bar.durationMs))}
              height={10}
              fill={bar.error === null ? 'var(--chart-1)' : 'var(--red)'}
            />
            {firstByteMs !== null && at === bars.length - 1 && (
              <line
                x1={place(firstByteMs)}
                x2={place(firstByteMs)}
                y1={0}
                y2={20}
                stroke="var(--ink)"
                strokeWidth={1.5}
                vectorEffect="non-scaling-stroke"
              />
            )}
          </svg>
          <span className="figures sm:text-right">{duration(bar.durationMs)}</span>
        </div>
      ))}
      <p className="figures px-3 py-2 text-sm text-ink-2">
        {duration(totalMs)} in all, {duration(gatewayMs)} of it in the gateway
        {firstByteMs !== null && `; the line marks the first byte, after ${duration(firstByteMs)}`}.
      </p>
    </Panel>
  );
}

function AttemptWords({ bar }: { readonly bar: WaterfallBar }) {
  return (
    <div className="min-w-0">
      <p className="flex items-center gap-2">
        <Badge tone={bar.status === null ? 'bad' : statusTone(bar.status)}>{bar.status ?? 'no answer'}</Badge>
        <span className="truncate font-medium">{bar.provider}</span>
      </p>
      <p className="truncate text-sm text-ink-2" title={bar.error ?? bar.model}>
        {bar.error ?? bar.model}
      </p>
    </div>
  );
}
