/**
 * Answers `GET /v1/key`: the calling key's permissions and usage, the limits that apply to it, and what remains of
 * them. Contract, 3.
 */

import type { CallDeps } from '../call/deps.ts';
import { allowAddress, identify } from '../call/request/identify.ts';
import { readCredential } from '../call/request/read-credential.ts';
import type { Defaults } from '../config/config.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Principal } from '../identity/principal.ts';
import type { BindingCaps, BudgetState, CapsUse } from '../store/ports/limits.ts';
import type { StoredKey } from '../store/ports/records.ts';
import type { KeyLimitStatus, KeyUsage, ReadKeyLimitStatus, RuleStatus } from './key-status.ts';

import { replyFailure, replyJson } from './reply-json.ts';

const PATH = '/v1/key';

/** The dependencies of this endpoint. */
interface Asked extends Pick<CallDeps, 'directory' | 'log'> {
  readonly settings: { readonly config: { readonly defaults: Pick<Defaults, 'holds'> } };
}

/**
 * Answers any valid key about itself, whatever its scopes. Throws CallFailure at once for a client that may not ask.
 */
export function showKey(
  request: Request,
  address: () => string | null,
  deps: Asked,
  readRateLimitStatus: ReadKeyLimitStatus,
): Promise<Response> {
  const principal = identify(deps.directory, readCredential(request.headers, 'messages'));
  allowAddress(principal, principal.ranges === null ? null : address());
  const { defaults } = deps.settings.config;
  const key = deps.directory.keys.get(principal.keyId);
  if (key === undefined) throw new Error(`the directory holds no key ${principal.keyId}`);
  return readRateLimitStatus(principal).then(
    (rateLimitStatus) => replyJson(renderKey(key, principal, defaults, rateLimitStatus)),
    (cause: unknown) => {
      deps.log.fault('', 'what a key has left could not be read', cause);
      const failure = new CallFailure(
        'store_unavailable',
        'what this key has left cannot be read at the moment; try again soon',
      );
      return replyFailure(failure, PATH, request.headers);
    },
  );
}

function renderKey(
  key: StoredKey,
  { account, holds }: Principal,
  defaults: Pick<Defaults, 'holds'>,
  { rules, available, usage }: KeyLimitStatus,
): object {
  return {
    object: 'key',
    id: key.id,
    name: key.name,
    workspace: key.workspaceId,
    account: account.id,
    mode: account.mode,
    balance_nano_usd: available === null ? null : available.toString(),
    scopes: key.scopes,
    models: key.models,
    strict: key.strict,
    holds: holds ?? defaults.holds,
    expires_at: renderTime(key.expiresAtMs),
    usage: usage === null ? null : { day: renderUsage(usage.day), month: renderUsage(usage.month) },
    limits: rules.map(renderLimit),
  };
}

function renderUsage({ sinceMs, sums }: KeyUsage['day']): object {
  const { requests, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost } = sums;
  return {
    starts_at: renderTime(sinceMs),
    requests,
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h,
    output,
    reasoning,
    cost_nano_usd: cost.toString(),
  };
}

function renderLimit({ binding, use, budget }: RuleStatus): object {
  const { subject, caps } = binding;
  const { running } = use;
  return {
    of: subject.kind,
    id: subject.id,
    rpm: caps.requestsPerMinute,
    tpm: caps.tokensPerMinute,
    concurrency: caps.concurrency,
    requests: renderRate(caps.requestsPerMinute, use.requests),
    tokens: renderRate(caps.tokensPerMinute, use.tokens),
    calls:
      caps.concurrency === null || running === null ? null : { running, remaining: left(caps.concurrency, running) },
    budget: caps.budget === null || budget === null ? null : renderBudget(binding, caps.budget, budget),
  };
}

function renderRate(limit: number | null, use: CapsUse['requests']): object | null {
  if (limit === null || use === null) return null;
  return { used: use.used, remaining: left(limit, use.used), resets_at: renderTime(use.wholeAtMs) };
}

/** Usage can exceed the limit: the limit was lowered, or a call used more than its estimate. */
function left(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

function renderBudget(
  { windowStartMs, windowEndMs }: BindingCaps,
  { window, amount }: NonNullable<BindingCaps['caps']['budget']>,
  { settled, held }: BudgetState,
): object {
  const left = amount - settled - held;
  return {
    window,
    amount_nano_usd: amount.toString(),
    spent_nano_usd: settled.toString(),
    held_nano_usd: held.toString(),
    remaining_nano_usd: (left > 0n ? left : 0n).toString(),
    // A budget for all time has no start.
    starts_at: window === 'total' ? null : renderTime(windowStartMs),
    resets_at: renderTime(windowEndMs),
  };
}

function renderTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
