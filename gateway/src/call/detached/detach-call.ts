/**
 * Leaves a call to its account whose response goes on at the provider in the background: its hold outlives the client and
 * the process. Source: contract, 10.13.
 */
import type { Price } from '../../billing/price.ts';
import { priceAt, pricedWords, priceOfTier } from '../../billing/price-book.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { asText, parseObject } from '../../protocols/json.ts';
import type { DetachedCall, DetachedJob } from '../../store/ports/ledger.ts';
import type { Held } from '../call.ts';
import { estimateInput } from '../money/usage-checks.ts';
import { RESPONSES_KEPT_MS } from '../stored/stored-by.ts';
import { LIST_TIER } from './job-kinds.ts';

/** Then the held amount is charged. */
export const DEADLINE_MS = 48 * 60 * 60 * 1000;
/** It becomes part of the path of later requests. */
const ID = /^[\w.-]{1,256}$/;

/** The id of a response object; empty: it has none. */
export function readId(body: Buffer | string): string {
  return asText(parseObject(body.toString())?.id) ?? '';
}

/**
 * Makes durable that the response goes on, with the row by which the workspace fetches it. The call may still settle its
 * hold. Rejects with CallFailure `upstream_malformed` for an id that cannot be fetched, or as the ledger does.
 */
export async function detachCall(call: Held, id: string): Promise<DetachedCall> {
  if (!ID.test(id))
    throw new CallFailure('upstream_malformed', 'the model provider sent a response without a valid id');
  const { money, atMs } = call;
  const job = jobOf(call, id);
  const { provider, model, credential } = job;
  const expires_at_ms = atMs + RESPONSES_KEPT_MS;
  const things = [{ kind: 'response', id }];
  return money.detach(job, { provider, model, credential, tokens: 0, output_tokens: 0, expires_at_ms, things });
}

/** Ends the part of the call: from now on its job is followed. */
export function leaveCall(call: Held, detached: DetachedCall): void {
  call.settled = true;
  call.left = true;
  call.content?.ended(200, null);
  call.money.leave();
  call.deps.detached.follow(detached);
}

function jobOf(call: Held, id: string): DetachedJob {
  const { target, money, facts, atMs, attempts } = call;
  const { provider, model, credentials } = target.upstream;
  return {
    kind: 'response',
    id,
    provider,
    model,
    credential: credentials[call.credential]?.name ?? 'default',
    deadline_ms: atMs + DEADLINE_MS,
    held_tokens: { input: estimateInput(facts), output: money.heldTokens },
    price_version: money.price?.version ?? null,
    ...tiersOf(call),
    // As they are now: rows may be completed later.
    attempts: attempts.map((row) => ({ ...row })),
  };
}

/** The service tier that was asked for, and the prices of all tiers that may answer, with the list price. */
function tiersOf({ target, priced, money, principal, atMs, deps }: Held): Pick<DetachedJob, 'tier' | 'tier_prices'> {
  const tier = priced?.members.tier.service_tier;
  const list = money.price === null ? null : priceAt(target.prices, atMs);
  const words = list === null ? [] : pricedWords(list, 'service_tier');
  const versionOf = (price: Price) => deps.billing.priced(price, principal.account.markUpPpm).version;
  const prices = words.flatMap((word) => {
    const found = list === null ? null : priceOfTier(list, { service_tier: word });
    return found === null ? [] : [[word, versionOf(found)]];
  });
  return {
    ...(tier !== undefined && { tier }),
    ...(list !== null &&
      prices.length > 0 && { tier_prices: { [LIST_TIER]: versionOf(list), ...Object.fromEntries(prices) } }),
  };
}
