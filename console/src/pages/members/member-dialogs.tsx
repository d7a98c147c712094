/** Changes the role and workspaces of a member. */

import { useState } from 'react';
import { changesOf, isEmpty } from '../../lib/changes-of.ts';
import { sentenceCase } from '../../lib/format.ts';
import { useAct } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { memberError } from '../../ui/error-note.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { givenRights, type Rights, RightsFields, rightsFault } from './role-fields.tsx';
import type { Member } from './roles.ts';

interface ChangeDialogProps {
  readonly account: CurrentAccount;
  readonly member: Member;
  readonly onClose: () => void;
}

export function ChangeDialog({ account, member, onClose }: ChangeDialogProps) {
  // A snapshot: others may change the rights while this form is open.
  const [opened] = useState<Rights>({ role: member.role, workspaces: member.workspaces });
  const [rights, setRights] = useState(opened);
  const [fault, setFault] = useState<string | null>(null);
  const change = useAct('PATCH /accounts/{account}/members/{person}', [
    'GET /accounts/{account}/members',
    'GET /session',
  ]);

  function submit(): void {
    const found = rightsFault(rights);
    setFault(found);
    if (found !== null) return;
    const body = changesOf(opened, givenRights(rights));
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
      act="Save changes"
      busy={change.isPending}
      error={change.error}
      members={['workspaces']}
      onSubmit={submit}
      onClose={onClose}
    >
      <RightsFields
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
