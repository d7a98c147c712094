/**
 * Serves the public status: the state of the service and its providers, and the outcome of one request. Shows the
 * states of providers, but not their numbers. Limits lookups per client address.
 */

import { type Bucket, followClock, levelAt, newBucket, take, waitMs } from '../../admission/gcra.ts';
import type { CallDeps } from '../../call/deps.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { HEALTH_RULE, type HealthView } from '../../routing/health/provider-health.ts';
import type { CallReader, CallRecord } from '../../store/ports/records.ts';
import type { Reply } from '../contract/contract.ts';
import { type Actor, type Tenancy, tenancyOf } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { explainCall, explainToAnyone } from '../logs/show-call.ts';
import type { ModelDeps } from './model-deps.ts';

type Status = Reply<'GET /status'>;

export interface StatusParts {
  readonly models: ModelDeps;
  deps(): Pick<CallDeps, 'ready' | 'draining' | 'recorder'>;
  readonly calls: CallReader;
  timeZoneOf(account: string): string;
  readonly version: string;
  /** Unix ms. */
  readonly startedAtMs: number;
}

const LOOK_UPS_PER_MINUTE = 30;

/** The handlers of the status route. */
export function statusHandlers(parts: StatusParts) {
  const rate = createAddressRate(LOOK_UPS_PER_MINUTE);
  return {
    'GET /status': async ({ query, actor, address }) => ({
      ...describeService(parts, actor),
      call: query.request_id === undefined ? null : await lookUp(parts, rate, query.request_id, { actor, address }),
    }),
  } satisfies Partial<Handlers>;
}

/** Anonymous clients see provider names only if the operator enables it. */
function describeService({ models, deps, version, startedAtMs }: StatusParts, actor: Actor): Omit<Status, 'call'> {
  const { ready, draining, recorder } = deps();
  const providers = listProviderStates(models).map(({ name, state }) => ({ name, state }));
  const isNamed = actor.kind !== 'anonymous' || models.running().config.server.publicStatus === 'full';
  const failing = providers.filter(({ state }) => state === 'failing');
  const isLeaving = draining || !ready;
  const problems = [
    ...(recorder.writable() ? [] : ['The request records cannot be written: requests are answered with 503.']),
    ...(isLeaving ? ['The service is shutting down.'] : []),
    ...(isNamed ? failing.map(({ name }) => `The provider ${name} is failing.`) : failing.slice(0, 1).map(unnamed)),
  ];
  const state = !recorder.writable() ? 'down' : isLeaving ? 'draining' : failing.length > 0 ? 'degraded' : 'ready';
  return {
    state,
    problems,
    version,
    started_at: new Date(startedAtMs).toISOString(),
    providers: isNamed ? providers : [],
    health_rule: HEALTH_RULE,
  };
}

function unnamed(): string {
  return 'A model provider is failing.';
}

/** Ids are random, so only someone who received one has it; repeated lookups are rate-limited all the same. */
async function lookUp(
  { calls, models, timeZoneOf }: StatusParts,
  rate: AddressRate,
  requestId: string,
  { actor, address }: { readonly actor: Actor; readonly address: string | null },
): Promise<Status['call']> {
  if (actor.kind === 'anonymous') rate.take(address, models.nowMs());
  const [record] = await calls.readCalls({ limit: 1, sinceMs: null, requestId, keyId: null });
  if (record === undefined) return null;
  const { request_id, at_ms, status, error, account } = record;
  const at = new Date(at_ms).toISOString();
  const tenancy = readerOf(actor, record);
  if (tenancy === null) {
    const sentence = explainToAnyone(record);
    const explanation = sentence === null ? null : { sentence, remedy: null };
    return { request_id, at, status, error, explanation, account: null };
  }
  const explanation = explainCall(tenancy, record, timeZoneOf(account));
  return { request_id, at, status, error, explanation, account };
}

/** Null: the reader may not see the details of the call. */
function readerOf(actor: Actor, { account, workspace }: CallRecord): Tenancy | null {
  const tenancy = tenancyOf(actor, account);
  if (tenancy === null || !tenancy.may('logs.read')) return null;
  return tenancy.workspaces === null || tenancy.workspaces.includes(workspace) ? tenancy : null;
}

interface ProviderState extends Pick<HealthView, 'state' | 'calls' | 'errors'> {
  readonly name: string;
}

/** The configuration's providers first, then the console's. */
function listProviderStates({ running, readHealth }: Pick<ModelDeps, 'running' | 'readHealth'>): ProviderState[] {
  const { config, providers } = running();
  const entered = providers.flatMap(({ provider }) => provider?.name ?? []);
  return [...config.providers.keys(), ...entered].map((name) => {
    const { state, calls, errors } = readHealth(name);
    return { name, state, calls, errors };
  });
}

interface AddressRate {
  /** Counts one request. Null: all unknown addresses share one count. Throws `too_many` above the limit. */
  take(address: string | null, nowMs: number): void;
}

const ADDRESSES_MAX = 10_000;

/** `perMinute`: requests per minute from one address. */
export function createAddressRate(perMinute: number): AddressRate {
  const buckets = new Map<string, Bucket>();
  return {
    take(address, nowMs) {
      const name = address ?? '';
      const bucket = buckets.get(name) ?? newBucket(perMinute, nowMs);
      followClock(bucket, nowMs);
      const wait = waitMs(levelAt(bucket, perMinute, nowMs), perMinute, 1) ?? 0;
      if (wait > 0) {
        const retryAfterSeconds = Math.ceil(wait / 1000);
        throw new ConsoleFailure('too_many', `at most ${perMinute} lookups per minute; try again later`, {
          retryAfterSeconds,
        });
      }
      take(bucket, perMinute, 1, nowMs);
      // Reinserted so that the first entry of the map is the least recently used.
      buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > ADDRESSES_MAX) buckets.delete(buckets.keys().next().value ?? '');
    },
  };
}
