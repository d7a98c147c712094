/**
 * Renders the settings page: the account's name and time zone, retention, and the configuration of the installation.
 */

import { type ReactNode, useMemo, useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { ExactTime } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { ComboboxField } from '../../ui/combobox-field.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page, Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { currentZoneName, findZones, zoneChoices } from './time-zones.ts';

type Settings = Reply<'GET /accounts/{account}/settings'>;

export default function SettingsPage() {
  const account = useAccount();
  const { data, error, refetch } = useReply('GET /accounts/{account}/settings', { path: { account: account.account } });
  return (
    <Page title="Settings" lead="Account settings, data retention and gateway configuration">
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <>
          <SkeletonPanel heightPx={120} />
          <SkeletonPanel heightPx={160} />
        </>
      )}
      {data !== undefined && (
        <>
          <Section title="Name">
            <AccountName key={data.account.id} settings={data} mayWrite={account.may('settings.write')} />
          </Section>
          <Section title="Time zone">
            <TimeZone key={data.account.id} settings={data} mayWrite={account.may('settings.write')} />
          </Section>
          <Section title="Data retention">
            <Facts>
              <Fact name="Request logs">
                Kept permanently: caller, model, token counts, cost and timing. Charges are verified against them.
              </Fact>
              <Fact name="Ledger">Kept permanently. Entries can’t be changed or deleted.</Fact>
              <Fact name="Prompts & responses">
                Set for each{' '}
                <Link to="/app/workspaces" className="text-accent underline underline-offset-2">
                  workspace
                </Link>
                : off, failed requests only, or all requests, for a set number of days.
              </Fact>
            </Facts>
          </Section>
          <Section title="Account">
            <Facts>
              <Fact name="ID">
                <code>{data.account.id}</code>
              </Fact>
              <Fact name="Billing mode">{sentenceCase(data.account.mode)}</Fact>
              <Fact name="Markup">{data.account.mark_up_percent}%</Fact>
              <Fact name="Created">
                <ExactTime at={data.account.created_at} />
              </Fact>
            </Facts>
          </Section>
          {data.facts.length > 0 && (
            <Section title="Gateway configuration">
              <Facts>
                {data.facts.map(({ name, text }) => (
                  <Fact key={name} name={name}>
                    <code className="break-all">{text}</code>
                  </Fact>
                ))}
              </Facts>
            </Section>
          )}
        </>
      )}
    </Page>
  );
}

function AccountName({ settings, mayWrite }: { readonly settings: Settings; readonly mayWrite: boolean }) {
  const { id, name: current } = settings.account;
  const [name, setName] = useState(current);
  const change = useAction('PATCH /accounts/{account}/settings', [
    'GET /accounts/{account}/settings',
    'GET /accounts',
    'GET /session',
  ]);
  const fault = memberError(change.error, 'name');
  return (
    <Panel className="flex flex-col gap-3 p-4">
      <form
        className="flex flex-wrap items-end gap-2"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { path: { account: id }, body: { name } },
            { onSuccess: () => toast({ text: 'Saved the account name.' }) },
          );
        }}
      >
        <TextField
          label="Account name"
          className="w-64"
          autoComplete="off"
          disabled={!mayWrite}
          value={name}
          error={fault}
          onChange={({ target }) => setName(target.value)}
        />
        {mayWrite && (
          <Button kind="primary" type="submit" disabled={name.trim() === current} busy={change.isPending}>
            Save name
          </Button>
        )}
      </form>
      <p className="text-ink-2">
        Shown in the console. Logs, statements and commands use the account ID, <code>{id}</code>.
      </p>
      {change.error !== null && fault === null && <ErrorNote error={change.error} />}
    </Panel>
  );
}

function TimeZone({ settings, mayWrite }: { readonly settings: Settings; readonly mayWrite: boolean }) {
  const current = currentZoneName(settings.account.time_zone);
  const [zone, setZone] = useState(current);
  const choices = useMemo(() => zoneChoices(current), [current]);
  const change = useAction('PATCH /accounts/{account}/settings', [
    'GET /accounts/{account}/settings',
    'GET /accounts/{account}/limits',
    'GET /accounts/{account}/usage',
    'GET /accounts/{account}/home',
    'GET /session',
  ]);
  const fault = memberError(change.error, 'time_zone');
  return (
    <Panel className="flex flex-col gap-3 p-4">
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { path: { account: settings.account.id }, body: { time_zone: zone } },
            { onSuccess: () => toast({ text: `Saved. Days now start at midnight in ${zone}.` }) },
          );
        }}
      >
        <ComboboxField
          label="Time zone"
          className="w-64"
          disabled={!mayWrite}
          value={zone}
          error={fault}
          find={(text) => findZones(choices, text).map((choice) => choice.zone)}
          onChoose={setZone}
        />
        {mayWrite && (
          <Button kind="primary" type="submit" disabled={zone === current} busy={change.isPending}>
            Save time zone
          </Button>
        )}
      </form>
      <p className="text-ink-2">
        Budgets reset at midnight in this time zone, and the days of usage and statements start then. Times of day in
        the console use it too, unless a user chooses another zone in their{' '}
        <Link to="/app/me" className="text-accent underline underline-offset-2">
          profile
        </Link>
        . A change applies to a budget from its next period.
      </p>
      {change.error !== null && fault === null && <ErrorNote error={change.error} />}
    </Panel>
  );
}

function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <Panel>
      <dl>{children}</dl>
    </Panel>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="grid gap-x-6 border-b border-line px-4 py-2 last:border-0 sm:grid-cols-[180px_1fr]">
      <dt className="text-ink-2">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
