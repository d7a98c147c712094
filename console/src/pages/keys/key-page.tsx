/** Renders the page of one key: its usage, limits, recent errors and changes. */

import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { counted, sentenceCase } from '../../lib/format.ts';
import { sumNano } from '../../lib/money.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useNavigate, usePathNames } from '../../route/route.ts';
import { Money, When } from '../../ui/amounts.tsx';
import { Badge, CallStatus } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { actionName } from '../audit/audit-labels.ts';
import { DayBars } from './day-bars.tsx';
import { enableLock, type KeyAction, type KeyPage, mayChange, STATUS_TONE } from './key.ts';
import { DisabledNote, KeyFacts, KeyGauges, OwnerlessNote, RotationNote } from './key-facts.tsx';
import { KeyDialog, KeyMenu } from './key-menu.tsx';
import { ModelAccess } from './model-access.tsx';

const ERROR_COLUMNS: readonly Column<KeyPage['errors'][number]>[] = [
  { id: 'at', head: 'Time', width: 110, cell: ({ at }) => <When at={at} /> },
  {
    id: 'status',
    head: 'Status',
    width: 88,
    cell: ({ status, error }) => <CallStatus status={status} error={error} />,
  },
  {
    id: 'error',
    head: 'Error',
    cell: ({ error }) => <span title={error ?? undefined}>{sentenceCase(error ?? '')}</span>,
  },
  { id: 'model', head: 'Model', wideOnly: true, cell: ({ model }) => <code>{model ?? ''}</code> },
];

const AUDIT_COLUMNS: readonly Column<KeyPage['audit'][number]>[] = [
  { id: 'at', head: 'Time', width: 110, cell: ({ at }) => <When at={at} /> },
  { id: 'actor', head: 'Actor', cell: ({ actor }) => actor },
  { id: 'act', head: 'Action', cell: ({ act }) => actionName(act) },
];

export default function OneKeyPage() {
  const { key: id = '' } = usePathNames();
  const account = useAccount();
  const person = useSession().data?.person?.id ?? null;
  const navigate = useNavigate();
  const [action, setAction] = useState<KeyAction | null>(null);
  const { data, error, refetch } = useReply('GET /accounts/{account}/keys/{key}', {
    path: { account: account.account, key: id },
  });
  const list = useReply(
    'GET /accounts/{account}/keys',
    { path: { account: account.account } },
    { enabled: action !== null },
  );
  if (data === undefined) {
    return (
      <Page title="API key">
        {error === null ? (
          <>
            <SkeletonPanel heightPx={150} />
            <SkeletonPanel heightPx={200} />
          </>
        ) : (
          <ErrorNote error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  const { key } = data;
  const mayEdit = mayChange(key, account, person);
  return (
    <Page
      title={key.name}
      hasTimes
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <Link to="/app/keys" className="text-accent underline underline-offset-2">
            API keys
          </Link>
          <code>tg_…{key.last4}</code>
          <Badge tone={STATUS_TONE[key.status]}>{sentenceCase(key.status)}</Badge>
          <span className="text-ink-3">
            Created <When at={key.created_at} />
          </span>
        </span>
      }
      action={
        <>
          {mayEdit && key.status !== 'revoked' && (
            <>
              <Button onClick={() => setAction({ kind: 'edit', key })}>Edit</Button>
              <Button icon={<RotateCw size={14} />} onClick={() => setAction({ kind: 'rotate', key })}>
                Rotate
              </Button>
            </>
          )}
          <KeyMenu
            account={account.account}
            apiKey={key}
            mayCreate={account.may('keys.write')}
            mayChange={mayEdit}
            lock={enableLock(key, account, person)}
            onAction={setAction}
          />
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <DisabledNote apiKey={key} lock={mayEdit ? enableLock(key, account, person) : null} />
      <OwnerlessNote apiKey={key} />
      <RotationNote apiKey={key} />
      <KeyFacts apiKey={key} />
      <div className="grid grid-cols-1 items-start gap-x-6 gap-y-5 lg:grid-cols-[3fr_2fr]">
        <div className="flex min-w-0 flex-col gap-5">
          <Usage data={data} />
          {account.may('logs.read') && (
            <Section
              title="Recent errors"
              aside={
                <Link
                  to="/app/logs"
                  search={{ key: key.id, range: '30d' }}
                  className="text-accent underline underline-offset-2"
                >
                  View all requests
                </Link>
              }
            >
              {data.errors.length === 0 ? (
                <Panel className="px-4 py-3 text-ink-2">No failed requests.</Panel>
              ) : (
                <Table
                  label="Recent errors"
                  columns={ERROR_COLUMNS}
                  rows={data.errors}
                  rowKey={(one) => one.request_id}
                  onOpen={(one) => navigate({ to: '/app/logs/$request', names: { request: one.request_id } })}
                />
              )}
            </Section>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <KeyGauges account={account.account} apiKey={key.id} />
          <Section title="Model access">
            <ModelAccess account={account.account} apiKey={key.id} />
          </Section>
          <Section title="Changes">
            {data.audit.length === 0 ? (
              <Panel className="px-4 py-3 text-ink-2">No changes yet.</Panel>
            ) : (
              <Table
                label="Changes"
                columns={AUDIT_COLUMNS}
                rows={data.audit}
                rowKey={(one) => `${one.at} ${one.act} ${one.actor}`}
              />
            )}
          </Section>
        </div>
      </div>
      <KeyDialog
        account={account.account}
        workspaces={list.data?.workspaces ?? [key.workspace]}
        action={action}
        onAction={setAction}
      />
    </Page>
  );
}

function Usage({ data }: { readonly data: KeyPage }) {
  const requests = data.days.reduce((sum, day) => sum + day.requests, 0);
  const cost = sumNano(data.days.map((day) => day.cost_nano_usd));
  return (
    <Section
      title={`Last ${data.days.length} days`}
      aside={
        <span className="figures text-ink-2">
          <Money nanoUsd={cost} /> · {counted(requests, 'request')}
        </span>
      }
    >
      <Panel>
        {requests === 0 ? (
          <p className="p-4 text-ink-2">
            {data.key.last_used === null
              ? 'This key hasn’t been used yet. If its secret was lost, rotate the key.'
              : `No requests in the last ${data.days.length} days.`}
          </p>
        ) : (
          <DayBars days={data.days} apiKey={data.key.id} />
        )}
      </Panel>
    </Section>
  );
}
