/** Renders form fields: label, control, hint and error. */
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useRef,
} from 'react';
import { classNames } from './class-names.ts';
import { useShownError } from './use-shown-error.ts';

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
