/** Renders the details of a finding: its cause, its amount, both ids, and what to do. */
import { wholeNumber } from '../../lib/format.ts';
import { Link } from '../../route/link.tsx';
import { Money } from '../../ui/amounts.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { CAUSES, type Finding } from './reconciliation.ts';

export function FindingSheet({ finding, onClose }: { readonly finding: Finding; readonly onClose: () => void }) {
  const { cause, day, model, count, attempt, detail, request_id, provider_request_id, amount_nano_usd } = finding;
  return (
    <Sheet title={CAUSES[cause].name} lead={`${model}, ${day}`} onClose={onClose}>
      <div className="flex flex-col gap-5">
        <p className="break-words text-read">{detail.charAt(0).toUpperCase() + detail.slice(1)}.</p>
        <p className="text-ink-2">{CAUSES[cause].remedy}</p>
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
          <dt className="text-ink-3">Amount</dt>
          <dd>
            <Money nanoUsd={amount_nano_usd} exact />
          </dd>
          <dt className="text-ink-3">Requests</dt>
          <dd className="figures">{wholeNumber(count)}</dd>
          {request_id !== null && (
            <>
              <dt className="text-ink-3">Request</dt>
              <dd className="flex min-w-0 items-center gap-1">
                <Link
                  to="/app/logs/{-$request}"
                  names={{ request: request_id }}
                  className="min-w-0 truncate text-accent hover:underline"
                >
                  <code>{request_id}</code>
                </Link>
                <CopyIcon text={request_id} what="Request ID" />
              </dd>
            </>
          )}
          {attempt !== null && (
            <>
              <dt className="text-ink-3">Attempt</dt>
              <dd className="figures">{attempt}</dd>
            </>
          )}
          {provider_request_id !== null && (
            <>
              <dt className="text-ink-3">Provider’s ID</dt>
              <dd className="flex min-w-0 items-center gap-1">
                <code className="truncate">{provider_request_id}</code>
                <CopyIcon text={provider_request_id} what="Provider’s ID" />
              </dd>
            </>
          )}
        </dl>
      </div>
    </Sheet>
  );
}
