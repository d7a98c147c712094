/** Renders the original answer of a stored request beside the new one: its text, and its figures from the record. */
import { Wrench } from 'lucide-react';
import { duration, wholeNumber } from '../../../lib/format.ts';
import { exactUsd } from '../../../lib/money.ts';
import { Panel } from '../../../ui/page.tsx';
import type { CallDetail } from '../../logs/call-cost.tsx';
import { layOutAttempts } from '../../logs/waterfall-layout.ts';
import { Figure } from './figure.tsx';

/** The figures that a new answer is compared with. Null: unknown. */
export interface OriginalFigures {
  readonly costNanoUsd: string | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
}

export function figuresOf({ call }: CallDetail): OriginalFigures {
  const { firstTokenMs, isMarked } = layOutAttempts(call);
  return {
    costNanoUsd: call.cost_nano_usd,
    firstTokenMs: isMarked ? firstTokenMs : null,
    durationMs: call.error === 'gateway_crashed' ? null : call.duration_ms,
  };
}

export function OriginalPane({ detail }: { readonly detail: CallDetail }) {
  const { call } = detail;
  const { costNanoUsd, firstTokenMs, durationMs } = figuresOf(detail);
  const { input, cache_read, cache_write_5m, cache_write_1h, output } = call.usage;
  const last = detail.conversation?.at(-1);
  const parts = last === undefined || last.role === 'user' ? [] : last.parts;
  return (
    <Panel className="flex min-h-64 flex-col lg:min-h-105">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5">
        <h2 className="min-w-0 flex-1 truncate text-read font-semibold" title={call.model ?? ''}>
          {call.model ?? 'No model'} <span className="font-normal text-ink-2">(original)</span>
        </h2>
      </header>
      <section aria-label="Original response" className="flex flex-1 flex-col gap-3 px-4 py-3">
        {parts.length === 0 && <p className="text-ink-3">The original response isn’t readable.</p>}
        {parts.map((part, at) =>
          part.kind === 'tool_call' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
            <div key={at}>
              <p className="flex items-center gap-1.5 text-ink-2">
                <Wrench size={13} aria-hidden="true" /> Tool call <code>{part.name}</code>
              </p>
              <pre className="mt-1 break-all whitespace-pre-wrap">{part.text}</pre>
            </div>
          ) : (
            <p
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
              key={at}
              className={`text-read break-words whitespace-pre-wrap ${part.kind === 'text' ? '' : 'text-ink-2'}`}
            >
              {part.text}
            </p>
          ),
        )}
      </section>
      <dl className="figures flex flex-wrap gap-x-8 gap-y-2 border-t border-line px-4 py-2.5 whitespace-nowrap">
        <Figure name="First token">{firstTokenMs === null ? '–' : duration(firstTokenMs)}</Figure>
        <Figure name="Duration">{durationMs === null ? '–' : duration(durationMs)}</Figure>
        <Figure name="Tokens in / out">
          {`${wholeNumber(input + cache_read + cache_write_5m + cache_write_1h)} / ${wholeNumber(output)}`}
        </Figure>
        <Figure name="Charged">{costNanoUsd === null ? 'No price' : exactUsd(costNanoUsd)}</Figure>
      </dl>
    </Panel>
  );
}
