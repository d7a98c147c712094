/**
 * Renders forms and dialogs that are one form: Enter submits, the first field gets the focus, an error focuses its
 * field.
 */
import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from 'react';
import type { ApiError } from '../lib/api.ts';
import { Button, type ButtonKind } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote, isPlaced } from './error-note.tsx';

/** Excludes read-only fields, and choices that are not chosen: a space would choose one. */
const FILLABLE = 'input:not([readonly], [type="radio"]:not(:checked)), select, textarea';

interface FormProps {
  /** Associates the form with a button outside of it, such as in a dialog's footer. */
  readonly id?: string;
  readonly label: string;
  readonly error: ApiError | null;
  /** Members that have their own field, which shows their error. */
  readonly members: readonly string[];
  readonly onSubmit: () => void;
  /** False when something else on the page should be read first. */
  readonly takesFocus?: boolean;
  readonly children: ReactNode;
  /** Rendered below the error: the buttons. */
  readonly foot?: ReactNode;
}

export function Form({ id, label, error, members, onSubmit, takesFocus = true, children, foot }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const first = takesFocus ? ref.current?.querySelector<HTMLElement>(FILLABLE) : null;
    // A dialog opens after its content is mounted, and focuses the element with this attribute.
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
        // For the form's own errors; errors of the API are focused when they arrive.
        requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      }}
    >
      {children}
      {error !== null && !isPlaced(error, members) && <ErrorNote error={error} />}
      {foot}
    </form>
  );
}

interface FormDialogProps
  extends Pick<ComponentProps<typeof Form>, 'label' | 'error' | 'members' | 'onSubmit' | 'children'> {
  readonly title: string;
  readonly lead?: string;
  readonly wide?: boolean;
  /** Label of the submit button. */
  readonly submitLabel: string;
  readonly kind?: ButtonKind;
  readonly busy: boolean;
  /** In the footer, before the buttons to cancel and to submit. */
  readonly extra?: ReactNode;
  readonly onClose: () => void;
}

export function FormDialog({
  title,
  lead,
  wide = false,
  submitLabel,
  kind = 'primary',
  busy,
  extra,
  onClose,
  ...form
}: FormDialogProps) {
  const id = useId();
  return (
    <Dialog
      title={title}
      lead={lead}
      wide={wide}
      busy={busy}
      onClose={onClose}
      footer={
        <>
          {extra}
          <Button disabled={busy} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" form={id} kind={kind} busy={busy}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <Form id={id} {...form} />
    </Dialog>
  );
}
