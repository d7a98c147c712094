/** Lists the user's sessions, and ends others. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAction } from '../../lib/queries.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { clientName } from './client-name.ts';

type Session = Reply<'GET /me'>['sessions'][number];

export function SessionPanel({ sessions }: { readonly sessions: readonly Session[] }) {
  const end = useAction('DELETE /me/sessions/{session}', ['GET /me']);
  const columns: readonly Column<Session>[] = [
    {
      id: 'client',
      head: 'Browser',
      cell: (session) => <span title={session.client ?? undefined}>{clientName(session.client)}</span>,
    },
    { id: 'address', head: 'IP address', cell: ({ address }) => <code>{address ?? 'Unknown'}</code>, wideOnly: true },
    { id: 'seen', head: 'Last seen', cell: ({ seen_at }) => <When at={seen_at} />, width: 90 },
    { id: 'expires', head: 'Expires', cell: ({ expires_at }) => <When at={expires_at} />, width: 120, wideOnly: true },
    {
      id: 'actions',
      head: '',
      width: 96,
      cell: (session) =>
        session.this ? (
          <Badge tone="accent">Current</Badge>
        ) : (
          <Button
            kind="quiet"
            className="h-6 px-2"
            aria-label={`Sign out ${clientName(session.client)}`}
            busy={end.isPending && end.variables.path.session === session.id}
            onClick={() =>
              end.mutate(
                { path: { session: session.id } },
                { onSuccess: () => toast({ text: 'Signed out the session.' }) },
              )
            }
          >
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <Section title="Sessions">
      {end.error !== null && <ErrorNote error={end.error} />}
      <Table label="Sessions" columns={columns} rows={sessions} rowKey={({ id }) => id} />
      <p className="text-sm text-ink-3">If you don’t recognize a session, sign it out and change your password.</p>
    </Section>
  );
}
