/** Renders the list of all accounts for operators, the details of one, and the dialog that creates one. */
import { Plus } from 'lucide-react';
import { useId, useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { sentenceCase } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { changesOf, isEmpty, restOf } from '../../policy/read.ts';
import { useFilters } from '../../route/route.ts';
import { Money } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { Segmented, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { Section, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Account, type HouseAccount, MONEY_READS, proposeId } from './account.ts';
import { AccountFigures } from './account-figures.tsx';
import { type MoneyAction, MoneyDialog } from './money-dialog.tsx';

const COLUMNS: readonly Column<HouseAccount>[] = [
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
      ['Failed attempts (USD)', 'absorbed_attempts_nano_usd', true],
    ] as const
  ).map(
    ([head, member, wideOnly]): Column<HouseAccount> => ({
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
  const [money, setMoney] = useState<{ readonly action: MoneyAction; readonly account: Account } | null>(null);
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
      {data !== undefined && filters.open !== undefined && open === undefined && (
        <p className="text-ink-2">There is no account {filters.open}.</p>
      )}
      {data !== undefined && (
        <Table
          label="Accounts"
          columns={COLUMNS}
          rows={data.accounts}
          rowKey={({ id }) => id}
          openKey={filters.open ?? null}
          {...(mayWrite ? { onOpen: ({ id }: HouseAccount) => setFilters({ open: id }) } : {})}
        />
      )}
      {mayWrite && open !== undefined && (
        <AccountSheet
          key={open.id}
          account={open}
          onMoney={(action) => setMoney({ action, account: open })}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
      {money !== null && (
        <MoneyDialog
          action={money.action}
          account={data?.accounts.find(({ id }) => id === money.account.id) ?? money.account}
          onClose={() => setMoney(null)}
        />
      )}
      {adds && <CreateAccount onClose={() => setAdds(false)} />}
    </Section>
  );
}

function CreateAccount({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [typedId, setTypedId] = useState<string | null>(null);
  const [mode, setMode] = useState<Account['mode']>('prepaid');
  const create = useAction('POST /accounts', [...MONEY_READS, 'GET /session']);
  const id = typedId ?? proposeId(name);
  return (
    <FormDialog
      title="Create account"
      lead="A separate customer or company with its own members, API keys, limits and ledger."
      label="New account"
      submitLabel="Create account"
      busy={create.isPending}
      error={create.error}
      members={['name', 'id']}
      onSubmit={() => create.mutate({ body: { name, id: id.trim(), mode } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Shown in the console. You can change it in Settings."
        autoComplete="off"
        value={name}
        error={memberError(create.error, 'name')}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label="Account ID"
        hint="Lowercase letters, digits, hyphens and underscores. Used in records, statements and commands; can’t be changed."
        autoComplete="off"
        spellCheck={false}
        value={id}
        error={memberError(create.error, 'id')}
        onChange={({ target }) => setTypedId(target.value)}
      />
      <Segmented
        label="Billing mode"
        value={mode}
        choices={[
          ['prepaid', 'Prepaid'],
          ['postpaid', 'Postpaid'],
        ]}
        onChoose={setMode}
      />
    </FormDialog>
  );
}

interface AccountSheetProps {
  readonly account: Account;
  readonly onMoney: (action: MoneyAction) => void;
  readonly onClose: () => void;
}

function AccountSheet({ account, onMoney, onClose }: AccountSheetProps) {
  const form = useId();
  // A snapshot: others may change the account while this form is open.
  const [opened] = useState(account);
  const [mode, setMode] = useState(opened.mode);
  const [markUp, setMarkUp] = useState(opened.mark_up_percent);
  const change = useAction('PATCH /accounts/{account}', MONEY_READS);
  const rest = restOf(change.error, ['mark_up_percent']);
  return (
    <Sheet
      title={account.name}
      lead={`Account ID: ${account.id}`}
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={change.isPending}>
            Save changes
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-6">
        <AccountFigures account={account} />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => onMoney('topup')}>Top up…</Button>
          <Button onClick={() => onMoney('correct')}>Adjust balance…</Button>
        </div>
        <form
          id={form}
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            const body = changesOf(opened, { mode, mark_up_percent: markUp.trim() });
            if (isEmpty(body)) {
              onClose();
              return;
            }
            change.mutate(
              { path: { account: account.id }, body },
              {
                onSuccess: () => {
                  toast({ text: `Saved ${account.name}. Applies from the next request.` });
                  onClose();
                },
              },
            );
          }}
        >
          <Segmented
            label="Billing mode"
            value={mode}
            choices={[
              ['postpaid', 'Postpaid'],
              ['prepaid', 'Prepaid'],
            ]}
            onChoose={setMode}
          />
          <p className="text-ink-2">
            {mode === 'prepaid'
              ? 'The balance must cover the maximum cost of each request; otherwise the request is rejected.'
              : 'Usage is recorded; no balance is required.'}
          </p>
          {mode === 'prepaid' && account.mode === 'postpaid' && BigInt(account.balance_nano_usd) <= 0n && (
            <p className="text-amber">The balance is $0 or less, so the next request will be rejected. Top up first.</p>
          )}
          <TextField
            label="Markup (%)"
            inputMode="decimal"
            className="max-w-40"
            hint="Added to the price of each request from now on."
            value={markUp}
            error={memberError(change.error, 'mark_up_percent')}
            onChange={({ target }) => setMarkUp(target.value)}
          />
          {rest !== null && <ErrorNote error={rest} />}
        </form>
      </div>
    </Sheet>
  );
}
