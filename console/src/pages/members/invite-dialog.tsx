/** Invites a member: recipient, rights, and the link, which is shown once. */
import { useId, useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { type Faults, faultOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { RoleFields, type RoleGrant, roleBody, workspacesFault } from './role-fields.tsx';
import { ShareLink } from './share-link.tsx';

interface InviteDialogProps {
  readonly account: CurrentAccount;
  /** Whether a mail server is configured. */
  readonly sendsEmail: boolean;
  readonly onClose: () => void;
}

export function InviteDialog({ account, sendsEmail, onClose }: InviteDialogProps) {
  const form = useId();
  const [email, setEmail] = useState('');
  const [rights, setRights] = useState<RoleGrant>({ role: 'developer', workspaces: account.workspaces });
  const [send, setSend] = useState(true);
  const [faults, setFaults] = useState<Faults>({});
  const invite = useAction('POST /accounts/{account}/invitations', ['GET /accounts/{account}/members']);

  function submit(): void {
    const found = inviteFaults(email, rights);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    invite.mutate({ path: { account: account.account }, body: { email: email.trim(), ...roleBody(rights), send } });
  }

  if (invite.data !== undefined) {
    return (
      <ShareLink link={invite.data.link} email={invite.data.invitation.email} sent={invite.data.sent} onClose={onClose}>
        The link lets <span className="font-medium">{invite.data.invitation.email}</span> join once within seven days.
        It won’t be shown again.
      </ShareLink>
    );
  }
  return (
    <Dialog
      title="Invite member"
      lead={`Account: ${account.name}`}
      busy={invite.isPending}
      onClose={onClose}
      footer={
        <>
          <Button disabled={invite.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" form={form} kind="primary" busy={invite.isPending}>
            Create invitation
          </Button>
        </>
      }
    >
      <Form id={form} label="Invitation" error={invite.error} members={['email', 'workspaces']} onSubmit={submit}>
        <TextField
          label="Email"
          type="email"
          hint={sendsEmail ? 'Used to sign in.' : 'Used to sign in. No email is sent; you get a link to share.'}
          autoComplete="off"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={faultOf(faults, invite.error, 'email')}
        />
        {sendsEmail && (
          <CheckField
            label="Send the link by email"
            hint="You get the link too."
            checked={send}
            onChange={({ target }) => setSend(target.checked)}
          />
        )}
        <RoleFields
          account={account}
          rights={rights}
          workspacesError={faultOf(faults, invite.error, 'workspaces')}
          onRights={setRights}
        />
      </Form>
    </Dialog>
  );
}

/** All faults at once, by the API's member names. */
function inviteFaults(email: string, rights: RoleGrant): Faults {
  const workspaces = workspacesFault(rights);
  return {
    ...(/\S@\S/.test(email) ? {} : { email: 'Enter an email address, such as ada@example.com.' }),
    ...(workspaces === null ? {} : { workspaces }),
  };
}
