/** Creates a password reset link for a member and shows it once. */
import { useAct } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { Member } from './roles.ts';
import { ShareLink } from './share-link.tsx';

interface ResetDialogProps {
  readonly account: string;
  readonly member: Member;
  readonly onClose: () => void;
}

export function ResetDialog({ account, member, onClose }: ResetDialogProps) {
  const make = useAct('POST /accounts/{account}/members/{person}/reset-link');
  const { name, email, person } = member;
  if (make.data !== undefined) {
    return (
      <ShareLink link={make.data.link} onClose={onClose}>
        The link lets <span className="font-medium">{email}</span> set a new password once within an hour. It won’t be
        shown again.
      </ShareLink>
    );
  }
  return (
    <Dialog
      title={`Create password reset link for ${name}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={make.isPending}
            onClick={() => make.mutate({ path: { account, person }, body: {} })}
          >
            Create link
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <p>
          You get a link to share. When {name} uses it, all their sessions are signed out and their passkeys are
          removed. Two-factor authentication and linked services stay.
        </p>
        {make.error !== null && <ErrorNote error={make.error} />}
      </div>
    </Dialog>
  );
}
