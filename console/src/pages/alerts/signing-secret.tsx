/** Shows the secret that signs what an alert or a guardrail sends, once. */
import { Button } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

export function SigningSecret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog
      title="Signing secret"
      closable={false}
      onClose={onClose}
      footer={
        <>
          <CopyButton text={secret} what="secret" />
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <p>Your service verifies with this secret that a message is from this gateway. It won’t be shown again.</p>
        <CodeBlock text={secret} what="secret" wraps />
      </div>
    </Dialog>
  );
}
