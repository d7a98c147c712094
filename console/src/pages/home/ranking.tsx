/** Renders a short ranking by cost, each entry with its share as a bar. */

import { percentOf } from '../../lib/money.ts';
import { wholeNumber } from '../../lib/format.ts';
import { Link } from '../../route/link.tsx';
import { Money } from '../../ui/amounts.tsx';
import { Panel } from '../../ui/page.tsx';

export interface Ranked {
  readonly id: string;
  readonly name: string;
  readonly requests: number;
  readonly cost_nano_usd: string;
  /** Link target; null when the user may not open it. */
  readonly to: { readonly path: string; readonly search: Readonly<Record<string, string>> } | null;
  /** A CSS color. */
  readonly color: string;
}

interface RankingProps {
  readonly title: string;
  readonly rows: readonly Ranked[];
  /** Total cost of all entries. */
  readonly total: string;
}

export function Ranking({ title, rows, total }: RankingProps) {
  return (
    <Panel className="p-4">
      <table className="w-full table-fixed border-separate border-spacing-0 text-left">
        <thead>
          <tr className="text-sm text-ink-3">
            <th scope="col" className="pb-1 text-base font-medium text-ink">
              {title}
            </th>
            <th scope="col" className="w-20 pb-1 text-right font-normal">
              Requests
            </th>
            <th scope="col" className="w-24 pb-1 text-right font-normal">
              Spend
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 && (
            <tr>
              <td colSpan={3} className="py-1.5 text-ink-2">
                No requests in this period
              </td>
            </tr>
          )}
          {rows.map(({ id, name, requests, cost_nano_usd, to, color }) => (
            <tr key={id} className="align-middle">
              <th scope="row" className="min-w-0 py-1 pr-3 font-normal">
                <span className="block truncate" title={name}>
                  {to === null ? (
                    name
                  ) : (
                    <Link to={to.path} search={to.search} className="underline-offset-2 hover:underline">
                      {name}
                    </Link>
                  )}
                </span>
                <span aria-hidden="true" className="mt-0.5 block h-1 overflow-hidden rounded-full bg-hover">
                  <span
                    className="block h-full rounded-full"
                    style={{ width: `${Math.min(100, percentOf(cost_nano_usd, total))}%`, background: color }}
                  />
                </span>
              </th>
              <td className="figures text-right text-ink-2">{wholeNumber(requests)}</td>
              <td className="figures text-right">
                <Money nanoUsd={cost_nano_usd} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
