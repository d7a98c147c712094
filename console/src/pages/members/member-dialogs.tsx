/** Changes the role and workspaces of a member, and creates password reset links. */
import { useState } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { changesOf, isEmpty } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { CheckField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { RoleFields, type RoleGrant, roleBody, workspacesFault } from './role-fields.tsx';
import type { Member } from './roles.ts';
import { ShareLink } from './share-link.tsx';

interface ChangeDialogProps {
  readonly account: CurrentAccount;
  readonly member: Member;
  readonly onClose: () => void;
}

export function ChangeRoleDialog({ account, member, onClose }: ChangeDialogProps) {
  // A snapshot: others may change the rights while this form is open.
  const [opened] = useState<RoleGrant>({ role: member.role, workspaces: member.workspaces });
  const [rights, setRights] = useState(opened);
  const [fault, setFault] = useState<string | null>(null);
  const change = useAction('PATCH /accounts/{account}/members/{person}', [
    'GET /accounts/{account}/members',
    'GET /session',
  ]);

  function submit(): void {
    const found = workspacesFault(rights);
    setFault(found);
    if (found !== null) return;
    const body = changesOf(opened, roleBody(rights));
    if (isEmpty(body)) {
      onClose();
      return;
    }
    change.mutate(
      { path: { account: account.account, person: member.person }, body },
      {
        onSuccess: ({ name, role }) => {
          toast({ text: `Saved. ${name} is now ${sentenceCase(role)} in ${account.name}.` });
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={`Change role of ${member.name}`}
      lead={member.email}
      label="Role"
      submitLabel="Save changes"
      busy={change.isPending}
      error={change.error}
      members={['workspaces']}
      onSubmit={submit}
      onClose={onClose}
    >
      <RoleFields
        account={account}
        rights={rights}
        workspacesError={fault ?? memberError(change.error, 'workspaces')}
        onRights={setRights}
      />
      <p className="text-ink-2">
        Applies within two seconds. API keys that {member.name} created lose access to the same workspaces.
      </p>
    </FormDialog>
  );
}

interface ResetDialogProps {
  readonly account: string;
  readonly member: Member;
  /** Whether a mail server is configured. */
  readonly sendsEmail: boolean;
  readonly onClose: () => void;
}

export function ResetDialog({ account, member, sendsEmail, onClose }: ResetDialogProps) {
  const [send, setSend] = useState(true);
  const make = useAction('POST /accounts/{account}/members/{person}/reset-link');
  const { name, email, person } = member;
  if (make.data !== undefined) {
    return (
      <ShareLink link={make.data.link} email={email} sent={make.data.sent} onClose={onClose}>
        The link lets <span className="font-medium">{email}</span> set a new password once within an hour. It won’t be
        shown again.
      </ShareLink>
    );
  }
  return (
    <Dialog
      title={`Create password reset link for ${name}`}
      busy={make.isPending}
      onClose={onClose}
      footer={
        <>
          <Button disabled={make.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button
            kind="primary"
            busy={make.isPending}
            onClick={() => make.mutate({ path: { account, person }, body: { send } })}
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
        {sendsEmail && (
          <CheckField
            label={`Send the link to ${email}`}
            checked={send}
            onChange={({ target }) => setSend(target.checked)}
          />
        )}
        {make.error !== null && <ErrorNote error={make.error} />}
      </div>
    </Dialog>
  );
}
