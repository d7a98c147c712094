/** Sets a price of a model from a given time on. */
import { useState } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useAct } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { toast } from '../../ui/toasts.tsx';
import type { ModelView } from './model-facts.ts';
import { beginForm, formErrors, losses, priceBody } from './price-form.ts';
import { GRID, RateFields } from './rate-fields.tsx';
import { TierFields } from './tier-fields.tsx';

interface PriceDialogProps {
  readonly model: ModelView;
  /** Kinds of tools for which a fee can be entered. */
  readonly toolKinds: readonly string[];
  readonly onClose: () => void;
}

export function PriceDialog({ model, toolKinds, onClose }: PriceDialogProps) {
  const { account } = useAccount();
  const zone = useZone();
  const [form, setForm] = useState(() => beginForm(model.price, toolKinds));
  const [wasSent, setSent] = useState(false);
  const set = useAct('PUT /accounts/{account}/models/{model}/price', [
    'GET /accounts/{account}/models',
    'GET /accounts/{account}/models/{model}/dry-run',
  ]);
  const errors = wasSent ? formErrors(form, Date.now(), zone) : {};
  const lost = losses(model.price, form);
  const feeError = (kind: string) => errors[`per_1000_requests.${kind}`] ?? memberError(set.error, kind);
  const submit = () => {
    setSent(true);
    if (Object.keys(formErrors(form, Date.now(), zone)).length > 0) return;
    set.mutate(
      { path: { account, model: model.name }, body: priceBody(form, zone) },
      {
        onSuccess: ({ left_out: leftOut }) => {
          const without = leftOut.length === 0 ? '' : ` It no longer includes ${leftOut.map(sentenceCase).join(', ')}.`;
          toast({ text: `Saved the price of ${model.name}.${without}`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title="Set price"
      lead={`${model.name}, in USD per million tokens`}
      onClose={onClose}
      wide
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
        <p className="text-ink-2">
          Replaces the current price for requests that start after it takes effect. Past charges don’t change.
        </p>
        <CheckField
          label="Free"
          hint="Requests are counted but cost nothing."
          checked={form.isFree}
          onChange={(event) => setForm({ ...form, isFree: event.target.checked })}
        />
        {!form.isFree && (
          <>
            <RateFields
              rates={form.rates}
              errorOf={(rate) => errors[rate] ?? memberError(set.error, rate)}
              onChange={(rates) => setForm({ ...form, rates })}
            />
            <TierFields
              tiers={form.tiers}
              errors={errors}
              error={memberError(set.error, 'tiers')}
              onChange={(tiers) => setForm({ ...form, tiers })}
            />
            <Fold
              title="Provider tools (USD per 1,000 requests)"
              opens={Object.values(form.fees).some((fee) => fee !== '')}
              mustShow={Object.keys(form.fees).some((kind) => feeError(kind) !== null)}
            >
              <div className={GRID}>
                {Object.entries(form.fees).map(([kind, fee]) => (
                  <TextField
                    key={kind}
                    label={sentenceCase(kind)}
                    inputMode="decimal"
                    placeholder="No fee"
                    value={fee}
                    error={feeError(kind)}
                    onChange={(event) => setForm({ ...form, fees: { ...form.fees, [kind]: event.target.value } })}
                  />
                ))}
              </div>
            </Fold>
          </>
        )}
        <TextField
          label="Effective from"
          type="datetime-local"
          hint={`Time zone: ${zone}. Leave blank to start now.`}
          value={form.from}
          error={errors.from ?? memberError(set.error, 'from')}
          onChange={(event) => setForm({ ...form, from: event.target.value })}
        />
        {lost.length > 0 && (
          <div role="status" className="flex flex-col gap-1 text-amber">
            {lost.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        )}
        {set.error !== null && <ErrorNote error={set.error} />}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
