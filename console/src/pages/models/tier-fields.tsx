/** Renders the fields of a price's tiers: other rates for calls with long input. */
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { beginRates, type TierForm } from './price-form.ts';
import { RateFields } from './rate-fields.tsx';

interface TierFieldsProps {
  readonly tiers: readonly TierForm[];
  /** By member: `tiers.0.above`. */
  readonly errors: Readonly<Record<string, string>>;
  /** Error about the tiers as a whole; null when there is none. */
  readonly error: string | null;
  readonly onChange: (tiers: readonly TierForm[]) => void;
}

export function TierFields({ tiers, errors, error, onChange }: TierFieldsProps) {
  const change = (at: number, tier: Partial<TierForm>) =>
    onChange(tiers.map((one, index) => (index === at ? { ...one, ...tier } : one)));
  return (
    <Fold title="Rates for long input" opens={tiers.length > 0} mustShow={error !== null}>
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
        <Button onClick={() => onChange([...tiers, { above: '', rates: beginRates(null) }])}>Add tier</Button>
      </div>
    </Fold>
  );
}
