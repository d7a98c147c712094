/** Renders the fields of the rates of a price or tier. Audio and image rates are collapsed when empty. */
import { TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { MEDIA_RATES, RATES, type RateName } from './model-facts.ts';
import type { RateTexts } from './price-form.ts';

/** Layout of price fields side by side. */
export const GRID = 'grid grid-cols-2 items-start gap-3 sm:grid-cols-3';

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
};

interface RateFieldsProps {
  readonly rates: RateTexts;
  readonly errorOf: (rate: RateName) => string | null;
  readonly onChange: (rates: RateTexts) => void;
}

export function RateFields({ rates, errorOf, onChange }: RateFieldsProps) {
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
      <div className={GRID}>{RATES.map(field)}</div>
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
