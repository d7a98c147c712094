/** Creates a password reset link for a member and shows it once. */
import { useAct } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { Member } from './role-words.ts';
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
        It lets <span className="font-medium">{email}</span> set a new password, once, within an hour. It is shown this
        once; a new link replaces it.
      </ShareLink>
    );
  }
  return (
    <Dialog
      title={`A new password for ${name}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={make.isPending}
            onClick={() => make.mutate({ path: { account, person }, body: {} })}
          >
            Create the link
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        <p>
          You get a link to hand over. Nothing changes until {name} uses it: then every session of theirs ends and their
          passkeys are removed. A second factor and linked services stay.
        </p>
        {make.error !== null && <ErrorNote error={make.error} />}
      </div>
    </Dialog>
  );
}
