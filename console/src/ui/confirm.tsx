/** Asks for confirmation of a dangerous act, naming its consequence. The button names the act. */
import type { ReactNode } from 'react';
import type { ApiError } from '../lib/api.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

interface ConfirmProps {
  readonly title: string;
  /** Describes the consequence. */
  readonly children: ReactNode;
  /** For example "Revoke now". */
  readonly act: string;
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly onAct: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, act, busy, error, onAct, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" busy={busy} onClick={onAct}>
            {act}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        {children}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
