/** Serves the overview of an account's cost and traffic in one request. */
import { HEALTH_RULE, HEALTH_WINDOW_MS } from '../../routing/health/provider-health.ts';
import type { SavedViewStore } from '../../store/ports/calls/saved-views.ts';
import type { UsageSums } from '../../store/ports/usage.ts';
import type { Reply } from '../contract/contract.ts';
import { viewSearch } from '../contract/saved-views.ts';
import type { Actor, Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { EVERY_LOG } from '../logs/call-condition.ts';
import { askerOf, tenantOf } from './usage.ts';
import { orRefuse, type UsageParts } from './usage-parts.ts';
import { cutRange } from './usage-range.ts';
import { renderGlance } from './usage-view.ts';

type HomeReply = Reply<'GET /accounts/{account}/home'>;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const RANGES = {
  '24h': { lengthMs: 24 * HOUR_MS, step: 'hour' },
  '7d': { lengthMs: 7 * 24 * HOUR_MS, step: 'hour' },
  '30d': { lengthMs: 30 * 24 * HOUR_MS, step: 'day' },
} as const;
const TOP = 5;

interface OverviewParts extends UsageParts {
  readonly views: Pick<SavedViewStore, 'readViews' | 'readPinned'>;
}

export function overviewHandlers(parts: OverviewParts) {
  return {
    'GET /accounts/{account}/filter-names': async ({ tenancy: { account, workspaces } }) => {
      const labels = await parts.labelsOf(account);
      return { names: labels.namesToChoose(workspaces) };
    },
    'GET /accounts/{account}/home': async ({ tenancy, actor, query }) => {
      const { account, workspaces } = tenancy;
      const { lengthMs, step } = RANGES[query.range];
      const nowMs = parts.nowMs();
      const fromMs = beginningOf(lengthMs, nowMs);
      const iso = (atMs: number) => new Date(atMs).toISOString();
      const timeZone = parts.timeZoneOf(account);
      const { buckets } = cutRange({ from: iso(fromMs), to: iso(nowMs), step }, timeZone);
      const ask = askerOf(parts, tenancy);
      const isWhole = workspaces === null;
      const [labels, { all, before, models, keys, providers, lately }, budget, balance, pinned] = await Promise.all([
        parts.labelsOf(account),
        orRefuse(
          parts.usage.readUsage({
            all: ask({ fromMs, toMs: nowMs, buckets, by: [], latencies: 'buckets' }),
            before: ask({ fromMs: fromMs - (nowMs - fromMs), toMs: fromMs, by: [], latencies: 'sums' }),
            models: ask({ fromMs, toMs: nowMs, by: ['model'] }),
            keys: ask({ fromMs, toMs: nowMs, by: ['key'] }),
            providers: ask({ fromMs, toMs: nowMs, by: ['provider'] }),
            lately: ask({ fromMs: nowMs - HEALTH_WINDOW_MS, toMs: nowMs, by: ['provider'] }),
          }),
        ),
        isWhole ? parts.readBudget(account) : null,
        isWhole ? parts.readBalance(account) : null,
        readPinnedView(parts.views, tenancy, actor),
      ]);
      return {
        sums: renderGlance(all.total),
        before: renderGlance(before.total),
        time_zone: timeZone,
        buckets: buckets.map(iso),
        series: all.totals.map((sums) => (sums === null ? null : renderGlance(sums))),
        models: models.groups
          .slice(0, TOP)
          .flatMap(({ values: [model], sums: { requests, cost } }) =>
            typeof model === 'string' ? [{ model, requests, cost_nano_usd: cost.toString() }] : [],
          ),
        keys: keys.groups
          .slice(0, TOP)
          .flatMap(({ values: [key], sums: { requests, cost } }) =>
            typeof key === 'string'
              ? [{ key, name: labels.keyName(key) ?? key, requests, cost_nano_usd: cost.toString() }]
              : [],
          ),
        budget:
          budget === null
            ? null
            : {
                window: budget.window,
                limit_nano_usd: budget.limit.toString(),
                used_nano_usd: budget.used.toString(),
                held_nano_usd: budget.held.toString(),
              },
        balance_nano_usd: balance === null ? null : balance.toString(),
        providers: providers.groups.flatMap(({ values: [name] }) =>
          typeof name === 'string'
            ? [renderProvider(parts, name, lately.groups.find(({ values }) => values[0] === name)?.sums ?? null)]
            : [],
        ),
        health_rule: HEALTH_RULE,
        pinned_view: pinned,
        has_keys: labels.hasKeys(workspaces),
        has_calls: all.total.requests > 0 || before.total.requests > 0 || (await hasCalls(parts, tenancy)),
      };
    },
  } satisfies Partial<Handlers>;
}

/** The whole hour from which the pages of usage and logs count the same range, so that their sums are the same. */
function beginningOf(lengthMs: number, nowMs: number): number {
  const endMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  return Math.floor((endMs - lengthMs) / HOUR_MS) * HOUR_MS;
}

/** Null: none, the caller is a key, or may not list requests. */
async function readPinnedView(
  views: OverviewParts['views'],
  { account, may }: Tenancy,
  actor: Actor,
): Promise<HomeReply['pinned_view']> {
  if (actor.kind !== 'person' || !may('logs.read')) return null;
  const id = await views.readPinned(account, actor.id);
  if (id === null) return null;
  const view = (await views.readViews(account, actor.id)).find((one) => one.id === id);
  return view === undefined ? null : { id, name: view.name, search: viewSearch.parse(view.search) };
}

/** The state covers the provider's requests of all accounts; the counts cover this account over the same time. */
function renderProvider(
  { readHealth }: UsageParts,
  name: string,
  sums: UsageSums | null,
): HomeReply['providers'][number] {
  const { state } = readHealth(name);
  // Before the first request since a start the state is unknown, so older records are not counted.
  if (state === 'idle') return { name, state, calls: 0, errors: 0 };
  return { name, state, calls: sums?.requests ?? 0, errors: sums?.serverErrors ?? 0 };
}

async function hasCalls({ usage }: UsageParts, tenancy: Tenancy): Promise<boolean> {
  const page = await orRefuse(usage.readLogs({ tenant: tenantOf(tenancy), ...EVERY_LOG, limit: 1 }));
  return page.calls.length > 0 || page.next !== null;
}
