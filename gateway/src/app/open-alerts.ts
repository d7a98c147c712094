/** Starts the evaluation and the delivery of alerts on a timer, apart from requests. */
import { minuteAt } from '../admission/window.ts';
import { createDelivering } from '../alerts/deliver-alerts.ts';
import { type AlertSources, createEvaluation } from '../alerts/evaluate-alerts.ts';
import type { MoneySources } from '../alerts/find-money.ts';
import { readBudgetChanges } from '../alerts/read-budget-changes.ts';
import type { CallDeps } from '../call/deps.ts';
import type { StateParts } from '../console-api/models/routing-states.ts';
import { createMailer } from '../mail/mailer.ts';
import { OPERATOR_ACCOUNT } from '../people/roles.ts';
import type { CredentialSeal } from '../providers/credentials/credential-seal.ts';
import type { BindingCaps, Subject } from '../store/ports/limits.ts';
import type { Store } from '../store/ports/store.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import { observeForAlerts } from './observe-for-alerts.ts';
import { reachHooks } from './open-hooks.ts';
import { accountOf } from './open-money.ts';

const TICK_MS = 5_000;
const SWEEP_MS = 3_600_000;
/** Longer than the windows of budgets, but for total ones: those are reported again after this. */
const KEPT_MS = 400 * 86_400_000;

interface AlertParts extends Pick<AlertSources, 'readSpends' | 'troubles'> {
  readonly store: Pick<Store, 'alerts' | 'audit' | 'ledger' | 'usage' | 'reconciliations'>;
  readonly states: StateParts;
  readonly deps: Pick<CallDeps, 'directory' | 'billing' | 'settings'>;
  readonly seal: CredentialSeal;
  readonly log: Pick<ProcessLog['log'], 'warn'>;
  /** The prefix of the console's links. */
  baseUrl(): string;
}

/** Returns the function that ends it. */
export function startAlerts(parts: AlertParts): () => void {
  const { seal, deps, baseUrl } = parts;
  const { alerts } = parts.store;
  const nowMs = Date.now;
  const { states, troubles } = parts;
  const observed = observeForAlerts({
    ...{ deps, states, troubles },
    usage: parts.store.usage,
    reconciliations: parts.store.reconciliations,
    startedAtMs: nowMs(),
    zoneOf: (account) => zoneOf(deps, account),
  });
  const evaluate = createEvaluation({ alerts, ...readMoney(parts), ...observed });
  const deliver = createDelivering({
    alerts,
    ...reachHooks('alert rule', seal, () => deps),
    sendMail: createMailer(() => deps.settings.config.server),
    minuteOf: ({ account }, atMs) => minuteAt(zoneOf(deps, account), atMs),
    consoleUrl: () => (deps.settings.config.server.console ? baseUrl() : null),
    nowMs,
  });
  let isEvaluating = false;
  let isClosed = false;
  let warned: string | null = null;
  const warn = (cause: unknown) => {
    // Every tick meets the same trouble while it lasts.
    if (!isClosed && warned !== String(cause)) {
      parts.log.warn({ cause: String(cause) }, 'alerts could not be evaluated or stored');
    }
    warned = String(cause);
  };
  const tick = async () => {
    if (!isEvaluating) {
      isEvaluating = true;
      try {
        await evaluate(nowMs());
        warned = null;
      } catch (cause) {
        warn(cause);
      } finally {
        isEvaluating = false;
      }
    }
    await deliver().catch(warn);
  };
  void tick();
  const timer = setInterval(() => void tick(), TICK_MS);
  const sweeping = setInterval(() => void alerts.sweepDeliveries(nowMs() - KEPT_MS).catch(warn), SWEEP_MS);
  return () => {
    isClosed = true;
    clearInterval(timer);
    clearInterval(sweeping);
  };
}

function zoneOf({ directory }: AlertParts['deps'], account: string): string {
  return directory.accounts.get(account)?.timeZone ?? 'UTC';
}

function readMoney({ store, deps, readSpends }: AlertParts): MoneySources {
  const { directory, billing } = deps;
  const { rules, limits, budgetZoneOf } = billing;
  /** The budgets of a model apply to all accounts together: they are the operator's. */
  const ownerOf = (subject: Subject) => (subject.kind === 'model' ? OPERATOR_ACCOUNT : accountOf(subject, directory));
  /** The subjects of one evaluation, grouped once for all accounts. */
  let grouped: { readonly atMs: number; readonly subjects: ReadonlyMap<string | null, readonly Subject[]> } | null =
    null;
  return {
    readSpends,
    readBudgetChanges: (account, sinceMs) => readBudgetChanges(store.audit, account, sinceMs),
    readBalances: (account) => store.ledger.readBalances(account),
    budgetsOf(account, atMs) {
      if (grouped?.atMs !== atMs) grouped = { atMs, subjects: Map.groupBy(rules.subjects(), ownerOf) };
      return (grouped.subjects.get(account) ?? [])
        .map((subject) => rules.budgetOf(subject, account, budgetZoneOf, atMs))
        .filter((binding) => binding !== null);
    },
    windowBefore(account, { subject, windowStartMs }) {
      const before = rules.budgetOf(subject, account, budgetZoneOf, windowStartMs - 1);
      return before !== null && before.windowStartMs < windowStartMs ? before : null;
    },
    async readSpent(bindings) {
      const isUnknown = await Promise.all(bindings.map(async (one) => (await limits.store.readBudget(one)) === null));
      // Those of end users are forgotten while they are idle, and are known while they spend.
      const unknown = bindings.filter(({ subject }, index) => isUnknown[index] === true && subject.kind !== 'end_user');
      await Promise.all(unknown.map((binding) => limits.seeds.seedBudgetAhead(binding)));
      return Promise.all(bindings.map(async (one) => (await limits.store.readBudget(one))?.settled ?? null));
    },
    nameOf: ({ kind, id }) => nameOf(deps, kind, id),
  };
}

function nameOf({ directory }: AlertParts['deps'], kind: BindingCaps['subject']['kind'], id: string): string {
  if (kind === 'key') return directory.keys.get(id)?.name ?? id;
  return kind === 'end_user' ? id.slice(id.indexOf('/') + 1) : id;
}
