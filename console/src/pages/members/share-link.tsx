/** Shows an access link once, to copy it, and names its recipient. */
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface ShareLinkProps {
  readonly link: string;
  /** Its recipient. */
  readonly email: string;
  /** The result of sending it by email; null: it was not sent. */
  readonly sent: { readonly ok: boolean; readonly problem: string | null } | null;
  readonly onClose: () => void;
  /** The person that the link admits, and how long it is valid. */
  readonly children: ReactNode;
}

export function ShareLink({ link, email, sent, onClose, children }: ShareLinkProps) {
  return (
    <Dialog
      title={sent?.ok ? `Sent to ${email}` : 'Share this link'}
      closable={false}
      onClose={onClose}
      footer={
        <>
          <CopyButton text={link} what="link" />
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        {sent?.ok === false && (
          <p role="alert" className="break-words text-red">
            The email to {email} was not sent. {sent.problem}
          </p>
        )}
        <p>{children}</p>
        <CodeBlock text={link} what="link" wraps />
        <p className="text-base text-ink-2">
          Anyone with the link can use it. {sent?.ok ? 'The email contains it too.' : 'Share it privately.'}
        </p>
      </div>
    </Dialog>
  );
}
