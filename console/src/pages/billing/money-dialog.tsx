/**
 * Records a top-up, or a correction with its reason. Each dialog has one idempotency id: a second press, or a retry
 * after a lost reply, moves the money once.
 */
import { useId, useState } from 'react';
import type { ApiError } from '../../lib/api.ts';
import { randomUuid } from '../../lib/insecure-context.ts';
import { exactUsd } from '../../lib/money.ts';
import { queryClient, useAction } from '../../lib/queries.ts';
import { type Faults, faultOf, focusFirstFault, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Account, MONEY_READS, readUsd } from './account.ts';

export type MoneyAction = 'topup' | 'correct';

interface MoneyDialogProps {
  readonly action: MoneyAction;
  readonly account: Account;
  readonly onClose: () => void;
}

export function MoneyDialog({ action, account, onClose }: MoneyDialogProps) {
  const form = useId();
  const [id, setId] = useState(randomUuid);
  // The amount of an attempt whose reply was lost: it may have been moved.
  const [unsure, setUnsure] = useState<string | null>(null);
  const [text, setText] = useState('');
  const [note, setNote] = useState('');
  const [direction, setDirection] = useState<'give' | 'take'>('give');
  const [faults, setFaults] = useState<Faults>({});
  const topUp = useAction('POST /accounts/{account}/topup', MONEY_READS);
  const correct = useAction('POST /accounts/{account}/correct', MONEY_READS);
  const { error, isPending } = action === 'topup' ? topUp : correct;
  const wasMoved = unsure !== null && error?.code === 'conflict' && error.message.includes(id);
  const rest = wasMoved ? null : restOf(error, ['usd', 'note']);
  const takes = action === 'correct' && direction === 'take';
  const amount = readUsd(text);
  const after = amount === null ? null : BigInt(account.balance_nano_usd) + (takes ? -amount.nanoUsd : amount.nanoUsd);

  function submit(element: HTMLFormElement): void {
    const found: Record<string, string> = {};
    if (amount === null || amount.nanoUsd === 0n) found.usd = 'Enter an amount in US dollars, such as 50 or 12.50.';
    if (action === 'correct' && note.trim() === '')
      found.note = 'Enter a reason. It appears in the ledger and the statement.';
    setFaults(found);
    if (amount === null || Object.keys(found).length > 0) {
      focusFirstFault(element);
      return;
    }
    const usd = `${takes ? '-' : ''}${amount.usd}`;
    const done = {
      onSuccess: (reply: Account) => {
        toast({ text: `Recorded. New balance of ${reply.name}: ${exactUsd(reply.balance_nano_usd)}.` });
        onClose();
      },
      onError: ({ status }: ApiError) => {
        if (status === 0 || status >= 500) setUnsure((known) => known ?? usd);
        // The balance that is shown may lack the movement.
        for (const read of MONEY_READS) void queryClient.invalidateQueries({ queryKey: [read] });
        focusFirstFault(element);
      },
    };
    const path = { account: account.id };
    const reason = note.trim();
    if (action === 'topup') topUp.mutate({ path, body: { id, usd, note: reason === '' ? null : reason } }, done);
    else correct.mutate({ path, body: { id, usd, note: reason } }, done);
  }

  function startAnother(): void {
    setId(randomUuid());
    setUnsure(null);
    topUp.reset();
    correct.reset();
  }

  return (
    <Dialog
      title={action === 'topup' ? `Top up ${account.name}` : `Adjust balance of ${account.name}`}
      lead={
        action === 'topup'
          ? 'Adds funds, available immediately.'
          : 'Use this to fix a wrong charge. The charge stays in the ledger; the adjustment is a new entry.'
      }
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={takes ? 'danger' : 'primary'} type="submit" form={form} busy={isPending}>
            {action === 'topup' ? 'Add funds' : takes ? 'Debit account' : 'Credit account'}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        {action === 'correct' && (
          <Segmented
            label="Adjustment"
            value={direction}
            choices={[
              ['give', 'Credit'],
              ['take', 'Debit'],
            ]}
            onChoose={setDirection}
          />
        )}
        <TextField
          label="Amount (USD)"
          inputMode="decimal"
          autoComplete="off"
          className="max-w-60"
          value={text}
          error={faultOf(faults, error, 'usd')}
          onChange={({ target }) => setText(target.value)}
        />
        <TextField
          label={action === 'topup' ? 'Note (optional)' : 'Reason'}
          maxLength={500}
          autoComplete="off"
          placeholder={action === 'topup' ? 'Invoice 2026-114' : 'Provider charged request 01J… twice'}
          value={note}
          error={faultOf(faults, error, 'note')}
          onChange={({ target }) => setNote(target.value)}
        />
        <dl className="figures grid grid-cols-[1fr_auto] gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-3 py-2">
          <dt className="text-ink-2">Current balance</dt>
          <dd className="text-right">{exactUsd(account.balance_nano_usd)}</dd>
          <dt className="text-ink-2">New balance</dt>
          <dd className="text-right font-medium">{after === null ? '–' : exactUsd(after.toString())}</dd>
        </dl>
        {wasMoved && (
          <>
            <ErrorNote error={new Error(movedText(action, unsure))} />
            <Button className="self-start" onClick={startAnother}>
              {action === 'topup' ? 'Make another top-up' : 'Make another adjustment'}
            </Button>
          </>
        )}
        {rest !== null && <ErrorNote error={rest} />}
      </form>
    </Dialog>
  );
}

function movedText(action: MoneyAction, usd: string): string {
  const amount = usd.startsWith('-') ? `−$${usd.slice(1)}` : `$${usd}`;
  const what = action === 'topup' ? 'top-up' : 'adjustment';
  return `Your first attempt was recorded although its reply was lost: ${what} of ${amount}. The current balance includes it. If that was all, cancel; for a further ${what}, make another.`;
}
