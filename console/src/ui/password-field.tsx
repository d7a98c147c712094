/** Renders a password field: hidden by default, with a button that shows the password. */
import { Eye, EyeOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { IconButton } from './button.tsx';
import { CONTROL, Field } from './field.tsx';

interface PasswordFieldProps {
  readonly label: string;
  readonly value: string;
  /** `new-password` lets the browser suggest a strong one. */
  readonly autoComplete: 'current-password' | 'new-password';
  readonly hint?: ReactNode;
  readonly error: string | null;
  readonly onValue: (value: string) => void;
}

export function PasswordField({ label, value, autoComplete, hint, error, onValue }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <div className="relative">
          <input
            type={shown ? 'text' : 'password'}
            autoComplete={autoComplete}
            autoCapitalize="none"
            spellCheck={false}
            required
            value={value}
            onChange={(event) => onValue(event.target.value)}
            className={`${CONTROL} pr-9`}
            {...ids}
          />
          <IconButton
            label={shown ? 'Hide password' : 'Show password'}
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
            className="absolute top-0.5 right-0.5 size-7"
          >
            {shown ? <EyeOff size={15} /> : <Eye size={15} />}
          </IconButton>
        </div>
      )}
    </Field>
  );
}
