/**
 * Evaluates the rules of alerts, and enqueues a delivery for each event that they find. What was found before is known
 * by its id here, and by its event in the store, so that nothing is reported twice, also after a crash.
 */
import type { AlertRule, AlertStore, FoundAlert } from '../store/ports/books/alerts.ts';
import { findAnomalies, type ObservedDays } from './find-anomalies.ts';
import { findExpiringKeys, findUnusedKeys, type ObservedKey } from './find-keys.ts';
import { findBalances, findBudgets, findEndedBudgets, type MoneySources } from './find-money.ts';
import {
  findDifferences,
  findFailingProviders,
  findRefusedCredentials,
  findRetiringModels,
  findTroubles,
  type ObservedCredential,
  type ObservedProvider,
  type ObservedReconciliation,
  type ObservedRetirement,
  type ObservedTrouble,
} from './find-operator.ts';

export interface AlertSources extends MoneySources {
  readonly alerts: Pick<AlertStore, 'readRules' | 'enqueue' | 'saveEvaluated'>;
  /** The active keys of an account. */
  keysOf(account: string): readonly ObservedKey[];
  /** Spend by days; null: not known. */
  readDays(account: string, nowMs: number): Promise<ObservedDays | null>;
  providers(): readonly ObservedProvider[];
  credentials(): readonly ObservedCredential[];
  retirements(): readonly ObservedRetirement[];
  troubles(): readonly ObservedTrouble[];
  /** The last imports of providers' exports. */
  readReconciliations(): Promise<readonly ObservedReconciliation[]>;
}

/** How often the windows that ended and slow events are read, and the time of evaluation is kept. */
const LOOK_BACK_EVERY_MS = 600_000;
const MARK_EVERY_MS = 60_000;
const ASK_AGAIN_MS = 60_000;
const KNOWN_MAX = 100_000;

/** Returns a function that evaluates all rules. Run it again only after it has resolved. */
export function createEvaluation(sources: AlertSources): (nowMs: number) => Promise<void> {
  /** Ids of deliveries that the store was given, and when. */
  const known = new Map<string, number>();
  let lookedBackAtMs: number | null = null;
  let markedAtMs: number | null = null;

  async function keep(found: readonly FoundAlert[], nowMs: number): Promise<void> {
    const news = found.filter(({ delivery, notAfterMs }) => {
      const atMs = known.get(delivery.id);
      // The store decides when an event that lasts is due again.
      return atMs === undefined || (notAfterMs !== null && isSince(atMs, ASK_AGAIN_MS, nowMs));
    });
    if (news.length === 0) return;
    await sources.alerts.enqueue(news);
    if (known.size + news.length > KNOWN_MAX) known.clear();
    for (const { delivery } of news) known.set(delivery.id, nowMs);
  }

  return async (nowMs) => {
    const rules = (await sources.alerts.readRules()).filter((rule) => !isMuted(rule, nowMs));
    if (rules.length === 0) return;
    const looksBack = lookedBackAtMs === null || isSince(lookedBackAtMs, LOOK_BACK_EVERY_MS, nowMs);
    const faults: unknown[] = [];
    for (const [account, own] of Map.groupBy(rules, (rule) => rule.account)) {
      for (const find of chooseFinders(sources, account, own, nowMs, looksBack)) {
        try {
          await keep(await find(), nowMs);
        } catch (cause) {
          faults.push(cause);
        }
      }
    }
    if (looksBack) lookedBackAtMs = nowMs;
    // The mark stays, so that what could not be read now is in a later look back.
    if (faults.length > 0) throw faults[0];
    if (markedAtMs !== null && !isSince(markedAtMs, MARK_EVERY_MS, nowMs)) return;
    await sources.alerts.saveEvaluated(nowMs);
    markedAtMs = nowMs;
  };
}

/** Whether that long has passed; a clock that was set back since counts as time that passed. */
function isSince(atMs: number, forMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) >= forMs;
}

/**
 * What reads the events of an account's rules, each apart: a fault of one keeps no other from being found. `isSlow`:
 * also those that change within hours.
 */
function chooseFinders(
  sources: AlertSources,
  account: string,
  own: readonly AlertRule[],
  nowMs: number,
  isSlow: boolean,
): readonly (() => Promise<readonly FoundAlert[]> | readonly FoundAlert[])[] {
  const finders: (() => Promise<readonly FoundAlert[]> | readonly FoundAlert[])[] = [];
  for (const [event, rules] of Map.groupBy(own, (rule) => rule.event)) {
    if (SLOW_EVENTS.has(event) && !isSlow) continue;
    finders.push(() => findEvent(sources, event, rules, account, nowMs));
    if (event === 'budget' && isSlow) finders.push(() => findEndedBudgets(sources, rules, account, nowMs));
  }
  return finders;
}

const SLOW_EVENTS: ReadonlySet<AlertRule['event']> = new Set([
  'spend_anomaly',
  'key_expiring',
  'key_unused',
  'model_retiring',
  'reconciliation',
]);

function findEvent(
  sources: AlertSources,
  event: AlertRule['event'],
  rules: readonly AlertRule[],
  account: string,
  nowMs: number,
): Promise<readonly FoundAlert[]> | readonly FoundAlert[] {
  switch (event) {
    case 'budget':
      return findBudgets(sources, rules, account, nowMs);
    case 'balance':
      return findBalances(sources, rules, account, nowMs);
    case 'spend_anomaly':
      return sources.readDays(account, nowMs).then((days) => (days === null ? [] : findAnomalies(rules, days, nowMs)));
    case 'key_expiring':
      return findExpiringKeys(rules, sources.keysOf(account), nowMs);
    case 'key_unused':
      return findUnusedKeys(rules, sources.keysOf(account), nowMs);
    case 'provider_failing':
      return findFailingProviders(rules, sources.providers(), nowMs);
    case 'credential_refused':
      return findRefusedCredentials(rules, sources.credentials(), nowMs);
    case 'model_retiring':
      return findRetiringModels(rules, sources.retirements(), nowMs);
    case 'ledger_trouble':
      return findTroubles(rules, sources.troubles(), nowMs);
    case 'reconciliation':
      return sources.readReconciliations().then((found) => findDifferences(rules, found, nowMs));
  }
}

export function isMuted({ mutedUntilMs }: AlertRule, nowMs: number): boolean {
  return mutedUntilMs !== null && nowMs < mutedUntilMs;
}
