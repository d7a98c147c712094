/** Renders the details of one account for operators: billing mode, and manual transfers. */
import { useId, useState } from 'react';
import { changesOf, isEmpty } from '../../lib/changes-of.ts';
import { useAct } from '../../lib/queries.ts';
import { restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Account, MONEY_READS } from './account.ts';
import { AccountFigures } from './account-figures.tsx';
import type { MoneyAct } from './money-dialog.tsx';

interface AccountSheetProps {
  readonly account: Account;
  readonly onMoney: (act: MoneyAct) => void;
  readonly onClose: () => void;
}

export function AccountSheet({ account, onMoney, onClose }: AccountSheetProps) {
  const form = useId();
  // A snapshot: others may change the account while this form is open.
  const [opened] = useState(account);
  const [mode, setMode] = useState(opened.mode);
  const [markUp, setMarkUp] = useState(opened.mark_up_percent);
  const change = useAct('PATCH /accounts/{account}', MONEY_READS);
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
