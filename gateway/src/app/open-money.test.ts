/**
 * Tests how the parts of money and limits are connected at start: what they know of the ledger, and how changes reach
 * them.
 */
import { afterEach, describe, expect, test } from 'bun:test';
import { admitCall } from '../admission/admission.ts';
import { parseConfigPrice } from '../billing/config-price.ts';
import { withMarkUp } from '../billing/price.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { createChangeFeed } from '../store/memory/change-feed.ts';
import type { ChangeFollower } from '../store/ports/change-feed.ts';
import type { Caps, Subject } from '../store/ports/limits.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { Store } from '../store/ports/store.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { heldCall, jobOf, settledCall } from '../store/testing/sample-call.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { type MoneyParts, openMoney } from './open-money.ts';

const newFolder = temporaryFolders();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };
const PREPAID: StoredAccount = {
  id: 'team',
  name: 'The team',
  mode: 'prepaid',
  markUpPpm: 0,
  timeZone: 'Asia/Tokyo',
  holds: null,
  createdAtMs: 1,
};
const MODEL: Subject = { kind: 'model', id: 'own' };

/** A store with a prepaid account of 100 nano-dollars, and a daily budget of 50 for the model `own`. */
async function open(given: Partial<MoneyParts> = {}, prepare?: (store: Store) => Promise<void>) {
  const store = await openStore({ dataDir: newFolder() });
  closers.push(() => store.close());
  const caps: Caps = { ...NO_CAPS, budget: { window: 'total', amount: 50n } };
  await store.policies.save([
    { of: 'account', isNew: true, account: PREPAID },
    { of: 'rule', subject: MODEL, caps },
  ]);
  await store.ledger.topup({ id: 'mov_1', account: 'team', amount: 100n, note: null, at_ms: 1 });
  await store.ledger.hold(heldCall('req_1', 30n, 'team'));
  await store.ledger.settle(
    settledCall('req_1', { held: 30n, output: 10, account: 'team', changes: { model: 'alias' } }),
  );
  await prepare?.(store);
  const reports: string[] = [];
  const tell = (about: unknown, message?: string) => void reports.push(`${message} ${JSON.stringify(about)}`);
  const log = { warn: tell, error: tell } as MoneyParts['log'];
  const directory = { accounts: new Map([[PREPAID.id, PREPAID]]), keys: new Map(), workspaces: new Map() };
  const namesOfModel = namesWith('alias');
  const followers: ChangeFollower[] = [];
  const feed = createChangeFeed();
  const subscribe = (follower: ChangeFollower) => {
    followers.push(follower);
    feed.subscribe(follower);
  };
  const change = (account: StoredAccount) => feed.publish(Promise.resolve([{ of: 'account', isNew: false, account }]));
  const changes = { ...feed, subscribe };
  const money = await openMoney({ store, directory, changes, log, callMsMax: 3_600_000, namesOfModel, ...given });
  closers.push(() => money.close());
  return { ...money, store, reports, followers, change };
}

/** Each model has its own name and the names of the others. */
function namesWith(...others: readonly string[]): MoneyParts['namesOfModel'] {
  return (model) => [model, ...others];
}

type Opened = Awaited<ReturnType<typeof open>>;
let count = 0;

/** Retries, as a client does when told that spending is still being read: that takes long on a busy machine. */
async function onceRead<Result>(act: () => Promise<Result> | Result): Promise<Result> {
  for (;;) {
    try {
      return await act();
    } catch (failure) {
      if (!(failure instanceof CallFailure) || failure.kind !== 'store_unavailable') throw failure;
    }
  }
}

/** The result of a call of the account for the model. */
async function ask({ billing }: Opened, amount: bigint, model = 'other', nowMs = Date.now(), accountId = 'team') {
  const subjects = { keyId: 'k', workspaceId: 'w', accountId, endUser: null, models: [model] };
  const binding = billing.rules.bindingCapsOf(subjects, billing.timeZoneOf, nowMs);
  const claim = {
    callId: `req_asked_${count++}`,
    subjects,
    arrivedMs: nowMs,
    binding,
    prepaidAccount: accountId,
    tokens: 0,
    amount,
  };
  const admitted = await onceRead(() => admitCall(billing.limits, claim, nowMs));
  return admitted.kind === 'refused' ? admitted.refusal.kind : admitted.admission;
}

describe('state at the start', () => {
  test('a balance is the available amount of the ledger', async () => {
    const opened = await open();
    expect(await ask(opened, 81n)).toBe('balance');
    expect(await ask(opened, 80n)).not.toBeString();
  });

  test('a model’s budget includes calls under its other names', async () => {
    const opened = await open();
    expect(await ask(opened, 31n, 'own')).toBe('budget');
    expect(await ask(opened, 30n, 'own')).not.toBeString();
  });
});

test('the holds of calls that earlier processes detached count again, until the calls end', async () => {
  const opened = await open({}, async ({ ledger }) => {
    await ledger.hold(heldCall('req_2', 25n, 'team'));
    await ledger.detach({ call_id: 'req_2', job: jobOf('resp_2') });
  });
  opened.readAhead();
  const { draft } = heldCall('req_2', 25n, 'team');
  const key: Subject = { kind: 'key', id: draft.key_id };
  opened.billing.rules.put(key, { ...NO_CAPS, budget: { window: 'total', amount: 60n } });
  const binding = opened.billing.rules.budgetOf(key, 'team', opened.billing.budgetZoneOf, Date.now());
  if (binding === null) throw new Error('the rule has no budget');
  await opened.billing.limits.seeds.seedBudgetAhead(binding);
  const { store: limits } = opened.billing.limits;
  expect(await limits.readBudget(binding)).toEqual({ settled: 20n, held: 25n });
  expect(await ask(opened, 56n)).toBe('balance');
  await opened.store.ledger.settle(settledCall('req_2', { held: 25n, output: 5, account: 'team' }));
  await limits.release('req_2', 10n, 0, Date.now());
  expect(await limits.readBudget(binding)).toEqual({ settled: 30n, held: 0n });
  expect(await ask(opened, 71n)).toBe('balance');
  expect(await ask(opened, 70n)).not.toBeString();
});

test('the spend of a budget is read in advance, before any call needs it', async () => {
  const { billing, readAhead } = await open();
  const binding = billing.rules.budgetOf(MODEL, '', billing.budgetZoneOf, Date.now());
  if (binding === null) throw new Error('the rule has no budget');
  readAhead();
  expect(await billing.limits.store.readBudget(binding)).toBeNull();
  // Joins the same read instead of starting another.
  await billing.limits.seeds.seedBudgetAhead(binding);
  expect(await billing.limits.store.readBudget(binding)).toEqual({ settled: 20n, held: 0n });
});

describe('changes', () => {
  test('money that comes in can be spent at once', async () => {
    const opened = await open();
    expect(await ask(opened, 81n)).toBe('balance');
    await opened.credit('team', 1n, async () => undefined);
    expect(await ask(opened, 81n)).not.toBeString();
  });

  test.each([10n, -10n])('money that moves while the balance is read is counted once: %p', async (amount) => {
    const opened = await open();
    const movement = { id: 'mov_2', account: 'team', amount, note: 'test', at_ms: 1 };
    let asked: Promise<unknown> = Promise.resolve();
    const { available } = await opened.credit('team', amount, async () => {
      const after = await opened.store.ledger.correct(movement);
      asked = ask(opened, 1_000n);
      // Another account's balance, asked for later, is read by then.
      expect(await ask(opened, 1n, 'other', Date.now(), 'rival')).toBe('balance');
      return after;
    });
    expect([available, await asked]).toEqual([80n + amount, 'balance']);
    expect(await ask(opened, 81n + amount)).toBe('balance');
    expect(await ask(opened, 80n + amount)).not.toBeString();
  });

  test('a change of the account’s mode reads its balance again; other changes do not', async () => {
    const opened = await open();
    expect(await ask(opened, 90n)).toBe('balance');
    await opened.store.ledger.topup({ id: 'mov_2', account: 'team', amount: 10n, note: null, at_ms: 1 });
    await opened.change({ ...PREPAID, markUpPpm: 5 });
    expect(await ask(opened, 90n)).toBe('balance');
    await opened.change({ ...PREPAID, mode: 'postpaid' });
    expect(await ask(opened, 90n)).not.toBeString();
  });

  test('a new amount of a budget keeps its known spend', async () => {
    const opened = await open();
    expect(await ask(opened, 1n, 'own')).not.toBeString();
    opened.billing.rules.put(MODEL, { ...NO_CAPS, budget: { window: 'total', amount: 19n } });
    expect(await ask(opened, 1n, 'own')).toBe('budget');
  });
});

test('limits that missed changes read all rules and modes again', async () => {
  const opened = await open();
  const { rules } = opened.billing;
  const account: Subject = { kind: 'account', id: 'team', layer: 'account' };
  const caps = { ...NO_CAPS, requestsPerMinute: 5 };
  expect(await ask(opened, 90n)).toBe('balance');
  await opened.store.policies.save([
    { of: 'rule', subject: MODEL, caps: null },
    { of: 'rule', subject: account, caps },
    { of: 'account', isNew: false, account: { ...PREPAID, mode: 'postpaid' } },
  ]);
  await opened.store.ledger.topup({ id: 'mov_2', account: 'team', amount: 10n, note: null, at_ms: 1 });
  for (const follower of opened.followers) await follower.reload();
  expect([rules.get(MODEL), rules.get(account), rules.subjects()]).toEqual([null, caps, [account]]);
  expect(await ask(opened, 90n)).not.toBeString();
});

describe('a configuration that is reloaded', () => {
  test('reads the budget of a model again if its names changed', async () => {
    let namesOfModel = namesWith();
    const opened = await open({ namesOfModel: (model) => namesOfModel(model) });
    expect(await ask(opened, 1n, 'own')).not.toBeString();
    namesOfModel = namesWith('alias');
    expect(await ask(opened, 40n, 'own')).not.toBeString();
    opened.bindModels(namesWith());
    expect(await ask(opened, 1n, 'own')).toBe('budget');
  });

  test('reads nothing where the names are the same', async () => {
    const opened = await open();
    expect(await ask(opened, 1n, 'own')).not.toBeString();
    await opened.store.ledger.hold(heldCall('req_2', 5n, 'team'));
    await opened.store.ledger.settle(
      settledCall('req_2', { held: 5n, output: 5, account: 'team', changes: { model: 'alias' } }),
    );
    opened.bindModels(namesWith('alias'));
    expect(await ask(opened, 29n, 'own')).not.toBeString();
  });
});

test('a budget set during running calls includes their holds and earlier charges', async () => {
  const opened = await open();
  const running = await ask(opened, 30n, 'alias');
  if (typeof running === 'string') throw new Error(running);
  const alias: Subject = { kind: 'model', id: 'alias' };
  opened.billing.rules.put(alias, { ...NO_CAPS, budget: { window: 'total', amount: 60n } });
  expect(await ask(opened, 11n, 'alias')).toBe('budget');
  expect(await ask(opened, 5n, 'alias')).not.toBeString();
  expect([await running.extend(6n, Date.now()), await running.extend(5n, Date.now())]).toEqual([false, true]);
});

test('a budget that reaches a mark is logged, in dollars', async () => {
  const opened = await open();
  const admission = await ask(opened, 25n, 'own');
  if (typeof admission === 'string') throw new Error(admission);
  await admission.settle(25n, 0, Date.now());
  const spent =
    '{"of":"model","id":"own","set_by":"operator","window":"total","spent_usd":"0.000000045","budget_usd":"0.00000005"}';
  expect(opened.reports).toEqual([50, 80].map((mark) => `a budget has reached ${mark}% ${spent}`));
});

test('a budget with a new amount logs marks by the new amount', async () => {
  const opened = await open();
  const settle = async (amount: bigint) => {
    const admission = await ask(opened, amount, 'own');
    if (typeof admission === 'string') throw new Error(admission);
    await admission.settle(amount, 0, Date.now());
  };
  const marks = () =>
    opened.reports.splice(0).map((line) => /reached (\d+)%.*"budget_usd":"([^"]+)"/.exec(line)?.slice(1));
  const give = (amount: bigint) => opened.billing.rules.put(MODEL, { ...NO_CAPS, budget: { window: 'total', amount } });
  await settle(30n);
  expect(marks().map((mark) => mark?.[0])).toEqual(['50', '80', '100']);
  give(100n);
  await settle(29n);
  expect(marks()).toEqual([]);
  await settle(1n);
  expect(marks()).toEqual([['80', '0.0000001']]);
  give(80n);
  expect(marks()).toEqual([['100', '0.00000008']]);
});

test('a price with a mark-up is one object for all calls, and without one the price itself', async () => {
  const { billing } = await open();
  const price = parseConfigPrice({ input: '1', output: '2' });
  expect(billing.priced(price, 0)).toBe(price);
  expect(billing.priced(price, 5_000)).toEqual(withMarkUp(price, 5_000));
  expect(billing.priced(price, 5_000)).toBe(billing.priced({ ...price }, 5_000));
  expect(billing.priced(price, 6_000).version).not.toBe(billing.priced(price, 5_000).version);
});

test('windows follow the account’s zone, and UTC without one', async () => {
  const { billing } = await open();
  expect([billing.timeZoneOf('team'), billing.timeZoneOf('unknown')]).toEqual(['Asia/Tokyo', 'UTC']);
});

test('a call that never ends returns its limits, after the maximum duration of a call when it arrived', async () => {
  const opened = await open({ callMsMax: 1_000 });
  const startMs = Date.now();
  await ask(opened, 80n, 'other', startMs);
  const sweepAt = (nowMs: number) => opened.billing.limits.store.sweep(nowMs);
  expect(await sweepAt(startMs + 600_999)).toBe(0);
  expect(await sweepAt(startMs + 601_000)).toBe(1);
  opened.leaseCalls(7_200_000);
  await ask(opened, 80n, 'other', startMs);
  expect(await sweepAt(startMs + 4_200_000)).toBe(0);
  expect(await sweepAt(startMs + 7_800_000)).toBe(1);
});
