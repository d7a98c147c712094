/** Tests the cost of past calls on another model against the price engine, applied to each record. */
import { afterEach, expect, test } from 'bun:test';
import { fillPrice, type Price, withMarkUp } from '../../../billing/price.ts';
import { chargedNanoUsd } from '../../../billing/price-book.ts';
import type { Usage } from '../../../generation/usage.ts';
import type { WhatIfAnswer, WhatIfQuestion } from '../../ports/calls/what-if.ts';
import type { CallRecord } from '../../ports/records.ts';
import type { Store } from '../../ports/store.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { openStore } from '../open-store.ts';

const newFolder = temporaryFolders();
let store: Store | null = null;
afterEach(async () => store?.close());

const START_MS = Date.UTC(2026, 5, 1);
/** A few hundred on the model that is asked for. */
const CALLS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 3_000 : 1_500;
const SPAN_MS = 30 * 86_400_000;
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 4,
  models: 8,
  endUsersPerAccount: 3,
  sessionMs: 3_600_000,
};
const MILLION = 1_000_000n;
const PRICES: readonly Price[] = [
  fillPrice({ input: 250_000n, output: 2n * MILLION, cache_read: 25_000n }, 'catalog:lab'),
  withMarkUp(
    fillPrice(
      {
        input: 3n * MILLION,
        output: 15n * MILLION,
        cache_read: 300_000n,
        cache_write_5m: 3_750_000n,
        reasoning: 16n * MILLION,
      },
      'config',
      [{ inputTokensAbove: 9_000, input: 6n * MILLION, output: 22_500_000n, cache_read: 600_000n }],
      new Map([['web_search', 10_000_000n]]),
    ),
    70_001,
  ),
  fillPrice({ input: 0n, output: 0n }, 'free'),
];

/** Adds what few calls have: tools, tiers, cache writes of 30 minutes, runs of several models. */
function varied(call: CallRecord, nth: number): CallRecord {
  const { usage } = call;
  const half = Math.floor(usage.input / 2);
  const run = { ...usage, input: half };
  const rest = {
    input: usage.input - half,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output: 0,
    reasoning: 0,
  };
  const extras = [
    undefined,
    { server_tools: { web_search: 3 } },
    { tier: { service_tier: 'priority' } },
    usage.cache_write_5m > 0 ? { cache_write_30m: usage.cache_write_5m } : undefined,
    {
      parts: [
        { ...run, price_version: 'config@1_1_1_1_1_1' },
        { ...rest, model: 'helper', price_version: 'config@2_2_2_2_2_2' },
      ],
    },
  ][nth % 5];
  const source = nth % 17 === 0 ? 'void' : nth % 19 === 0 ? 'cache' : call.usage_source;
  const protocol = nth % 23 === 0 ? 'embeddings' : call.protocol;
  return { ...call, protocol, usage_source: source, usage: extras === undefined ? usage : { ...usage, extras } };
}

/** What the engine says of one record. */
function expected({ usage, usage_source }: CallRecord, price: Price): bigint {
  if (usage_source === 'void' || usage_source === 'cache') return 0n;
  const { extras, ...counters } = usage;
  if (extras === undefined) return chargedNanoUsd(usage, price, () => price);
  const { tier: _tier, parts, ...others } = extras;
  const runs = parts?.map(({ price_version: _version, ...part }) => part);
  const whole: Usage = { ...counters, extras: runs === undefined ? others : { ...others, parts: runs } };
  return chargedNanoUsd(whole, price, () => {
    throw new Error('no run keeps a price of its own');
  });
}

async function readAll(asked: WhatIfQuestion): Promise<readonly WhatIfAnswer[]> {
  const pages: WhatIfAnswer[] = [];
  for (let beforeId = asked.beforeId; ; ) {
    const page = await (store as Store).usage.readWhatIf({ ...asked, beforeId });
    pages.push(page);
    if (page.next === null) return pages;
    expect(beforeId === null || page.next.id < beforeId).toBe(true);
    beforeId = page.next.id;
  }
}

test('is the price engine applied to each record, in one answer or in many', async () => {
  store = await openStore({ dataDir: newFolder() });
  const account = { mode: 'postpaid', markUpPpm: 0, timeZone: 'UTC', holds: null, createdAtMs: 1 } as const;
  await store.policies.save([{ of: 'account', isNew: true, account: { id: 'acme', name: 'Acme', ...account } }]);
  const random = seededRandom(77);
  const calls = Array.from({ length: CALLS }, (_, nth) =>
    varied(randomCall(random, VARIETY, START_MS + Math.floor((SPAN_MS * nth) / CALLS), nth), nth),
  );
  const { ledger } = store;
  await Promise.all(
    calls.map(async (record) => {
      const cost = BigInt(record.cost_nano_usd ?? 0);
      await ledger.hold({ draft: record, amount: cost });
      await ledger.settle({ record, posted: cost, released: 0n, writtenOff: 0n });
    }),
  );
  const none = {
    model: null,
    provider: null,
    keys: null,
    workspace: null,
    end_user: null,
    session: null,
    protocol: null,
  };
  for (const price of PRICES) {
    for (const [condition, matches] of [
      [none, () => true],
      [{ ...none, model: 'model-1' }, (call: CallRecord) => call.model === 'model-1'],
    ] as const) {
      // Each answer of many is a message to another thread, hundreds of them: for one price only.
      for (const timeMsMax of price === PRICES[1] ? [60_000, 0] : [60_000]) {
        const pages = await readAll({
          tenant: { account: 'default', workspaces: null },
          condition,
          outcome: null,
          fromMs: START_MS + 86_400_000,
          toMs: START_MS + SPAN_MS - 86_400_000,
          idPrefix: null,
          beforeId: null,
          priceVersion: price.version,
          timeMsMax,
        });
        if (timeMsMax === 0) expect(pages.length).toBeGreaterThan(1);
        const chosen = calls.filter(
          (call) =>
            call.account === 'default' &&
            matches(call) &&
            call.at_ms >= START_MS + 86_400_000 &&
            call.at_ms < START_MS + SPAN_MS - 86_400_000,
        );
        const generated = chosen.filter(({ protocol }) => protocol !== 'embeddings');
        const priced = generated.filter(({ cost_nano_usd }) => cost_nano_usd !== null);
        const groups = pages.flatMap((page) => page.groups);
        const sum = (amount: 'now' | 'other') => groups.reduce((all, group) => all + group[amount], 0n);
        expect(priced.length).toBeGreaterThan(50);
        expect(groups.reduce((all, { requests }) => all + requests, 0)).toBe(priced.length);
        expect(sum('now')).toBe(priced.reduce((all, { cost_nano_usd }) => all + BigInt(cost_nano_usd ?? 0), 0n));
        expect(sum('other')).toBe(priced.reduce((all, call) => all + expected(call, price), 0n));
        expect(pages.reduce((all, { unpriced }) => all + unpriced, 0)).toBe(generated.length - priced.length);
        expect(pages.reduce((all, { otherFormats }) => all + otherFormats, 0)).toBe(chosen.length - generated.length);
        for (const { other, otherUncached, otherReasoning } of groups) {
          expect(otherReasoning >= 0n && otherReasoning <= other).toBe(true);
          // Writing costs more than input at some prices, reading less at all of them.
          if (price.cache_write_5m <= price.input && price.tiers.length === 0)
            expect(otherUncached >= other).toBe(true);
        }
      }
    }
  }
});

test('other tenants and workspaces have no part in it', async () => {
  store = await openStore({ dataDir: newFolder() });
  const record = {
    ...randomCall(seededRandom(5), { ...VARIETY, accounts: ['default'], models: 1 }, START_MS, 1),
    workspace: 'red',
  };
  const cost = BigInt(record.cost_nano_usd ?? 0);
  await store.ledger.hold({ draft: record, amount: cost });
  await store.ledger.settle({ record, posted: cost, released: 0n, writtenOff: 0n });
  const asked = {
    condition: {
      model: null,
      provider: null,
      keys: null,
      workspace: null,
      end_user: null,
      session: null,
      protocol: null,
    },
    outcome: null,
    fromMs: START_MS - 1,
    toMs: START_MS + 1,
    idPrefix: null,
    beforeId: null,
    priceVersion: (PRICES[0] as Price).version,
    timeMsMax: 60_000,
  };
  const countOf = async (tenant: WhatIfQuestion['tenant']) =>
    (await readAll({ ...asked, tenant })).reduce((all, { groups }) => all + groups.length, 0);
  expect(await countOf({ account: 'default', workspaces: ['red'] })).toBe(1);
  expect(await countOf({ account: 'default', workspaces: ['blue'] })).toBe(0);
  expect(await countOf({ account: 'acme', workspaces: null })).toBe(0);
});
