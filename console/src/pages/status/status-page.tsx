/**
 * Renders the public status page: whether the service works, the health of its providers, and the status of a request
 * by id.
 */

import { CircleAlert, CircleCheck, CircleX, Search } from 'lucide-react';
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useReply } from '../../lib/queries.ts';
import { useSession } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { TargetList } from '../../routing/target-list.tsx';
import { Mark } from '../../shell/navigation.tsx';
import { ExactTime, When } from '../../ui/amounts.tsx';
import { CallStatus } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Page, Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { HealthBadge } from '../providers/health-badge.tsx';
import { RemedyLink } from './remedy-link.tsx';

type Status = Reply<'GET /status'>;

const REFRESH_MS = 15_000;
const STATES = {
  ready: { icon: CircleCheck, tone: 'text-green', words: 'Operational' },
  degraded: { icon: CircleAlert, tone: 'text-amber', words: 'Degraded' },
  draining: {
    icon: CircleAlert,
    tone: 'text-amber',
    words: 'Restarting: requests in progress complete, new ones aren’t accepted',
  },
  down: { icon: CircleX, tone: 'text-red', words: 'Down' },
} as const;

export default function StatusPage() {
  const [search] = useFilters();
  const requestId = search.request_id;
  const status = useReply(
    'GET /status',
    { query: requestId === undefined ? {} : { request_id: requestId } },
    { everyMs: REFRESH_MS, keepsPrevious: true },
  );
  return (
    <div className="mx-auto max-w-180">
      <header className="flex items-center gap-2 px-4 pt-6 sm:px-6">
        <Mark />
        <span className="flex-1 text-read font-semibold">Tollgate</span>
        <Link to="/app" className="text-accent underline underline-offset-2">
          Console
        </Link>
      </header>
      <main>
        <Page title="Status" hasTimes>
          {status.error !== null && <ErrorNote error={status.error} onRetry={() => void status.refetch()} />}
          {status.data === undefined && status.error === null && <SkeletonPanel heightPx={220} />}
          {status.data !== undefined && <Service status={status.data} />}
          <RequestLookup
            key={requestId}
            requestId={requestId ?? null}
            call={status.isPlaceholderData ? undefined : status.data?.call}
          />
          {status.data !== undefined && <Providers providers={status.data.providers} rule={status.data.health_rule} />}
          <OperatorTargets />
        </Page>
      </main>
    </div>
  );
}

function Service({ status }: { readonly status: Status }) {
  const { icon: Icon, tone, words } = STATES[status.state];
  return (
    <Panel className="flex flex-col gap-2 p-4">
      <p role="status" className="flex items-center gap-2 text-read font-semibold">
        <Icon size={18} aria-hidden="true" className={tone} />
        {words}
      </p>
      {status.problems.length > 0 && (
        <ul className="flex list-disc flex-col gap-1 pl-6">
          {status.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <p className="text-sm text-ink-2">
        Version {status.version}, started <ExactTime at={status.started_at} />
      </p>
    </Panel>
  );
}

interface LookUpProps {
  readonly requestId: string | null;
  /** Undefined while loading. Null when no request has that id. */
  readonly call: Status['call'] | undefined;
}

function RequestLookup({ requestId, call }: LookUpProps) {
  const [, change] = useFilters();
  const [text, setText] = useState(requestId ?? '');
  return (
    <Section title="Look up a request">
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          change({ request_id: text.trim() });
        }}
      >
        <div className="relative min-w-0 flex-1">
          <Search size={14} aria-hidden="true" className="absolute top-2.25 left-2.5 text-ink-3" />
          <input
            type="search"
            aria-label="Request ID"
            placeholder="req_…, from the x-request-id response header"
            className={`${CONTROL} pl-8`}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <Button type="submit" disabled={text.trim() === ''}>
          Look up
        </Button>
      </form>
      <div aria-live="polite">
        {requestId !== null && call === null && (
          <p className="text-ink-2">
            No request found with ID <code className="break-all">{requestId}</code>.
          </p>
        )}
        {requestId !== null && call != null && <Outcome call={call} />}
      </div>
    </Section>
  );
}

function Outcome({ call }: { readonly call: NonNullable<Status['call']> }) {
  return (
    <Panel className="flex flex-col gap-1.5 px-4 py-3">
      <p className="flex flex-wrap items-center gap-2">
        <CallStatus status={call.status} error={call.error} />
        <span className="font-medium">{outcomeText(call)}</span>
        <span className="text-ink-2">
          <When at={call.at} />
        </span>
      </p>
      {call.explanation !== null && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <p className="min-w-0 flex-1 basis-60 break-words">{call.explanation.sentence}</p>
          {call.explanation.remedy !== null && <RemedyLink remedy={call.explanation.remedy} />}
        </div>
      )}
      <code className="break-all text-ink-2">{call.request_id}</code>
      {call.account === null ? (
        <p className="text-sm text-ink-2">Sign in as a member of its account to see details.</p>
      ) : (
        <p>
          <Link
            to="/app/logs/{-$request}"
            names={{ request: call.request_id }}
            search={{ account: call.account }}
            className="text-accent underline underline-offset-2"
          >
            View log of {call.account}
          </Link>
        </p>
      )}
    </Panel>
  );
}

/** A stream that broke off has status 200 and an error. */
function outcomeText({ status, error }: NonNullable<Status['call']>): string {
  if (status < 400) return error === null ? 'Succeeded' : 'The response was cut off';
  return 'Failed';
}

/** The live states of targets, for operators only: the page itself is public. Each leads to its model, to act on it. */
function OperatorTargets() {
  const { data: session } = useSession();
  const operator = session?.accounts.find(({ permissions }) => permissions.includes('operator.read'));
  if (session?.state !== 'signed_in' || operator === undefined) return null;
  return <TargetList account={operator.account} mayWrite={false} />;
}

interface ProvidersProps {
  readonly providers: Status['providers'];
  readonly rule: string;
}

function Providers({ providers, rule }: ProvidersProps) {
  if (providers.length === 0) return null;
  return (
    <Section title="Providers">
      <Panel>
        <ul className="divide-y divide-line">
          {providers.map(({ name, state }) => (
            <li key={name} className="flex min-h-10 items-center justify-between gap-3 px-4">
              <span className="truncate">{name}</span>
              <HealthBadge state={state} />
            </li>
          ))}
        </ul>
      </Panel>
      <p className="text-sm text-ink-3">{rule}</p>
    </Section>
  );
}
