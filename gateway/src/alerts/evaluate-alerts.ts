/**
 * Evaluates the rules of alerts, and enqueues a delivery for each event that they find. What was found before is known
 * by its id here, and by its event in the store, so that nothing is reported twice, also after a crash.
 */
import type { AlertRule, AlertStore, FoundAlert } from '../store/ports/books/alerts.ts';
import { findBalances, findBudgets, findEndedBudgets, type MoneySources } from './find-money.ts';

export interface AlertSources extends MoneySources {
  readonly alerts: Pick<AlertStore, 'readRules' | 'enqueue' | 'saveEvaluated'>;
}

/** How often the windows that ended are read again, and the time of evaluation is kept. */
const LOOK_BACK_EVERY_MS = 600_000;
const MARK_EVERY_MS = 60_000;
const KNOWN_MAX = 100_000;

/** Returns a function that evaluates all rules. Run it again only after it has resolved. */
export function createEvaluation(sources: AlertSources): (nowMs: number) => Promise<void> {
  /** Ids of deliveries that are in the store. */
  const known = new Set<string>();
  let lookedBackAtMs: number | null = null;
  let markedAtMs: number | null = null;

  async function keep(found: readonly FoundAlert[]): Promise<void> {
    const news = found.filter(({ delivery }) => !known.has(delivery.id));
    if (news.length === 0) return;
    await sources.alerts.enqueue(news);
    if (known.size + news.length > KNOWN_MAX) known.clear();
    for (const { delivery } of news) known.add(delivery.id);
  }

  return async (nowMs) => {
    const rules = (await sources.alerts.readRules()).filter((rule) => !isMuted(rule, nowMs));
    if (rules.length === 0) return;
    const looksBack = lookedBackAtMs === null || nowMs - lookedBackAtMs >= LOOK_BACK_EVERY_MS;
    const faults: unknown[] = [];
    for (const [account, own] of Map.groupBy(rules, (rule) => rule.account)) {
      for (const find of chooseFinders(sources, account, own, nowMs, looksBack)) {
        try {
          await keep(await find());
        } catch (cause) {
          faults.push(cause);
        }
      }
    }
    if (looksBack) lookedBackAtMs = nowMs;
    // The mark stays, so that what could not be read now is in a later look back.
    if (faults.length > 0) throw faults[0];
    if (markedAtMs !== null && nowMs - markedAtMs < MARK_EVERY_MS) return;
    await sources.alerts.saveEvaluated(nowMs);
    markedAtMs = nowMs;
  };
}

/** What reads the events of an account's rules, each apart: a fault of one keeps no other from being found. */
function chooseFinders(
  sources: AlertSources,
  account: string,
  own: readonly AlertRule[],
  nowMs: number,
  looksBack: boolean,
): readonly (() => Promise<readonly FoundAlert[]>)[] {
  const of = (event: AlertRule['event']) => own.filter((rule) => rule.event === event);
  const [budget, balance] = [of('budget'), of('balance')];
  return [
    ...(budget.length > 0 ? [() => findBudgets(sources, budget, account, nowMs)] : []),
    ...(budget.length > 0 && looksBack ? [() => findEndedBudgets(sources, budget, account, nowMs)] : []),
    ...(balance.length > 0 ? [() => findBalances(sources, balance, account, nowMs)] : []),
  ];
}

export function isMuted({ mutedUntilMs }: AlertRule, nowMs: number): boolean {
  return mutedUntilMs !== null && nowMs < mutedUntilMs;
}
