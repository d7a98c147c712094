/** Sets a price of a model from a given time on: rates, tiers for long input, and fees of provider tools. */
import { useState } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { CheckField, Fold, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ALL_RATES, MEDIA_RATES, type ModelView, type RateName, TEXT_RATES } from './model-facts.ts';
import { formErrors, losses, priceBody, type RateTexts, startForm, startRates, type TierForm } from './price-form.ts';
import { UnitFields } from './unit-fields.tsx';

interface PriceDialogProps {
  readonly model: ModelView;
  /** Kinds of tools for which a fee can be entered. */
  readonly toolKinds: readonly string[];
  readonly onClose: () => void;
}

export function PriceDialog({ model, toolKinds, onClose }: PriceDialogProps) {
  const { account } = useAccount();
  const zone = useZone();
  const [form, setForm] = useState(() => startForm(model.price, toolKinds));
  const [wasSent, setSent] = useState(false);
  const set = useAction('PUT /accounts/{account}/models/{model}/price', [
    'GET /accounts/{account}/models',
    'GET /accounts/{account}/models/{model}/dry-run',
  ]);
  const errors = wasSent ? formErrors(form, Date.now(), zone) : {};
  const lost = losses(model.price, form);
  const feeError = (kind: string) => errors[`per_1000_requests.${kind}`] ?? memberError(set.error, kind);
  const unitMembers = Object.keys(form.units).map((name) => `per_unit.${name}`);
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
    <FormDialog
      title="Set price"
      lead={`${model.name}, in USD per million tokens`}
      label="Price"
      submitLabel="Set price"
      wide
      busy={set.isPending}
      error={set.error}
      members={[...ALL_RATES.map(([rate]) => rate), 'tiers', 'from', ...Object.keys(form.fees), ...unitMembers]}
      onSubmit={submit}
      onClose={onClose}
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
          <UnitFields
            units={form.units}
            errorOf={(name) => errors[`per_unit.${name}`] ?? memberError(set.error, `per_unit.${name}`)}
            onChange={(units) => setForm({ ...form, units })}
            className={GRID}
          />
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
    </FormDialog>
  );
}

/** Layout of price fields side by side. */
const GRID = 'grid grid-cols-2 items-start gap-3 sm:grid-cols-3';

const FALLBACKS: Readonly<Partial<Record<RateName, string>>> = {
  cache_read: 'Same as input',
  cache_write_5m: 'Same as input',
  cache_write_1h: 'Same as 5 min',
  reasoning: 'Same as output',
  audio_input: 'Same as input',
  audio_cache_read: 'Same as cache read',
  audio_output: 'Same as output',
  image_input: 'Same as input',
  image_output: 'Same as output',
  cache_write_30m: 'Same as 5 min',
};

interface RateFieldsProps {
  readonly rates: RateTexts;
  readonly errorOf: (rate: RateName) => string | null;
  readonly onChange: (rates: RateTexts) => void;
}

function RateFields({ rates, errorOf, onChange }: RateFieldsProps) {
  const field = ([rate, word]: readonly [RateName, string]) => (
    <TextField
      key={rate}
      label={word}
      inputMode="decimal"
      placeholder={FALLBACKS[rate] ?? '0.25'}
      value={rates[rate]}
      error={errorOf(rate)}
      onChange={(event) => onChange({ ...rates, [rate]: event.target.value })}
    />
  );
  return (
    <>
      <div className={GRID}>{TEXT_RATES.map(field)}</div>
      <Fold
        title="Audio and images"
        opens={MEDIA_RATES.some(([rate]) => rates[rate] !== '')}
        mustShow={MEDIA_RATES.some(([rate]) => errorOf(rate) !== null)}
      >
        <div className={GRID}>{MEDIA_RATES.map(field)}</div>
      </Fold>
    </>
  );
}

interface TierFieldsProps {
  readonly tiers: readonly TierForm[];
  /** By member: `tiers.0.above`. */
  readonly errors: Readonly<Record<string, string>>;
  /** Error about the tiers as a whole; null without an error. */
  readonly error: string | null;
  readonly onChange: (tiers: readonly TierForm[]) => void;
}

function TierFields({ tiers, errors, error, onChange }: TierFieldsProps) {
  const change = (at: number, tier: Partial<TierForm>) =>
    onChange(tiers.map((one, index) => (index === at ? { ...one, ...tier } : one)));
  const isWrong = error !== null || Object.keys(errors).some((member) => member.startsWith('tiers.'));
  return (
    <Fold title="Rates for long input" opens={tiers.length > 0} mustShow={isWrong}>
      <div className="flex flex-col items-start gap-3">
        {tiers.map((tier, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tiers are identified by position
          <fieldset key={index} className="flex w-full min-w-0 flex-col gap-3 rounded-md border border-line p-3">
            <legend className="sr-only">Rates of tier {index + 1}</legend>
            <div className="flex items-end gap-3">
              <TextField
                label="Input tokens over"
                hint="Includes cached tokens. The rates apply to the whole request."
                inputMode="numeric"
                placeholder="200000"
                value={tier.above}
                error={errors[`tiers.${index}.above`] ?? null}
                className="flex-1"
                onChange={(event) => change(index, { above: event.target.value })}
              />
              <Button
                kind="quiet"
                aria-label={`Remove tier ${index + 1}`}
                className="self-start sm:mt-6"
                onClick={() => onChange(tiers.filter((_, at) => at !== index))}
              >
                Remove
              </Button>
            </div>
            <RateFields
              rates={tier.rates}
              errorOf={(rate) => errors[`tiers.${index}.${rate}`] ?? null}
              onChange={(rates) => change(index, { rates })}
            />
          </fieldset>
        ))}
        {error !== null && <p className="text-sm text-red">{error}</p>}
        <Button onClick={() => onChange([...tiers, { above: '', rates: startRates(null) }])}>Add tier</Button>
      </div>
    </Fold>
  );
}
