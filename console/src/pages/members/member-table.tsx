/** Renders the table of members and the acts on each. */

import { Lock } from 'lucide-react';
import { useState } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { MenuItem, MenuLabel } from '../../ui/menu.tsx';
import { RowMenu } from '../../ui/table/row-menu.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ChangeRoleDialog, ResetDialog } from './member-dialogs.tsx';
import { lockOf, type Member, mayReset, ROLES } from './roles.ts';

interface MemberTableProps {
  readonly account: CurrentAccount;
  /** All of the account, which decide who is its last owner. */
  readonly members: readonly Member[];
  /** Those in the table. */
  readonly shown: readonly Member[];
  /** Whether a mail server is configured. */
  readonly sendsEmail: boolean;
  /** The signed-in person's id. */
  readonly self: string | null;
}

export function MemberTable({ account, members, shown, sendsEmail, self }: MemberTableProps) {
  const [changed, setChanged] = useState<Member | null>(null);
  const [removed, setRemoved] = useState<Member | null>(null);
  const [reset, setReset] = useState<Member | null>(null);
  const columns: readonly Column<Member>[] = [
    {
      id: 'name',
      head: 'Name',
      cell: (member) => (
        <>
          <span className="font-medium">{member.name}</span>
          {member.person === self && <span className="text-ink-3"> (you)</span>}
        </>
      ),
      sortBy: ({ name }) => name,
    },
    {
      id: 'email',
      head: 'Email',
      cell: ({ email, email_verified }) => (
        <>
          {email} {!email_verified && <Badge>Not verified</Badge>}
        </>
      ),
      sortBy: ({ email }) => email,
      wideOnly: true,
    },
    {
      id: 'role',
      head: 'Role',
      cell: ({ role }) => <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{sentenceCase(role)}</Badge>,
      sortBy: ({ role }) => ROLES.indexOf(role),
      width: 110,
    },
    {
      id: 'workspaces',
      head: 'Workspaces',
      cell: ({ workspaces }) => <WorkspaceNames of={workspaces} />,
      wideOnly: true,
    },
    {
      id: 'second',
      head: '2FA',
      cell: ({ second_factor }) => (second_factor ? 'On' : <span className="text-ink-3">Off</span>),
      sortBy: ({ second_factor }) => Number(second_factor),
      width: 130,
      wideOnly: true,
    },
    {
      id: 'joined',
      head: 'Joined',
      cell: ({ joined_at }) => <When at={joined_at} />,
      sortBy: ({ joined_at }) => joined_at,
      width: 130,
      wideOnly: true,
    },
    {
      id: 'seen',
      head: 'Last seen',
      cell: ({ seen_at }) => <When at={seen_at} />,
      sortBy: ({ seen_at }) => seen_at ?? '',
      width: 120,
      wideOnly: true,
    },
    ...(account.may('members.write')
      ? [
          {
            id: 'actions',
            head: '',
            width: 48,
            pinned: true,
            cell: (member: Member) => (
              <MemberMenu
                member={member}
                lock={lockOf(member, members, account.may)}
                onChange={() => setChanged(member)}
                {...(mayReset(member, self, account.may) ? { onReset: () => setReset(member) } : {})}
                onRemove={() => setRemoved(member)}
              />
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Table label="Members" columns={columns} rows={shown} rowKey={({ person }) => person} />
      {changed !== null && <ChangeRoleDialog account={account} member={changed} onClose={() => setChanged(null)} />}
      {reset !== null && (
        <ResetDialog account={account.account} member={reset} sendsEmail={sendsEmail} onClose={() => setReset(null)} />
      )}
      {removed !== null && (
        <RemoveMember
          account={account.account}
          member={removed}
          isSelf={removed.person === self}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

export function WorkspaceNames({ of: names }: { readonly of: readonly string[] | null }) {
  if (names === null) return <span className="text-ink-3">All</span>;
  return <span title={names.join(', ')}>{names.join(', ')}</span>;
}

interface ActsProps {
  readonly member: Member;
  /** Why the member cannot be changed or removed; null: they can. */
  readonly lock: string | null;
  readonly onChange: () => void;
  /** Left out when a password reset is not offered. */
  readonly onReset?: () => void;
  readonly onRemove: () => void;
}

function MemberMenu({ member, lock, onChange, onReset, onRemove }: ActsProps) {
  if (lock !== null && onReset === undefined) {
    return (
      <IconButton
        label={`Why ${member.name} can’t be edited`}
        title={lock}
        className="size-6"
        onClick={() => toast({ text: lock })}
      >
        <Lock size={13} />
      </IconButton>
    );
  }
  return (
    <RowMenu name={member.name}>
      {lock === null && <MenuItem onSelect={onChange}>Change role…</MenuItem>}
      {onReset !== undefined && <MenuItem onSelect={onReset}>Create password reset link…</MenuItem>}
      {lock === null ? (
        <MenuItem danger onSelect={onRemove}>
          Remove from account…
        </MenuItem>
      ) : (
        <MenuLabel>{lock}</MenuLabel>
      )}
    </RowMenu>
  );
}

interface RemoveMemberProps {
  readonly account: string;
  readonly member: Member;
  readonly isSelf: boolean;
  readonly onClose: () => void;
}

function RemoveMember({ account, member, isSelf, onClose }: RemoveMemberProps) {
  const remove = useAction('DELETE /accounts/{account}/members/{person}', [
    'GET /accounts/{account}/members',
    'GET /session',
  ]);
  const onSuccess = () => {
    toast({ text: `Removed ${member.name} from ${account}.` });
    onClose();
  };
  return (
    <Confirm
      title={isSelf ? `Leave ${account}?` : `Remove ${member.name}?`}
      submitLabel={isSelf ? 'Leave account' : 'Remove member'}
      busy={remove.isPending}
      error={remove.error}
      onAction={() => remove.mutate({ path: { account, person: member.person } }, { onSuccess })}
      onClose={onClose}
    >
      <p>
        {isSelf ? 'You' : member.name} can no longer access the account <strong>{account}</strong>. API keys that{' '}
        {isSelf ? 'you' : member.name} created there stop working within two seconds; their requests fail with status
        401.
      </p>
      <p className="text-base text-ink-2">
        Logs, the ledger and the audit log are kept. Rejoining requires a new invitation.
      </p>
    </Confirm>
  );
}
