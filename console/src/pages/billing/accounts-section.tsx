/** Renders the list of all accounts for operators. */

import { Plus } from 'lucide-react';
import { useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { sentenceCase } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useFilters } from '../../lib/search.ts';
import { Money } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import type { Account } from './account.ts';
import { AccountSheet } from './account-sheet.tsx';
import { CreateAccount } from './create-account.tsx';
import { type MoneyAct, MoneyDialog } from './money-dialog.tsx';

const COLUMNS: readonly Column<Account>[] = [
  {
    id: 'id',
    head: 'Account',
    sortBy: ({ id }) => id,
    cell: ({ id, name }) => (
      <>
        <span className="font-medium">{name}</span>
        {name !== id && <span className="text-ink-3"> {id}</span>}
      </>
    ),
  },
  {
    id: 'mode',
    head: 'Billing mode',
    sortBy: ({ mode }) => mode,
    cell: ({ mode }) => <Badge tone={mode === 'prepaid' ? 'accent' : 'neutral'}>{sentenceCase(mode)}</Badge>,
  },
  ...(
    [
      ['Balance (USD)', 'balance_nano_usd', false],
      ['Reserved (USD)', 'held_nano_usd', true],
      ['Charged (USD)', 'charged_nano_usd', false],
      ['Written off (USD)', 'written_off_nano_usd', true],
    ] as const
  ).map(
    ([head, member, wideOnly]): Column<Account> => ({
      id: member,
      head,
      align: 'right',
      wideOnly,
      sortBy: (account) => BigInt(account[member]),
      cell: (account) => <Money nanoUsd={account[member]} />,
    }),
  ),
  {
    id: 'mark_up',
    head: 'Markup (%)',
    align: 'right',
    wideOnly: true,
    cell: ({ mark_up_percent }) => mark_up_percent,
  },
];

export function AccountsSection({ mayWrite }: { readonly mayWrite: boolean }) {
  const [filters, setFilters] = useFilters();
  const [adds, setAdds] = useState(false);
  const [money, setMoney] = useState<{ readonly act: MoneyAct; readonly account: Account } | null>(null);
  const { data, error, refetch } = useReply('GET /accounts', {});
  const open = data?.accounts.find(({ id }) => id === filters.open);
  return (
    <Section
      title="All accounts"
      aside={
        <span className="flex gap-2">
          {data !== undefined && (
            <TableDownload name="tollgate-accounts" rows={data.accounts} columns={() => import('./account-csv.ts')} />
          )}
          {mayWrite && (
            <Button icon={<Plus size={14} />} onClick={() => setAdds(true)}>
              Create account
            </Button>
          )}
        </span>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={2} />}
      {data !== undefined && (
        <Table
          label="Accounts"
          columns={COLUMNS}
          rows={data.accounts}
          rowKey={({ id }) => id}
          openKey={filters.open ?? null}
          {...(mayWrite ? { onOpen: ({ id }: Account) => setFilters({ open: id }) } : {})}
        />
      )}
      {mayWrite && open !== undefined && (
        <AccountSheet
          key={open.id}
          account={open}
          onMoney={(act) => setMoney({ act, account: open })}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
      {money !== null && <MoneyDialog {...money} onClose={() => setMoney(null)} />}
      {adds && <CreateAccount onClose={() => setAdds(false)} />}
    </Section>
  );
}
