/** Renders the cumulative cost of a session as a line over its requests, with a mark where the prompt cache broke. */
import { approximateUsd, exactUsd, shortUsd } from '../../lib/money.ts';
import { Panel } from '../../ui/page.tsx';
import { costLineText, type ShownTurn } from './turns.ts';

const WIDTH = 1_000;
const HEIGHT = 100;

export function CostLine({ turns }: { readonly turns: readonly ShownTurn[] }) {
  const last = turns.at(-1);
  const most = approximateUsd(last?.total ?? '0');
  if (last === undefined || most === 0) return null;
  const x = (at: number) => ((at + 1) / turns.length) * WIDTH;
  const y = (total: string) => HEIGHT - (approximateUsd(total) / most) * HEIGHT;
  const before = turns[0]?.number === 1 ? HEIGHT : y(turns[0]?.total ?? '0');
  const line = turns.map(({ total }, at) => `L${x(at).toFixed(1)},${y(total).toFixed(1)}`).join('');
  const label = costLineText(turns, exactUsd);
  return (
    <Panel className="flex flex-col gap-1 px-3 py-2.5">
      <div className="figures flex justify-between gap-3 text-sm text-ink-2">
        <span>Cumulative cost</span>
        <span>{shortUsd(last.total)}</span>
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-24 w-full overflow-visible"
      >
        <title>{label}</title>
        <path d={`M0,${before}${line}L${WIDTH},${HEIGHT}L0,${HEIGHT}Z`} fill="var(--accent-soft)" />
        {turns.map(({ cache_break, number }, at) =>
          cache_break === null ? null : (
            <line
              key={number}
              x1={x(at)}
              x2={x(at)}
              y1={0}
              y2={HEIGHT}
              stroke="var(--amber)"
              strokeDasharray="3 3"
              vectorEffect="non-scaling-stroke"
            />
          ),
        )}
        <path
          d={`M0,${before}${line}`}
          fill="none"
          stroke="var(--accent)"
          strokeWidth={1.5}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <div className="figures flex justify-between gap-3 text-sm text-ink-3">
        <span>Request {turns[0]?.number}</span>
        {turns.some(({ cache_break }) => cache_break !== null) && <span>Dashed: the cache broke</span>}
        <span>Request {last.number}</span>
      </div>
    </Panel>
  );
}
