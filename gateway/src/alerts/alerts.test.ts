/** Tests that alerts are found once and delivered at least once, and what receivers get. */
import { afterEach, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { Secret } from '../lib/secret.ts';
import { sampleRule } from '../store/contracts/alerts-contract.ts';
import type { AlertRule } from '../store/ports/books/alerts.ts';
import type { BindingCaps } from '../store/ports/limits.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';
import { afterAttempt, createDelivering } from './deliver-alerts.ts';
import { type AlertSources, evaluateAlerts } from './evaluate-alerts.ts';

const newFolder = temporaryFolders();
const servers: { stop(force: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

type Store = Awaited<ReturnType<typeof openStore>>;
const SIGNING = new Secret('whsec_test');

function receive(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

function deliveringTo(store: Store, addresses: Readonly<Record<string, string>>) {
  const trusted = new Set(Object.values(addresses));
  return createDelivering({
    alerts: store.alerts,
    fetch: createGuardedFetch((origin) => trusted.has(origin)),
    open: ({ id }: AlertRule) => ({ url: new Secret(`${addresses[id] ?? ''}/hook`), signing: SIGNING }),
    nowMs: Date.now,
  });
}

function budgetOf(id: string, amount = 100n): BindingCaps {
  const budget = { window: 'day', amount } as const;
  const caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget };
  return { subject: { kind: 'key', id }, caps, windowStartMs: 0, windowEndMs: 1 };
}

function sourcesOf(store: Store, budgets: readonly BindingCaps[], spent: bigint, available = 0n): AlertSources {
  const amounts = { held: 0n, charged: 0n, writtenOff: 0n, toppedUp: 0n, absorbedAttempts: 0n };
  return {
    alerts: store.alerts,
    budgetsOf: (account) => (account === 'default' ? budgets : []),
    readSpends: async (group) => new Map(group.map(({ subject }) => [subject.id, spent])),
    readBalances: async (account) => [{ account, mode: 'prepaid', available, ...amounts }],
    dayStart: (_, nowMs) => Math.floor(nowMs / 100) * 100,
    nameOf: ({ id }) => id,
  };
}

test('a budget alerts from its percentage on, once per window and amount', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('one'), []);
  const count = async () => (await store.alerts.readDeliveries('one', 10)).length;
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 79n), 1);
  expect(await count()).toBe(0);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 80n), 2);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 95n), 3);
  expect(await count()).toBe(1);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a', 110n)], 95n), 4);
  await evaluateAlerts(sourcesOf(store, [{ ...budgetOf('a'), windowStartMs: 1 }], 95n), 5);
  expect(await count()).toBe(3);
  await store.close();
});

test('a low balance alerts once a day', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('low', { event: 'balance', threshold: 5n }), []);
  for (const atMs of [1, 2, 101]) await evaluateAlerts(sourcesOf(store, [], 0n, 4n), atMs);
  await evaluateAlerts(sourcesOf(store, [], 0n, 5n), 201);
  expect((await store.alerts.readDeliveries('low', 10)).map(({ createdAtMs }) => createdAtMs)).toEqual([101, 1]);
  await store.close();
});

test('a webhook is signed over timestamp and body, and a Slack message is its text', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const bodies: string[] = [];
  const address = receive(async (request) => {
    const body = await request.text();
    const signed = `${request.headers.get('tollgate-timestamp')}.${body}`;
    const expected = createHmac('sha256', SIGNING.reveal()).update(signed).digest('hex');
    bodies.push(body);
    return new Response(null, {
      status: request.headers.get('tollgate-signature') === `sha256=${expected}` ? 204 : 401,
    });
  });
  await store.alerts.createRule(sampleRule('hook'), []);
  await store.alerts.createRule(sampleRule('slack', { channel: 'slack' }), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('prod')], 80n), 1);
  await deliveringTo(store, { hook: address, slack: address })();
  const shown = bodies.map((body) => JSON.parse(body)).sort((one) => (one.id === undefined ? 1 : -1));
  expect(shown[0]).toMatchObject({ rule: 'hook', account: 'default' });
  expect(Object.keys(shown[1])).toEqual(['text']);
  for (const rule of ['hook', 'slack'])
    expect(await store.alerts.readDeliveries(rule, 2)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  await store.close();
});

test('deliveries repeated after a lost result have the same id; a dead receiver delays no other', async () => {
  const dataDir = newFolder();
  const seen = new Map<string, number>();
  const alive = receive((request) => {
    const id = request.headers.get('tollgate-delivery') ?? '';
    seen.set(id, (seen.get(id) ?? 0) + 1);
    return new Response();
  });
  const stuck = Promise.withResolvers<Response>();
  const dead = receive(() => stuck.promise);
  const budgets = Array.from({ length: 100 }, (_, n) => budgetOf(`key_${n}`));
  let store = await openStore({ dataDir });
  await store.alerts.createRule(sampleRule('alive'), []);
  await store.alerts.createRule(sampleRule('dead'), []);
  await evaluateAlerts(sourcesOf(store, budgets, 80n), Date.now());
  // The process ends after the receiver got the first one, and before that is stored.
  const lost = deliveringTo(
    { ...store, alerts: { ...store.alerts, saveAttempt: () => Promise.reject(new Error('killed')) } },
    { alive, dead: alive },
  );
  await expect(lost()).rejects.toThrow('killed');
  await store.close();
  store = await openStore({ dataDir });
  await evaluateAlerts(sourcesOf(store, budgets, 90n), Date.now());
  const deliver = deliveringTo(store, { alive, dead });
  const all = deliver();
  const delivered = async () =>
    (await store.alerts.readDeliveries('alive', 200)).filter((one) => one.status === 'delivered');
  while ((await delivered()).length < 100) await Bun.sleep(5);
  const ids = new Set((await delivered()).map(({ id }) => id));
  expect(ids.size).toBe(100);
  for (const id of ids) expect(seen.has(id)).toBe(true);
  expect([...seen.values()].some((times) => times > 1)).toBe(true);
  expect(await store.alerts.readDue('dead', Date.now(), 200)).toHaveLength(100);
  stuck.resolve(new Response(null, { status: 503 }));
  await all;
  const [failed] = (await store.alerts.readDeliveries('dead', 200)).filter(({ attempts }) => attempts > 0);
  expect(failed).toMatchObject({ status: 'pending', attempts: 1, error: `https://a.test answered 503` });
  await store.close();
});

test('failed attempts back off up to an hour, and end after a day', async () => {
  const fresh = {
    id: 'a',
    rule: 'one',
    text: '',
    createdAtMs: 0,
    status: 'pending',
    nextAtMs: 0,
    error: null,
  } as const;
  expect(afterAttempt({ ...fresh, attempts: 0 }, 'x', 7)).toMatchObject({
    nextAtMs: 5_007,
    attempts: 1,
    status: 'pending',
  });
  expect(afterAttempt({ ...fresh, attempts: 30 }, 'x', 0).nextAtMs).toBe(3_600_000);
  expect(afterAttempt({ ...fresh, attempts: 3 }, 'x', 86_400_000).status).toBe('failed');
});

test('a receiver at a private address, or without https, is not reached', async () => {
  const store = await openStore({ dataDir: newFolder() });
  let hits = 0;
  const address = receive(() => {
    hits++;
    return new Response();
  });
  await store.alerts.createRule(sampleRule('one'), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 80n), Date.now());
  const deliver = createDelivering({
    alerts: store.alerts,
    fetch: createGuardedFetch(() => false),
    open: () => ({ url: new Secret(address.replace('http:', 'https:')), signing: SIGNING }),
    nowMs: Date.now,
  });
  await deliver();
  expect(hits).toBe(0);
  const [delivery] = await store.alerts.readDeliveries('one', 1);
  expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
  expect(delivery?.error).toMatch(/private|public|address/);
  await store.close();
});
