/** Renders a choice of a few options, all visible. */
import { useId } from 'react';
import { classNames } from './class-names.ts';

interface SegmentedProps<Value extends string> {
  /** Accessible name. */
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly (readonly [value: Value, word: string])[];
  readonly onChoose: (value: Value) => void;
}

/** Radio buttons in one row: the arrow keys move between them. */
export function Segmented<Value extends string>({ label, value, choices, onChoose }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <fieldset className="inline-flex h-8 w-fit items-center rounded-md border border-line-strong bg-panel p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map(([choice, word]) => (
        <label
          key={choice}
          className={classNames(
            'flex cursor-pointer items-center self-stretch rounded-sm px-2.5 transition-colors duration-120 has-focus-visible:outline-2 has-focus-visible:outline-accent',
            choice === value ? 'bg-accent-soft font-medium text-accent-strong' : 'text-ink-2 hover:text-ink',
          )}
        >
          <input
            type="radio"
            name={name}
            value={choice}
            checked={choice === value}
            onChange={() => onChoose(choice)}
            className="sr-only"
          />
          {word}
        </label>
      ))}
    </fieldset>
  );
}
