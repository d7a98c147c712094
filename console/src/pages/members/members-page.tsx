/** Renders the members page: members and invitations. */
import { useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, Section, SkeletonRows } from '../../ui/page.tsx';
import { InvitationTable } from './invitation-table.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberTable } from './member-table.tsx';

/** Fewer members are seen at once. */
const FILTERED_FROM = 10;

export default function MembersPage() {
  const account = useAccount();
  const session = useSession();
  const [inviting, setInviting] = useState(false);
  // The palette opens the addresses with `action=invite` and `q`.
  const [{ q = '', action }, setFilters] = useFilters();
  const people = useReply('GET /accounts/{account}/members', { path: { account: account.account } });
  const invite = account.may('members.write') ? (
    <Button kind="primary" onClick={() => setInviting(true)}>
      Invite member
    </Button>
  ) : undefined;
  const count = people.data?.members.length;
  const shown = people.data?.members.filter((one) =>
    `${one.name}\n${one.email}`.toLowerCase().includes(q.toLowerCase()),
  );
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
      filters={
        (q !== '' || (count ?? 0) >= FILTERED_FROM) && (
          <input
            type="search"
            data-filter
            aria-label="Search by name or email"
            placeholder="Name or email"
            className={`${CONTROL} sm:w-64`}
            value={q}
            onChange={({ target }) => setFilters({ q: target.value })}
          />
        )
      }
    >
      {people.error !== null && <ErrorNote error={people.error} onRetry={() => void people.refetch()} />}
      {people.data === undefined && people.error === null && <SkeletonRows rows={4} />}
      {people.data !== undefined && (
        <>
          {shown !== undefined && shown.length > 0 && (
            <MemberTable
              account={account}
              members={people.data.members}
              shown={shown}
              sendsEmail={people.data.sends_email}
              self={session.data?.person?.id ?? null}
            />
          )}
          {shown?.length === 0 && count !== 0 && (
            <Empty
              title="No matching members"
              action={<Button onClick={() => setFilters({ q: undefined })}>Clear filters</Button>}
            >
              No name or email contains “{q}”.
            </Empty>
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
      {(inviting || (action === 'invite' && account.may('members.write'))) && (
        <InviteDialog
          account={account}
          sendsEmail={people.data?.sends_email ?? false}
          onClose={() => {
            setInviting(false);
            if (action !== undefined) setFilters({ action: undefined });
          }}
        />
      )}
    </Page>
  );
}
