/** Owns changing what a member may do. */
import { useId, useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { Form } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { givenRights, type Rights, RightsFields, rightsFault } from './rights-fields.tsx';
import type { Member } from './role-words.ts';

interface ChangeDialogProps {
  readonly account: CurrentAccount;
  readonly member: Member;
  readonly onClose: () => void;
}

export function ChangeDialog({ account, member, onClose }: ChangeDialogProps) {
  const form = useId();
  const [rights, setRights] = useState<Rights>({ role: member.role, workspaces: member.workspaces });
  const [fault, setFault] = useState<string | null>(null);
  const change = useAct('PATCH /accounts/{account}/members/{person}', [
    'GET /accounts/{account}/members',
    'GET /session',
  ]);

  function submit(): void {
    const found = rightsFault(rights);
    setFault(found);
    if (found !== null) return;
    change.mutate(
      { path: { account: account.account, person: member.person }, body: givenRights(rights) },
      {
        onSuccess: ({ name, role }) => {
          toast({ text: `${name} is ${role} of ${account.account} now.` });
          onClose();
        },
      },
    );
  }

  return (
    <Dialog
      title={member.name}
      lead={member.email}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={change.isPending}>
            Save the rights
          </Button>
        </>
      }
    >
      <Form
        id={form}
        label={`Rights of ${member.name}`}
        error={change.error}
        members={['workspaces']}
        onSubmit={submit}
      >
        <RightsFields
          account={account}
          rights={rights}
          workspacesError={fault ?? memberError(change.error, 'workspaces')}
          onRights={setRights}
        />
        <p className="text-ink-2">
          It binds within two seconds. Keys that {member.name} made never may more than {member.name}: where a workspace
          is taken away, they stop there.
        </p>
      </Form>
    </Dialog>
  );
}
