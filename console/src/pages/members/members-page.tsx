/** Renders the members page: members and invitations. */
import { useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, Section, SkeletonRows } from '../../ui/page.tsx';
import { InvitationTable } from './invitation-table.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberTable } from './member-table.tsx';

export default function MembersPage() {
  const account = useAccount();
  const session = useSession();
  const [inviting, setInviting] = useState(false);
  const people = useReply('GET /accounts/{account}/members', { path: { account: account.account } });
  const invite = account.may('members.write') ? (
    <Button kind="primary" onClick={() => setInviting(true)}>
      Invite member
    </Button>
  ) : undefined;
  const count = people.data?.members.length;
  const isAlone = count === 1 && people.data?.invitations.length === 0;
  const isWithoutMembers = count === 0 && people.data?.invitations.length === 0;
  return (
    <Page
      title="Members"
      lead={`Users with access to ${account.workspaces?.join(' or ') ?? account.name}, and their roles. Programs use API keys instead.`}
      action={
        <>
          {people.data !== undefined && !isWithoutMembers && (
            <TableDownload
              name={`tollgate-members-${account.account}`}
              rows={people.data.members}
              columns={() => import('./member-csv.ts')}
            />
          )}
          {!isAlone && !isWithoutMembers && invite}
        </>
      }
    >
      {people.error !== null && <ErrorNote error={people.error} onRetry={() => void people.refetch()} />}
      {people.data === undefined && people.error === null && <SkeletonRows rows={4} />}
      {people.data !== undefined && (
        <>
          {count !== 0 && (
            <MemberTable account={account} members={people.data.members} self={session.data?.person?.id ?? null} />
          )}
          {people.data.invitations.length > 0 && (
            <Section title="Pending invitations">
              <InvitationTable account={account} invitations={people.data.invitations} />
            </Section>
          )}
          {isWithoutMembers && (
            <Empty title="No members yet" action={invite}>
              Gateway operators can access this account without being members. Invite an owner, who can invite others.
            </Empty>
          )}
          {isAlone && (
            <Empty title="No other members yet" action={invite}>
              Invite an admin who can manage the account when you’re away, or developers who create their own API keys
              instead of sharing yours.
            </Empty>
          )}
        </>
      )}
      {inviting && <InviteDialog account={account} onClose={() => setInviting(false)} />}
    </Page>
  );
}
