/** Renders the members page: members and invitations. */
import { useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
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
      Invite somebody
    </Button>
  ) : undefined;
  const count = people.data?.members.length;
  const isAlone = count === 1 && people.data?.invitations.length === 0;
  const isNobody = count === 0 && people.data?.invitations.length === 0;
  return (
    <Page
      title="Members"
      lead={`Who may open ${account.workspaces?.join(' or ') ?? account.account}, and what each may do. Programs need no membership: they call with a key.`}
      action={
        <>
          {people.data !== undefined && !isNobody && (
            <TableDownload
              name={`tollgate-members-${account.account}`}
              rows={people.data.members}
              columns={() => import('./member-csv.ts')}
            />
          )}
          {!isAlone && !isNobody && invite}
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
            <Section title="Invited, not here yet">
              <InvitationTable account={account} invitations={people.data.invitations} />
            </Section>
          )}
          {isNobody && (
            <Empty title="Nobody is a member yet" action={invite}>
              Whoever runs the installation can open this account all the same. Invite those who are to run it; they
              invite the others.
            </Empty>
          )}
          {isAlone && (
            <Empty title="You are alone here" action={invite}>
              Invite a colleague as admin, so that the account can be run when you are away, or as developer, so that
              they make keys of their own instead of sharing yours.
            </Empty>
          )}
        </>
      )}
      {inviting && <InviteDialog account={account} onClose={() => setInviting(false)} />}
    </Page>
  );
}
