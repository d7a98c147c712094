/** Renders the billing page: the account's balance, its ledger, and for operators every account. */
import { useState } from 'react';
import { RangeDownload } from '../../csv/range-download.tsx';
import { addressOf } from '../../lib/api.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/field.tsx';
import { Page, Section, SkeletonPanel } from '../../ui/page.tsx';
import { AccountFigures } from './account-figures.tsx';
import { AccountsSection } from './accounts-section.tsx';
import { AttemptCostsSection } from './attempt-costs-section.tsx';
import { LedgerTable, useLedger } from './ledger-table.tsx';
import { type MoneyAction, MoneyDialog } from './money-dialog.tsx';

export default function BillingPage() {
  const { account, may } = useAccount();
  const [filters, setFilters] = useFilters();
  const [money, setMoney] = useState<MoneyAction | null>(null);
  const kind = filters.kind === 'all' ? 'all' : 'money';
  const pages = useLedger(account, kind);
  const current = pages.data?.pages[0]?.account;
  return (
    <Page
      title="Billing"
      lead="The account’s balance and charges, exact to the nano-dollar."
      hasTimes
      action={
        <>
          <Link to="/app/billing/statement" className={buttonClasses()}>
            Monthly statement
          </Link>
          <RangeDownload
            name="Statement CSV"
            lead="Top-ups, adjustments, and daily charges by model and API key."
            urlOf={(range) => addressOf('GET /accounts/{account}/billing.csv', { path: { account }, query: range }).url}
          />
          {may('operator.write') && current !== undefined && (
            <>
              <Button onClick={() => setMoney('correct')}>Adjust balance…</Button>
              <Button kind="primary" onClick={() => setMoney('topup')}>
                Top up
              </Button>
            </>
          )}
        </>
      }
    >
      {current === undefined && pages.error !== null && (
        <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />
      )}
      {current === undefined && pages.error === null && <SkeletonPanel heightPx={96} />}
      {current !== undefined && <AccountFigures account={current} />}
      <Section
        title="Ledger"
        aside={
          <Segmented
            label="Ledger entries"
            value={kind}
            choices={[
              ['money', 'Top-ups and adjustments'],
              ['all', 'All entries'],
            ]}
            onChoose={(choice) => setFilters({ kind: choice === 'money' ? undefined : choice })}
          />
        }
      >
        <LedgerTable pages={pages} kind={kind} onShowAll={() => setFilters({ kind: 'all' })} />
      </Section>
      {may('operator.read') && <AccountsSection mayWrite={may('operator.write')} />}
      {may('operator.read') && <AttemptCostsSection />}
      {money !== null && current !== undefined && (
        <MoneyDialog action={money} account={current} onClose={() => setMoney(null)} />
      )}
    </Page>
  );
}
