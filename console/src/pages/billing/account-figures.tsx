/** Renders the figures of an account side by side. */
import { exactUsd, shortUsd } from '../../lib/money.ts';
import { Panel } from '../../ui/page.tsx';
import type { Account } from './account.ts';

export function AccountFigures({ account }: { readonly account: Account }) {
  const isPrepaid = account.mode === 'prepaid';
  return (
    <Panel className="@container">
      <dl className="grid grid-cols-2 @2xl:grid-cols-5">
        <Figure
          name="Balance"
          nanoUsd={account.balance_nano_usd}
          description={isPrepaid ? 'Prepaid: requests stop at $0' : 'Postpaid: usage isn’t blocked'}
          tone={isPrepaid && BigInt(account.balance_nano_usd) <= 0n ? 'text-red' : ''}
        />
        <Figure name="Reserved" nanoUsd={account.held_nano_usd} description="For requests in progress" />
        <Figure name="Charged" nanoUsd={account.charged_nano_usd} description="All time" />
        <Figure name="Topped up" nanoUsd={account.topped_up_nano_usd} description="All time" />
        <Figure name="Written off" nanoUsd={account.written_off_nano_usd} description="Paid by operator" />
      </dl>
    </Panel>
  );
}

function Figure({
  name,
  nanoUsd,
  description,
  tone = '',
}: {
  readonly name: string;
  readonly nanoUsd: string;
  readonly description: string;
  readonly tone?: string;
}) {
  return (
    <div className="min-w-0 px-4 py-3">
      <dt className="text-ink-2">{name}</dt>
      <dd className={`figures truncate text-title font-semibold ${tone}`} title={exactUsd(nanoUsd)}>
        {shortUsd(nanoUsd)}
      </dd>
      <dd className="text-sm text-ink-3">{description}</dd>
    </div>
  );
}
