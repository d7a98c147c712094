/** Renders the fields of caps, and the limits that apply in addition to those that the reader can change. */
import type { ApiError } from '../lib/api.ts';
import { SelectField, TextField } from '../ui/field.tsx';
import { type BudgetWindow, type CapsDraft, WINDOWS } from './caps-draft.ts';
import { type Layered, otherLayerText } from './caps-text.ts';
import { type Faults, faultOf } from './read.ts';

interface CapsFieldsProps {
  readonly draft: CapsDraft;
  readonly faults: Faults;
  readonly error: ApiError | null;
  readonly onChange: (draft: CapsDraft) => void;
}

export function CapsFields({ draft, faults, error, onChange }: CapsFieldsProps) {
  const number = { inputMode: 'numeric', placeholder: 'No limit', autoComplete: 'off' } as const;
  return (
    <div className="grid grid-cols-1 gap-3 xs:grid-cols-2 sm:grid-cols-3">
      <TextField
        label="Requests/min"
        {...number}
        value={draft.rpm}
        error={faultOf(faults, error, 'caps.rpm')}
        onChange={({ target }) => onChange({ ...draft, rpm: target.value })}
      />
      <TextField
        label="Tokens/min"
        {...number}
        value={draft.tpm}
        error={faultOf(faults, error, 'caps.tpm')}
        onChange={({ target }) => onChange({ ...draft, tpm: target.value })}
      />
      <TextField
        label="Concurrent requests"
        {...number}
        value={draft.concurrency}
        error={faultOf(faults, error, 'caps.concurrency')}
        onChange={({ target }) => onChange({ ...draft, concurrency: target.value })}
      />
      <TextField
        label="Budget (USD)"
        className="sm:col-span-2"
        inputMode="decimal"
        autoComplete="off"
        placeholder="No budget"
        value={draft.budget}
        error={faultOf(faults, error, 'caps.budget_usd')}
        onChange={({ target }) => onChange({ ...draft, budget: target.value })}
      />
      <SelectField
        label="Budget period"
        value={draft.window}
        disabled={draft.budget.trim() === ''}
        error={faultOf(faults, error, 'caps.budget_window')}
        onChange={({ target }) => onChange({ ...draft, window: target.value as BudgetWindow })}
      >
        {WINDOWS.map(([window, words]) => (
          <option key={window} value={window}>
            {words}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

export function OtherLimits({ layered }: { readonly layered: Layered }) {
  const words = otherLayerText(layered);
  if (words === null) return null;
  return (
    <p className="rounded-md border border-line bg-sunken px-3 py-2 text-sm text-ink-2">
      {words}. The lower limit applies.
      {layered.layer === 'account' && ' Only the gateway operator can change the operator’s limits.'}
    </p>
  );
}
