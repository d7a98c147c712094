/**
 * Reads what rules of alerts observe besides money: keys, days of spend, providers, credentials, retirements,
 * invoices.
 */
import { dayAt } from '../admission/window.ts';
import type { AlertSources } from '../alerts/evaluate-alerts.ts';
import type { ObservedRetirement } from '../alerts/find-operator.ts';
import type { CallDeps } from '../call/deps.ts';
import { findRetirement } from '../catalog/retirements.ts';
import { EVERY_CALL } from '../console-api/logs/call-condition.ts';
import { readStates, type StateParts } from '../console-api/models/routing-states.ts';
import type { ReconciliationReader } from '../store/ports/books/reconciliation.ts';
import type { UsageReader } from '../store/ports/usage.ts';

/** After a start, the last uses of keys are read in the background. */
const USES_KNOWN_AFTER_MS = 60_000;
const WEEKS = 4;
const WEEK_DAYS = 7;
const TIME_MS_MAX = 20_000;
/** Imports that are read each time: more than an operator makes between two looks. */
const IMPORTS = 20;

interface Parts {
  readonly deps: Pick<CallDeps, 'directory'>;
  readonly states: StateParts;
  readonly usage: Pick<UsageReader, 'readUsage'>;
  readonly reconciliations: ReconciliationReader;
  readonly troubles: AlertSources['troubles'];
  readonly startedAtMs: number;
  zoneOf(account: string): string;
}

type Observed = Pick<
  AlertSources,
  'keysOf' | 'readDays' | 'providers' | 'credentials' | 'retirements' | 'troubles' | 'readReconciliations'
>;

export function observeForAlerts(parts: Parts): Observed {
  const { deps, states, usage, reconciliations, troubles, startedAtMs, zoneOf } = parts;
  const { directory } = deps;
  return {
    troubles,
    keysOf(account) {
      if (Date.now() - startedAtMs < USES_KNOWN_AFTER_MS) return [];
      return [...directory.keys.values()]
        .filter(({ accountId, status }) => accountId === account && status === 'active')
        .map(({ id, name, expiresAtMs, createdAtMs, hash, previousHash }) => {
          const uses = [hash, previousHash].map((one) => (one === null ? undefined : directory.byHash.get(one)?.use));
          return { id, name, expiresAtMs, usedAtMs: Math.max(createdAtMs, ...uses.map((use) => use?.atMs ?? 0)) };
        });
    },
    async readDays(account, nowMs) {
      const zone = zoneOf(account);
      const days = lastDays(zone, nowMs);
      const [first = nowMs] = days;
      const { spend } = await usage.readUsage({
        spend: {
          tenant: { account, workspaces: null },
          condition: EVERY_CALL,
          fromMs: first,
          toMs: nowMs + 1,
          buckets: days,
          timeZone: zone,
          by: [],
          owners: null,
          latencies: 'none',
          rankedBy: 'cost',
          drawn: 0,
          timeMsMax: TIME_MS_MAX,
        },
      });
      const costs = spend.totals.map((sums) => sums?.cost ?? 0n);
      return {
        startMs: days.at(-1) ?? nowMs,
        weekday: new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: zone }).format(nowMs),
        today: costs.at(-1) ?? 0n,
        before: costs.slice(0, -1).filter((_, nth) => nth % WEEK_DAYS === 0),
      };
    },
    providers: () => readStates(states).providers,
    credentials: () =>
      readStates(states).credentials.map(({ provider, name, state, why }) => ({
        provider,
        name,
        why: state === 'benched' ? why : null,
      })),
    retirements: () => listRetirements(states.models),
    async readReconciliations() {
      const found = await Promise.all((await reconciliations.list(IMPORTS)).map(({ id }) => reconciliations.read(id)));
      return found.filter((one) => one !== null);
    },
  };
}

/** The starts of today and of the days of the last weeks, from the same weekday on. */
function lastDays(zone: string, nowMs: number): readonly number[] {
  const days = [dayAt(zone, nowMs).startMs];
  while (days.length <= WEEKS * WEEK_DAYS) days.unshift(dayAt(zone, (days[0] ?? nowMs) - 1).startMs);
  return days;
}

/** One for each model at a provider, with the public names that lead to it. */
function listRetirements({ running }: StateParts['models']): readonly ObservedRetirement[] {
  const found = new Map<string, ObservedRetirement>();
  for (const { name, targets } of new Set(running().models.values())) {
    for (const { model, provider } of targets) {
      const retirement = findRetirement(provider, model);
      if (retirement === null) continue;
      const place = `${provider.name} ${model}`;
      const names = [...(found.get(place)?.names ?? []), name];
      found.set(place, { provider: provider.name, model, on: retirement.on, names });
    }
  }
  return [...found.values()];
}
