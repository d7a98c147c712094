/** Shows whether the displayed usage equals the ledger, with the figures of the comparison. */
import { ScaleIcon } from 'lucide-react';
import { useState } from 'react';
import { rangeText, type TimeRange } from '../../filters/time-range.ts';
import { counted } from '../../lib/format.ts';
import { exactUsd } from '../../lib/money.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { exactTime, useClockZone, useZone } from '../../lib/zone.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SkeletonPanel } from '../../ui/page.tsx';

/** Runs only on request, because the comparison reads the ledger. */
export function Reconcile({ range }: { readonly range: TimeRange }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon={<ScaleIcon size={14} aria-hidden="true" />} onClick={() => setOpen(true)}>
        Reconcile with ledger
      </Button>
      {open && <Reconciliation range={range} onClose={() => setOpen(false)} />}
    </>
  );
}

function Reconciliation({ range, onClose }: { readonly range: TimeRange; readonly onClose: () => void }) {
  const { account } = useAccount();
  const [zone, clock] = [useZone(), useClockZone()];
  // The range is fixed when opened, because a live page moves on.
  const [{ from, to }] = useState(range);
  const proof = useReply('GET /accounts/{account}/usage/proof', { path: { account }, query: { from, to } });
  return (
    <Dialog
      title="Reconciliation with ledger"
      lead={`${rangeText({ from, to }, zone)}, entire account`}
      onClose={onClose}
    >
      {proof.error !== null && <ErrorNote error={proof.error} onRetry={() => void proof.refetch()} />}
      {proof.data === undefined && proof.error === null && <SkeletonPanel heightPx={150} />}
      {proof.data !== undefined && (
        <div className="flex flex-col gap-3 text-read">
          <p role="status" className={`font-medium ${proof.data.equal ? 'text-green' : 'text-red'}`}>
            {proof.data.equal ? 'Usage, records and ledger match.' : 'Usage, records and ledger don’t match.'}
          </p>
          <dl className="grid grid-cols-[1fr_max-content] gap-x-6 gap-y-1.5">
            <Figure name="Usage, as shown on this page" value={exactUsd(proof.data.usage_nano_usd)} />
            <Figure
              name={`Records (${counted(proof.data.calls, 'request')})`}
              value={exactUsd(proof.data.records_nano_usd)}
            />
            <Figure
              name={`Ledger (${counted(proof.data.entries, 'entry', 'entries')})`}
              value={exactUsd(proof.data.ledger_nano_usd)}
            />
          </dl>
          <p className="text-sm text-ink-3">
            {proof.data.equal
              ? `Exact to the nano-dollar. Checked ${exactTime(proof.data.checked_at, clock)}.`
              : 'Requests that ended during the check can cause a brief difference. Try again; if it persists, run “tollgate verify” on the gateway’s machine.'}
          </p>
        </div>
      )}
    </Dialog>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt className="text-ink-2">{name}</dt>
      <dd className="figures text-right font-medium">{value}</dd>
    </>
  );
}
