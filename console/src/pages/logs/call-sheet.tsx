/** Renders the full details of a call in a sheet with its own address. */
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { CallStatus } from '../../ui/call-status.tsx';
import { CopyIcon } from '../../ui/copy-button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';
import { SkeletonPanel, SkeletonRows } from '../../ui/skeleton.tsx';
import { CallBodies } from './call-bodies.tsx';
import { CallCost } from './call-cost.tsx';
import { CallSummary } from './call-summary.tsx';
import { callTitle } from './call-table.tsx';
import { Waterfall } from './waterfall.tsx';

export function CallSheet({ request, onClose }: { readonly request: string; readonly onClose: () => void }) {
  const { account } = useAccount();
  const zone = useZone();
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
          <CallBodies detail={data} />
        </div>
      )}
    </Sheet>
  );
}
