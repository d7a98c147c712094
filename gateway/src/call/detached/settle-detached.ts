/** Settles a detached call from its draft and its job alone, so that it is the same before and after a restart. */
import type { NanoUsd } from '../../billing/money.ts';
import { missingFromHold, settleHold, splitCost } from '../../billing/reserve.ts';
import { totalTokens } from '../../generation/usage.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import type { DetachedCall } from '../../store/ports/ledger.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { InsufficientFunds } from '../../store/ports/store-errors.ts';
import type { CallDeps } from '../deps.ts';
import { reasonOfJob } from '../reason/build-reason.ts';
import type { JobEnd } from './job-kinds.ts';

export type SettleDeps = Pick<CallDeps, 'billing' | 'directory' | 'observer' | 'settings'>;

/**
 * Ends the hold with the call's record; both are durable when it resolves. The operator pays the part of the cost that the
 * caps do not cover. Rejects where the store does not take it; then the call is still open.
 */
export async function settleDetached(deps: SettleDeps, call: DetachedCall, end: JobEnd, nowMs: number): Promise<void> {
  const { ledger, limits } = deps.billing;
  const cost = end.cost ?? 0n;
  const isAccounts = end.payer === 'account';
  if (isAccounts) await extendHold(deps, call, missingFromHold(call.amount, cost));
  const held = call.amount;
  const { posted, released, writtenOff } = isAccounts
    ? settleHold({ held, cost, extensible: 0n })
    : splitCost(held, cost);
  const record = recordOf(call, end, nowMs);
  const settlement = { record, posted, released, writtenOff };
  await ledger.settle(end.stored === undefined ? settlement : { ...settlement, stored: end.stored });
  await limits.store.release(record.request_id, posted, tokensOf(call, end), steadyNowMs());
  deps.observer.ended(record, routeOf(deps, record), end.payer, null);
}

/**
 * What counts against limits of tokens: nothing of a batch, which takes none. What a call whose usage stays unknown held is
 * far more than it used: its input counts.
 */
function tokensOf({ job }: DetachedCall, { usage, usage_flags }: JobEnd): number {
  if (job.kind === 'batch') return 0;
  return usage_flags?.includes('held_amount') ? usage.input : totalTokens(usage);
}

/** The operator's name of its model, whose alias the client may have named; of one that is gone, the name that was asked for. */
function routeOf({ settings }: SettleDeps, { model }: CallRecord): string | null {
  return model === null ? null : (settings.routes.get(model)?.model ?? model);
}

/** Holds what is missing, as far as the caps and the balance cover it. */
async function extendHold({ billing, directory }: SettleDeps, call: DetachedCall, missing: NanoUsd): Promise<void> {
  if (missing === 0n) return;
  const { request_id, account } = call.draft;
  const { store, seeds } = billing.limits;
  // After a restart no call may have needed the balance yet.
  if (directory.accounts.get(account)?.mode === 'prepaid') await seeds.seedBalance(account);
  const granted = await store.extendUpTo(request_id, missing, steadyNowMs());
  if (granted === 0n) return;
  try {
    await billing.ledger.extend(request_id, call.extensions + 1, granted);
  } catch (failure) {
    if (!(failure instanceof InsufficientFunds)) throw failure;
  }
}

function recordOf({ draft, job }: DetachedCall, end: JobEnd, nowMs: number): CallRecord {
  return {
    ...draft,
    served_model: end.served_model,
    provider: job.provider,
    // That of its first answer, after which it went on.
    status: 200,
    error: end.error,
    reason: end.reason === null ? null : reasonOfJob(end.reason, job),
    finish_reason: end.finish_reason,
    usage: end.usage,
    usage_source: end.usage_source,
    usage_flags: end.usage_flags,
    price_version: end.price_version,
    cost_nano_usd: end.cost === null ? null : end.cost.toString(),
    ttfb_ms: null,
    duration_ms: Math.max(0, nowMs - draft.at_ms),
    attempts: job.attempts,
  };
}
