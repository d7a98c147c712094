/** Renders the panels of the home page: the remaining budget or balance, provider health, and rankings by cost. */

import { share, shortNumber, wholeNumber } from '../../lib/format.ts';
import { exactUsd, percentOf, shortUsd } from '../../lib/money.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import type { BudgetWindow } from '../../policy/caps-draft.ts';
import { gaugeName } from '../../policy/caps-text.ts';
import { Link } from '../../route/link.tsx';
import { BudgetBar, Money } from '../../ui/amounts.tsx';
import { Panel } from '../../ui/page.tsx';
import { HealthBadge } from '../providers/health-badge.tsx';
import type { Overview } from './overview.ts';

const LINK = 'font-medium text-accent underline-offset-2 hover:underline';

export function MoneyPanel({ overview, account }: { readonly overview: Overview; readonly account: CurrentAccount }) {
  const { budget, balance_nano_usd: balance } = overview;
  return (
    <Panel className="flex flex-col gap-3 p-4">
      {balance !== null && (
        <div className="flex items-baseline justify-between gap-3">
          <h2 className="font-medium">Balance</h2>
          <span className={BigInt(balance) <= 0n ? 'font-semibold text-red' : 'font-semibold'}>
            <Money nanoUsd={balance} />
          </span>
        </div>
      )}
      {balance !== null && BigInt(balance) <= 0n && (
        <p className="text-sm text-red">Paid requests are rejected until you top up.</p>
      )}
      {budget === null ? (
        <div className="flex flex-col gap-1">
          {balance === null && <h2 className="font-medium">Budget</h2>}
          <p className="text-ink-2">
            {balance === null ? 'No budget set. Spend is recorded but not limited.' : 'No budget set.'}{' '}
            {account.may('limits.write') && (
              <Link to="/app/limits" className={LINK}>
                Set budget
              </Link>
            )}
          </p>
        </div>
      ) : (
        <div className="flex flex-col gap-2">
          <h2 className="font-medium">{gaugeName({ sort: 'budget', window: budget.window as BudgetWindow })}</h2>
          <BudgetBar
            used={budget.used_nano_usd}
            held={budget.held_nano_usd}
            limit={budget.limit_nano_usd}
            label={gaugeName({ sort: 'budget', window: budget.window as BudgetWindow })}
          />
          <p className="figures text-sm text-ink-3" title={exactUsd(budget.held_nano_usd)}>
            {leftText(budget)}
          </p>
        </div>
      )}
    </Panel>
  );
}

function leftText({ limit_nano_usd, used_nano_usd, held_nano_usd }: NonNullable<Overview['budget']>): string {
  const held = BigInt(held_nano_usd);
  const left = BigInt(limit_nano_usd) - BigInt(used_nano_usd) - held;
  const reserved = held === 0n ? '' : ` ${shortUsd(held_nano_usd)} reserved for requests in progress.`;
  return left <= 0n ? `Used up: requests are rejected.${reserved}` : `${shortUsd(left.toString())} left.${reserved}`;
}

type Provider = Overview['providers'][number];

export function ProviderPanel({
  providers,
  rule,
  isLinked,
}: {
  readonly providers: readonly Provider[];
  /** When a provider counts as failing. */
  readonly rule: string;
  readonly isLinked: boolean;
}) {
  return (
    <Panel className="flex flex-col gap-2 p-4">
      <div className="flex items-baseline justify-between gap-3">
        <h2 className="font-medium">Providers</h2>
        {isLinked && (
          <Link to="/app/providers" className="text-sm text-accent underline-offset-2 hover:underline">
            View all
          </Link>
        )}
      </div>
      {providers.length === 0 && <p className="text-ink-2">No providers configured.</p>}
      <ul className="flex flex-col">
        {providers.map(({ name, state, calls, errors }) => (
          <li key={name} className="flex min-h-8 items-center gap-3">
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="figures text-sm text-ink-3">
              {calls === 0
                ? ''
                : `${shortNumber(calls)} ${calls === 1 ? 'request' : 'requests'}, ${share(errors, calls)} failed`}
            </span>
            <HealthBadge state={state} />
          </li>
        ))}
      </ul>
      {providers.length > 0 && (
        <p className="text-sm text-ink-3">Based on this account’s requests in the last 15 minutes. {rule}</p>
      )}
    </Panel>
  );
}

interface Ranked {
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
