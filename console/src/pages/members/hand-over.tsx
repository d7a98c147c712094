/** Owns the one moment at which a link is shown that lets somebody in: to copy it, and to say whom it is for. */
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface HandOverProps {
  readonly link: string;
  readonly onClose: () => void;
  /** Whom it lets in, and how long it works. */
  readonly children: ReactNode;
}

export function HandOver({ link, onClose, children }: HandOverProps) {
  return (
    <Dialog
      title="Hand over this link"
      closable={false}
      onClose={onClose}
      footer={
        <>
          <CopyButton text={link} what="link" />
          <Button kind="primary" onClick={onClose}>
            I have the link
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <p>{children}</p>
        <CodeBlock text={link} what="link" wraps />
        <p className="text-base text-ink-2">Whoever has the link can use it. Send it by a way that only they read.</p>
      </div>
    </Dialog>
  );
}
