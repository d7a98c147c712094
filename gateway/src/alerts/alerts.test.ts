/** Tests that alerts are found once and delivered at least once, and what receivers get. */
import { afterEach, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { Secret } from '../lib/secret.ts';
import type { Mail, SendMail } from '../mail/mailer.ts';
import { sampleRule } from '../store/contracts/alerts-contract.ts';
import type { AlertRule } from '../store/ports/books/alerts.ts';
import type { BindingCaps } from '../store/ports/limits.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';
import { afterAttempt, createDelivering } from './deliver-alerts.ts';
import { type AlertSources, createEvaluation } from './evaluate-alerts.ts';

const newFolder = temporaryFolders();
const servers: { stop(force: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

type Store = Awaited<ReturnType<typeof openStore>>;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SIGNING = new Secret('whsec_test');

function receive(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

const neverSend: SendMail = () => Promise.reject(new Error('no email'));

function deliveringTo(
  store: Store,
  addresses: Readonly<Record<string, string>>,
  minuteOf = () => 0,
  nowMs: () => number = Date.now,
  sendMail: SendMail = neverSend,
) {
  const trusted = new Set(Object.values(addresses));
  return createDelivering({
    alerts: store.alerts,
    fetchFor: () => createGuardedFetch((origin) => trusted.has(origin)),
    sendMail,
    minuteOf,
    consoleUrl: () => 'https://gate.test',
    open: ({ id }: AlertRule) => ({ url: new Secret(`${addresses[id] ?? ''}/hook`), signing: SIGNING }),
    nowMs,
  });
}

function budgetOf(id: string, amount = 100n, day = 0): BindingCaps {
  const budget = { window: 'day', amount } as const;
  const caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget };
  return { subject: { kind: 'key', id }, caps, windowStartMs: day * DAY_MS, windowEndMs: (day + 1) * DAY_MS };
}

/** `spends`: by the day of the window; all keys spend the same. */
function sourcesOf(
  store: Store,
  budgets: readonly BindingCaps[],
  spends: bigint | readonly bigint[],
  available = 0n,
): AlertSources {
  const amounts = { held: 0n, charged: 0n, writtenOff: 0n, toppedUp: 0n, absorbedAttempts: 0n };
  const spentIn = ({ windowStartMs }: BindingCaps) =>
    typeof spends === 'bigint' ? spends : (spends[windowStartMs / DAY_MS] ?? 0n);
  return {
    alerts: store.alerts,
    budgetsOf: (account) => (account === 'default' ? budgets : []),
    readSpent: async (bindings) => bindings.map(spentIn),
    windowBefore: (_, binding) =>
      binding.windowStartMs === 0
        ? null
        : budgetOf(binding.subject.id, binding.caps.budget?.amount, binding.windowStartMs / DAY_MS - 1),
    readSpends: async (group) => new Map(group.map((binding) => [binding.subject.id, spentIn(binding)])),
    readBudgetChanges: async () => [],
    readBalances: async (account) => [{ account, mode: 'prepaid', available, ...amounts }],
    nameOf: ({ id }) => id,
    keysOf: () => [],
    readDays: async () => null,
    providers: () => [],
    credentials: () => [],
    retirements: () => [],
    troubles: () => [],
    readReconciliations: async () => [],
  };
}

/** As a process that has just started. */
const evaluateAlerts = (sources: AlertSources, nowMs: number) => createEvaluation(sources)(nowMs);

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
  await evaluateAlerts(
    sourcesOf(store, [{ ...budgetOf('a'), windowStartMs: 0, caps: budgetOf('a', 105n).caps }], 95n),
    5,
  );
  expect(await count()).toBe(3);
  await store.close();
});

test('troubles and windows that have ended are not reported again, however often the rule repeats', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('trouble', { event: 'ledger_trouble', renotifyMs: HOUR_MS }), []);
  await store.alerts.createRule(sampleRule('budget', { renotifyMs: HOUR_MS }), []);
  const trouble = { what: 'No writes', cause: 'disk full', sinceMs: 1 };
  for (const [atMs, untilMs, day] of [
    [DAY_MS - HOUR_MS, null, 0],
    [DAY_MS - 1, null, 0],
    [DAY_MS + HOUR_MS, DAY_MS, 1],
    [DAY_MS + 3 * HOUR_MS, DAY_MS, 1],
  ] as const) {
    const sources = sourcesOf(store, [budgetOf('a', 100n, day)], [90n, 0n]);
    await evaluateAlerts({ ...sources, troubles: () => [{ ...trouble, untilMs }] }, atMs);
  }
  const times = async (rule: string) =>
    (await store.alerts.readDeliveries(rule, 10)).map(({ createdAtMs }) => createdAtMs);
  expect(await times('trouble')).toEqual([DAY_MS - HOUR_MS]);
  expect(await times('budget')).toEqual([DAY_MS - HOUR_MS]);
  await store.close();
});

test('events that change slowly are looked for again at once after the clock was set back', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('unused', { event: 'key_unused', threshold: 90n }), []);
  const looked: number[] = [];
  let nowMs = 0;
  const keysOf = () => {
    looked.push(nowMs);
    return [];
  };
  const evaluate = createEvaluation({ ...sourcesOf(store, [], 0n), keysOf });
  for (nowMs of [9 * HOUR_MS, 9 * HOUR_MS + 5_000, 7 * HOUR_MS, 7 * HOUR_MS + 5_000, 8 * HOUR_MS])
    await evaluate(nowMs);
  expect(looked).toEqual([9 * HOUR_MS, 7 * HOUR_MS, 8 * HOUR_MS]);
  await store.close();
});

test('a low balance alerts once a day, or as often as the rule says', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const low = { event: 'balance', threshold: 5n } as const;
  await store.alerts.createRule(sampleRule('low', low), []);
  await store.alerts.createRule(sampleRule('often', { ...low, renotifyMs: HOUR_MS }), []);
  for (const atMs of [1, 2, HOUR_MS + 1, DAY_MS + 1]) await evaluateAlerts(sourcesOf(store, [], 0n, 4n), atMs);
  await evaluateAlerts(sourcesOf(store, [], 0n, 5n), 3 * DAY_MS);
  const times = async (rule: string) =>
    (await store.alerts.readDeliveries(rule, 10)).map(({ createdAtMs }) => createdAtMs);
  expect(await times('low')).toEqual([DAY_MS + 1, 1]);
  expect(await times('often')).toEqual([DAY_MS + 1, HOUR_MS + 1, 1]);
  await store.close();
});

test('a running server repeats what lasts when its time has come', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('low', { event: 'balance', threshold: 5n, renotifyMs: HOUR_MS }), []);
  const evaluate = createEvaluation(sourcesOf(store, [], 0n, 4n));
  // Within an hour of the clock another begins.
  const startMs = HOUR_MS / 2;
  for (let atMs = startMs; atMs < startMs + 3 * HOUR_MS; atMs += 300_000) await evaluate(atMs);
  const times = (await store.alerts.readDeliveries('low', 10)).map(({ createdAtMs }) => createdAtMs - startMs);
  expect(times).toEqual([2 * HOUR_MS, HOUR_MS, 0]);
  await store.close();
});

test('a budget that passed in a window that ended is found, once, and not one from before the rule', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const spends = [90n, 0n, 85n, 99n, 0n, 0n];
  await store.alerts.createRule(sampleRule('one', { createdAtMs: 2 * DAY_MS, evaluatedAtMs: 2 * DAY_MS }), []);
  // The server evaluated on day 2 for the last time, and starts on day 5.
  for (const atMs of [5 * DAY_MS + 1, 5 * DAY_MS + 2])
    await evaluateAlerts(sourcesOf(store, [budgetOf('a', 100n, 5)], spends), atMs);
  const texts = (await store.alerts.readDeliveries('one', 10)).map(({ text }) => text).sort();
  expect(texts).toEqual([
    'Daily budget of key a reached 85%: $0.000000085 of $0.0000001. Its window ended 1970-01-04 00:00 UTC.',
    'Daily budget of key a reached 99%: $0.000000099 of $0.0000001. Its window ended 1970-01-05 00:00 UTC.',
  ]);
  await store.close();
});

test('a window that ended is judged by the budget that it had', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('one'), []);
  const spends = [90n, 0n];
  const nowMs = DAY_MS + HOUR_MS / 2;
  const keys = ['raised', 'lowered', 'new', 'same', 'lowered-twice'];
  const change = (id: string, before: bigint | null, atMs = DAY_MS + 1_000) => ({
    subject: { kind: 'key', id } as const,
    atMs,
    before,
  });
  const sources = sourcesOf(
    store,
    keys.map((id) => budgetOf(id, id === 'raised' ? 200n : 100n, 1)),
    spends,
  );
  const changes = [
    change('raised', 100n),
    change('lowered', 120n),
    change('new', null),
    change('lowered-twice', 900n),
    change('lowered-twice', 150n, DAY_MS + 2_000),
  ];
  const own = { kind: 'key', id: 'same', layer: 'account' } as const;
  const read = async (_: string, sinceMs: number) =>
    [...changes, { subject: own, atMs: DAY_MS + 1_000, before: null }].filter(({ atMs }) => atMs >= sinceMs);
  await evaluateAlerts({ ...sources, readBudgetChanges: read }, nowMs);
  const texts = (await store.alerts.readDeliveries('one', 10)).map(({ text }) => /key (\S+)/.exec(text)?.[1]);
  expect(texts.sort()).toEqual(['raised', 'same']);
  await store.close();
});

test('a running server finds what was charged to a window after its end', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('one'), []);
  const spends = [79n, 0n];
  const evaluate = createEvaluation(sourcesOf(store, [budgetOf('a', 100n, 1)], spends));
  await evaluate(DAY_MS - 1);
  await evaluate(DAY_MS + 1_000);
  spends[0] = 80n;
  await evaluate(DAY_MS + 2_000);
  expect(await store.alerts.readDeliveries('one', 10)).toEqual([]);
  await evaluate(DAY_MS + 900_000);
  expect(await store.alerts.readDeliveries('one', 10)).toHaveLength(1);
  await store.close();
});

test('the fault of one account keeps no other from its alerts', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.alerts.createRule(sampleRule('low', { event: 'balance', threshold: 5n }), []);
  await store.alerts.createRule(sampleRule('one', { createdAtMs: 2 }), []);
  const sources = sourcesOf(store, [budgetOf('a')], 90n, 4n);
  const broken = { ...sources, readBalances: () => Promise.reject(new Error('no balance')) };
  const fault = await evaluateAlerts(broken, 5).catch((cause: unknown) => String(cause));
  expect(fault).toContain('no balance');
  expect(await store.alerts.readDeliveries('one', 10)).toHaveLength(1);
  await store.close();
});

test('a muted rule finds and sends nothing; in quiet hours it finds, and sends afterwards', async () => {
  const store = await openStore({ dataDir: newFolder() });
  let minute = 30;
  const seen: string[] = [];
  const address = receive(async (request) => {
    seen.push(JSON.parse(await request.text()).rule);
    return new Response();
  });
  const deliver = deliveringTo(store, { quiet: address, muted: address }, () => minute);
  await store.alerts.createRule(sampleRule('muted', { mutedUntilMs: Date.now() + DAY_MS }), []);
  await store.alerts.createRule(sampleRule('quiet', { quietFrom: 1_320, quietTo: 60 }), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 90n), Date.now());
  expect(await store.alerts.readDeliveries('muted', 10)).toEqual([]);
  await deliver();
  minute = 1_330;
  await deliver();
  expect(seen).toEqual([]);
  minute = 60;
  await deliver();
  expect(seen).toEqual(['quiet']);
  await store.close();
});

test('the inbox gets its alerts without a delivery, and names cannot address a Slack channel', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const bodies: string[] = [];
  const address = receive(async (request) => {
    bodies.push(JSON.parse(await request.text()).text);
    return new Response();
  });
  await store.alerts.createRule(sampleRule('in', { channel: 'inbox', receiver: '', sealed: null }), []);
  await store.alerts.createRule(sampleRule('slack', { channel: 'slack' }), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('<!channel>')], 90n), 1);
  await deliveringTo(store, { slack: address })();
  expect(await store.alerts.readDeliveries('in', 10)).toMatchObject([{ status: 'delivered', attempts: 0 }]);
  expect(bodies).toEqual([
    'Daily budget of key &lt;!channel&gt; reached 90%: $0.00000009 of $0.0000001. Resets 1970-01-02 00:00 UTC. <https://gate.test/app/keys/%3C!channel%3E|Raise budget>',
  ]);
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
  const remedy = { label: 'Raise budget', url: 'https://gate.test/app/keys/prod' };
  expect(shown[0]).toMatchObject({ rule: 'hook', account: 'default', event: 'budget', remedy });
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

test.each([
  ['deleted', (alerts: Store['alerts']) => alerts.deleteRule('one', [])],
  [
    'muted',
    (alerts: Store['alerts']) => alerts.changeRule(sampleRule('one', { mutedUntilMs: Date.now() + DAY_MS }), []),
  ],
  [
    'moved to the inbox',
    (alerts: Store['alerts']) =>
      alerts.changeRule(sampleRule('one', { channel: 'inbox', receiver: '', sealed: null }), []),
  ],
])('a rule that is %s while it sends sends no more', async (_, change) => {
  const store = await openStore({ dataDir: newFolder() });
  let hits = 0;
  const address = receive(async () => {
    hits += 1;
    await change(store.alerts);
    return new Response();
  });
  await store.alerts.createRule(sampleRule('one'), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a'), budgetOf('b'), budgetOf('c')], 90n), 1);
  await deliveringTo(store, { one: address })();
  expect(hits).toBe(1);
  await store.close();
});

test('a delivery whose result cannot be stored is not made again while the process runs', async () => {
  const store = await openStore({ dataDir: newFolder() });
  let hits = 0;
  let status = 204;
  const address = receive(() => {
    hits += 1;
    return new Response(null, { status });
  });
  await store.alerts.createRule(sampleRule('one'), []);
  let isFull = true;
  const saveAttempt: Store['alerts']['saveAttempt'] = (delivery) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.alerts.saveAttempt(delivery);
  let nowMs = Date.now();
  const deliver = deliveringTo(
    { ...store, alerts: { ...store.alerts, saveAttempt } },
    { one: address },
    () => 0,
    () => nowMs,
  );
  const deliverLater = () => {
    nowMs += 5_000;
    return deliver();
  };
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 80n), nowMs);
  for (let round = 0; round < 3; round += 1) await expect(deliverLater()).rejects.toThrow('the disk is full');
  expect(hits).toBe(1);
  isFull = false;
  await deliverLater();
  expect(hits).toBe(1);
  expect(await store.alerts.readDeliveries('one', 1)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  // A refused one is due again by its own time.
  [isFull, status] = [true, 503];
  await evaluateAlerts(sourcesOf(store, [budgetOf('b')], 80n), nowMs);
  for (let round = 0; round < 3; round += 1) await expect(deliverLater()).rejects.toThrow('the disk is full');
  expect(hits).toBe(2);
  [isFull, status] = [false, 204];
  await deliverLater();
  await deliverLater();
  expect(hits).toBe(3);
  expect(await store.alerts.readDeliveries('one', 1)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  await store.close();
});

test('failed attempts back off up to an hour, and end after a day and ten attempts', async () => {
  const fresh = {
    id: 'a',
    ...{ rule: 'one', account: 'default', event: 'a', text: '', remedy: null },
    createdAtMs: 0,
    status: 'pending',
    nextAtMs: 0,
    error: null,
  } as const;
  expect(afterAttempt({ ...fresh, attempts: 0 }, 'x', 7, 0)).toMatchObject({
    nextAtMs: 5_007,
    attempts: 1,
    status: 'pending',
  });
  expect(afterAttempt({ ...fresh, attempts: 30 }, 'x', 0, 0).nextAtMs).toBe(3_600_000);
  expect(afterAttempt({ ...fresh, attempts: 30 }, 'x', DAY_MS - 1, 0).status).toBe('pending');
  expect(afterAttempt({ ...fresh, attempts: 30 }, 'x', DAY_MS, 0).status).toBe('failed');
  expect(afterAttempt({ ...fresh, attempts: 8 }, 'x', 9 * DAY_MS, 0).status).toBe('pending');
  expect(afterAttempt({ ...fresh, attempts: 9 }, 'x', 9 * DAY_MS, 0).status).toBe('failed');
  // Quiet hours do not count.
  expect(afterAttempt({ ...fresh, attempts: 30 }, 'x', DAY_MS, 1).status).toBe('pending');
});

test('a delivery that waited for a day, such as while the server was stopped, is tried as often as others', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const createdAtMs = Date.now() - DAY_MS;
  let nowMs = Date.now();
  let refusals = 9;
  const address = receive(() => new Response(null, { status: refusals-- > 0 ? 503 : 204 }));
  await store.alerts.createRule(sampleRule('one'), []);
  await evaluateAlerts(sourcesOf(store, [budgetOf('a')], 80n), createdAtMs);
  const deliver = deliveringTo(
    store,
    { one: address },
    () => 0,
    () => nowMs,
  );
  const read = async () => (await store.alerts.readDeliveries('one', 1))[0];
  await deliver();
  expect(await read()).toMatchObject({ status: 'pending', attempts: 1 });
  for (let round = 0; round < 9; round += 1) {
    nowMs += HOUR_MS;
    await deliver();
  }
  expect(await read()).toMatchObject({ status: 'delivered', attempts: 10 });
  await store.close();
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
    fetchFor: () => createGuardedFetch(() => false),
    sendMail: neverSend,
    minuteOf: () => 0,
    consoleUrl: () => null,
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

test('an email has the sentence, the remedy and the id of its delivery, and names recipients that were refused', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const mails: Mail[] = [];
  const results = [
    { isSent: false, problem: 'smtp.test: 451 later' },
    { isSent: true, problem: 'smtp.test: 550 bob' },
  ];
  await store.alerts.createRule(
    sampleRule('mail', { channel: 'email', receiver: 'ada@a.test, bob@a.test', sealed: null }),
    [],
  );
  await evaluateAlerts(sourcesOf(store, [budgetOf('prod')], 80n), 1);
  let nowMs = Date.now();
  const deliver = deliveringTo(
    store,
    {},
    () => 0,
    () => nowMs,
    async (mail) => {
      mails.push(mail);
      return results.shift() ?? { isSent: true, problem: null };
    },
  );
  const read = async () => (await store.alerts.readDeliveries('mail', 1))[0];
  await deliver();
  expect(await read()).toMatchObject({ status: 'pending', attempts: 1, error: 'smtp.test: 451 later' });
  nowMs += HOUR_MS;
  await deliver();
  const delivery = await read();
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 2, error: 'smtp.test: 550 bob' });
  expect(mails).toHaveLength(2);
  expect(mails[0]).toEqual(mails[1] as Mail);
  expect(mails[0]).toMatchObject({
    to: ['ada@a.test', 'bob@a.test'],
    subject: delivery?.text,
    paragraphs: [delivery?.text],
    link: { label: 'Raise budget', url: 'https://gate.test/app/keys/prod' },
    id: delivery?.id,
  });
  await store.close();
});
