/** Renders form fields: label, control, hint and error; text, passwords, choices and collapsible parts. */

import { Eye, EyeOff } from 'lucide-react';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type RefObject,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';

/** Classes of every text control. */
export const CONTROL =
  'h-8 w-full min-w-0 rounded-md border border-control-line bg-panel px-2.5 text-ink placeholder:text-ink-3 disabled:opacity-60 aria-invalid:border-red';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error message, which says what is expected; null: no error. */
  readonly error?: string | null | undefined;
  /** For errors checked while typing: a change does not hide them, a valid value does. */
  readonly errorStays?: boolean;
  readonly className?: string;
  readonly children: (ids: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': true | undefined;
  }) => ReactNode;
}

/** Associates a label, a hint and an error with any control. */
export function Field({ label, hint, error: given = null, errorStays = false, className, children }: FieldProps) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const shown = useShownError(given, frame);
  const error = errorStays ? given : shown.error;
  const described = [hint ? `${id}-hint` : null, error === null ? null : `${id}-error`].filter((one) => one !== null);
  return (
    <div ref={frame} onChange={shown.noteChange} className={classNames('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error === null ? undefined : true,
      })}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-ink-3">
          {hint}
        </p>
      )}
      {error !== null && (
        <p id={`${id}-error`} className="text-sm text-red">
          {error}
        </p>
      )}
    </div>
  );
}

type Common = Omit<FieldProps, 'children'>;

export function TextField({
  label,
  hint,
  error,
  errorStays = false,
  className,
  ...rest
}: Common & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      errorStays={errorStays}
      {...(className === undefined ? {} : { className })}
    >
      {(ids) => <input className={CONTROL} {...rest} {...ids} />}
    </Field>
  );
}

export function TextAreaField({
  label,
  hint,
  error,
  errorStays = false,
  className,
  ...rest
}: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      errorStays={errorStays}
      {...(className === undefined ? {} : { className })}
    >
      {(ids) => <textarea className={classNames(CONTROL, 'h-auto min-h-20 resize-y py-1.5')} {...rest} {...ids} />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  className,
  children,
  ...rest
}: Common & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} error={error} {...(className === undefined ? {} : { className })}>
      {(ids) => (
        <select className={CONTROL} {...rest} {...ids}>
          {children}
        </select>
      )}
    </Field>
  );
}

interface CheckProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly hint?: ReactNode;
}

export function CheckField({ label, hint, className, ...rest }: CheckProps) {
  const id = useId();
  return (
    <div className={classNames('flex items-start gap-2', className)}>
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...rest}
      />
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} className="text-sm text-ink-3">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

export function useShownError(
  error: string | null,
  frame: RefObject<HTMLElement | null>,
): { readonly error: string | null; readonly noteChange: () => void } {
  const [known, setKnown] = useState(error);
  const [isCorrected, setCorrected] = useState(false);
  if (known !== error) {
    setKnown(error);
    setCorrected(false);
  }
  useEffect(() => {
    const form = frame.current?.closest('form');
    const onSubmit = () => setCorrected(false);
    form?.addEventListener('submit', onSubmit, true);
    return () => form?.removeEventListener('submit', onSubmit, true);
  }, [frame]);
  return {
    error: isCorrected ? null : error,
    noteChange: () => {
      if (error !== null) setCorrected(true);
    },
  };
}

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

interface FoldProps {
  readonly title: string;
  /** Whether it is initially open. */
  readonly opens: boolean;
  /** Forces it open, because something in it must be visible. */
  readonly mustShow?: boolean;
  readonly children: ReactNode;
}

export function Fold({ title, opens, mustShow = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opens);
  return (
    <details open={isOpen || mustShow} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit text-ink-2 hover:text-ink">{title}</summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}

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
            'flex h-6.5 cursor-pointer items-center rounded-sm px-2.5 transition-colors duration-120 has-focus-visible:outline-2 has-focus-visible:outline-accent',
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
