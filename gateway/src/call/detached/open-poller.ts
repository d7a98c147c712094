/** Connects the poller of detached calls to the kinds of jobs, the ledger and telemetry. */
import { createBatchJob } from '../batches/poll-batch.ts';
import type { CallDeps } from '../deps.ts';
import { DetachedPoller } from './detached-calls.ts';
import { createResponseJob } from './poll-response.ts';
import { settleDetached } from './settle-detached.ts';

/** `deps`: called at each use, for the poller is one of them. */
export function openPoller(deps: () => CallDeps): DetachedPoller {
  return new DetachedPoller({
    readDetached: () => deps().billing.ledger.readDetached(),
    kinds: { response: createResponseJob(deps), batch: createBatchJob(deps) },
    log: () => deps().log,
    settle: (call, end, nowMs) => settleDetached(deps(), call, end, nowMs),
    nowMs: Date.now,
  });
}
