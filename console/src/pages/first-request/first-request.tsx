/** Waits for the first request that a client sends with the key, and reports it. */
import { Check } from 'lucide-react';
import { duration } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { ErrorNote } from '../../ui/error-note.tsx';

interface FirstRequestProps {
  readonly account: string;
  /** Only calls with this key count. */
  readonly keyId: string;
  /** The test's own call, which does not count. */
  readonly exceptRequestId: string | null;
}

const POLL_MS = 1_000;

export function FirstRequest({ account, keyId, exceptRequestId }: FirstRequestProps) {
  const logs = useReply(
    'GET /accounts/{account}/logs',
    { path: { account }, query: { key: keyId, limit: 5 } },
    { everyMs: POLL_MS },
  );
  const first = logs.data?.calls.findLast(({ request_id }) => request_id !== exceptRequestId);
  if (logs.error !== null) return <ErrorNote error={logs.error} onRetry={() => void logs.refetch()} />;
  return (
    <p role="status" className="flex items-center gap-2 rounded-md border border-line bg-panel px-3 py-2">
      {first === undefined ? (
        <>
          <span aria-hidden="true" className="relative flex size-2 shrink-0 rounded-full bg-line-strong">
            <span className="absolute inset-0 animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-full bg-accent" />
          </span>
          <span className="text-ink-2">Waiting for your first request. Run the snippet in a terminal.</span>
        </>
      ) : (
        <>
          <Check size={15} aria-hidden="true" className="shrink-0 text-green" />
          <span>
            <span className="font-medium">First request received.</span>{' '}
            <span className="text-ink-2">
              {first.model ?? 'No model'}, status {first.status}, {duration(first.duration_ms)}
            </span>
          </span>
        </>
      )}
    </p>
  );
}
