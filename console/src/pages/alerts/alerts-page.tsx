/** Renders the alerts page: what was found, newest first, and the rules. */
import { Plus } from 'lucide-react';
import { useEffect } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, Panel, Section, SkeletonRows } from '../../ui/page.tsx';
import { AlertDialog } from './alert-dialog.tsx';
import type { Found } from './alerts.ts';
import { RuleSheet } from './rule-sheet.tsx';
import { RuleTable } from './rule-table.tsx';

/** New alerts appear while the page is open. */
const EVERY_MS = 15_000;

export default function AlertsPage() {
  const account = useAccount();
  const [filters, setFilters] = useFilters();
  const path = { account: account.account };
  const { data, error, refetch } = useReply('GET /accounts/{account}/alerts', { path }, { everyMs: EVERY_MS });
  const { mutate: markSeen } = useAction('POST /accounts/{account}/alerts/seen', [
    'GET /accounts/{account}/alerts/unseen',
  ]);
  const newest = data?.inbox.find(({ is_new }) => is_new)?.at;
  useEffect(() => {
    if (newest !== undefined) markSeen({ path: { account: account.account }, body: { until: newest } });
  }, [newest, account.account, markSeen]);
  const mayWrite = account.may('alerts.write');
  const ruleAt = (id: string | undefined) => data?.rules.find((rule) => rule.id === id);
  const [open, edited] = [ruleAt(filters.open), ruleAt(filters.edit)];
  const close = () => setFilters({ open: undefined, edit: undefined, add: undefined });
  const create = mayWrite && (
    <Button kind="primary" icon={<Plus size={15} />} onClick={() => setFilters({ add: '1' })}>
      Create alert
    </Button>
  );
  const isEmpty = data !== undefined && data.rules.length === 0;
  return (
    <Page
      title="Alerts"
      lead="Messages about budgets, spend, API keys and providers, here and where you send them."
      hasTimes
      action={!isEmpty && create}
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows />}
      {isEmpty && (
        <Empty title="No alerts yet" action={create}>
          Get a message before a budget is used up, when a provider fails or a key expires: in the console, by email, in
          Slack, or by a signed webhook.
        </Empty>
      )}
      {data !== undefined && !isEmpty && (
        <>
          <Section title="Recent">
            <Inbox found={data.inbox} />
          </Section>
          <Section title="Rules">
            <RuleTable
              account={account.account}
              rules={data.rules}
              mayWrite={mayWrite}
              openId={filters.open ?? null}
              onOpen={({ id }) => setFilters({ open: id })}
              onEdit={({ id }) => setFilters({ edit: id })}
            />
          </Section>
        </>
      )}
      {data !== undefined && (filters.open ?? filters.edit) !== undefined && (open ?? edited) === undefined && (
        <p className="text-ink-2">The alert was deleted.</p>
      )}
      {open !== undefined && <RuleSheet key={open.id} account={account.account} rule={open} onClose={close} />}
      {mayWrite && data !== undefined && edited !== undefined && (
        <AlertDialog
          key={edited.id}
          account={account.account}
          rule={edited}
          events={data.events}
          emailTo={data.email_to}
          onClose={close}
        />
      )}
      {mayWrite && data !== undefined && filters.add === '1' && (
        <AlertDialog
          account={account.account}
          rule={null}
          events={data.events}
          emailTo={data.email_to}
          onClose={close}
        />
      )}
    </Page>
  );
}

function Inbox({ found }: { readonly found: readonly Found[] }) {
  if (found.length === 0) return <p className="text-ink-2">Nothing has happened that a rule reports.</p>;
  return (
    <Panel className="max-h-96 overflow-y-auto">
      <ul>
        {found.map(({ id, at, rule, text, remedy, is_new }) => (
          <li
            key={id}
            className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 border-b border-line px-3 py-2 last:border-0"
          >
            <span
              aria-hidden="true"
              className={`size-1.5 shrink-0 self-center rounded-full ${is_new ? 'bg-accent max-sm:order-1' : 'max-sm:hidden'}`}
            />
            <span className={`min-w-0 flex-1 break-words max-sm:basis-full ${is_new ? 'font-medium' : ''}`}>
              {is_new && <span className="sr-only">New: </span>}
              {text}
            </span>
            {remedy !== null && (
              <Link to={remedy.page} className="shrink-0 text-accent hover:underline max-sm:order-2">
                {remedy.label}
              </Link>
            )}
            <span className="shrink-0 text-sm text-ink-3 max-sm:order-1">
              {rule.name}, <When at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
