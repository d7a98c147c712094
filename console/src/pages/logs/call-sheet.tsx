/**
 * Renders the full details of a request in a sheet with its own address. Says when payloads are not stored or not
 * visible to the user.
 */

import { FlaskConical, MessageSquare, Scale } from 'lucide-react';
import { part } from '../../lib/part.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useClockZone } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useNavigate } from '../../route/route.ts';
import { PanelPart } from '../../shell/page-fault.tsx';
import { CallStatus } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Section, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { CallCost, type CallDetail } from './call-cost.tsx';
import { CallSummary } from './call-summary.tsx';
import { callTitle } from './call-table.tsx';
import { Waterfall } from './waterfall.tsx';

export default function CallSheet({ request, onClose }: { readonly request: string; readonly onClose: () => void }) {
  const { account } = useAccount();
  const zone = useClockZone();
  const { data, error, refetch } = useReply('GET /accounts/{account}/logs/{request}', { path: { account, request } });
  return (
    <Sheet
      title={data === undefined ? 'Request' : callTitle(data.call, zone)}
      lead={
        <span className="flex min-w-0 items-center gap-1.5">
          {data !== undefined && <CallStatus status={data.call.status} error={data.call.error} />}
          <code className="min-w-0 truncate">{request}</code>
          <CopyIcon text={request} what="request ID" />
        </span>
      }
      onClose={onClose}
      {...(data === undefined ? {} : { footer: <Actions detail={data} /> })}
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <div className="flex flex-col gap-4">
          <SkeletonRows rows={5} />
          <SkeletonPanel heightPx={120} />
          <SkeletonRows rows={4} />
        </div>
      )}
      {data !== undefined && (
        <div className="flex flex-col gap-6">
          <CallSummary call={data.call} explanation={data.explanation} />
          <Section title="Attempts">
            <Waterfall call={data.call} />
          </Section>
          <CallCost detail={data} />
          <Payloads detail={data} />
        </div>
      )}
    </Sheet>
  );
}

const REPLAYED: ReadonlySet<string> = new Set(['chat', 'messages', 'responses']);

/** Whether the playground can send the request again. */
function isReplayable({ call, content, raw }: CallDetail): boolean {
  return REPLAYED.has(call.protocol) && content === 'shown' && raw?.truncated === false;
}

function Actions({ detail }: { readonly detail: CallDetail }) {
  const { request_id: request, at, session } = detail.call;
  const around = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
  return (
    <>
      <Link
        to="/app/logs"
        search={{ q: `id:${request}`, from: around(-1), to: around(1), other_model: '-' }}
        className={buttonClasses()}
      >
        <Scale size={14} aria-hidden="true" />
        Compare cost
      </Link>
      {session !== null && (
        <Link to="/app/sessions/$session" names={{ session }} className={buttonClasses()}>
          <MessageSquare size={14} aria-hidden="true" />
          Show session
        </Link>
      )}
      {isReplayable(detail) && (
        <>
          <ReplayOn request={request} model={detail.call.model} />
          <Link to="/app/playground" search={{ request }} className={buttonClasses()}>
            <FlaskConical size={14} aria-hidden="true" />
            Open in playground
          </Link>
        </>
      )}
    </>
  );
}

/** Opens the request in the playground with another model chosen, ready to send. */
function ReplayOn({ request, model }: { readonly request: string; readonly model: string | null }) {
  const { account } = useAccount();
  const navigate = useNavigate();
  const { data } = useReply('GET /accounts/{account}/models', { path: { account } });
  const others = data?.models.filter(({ name, aliases }) => name !== model && !aliases.includes(model ?? '')) ?? [];
  if (others.length === 0) return null;
  return (
    <select
      aria-label="Replay on another model"
      className={`${CONTROL} w-44!`}
      value=""
      onChange={({ target }) => navigate({ to: '/app/playground', search: { request, model: target.value } })}
    >
      <option value="" disabled>
        Replay on…
      </option>
      {others.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

const StoredPayloads = part(() => import('./stored-payloads.tsx'));

function Payloads({ detail }: { readonly detail: CallDetail }) {
  if (detail.content !== 'shown') return <NoPayloads detail={detail} />;
  return (
    <PanelPart>
      <StoredPayloads detail={detail} />
    </PanelPart>
  );
}

function NoPayloads({ detail }: { readonly detail: CallDetail }) {
  const account = useAccount();
  return (
    <Section title="Prompts & responses">
      {detail.content === 'hidden' ? (
        <p className="text-ink-2">
          Prompts and responses are stored, but your role can’t view them. An admin can change your role.
        </p>
      ) : (
        <p className="text-ink-2">
          Prompts and responses aren’t stored: storage is off in the workspace <strong>{detail.call.workspace}</strong>,
          or the retention period has ended.{' '}
          {account.may('workspaces.write') ? (
            <>
              <Link to="/app/workspaces" className="text-accent underline underline-offset-2">
                Change the workspace’s policy
              </Link>{' '}
              to store future ones.
            </>
          ) : (
            'An admin can turn on storage under Workspaces.'
          )}
        </p>
      )}
    </Section>
  );
}
