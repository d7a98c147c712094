/** Starts the evaluation and the delivery of alerts on a timer, apart from requests. */
import { dayAt } from '../admission/window.ts';
import { createDelivering } from '../alerts/deliver-alerts.ts';
import { type AlertSources, evaluateAlerts } from '../alerts/evaluate-alerts.ts';
import type { CallDeps } from '../call/deps.ts';
import { bindingOf } from '../config/console-providers.ts';
import { ALERT_BINDING } from '../control/alert-commands.ts';
import type { CredentialSeal } from '../providers/credentials/credential-seal.ts';
import { type BindingCaps, inLayer } from '../store/ports/limits.ts';
import type { Store } from '../store/ports/store.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';

const TICK_MS = 5_000;
const SWEEP_MS = 3_600_000;
/** Longer than the windows of budgets, but for total ones: those are reported again after this. */
const KEPT_MS = 400 * 86_400_000;

interface AlertParts extends Pick<AlertSources, 'readSpends'> {
  readonly store: Pick<Store, 'alerts' | 'ledger'>;
  readonly deps: Pick<CallDeps, 'directory' | 'billing' | 'settings'>;
  readonly seal: CredentialSeal;
  readonly log: Pick<ProcessLog['log'], 'warn'>;
}

/** Returns the function that ends it. */
export function startAlerts(parts: AlertParts): () => void {
  const { seal, deps } = parts;
  const { directory } = deps;
  const { alerts, ledger } = parts.store;
  const nowMs = Date.now;
  const sources: AlertSources = {
    alerts,
    readSpends: parts.readSpends,
    readBalances: (account) => ledger.readBalances(account),
    budgetsOf: (account, atMs) => budgetsOf(deps, account, atMs),
    dayStart: (account, atMs) => dayAt(directory.accounts.get(account)?.timeZone ?? 'UTC', atMs).startMs,
    nameOf: ({ kind, id }) => (kind === 'key' ? (directory.keys.get(id)?.name ?? id) : id),
  };
  const deliver = createDelivering({
    alerts,
    fetch: createGuardedFetch((origin) => deps.settings.config.server.privateOrigins.includes(origin)),
    open({ id, origin, sealed }) {
      const { url, signing } = seal.open(bindingOf({ provider: ALERT_BINDING, name: id }, origin), sealed) ?? {};
      return url === undefined || signing === undefined ? null : { url, signing };
    },
    nowMs,
  });
  let isEvaluating = false;
  let isClosed = false;
  const warn = (cause: unknown) => {
    if (!isClosed) parts.log.warn({ cause: String(cause) }, 'alerts could not be evaluated or stored');
  };
  const tick = async () => {
    if (!isEvaluating) {
      isEvaluating = true;
      try {
        await evaluateAlerts(sources, nowMs());
      } catch (cause) {
        warn(cause);
      } finally {
        isEvaluating = false;
      }
    }
    await deliver().catch(warn);
  };
  const timer = setInterval(() => void tick(), TICK_MS);
  const sweeping = setInterval(() => void alerts.sweepDeliveries(nowMs() - KEPT_MS).catch(warn), SWEEP_MS);
  return () => {
    isClosed = true;
    clearInterval(timer);
    clearInterval(sweeping);
  };
}

/** The budgets of the account, its workspaces and its keys, in both layers. */
function budgetsOf({ directory, billing }: AlertParts['deps'], account: string, nowMs: number): readonly BindingCaps[] {
  const workspaces = [...directory.workspaces.values()].filter(({ accountId }) => accountId === account);
  const keys = [...directory.keys.values()].filter((key) => key.accountId === account && key.status !== 'revoked');
  const subjects = [
    { kind: 'account', id: account } as const,
    ...workspaces.map(({ id }) => ({ kind: 'workspace', id }) as const),
    ...keys.map(({ id }) => ({ kind: 'key', id }) as const),
  ];
  return subjects.flatMap((subject) =>
    (['operator', 'account'] as const)
      .map((layer) => billing.rules.budgetOf(inLayer(subject, layer), account, billing.budgetZoneOf, nowMs))
      .filter((binding) => binding !== null),
  );
}
