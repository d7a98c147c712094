/** Renders the table of pending invitations. */

import { useState } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { WorkspaceNames } from './member-table.tsx';
import type { Invitation } from './roles.ts';

interface InvitationTableProps {
  readonly account: CurrentAccount;
  readonly invitations: readonly Invitation[];
}

export function InvitationTable({ account, invitations }: InvitationTableProps) {
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const columns: readonly Column<Invitation>[] = [
    { id: 'email', head: 'Email', cell: ({ email }) => email, sortBy: ({ email }) => email },
    {
      id: 'role',
      head: 'Role',
      cell: ({ role }) => <Badge>{sentenceCase(role)}</Badge>,
      sortBy: ({ role }) => role,
      width: 110,
    },
    {
      id: 'workspaces',
      head: 'Workspaces',
      cell: ({ workspaces }) => <WorkspaceNames of={workspaces} />,
      wideOnly: true,
    },
    { id: 'by', head: 'Invited by', cell: ({ invited_by }) => invited_by, wideOnly: true },
    {
      id: 'expires',
      head: 'Expires',
      cell: ({ expires_at }) => <When at={expires_at} />,
      sortBy: ({ expires_at }) => expires_at,
      width: 120,
      wideOnly: true,
    },
    ...(account.may('members.write')
      ? [
          {
            id: 'actions',
            head: '',
            width: 104,
            pinned: true,
            cell: (invitation: Invitation) =>
              !invitation.elsewhere && (
                <Button
                  kind="quiet"
                  className="h-6 px-2"
                  aria-label={`Revoke invitation of ${invitation.email}`}
                  onClick={() => setWithdrawn(invitation)}
                >
                  Revoke
                </Button>
              ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Table label="Invitations" columns={columns} rows={invitations} rowKey={({ id }) => id} />
      {withdrawn !== null && (
        <Withdraw account={account.account} invitation={withdrawn} onClose={() => setWithdrawn(null)} />
      )}
    </>
  );
}

interface WithdrawProps {
  readonly account: string;
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

function Withdraw({ account, invitation, onClose }: WithdrawProps) {
  const withdraw = useAction('DELETE /accounts/{account}/invitations/{invitation}', [
    'GET /accounts/{account}/members',
  ]);
  const onSuccess = () => {
    toast({ text: `Revoked the invitation of ${invitation.email}.` });
    onClose();
  };
  return (
    <Confirm
      title="Revoke invitation?"
      submitLabel="Revoke invitation"
      busy={withdraw.isPending}
      error={withdraw.error}
      onAction={() => withdraw.mutate({ path: { account, invitation: invitation.id } }, { onSuccess })}
      onClose={onClose}
    >
      <p>
        The link for <strong>{invitation.email}</strong> stops working immediately. You can invite them again.
      </p>
    </Confirm>
  );
}
