/** Owns setting a price of a model from a time on. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type ModelView, RATES } from './model-facts.ts';
import { beginForm, formErrors, priceBody } from './price-form.ts';

const FALLBACKS: Readonly<Record<string, string>> = {
  cache_read: 'As input',
  cache_write_5m: 'As input',
  cache_write_1h: 'As input',
  reasoning: 'As output',
};

export function PriceDialog({ model, onClose }: { readonly model: ModelView; readonly onClose: () => void }) {
  const { account } = useAccount();
  const [form, setForm] = useState(() => beginForm(model.price));
  const [wasSent, setSent] = useState(false);
  const set = useAct('PUT /accounts/{account}/models/{model}/price', [
    'GET /accounts/{account}/models',
    'GET /accounts/{account}/models/{model}/dry-run',
  ]);
  const errors = wasSent ? formErrors(form, Date.now()) : {};
  const submit = () => {
    setSent(true);
    if (Object.keys(formErrors(form, Date.now())).length > 0) return;
    set.mutate(
      { path: { account, model: model.name }, body: priceBody(form) },
      {
        onSuccess: () => {
          toast({ text: `The price of ${model.name} is set.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title="Set a price"
      lead={`${model.name}, USD per million tokens`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={set.isPending} onClick={submit}>
            Set price
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p className="text-ink-2">It binds calls that begin after it does. What was charged before stays as it is.</p>
        <CheckField
          label="Free"
          hint="Calls are counted and cost nothing."
          checked={form.isFree}
          onChange={(event) => setForm({ ...form, isFree: event.target.checked })}
        />
        {!form.isFree && (
          <div className="grid grid-cols-2 gap-3">
            {RATES.map(([rate, word]) => (
              <TextField
                key={rate}
                label={word}
                inputMode="decimal"
                placeholder={FALLBACKS[rate] ?? '0.25'}
                value={form.rates[rate]}
                error={errors[rate] ?? memberError(set.error, rate)}
                onChange={(event) => setForm({ ...form, rates: { ...form.rates, [rate]: event.target.value } })}
              />
            ))}
          </div>
        )}
        <TextField
          label="From"
          type="datetime-local"
          hint="In this computer’s time zone. Empty: now."
          value={form.from}
          error={errors.from ?? memberError(set.error, 'from')}
          onChange={(event) => setForm({ ...form, from: event.target.value })}
        />
        {set.error !== null && <ErrorNote error={set.error} />}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
