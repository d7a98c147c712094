/** Shows an access link once, to copy it, and names its recipient. */
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface ShareLinkProps {
  readonly link: string;
  readonly onClose: () => void;
  /** The person that the link admits, and how long it is valid. */
  readonly children: ReactNode;
}

export function ShareLink({ link, onClose, children }: ShareLinkProps) {
  return (
    <Dialog
      title="Share this link"
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
        <p>{children}</p>
        <CodeBlock text={link} what="link" wraps />
        <p className="text-base text-ink-2">Anyone with the link can use it. Share it privately.</p>
      </div>
    </Dialog>
  );
}
