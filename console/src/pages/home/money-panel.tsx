/** Renders the money left to spend: the account's budget with used and held amounts, or the prepaid balance. */

import { exactUsd, shortUsd } from '../../lib/money.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { BudgetBar, Money } from '../../ui/amounts.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Overview } from './overview.ts';

const WINDOWS: Readonly<Record<string, string>> = {
  day: 'Daily budget',
  week: 'Weekly budget',
  month: 'Monthly budget',
  total: 'Total budget',
};
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
          <h2 className="font-medium">{WINDOWS[budget.window] ?? `Budget (${budget.window})`}</h2>
          <BudgetBar
            used={budget.used_nano_usd}
            held={budget.held_nano_usd}
            limit={budget.limit_nano_usd}
            label={WINDOWS[budget.window] ?? 'Budget'}
          />
          <p className="figures text-sm text-ink-3" title={exactUsd(budget.held_nano_usd)}>
            {leftWords(budget)}
          </p>
        </div>
      )}
    </Panel>
  );
}

function leftWords({ limit_nano_usd, used_nano_usd, held_nano_usd }: NonNullable<Overview['budget']>): string {
  const held = BigInt(held_nano_usd);
  const left = BigInt(limit_nano_usd) - BigInt(used_nano_usd) - held;
  const reserved = held === 0n ? '' : ` ${shortUsd(held_nano_usd)} reserved for requests in progress.`;
  return left <= 0n ? `Used up: requests are rejected.${reserved}` : `${shortUsd(left.toString())} left.${reserved}`;
}
