/** Keeps alert rules with what they found, as a running server would. */
import type { AlertDelivery, AlertRule } from '../../src/store/ports/books/alerts.ts';
import type { Store } from '../../src/store/ports/store.ts';

const HOUR_MS = 3_600_000;

const RULE: Omit<AlertRule, 'id' | 'name' | 'createdAtMs' | 'evaluatedAtMs'> = {
  account: 'default',
  event: 'budget',
  threshold: 80n,
  channel: 'inbox',
  receiver: '',
  sealed: null,
  renotifyMs: null,
  quietFrom: null,
  quietTo: null,
  mutedUntilMs: null,
};

/** `hoursAgo`, and how it was delivered. */
type Seeded = Pick<AlertDelivery, 'rule' | 'text' | 'status' | 'attempts' | 'error'> & { readonly hoursAgo: number };

const LIMITS = { label: 'Edit limits', page: '/app/limits' };
const FOUND: readonly Seeded[] = [
  {
    rule: 'alr_budget',
    text: 'Daily budget of key nightly evaluation reached 84%: $16.80 of $20.00. Resets 2026-11-25 00:00 UTC.',
    hoursAgo: 0.2,
    ...{ status: 'delivered', attempts: 0, error: null },
  },
  {
    rule: 'alr_slack',
    text: 'Monthly budget of workspace research is used up: $250.31 of $250.00. Resets 2026-12-01 00:00 UTC.',
    hoursAgo: 5,
    ...{ status: 'failed', attempts: 31, error: 'https://hooks.slack.invalid answered 503' },
  },
  {
    rule: 'alr_slack',
    text: 'Daily budget of end user 4711 reached 81%: $0.81 of $1.00. Resets 2026-11-24 00:00 UTC.',
    hoursAgo: 29,
    ...{ status: 'delivered', attempts: 2, error: null },
  },
];

/** The server is stopped. */
export async function seedAlerts({ alerts }: Pick<Store, 'alerts'>, nowMs: number): Promise<void> {
  const times = { createdAtMs: nowMs - 240 * HOUR_MS, evaluatedAtMs: nowMs };
  const slack = { channel: 'slack', receiver: 'https://hooks.slack.invalid' } as const;
  const quiet = { quietFrom: 1_320, quietTo: 420 };
  await alerts.createRule({ ...RULE, id: 'alr_budget', name: 'Budget used: 80%', ...times }, []);
  await alerts.createRule({ ...RULE, id: 'alr_slack', name: 'Budgets to #platform', ...slack, ...quiet, ...times }, []);
  const muted = { event: 'balance', threshold: 10_000_000_000n, mutedUntilMs: nowMs + 96 * HOUR_MS } as const;
  await alerts.createRule({ ...RULE, id: 'alr_balance', name: 'Low balance: below $10.00', ...muted, ...times }, []);
  await alerts.enqueue(
    FOUND.map(({ hoursAgo, ...found }, nth) => {
      const atMs = nowMs - hoursAgo * HOUR_MS;
      const delivery = { ...found, id: `dlv_${nth}`, event: `${nth}`, account: 'default', remedy: LIMITS };
      return { delivery: { ...delivery, createdAtMs: Math.round(atMs), nextAtMs: Math.round(atMs) }, notAfterMs: null };
    }),
  );
}
