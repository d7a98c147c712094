/** Owns what every form does: Enter sends it, the first field has the focus, a refusal leads to the field that it is about. */
import { type ReactNode, useEffect, useRef } from 'react';
import type { ApiError } from '../lib/api.ts';
import { ErrorNote, isPlaced } from './error-note.tsx';

/** Not a field that is only shown. */
const FILLABLE = 'input:not([readonly]), select, textarea';

interface FormProps {
  /** Joins it to a button that stands elsewhere, such as the foot of a dialog. */
  readonly id?: string;
  readonly label: string;
  readonly error: ApiError | null;
  /** The members that have a field of their own, which shows what is wrong with it. */
  readonly members: readonly string[];
  readonly onSubmit: () => void;
  /** False where something else on the page is meant to be read first. */
  readonly takesFocus?: boolean;
  readonly children: ReactNode;
  /** Below the refusal: the buttons. */
  readonly foot?: ReactNode;
}

export function Form({ id, label, error, members, onSubmit, takesFocus = true, children, foot }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const first = takesFocus ? ref.current?.querySelector<HTMLElement>(FILLABLE) : null;
    // A dialog is opened after what is in it was made, and gives the focus to what has this mark.
    first?.setAttribute('autofocus', '');
    first?.focus();
  }, [takesFocus]);
  useEffect(() => {
    if (error !== null) ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <form
      ref={ref}
      id={id}
      aria-label={label}
      noValidate
      className="flex min-w-0 flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
        // What the form found wrong itself; what the API refuses is focused when it comes.
        requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      }}
    >
      {children}
      {error !== null && !isPlaced(error, members) && <ErrorNote error={error} />}
      {foot}
    </form>
  );
}
