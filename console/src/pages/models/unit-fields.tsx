/** Asks for the prices per unit of a model: images, seconds, characters, searches. */
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Fold, TextField } from '../../ui/field.tsx';
import { addKind, type UnitTexts, unitLabel } from './unit-prices.ts';

interface UnitFieldsProps {
  readonly units: UnitTexts;
  readonly errorOf: (name: string) => string | null;
  readonly onChange: (units: UnitTexts) => void;
  readonly className: string;
}

export function UnitFields({ units, errorOf, onChange, className }: UnitFieldsProps) {
  const [kind, setKind] = useState('');
  const added = addKind(units, kind);
  return (
    <Fold
      title="Units (USD each)"
      opens={Object.values(units).some((text) => text !== '')}
      mustShow={Object.keys(units).some((name) => errorOf(name) !== null)}
    >
      <div className="flex flex-col gap-3">
        <div className={className}>
          {Object.entries(units).map(([name, text]) => (
            <TextField
              key={name}
              label={unitLabel(name)}
              inputMode="decimal"
              placeholder="No price"
              value={text}
              error={errorOf(name)}
              onChange={(event) => onChange({ ...units, [name]: event.target.value })}
            />
          ))}
        </div>
        <div className="flex items-start gap-3">
          <TextField
            label="Image size and quality"
            placeholder="1024x1024/high"
            hint="As the answer states them, for a price of its own."
            value={kind}
            className="flex-1"
            onChange={(event) => setKind(event.target.value)}
          />
          <Button
            className="self-start sm:mt-6"
            disabled={added === null}
            onClick={() => {
              if (added !== null) onChange(added);
              setKind('');
            }}
          >
            Add image price
          </Button>
        </div>
      </div>
    </Fold>
  );
}
