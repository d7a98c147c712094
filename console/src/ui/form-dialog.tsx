/** Renders a dialog that is one form: its fields, with cancel and submit buttons in the footer. */
import { type ComponentProps, useId } from 'react';
import { Button, type ButtonKind } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

interface FormDialogProps
  extends Pick<ComponentProps<typeof Form>, 'label' | 'error' | 'members' | 'onSubmit' | 'children'> {
  readonly title: string;
  readonly lead?: string;
  /** Label of the submit button. */
  readonly act: string;
  readonly kind?: ButtonKind;
  readonly busy: boolean;
  readonly onClose: () => void;
}

export function FormDialog({ title, lead, act, kind = 'primary', busy, onClose, ...form }: FormDialogProps) {
  const id = useId();
  return (
    <Dialog
      title={title}
      lead={lead}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} kind={kind} busy={busy}>
            {act}
          </Button>
        </>
      }
    >
      <Form id={id} {...form} />
    </Dialog>
  );
}
