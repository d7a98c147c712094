/** Tests what is found about keys, spend, providers, credentials, models and the store, and how often. */
import { expect, test } from 'bun:test';
import { sampleRule } from '../store/contracts/alerts-contract.ts';
import type { AlertEvent, FoundAlert } from '../store/ports/books/alerts.ts';
import { findAnomalies } from './find-anomalies.ts';
import { findExpiringKeys, findUnusedKeys } from './find-keys.ts';
import {
  findDifferences,
  findFailingProviders,
  findRefusedCredentials,
  findRetiringModels,
  findTroubles,
} from './find-operator.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 24, 12);
const USD = 1_000_000_000n;
const rules = (event: AlertEvent, threshold = 0n) => [sampleRule('one', { event, threshold })];
const texts = (found: readonly FoundAlert[]) => found.map(({ delivery }) => delivery.text);
const ids = (...found: readonly (readonly FoundAlert[])[]) => found.flat().map(({ delivery }) => delivery.id);

test('a key is reported once within the days before it expires, and not afterwards', () => {
  const own = rules('key_expiring', 14n);
  const key = (days: number) => ({ id: 'key_1', name: 'ci', expiresAtMs: NOW_MS + days * DAY_MS, usedAtMs: 0 });
  const find = (days: number, nowMs = NOW_MS) => findExpiringKeys(own, [key(days)], nowMs);
  expect(texts(find(14))).toEqual(['API key ci expires on 2026-12-08 12:00 UTC.']);
  expect([find(14.1), find(0), find(-1)]).toEqual([[], [], []]);
  expect(findExpiringKeys(own, [{ ...key(1), expiresAtMs: null }], NOW_MS)).toEqual([]);
  expect(new Set(ids(find(3), find(3, NOW_MS + DAY_MS))).size).toBe(1);
  expect(find(3)[0]?.delivery.remedy?.page).toBe('/app/keys/key_1');
});

test('an unused key is reported once, and again after it was used in between', () => {
  const own = rules('key_unused', 90n);
  const key = (days: number) => ({ id: 'key_1', name: 'ci', expiresAtMs: null, usedAtMs: NOW_MS - days * DAY_MS });
  expect(findUnusedKeys(own, [key(89.9)], NOW_MS)).toEqual([]);
  expect(texts(findUnusedKeys(own, [key(90)], NOW_MS))).toEqual(['API key ci was not used for 90 days.']);
  const [first, later] = [findUnusedKeys(own, [key(90)], NOW_MS), findUnusedKeys(own, [key(90)], NOW_MS + 5 * DAY_MS)];
  expect(new Set(ids(first, later)).size).toBe(1);
  expect(new Set(ids(first, findUnusedKeys(own, [key(200)], NOW_MS))).size).toBe(2);
  expect(findUnusedKeys(own, [{ ...key(100), expiresAtMs: NOW_MS - 1 }], NOW_MS)).toEqual([]);
});

test('a day is unusual from the percentage of the same weekdays on, with two weeks to compare', () => {
  const own = rules('spend_anomaly', 300n);
  const days = { startMs: NOW_MS, weekday: 'Tuesday', today: 30n * USD, before: [0n, 12n * USD, 0n, 8n * USD] };
  expect(texts(findAnomalies(own, days, NOW_MS))).toEqual([
    'The account spent $30.00 today, 300% of a usual Tuesday ($10.00).',
  ]);
  for (const quiet of [
    { ...days, today: 30n * USD - 1n },
    { ...days, before: [0n, 0n, 0n, USD] },
    { ...days, today: USD - 1n, before: [1n, 1n, 1n, 1n] },
  ])
    expect(findAnomalies(own, quiet, NOW_MS)).toEqual([]);
});

test('a provider that fails is reported once a day, and a healthy or idle one is not', () => {
  const provider = { name: 'lab', calls: 42, errors: 40 };
  const find = (state: 'healthy' | 'failing' | 'idle', nowMs = NOW_MS) =>
    findFailingProviders(rules('provider_failing'), [{ ...provider, state }], nowMs);
  expect(texts(find('failing'))).toEqual(['Provider lab is failing: 40 of 42 requests of the last 15 minutes failed.']);
  expect([find('healthy'), find('idle')]).toEqual([[], []]);
  expect(find('failing')[0]?.notAfterMs).toBe(NOW_MS - DAY_MS);
});

test('a refused credential and a used quota are reported, a rate limit is not', () => {
  const whys = ['credential', 'quota', 'rate', null] as const;
  const found = whys.map((why) =>
    texts(findRefusedCredentials(rules('credential_refused'), [{ provider: 'lab', name: 'main', why }], NOW_MS)),
  );
  expect(found).toEqual([
    ['Provider lab rejects the credential main.'],
    ['The quota of credential main at provider lab is used up.'],
    [],
    [],
  ]);
});

test('a model is reported once within the days before it retires, and after', () => {
  const model = { provider: 'lab', model: 'old', names: ['old', 'latest'] };
  const find = (on: string) => texts(findRetiringModels(rules('model_retiring', 30n), [{ ...model, on }], NOW_MS));
  expect(find('2026-12-20')).toEqual([
    'Model old at lab shuts down on 2026-12-20: choose another model for old, latest.',
  ]);
  expect(find('2026-11-01')[0]).toContain('was to shut down');
  expect(find('2026-12-25')).toEqual([]);
});

test('trouble of the store is one event while it lasts and after it ended', () => {
  const trouble = { what: 'The database takes no writes', cause: 'disk full', sinceMs: NOW_MS };
  const find = (untilMs: number | null) =>
    findTroubles(rules('ledger_trouble'), [{ ...trouble, untilMs }], NOW_MS + 60_000);
  expect(texts(find(null))).toEqual(['The database takes no writes (since 2026-11-24 12:00 UTC): disk full']);
  expect(texts(find(NOW_MS + 60_000))[0]).toContain('(2026-11-24 12:00 UTC to 2026-11-24 12:01 UTC)');
  expect(new Set(ids(find(null), find(NOW_MS + 1))).size).toBe(1);
});

test('an invoice is reported once if a day and model differ by more than the percentage, and not one from before', () => {
  const [rule] = rules('reconciliation', 1n);
  const own = [{ ...sampleRule('one'), ...rule, createdAtMs: NOW_MS }];
  const day = (model: string, billed: bigint | null, recorded: bigint) => ({
    ...{ day: '2026-11-03', model, billed, recorded, explained: 0n },
    ...{ billedRequests: null, recordedRequests: 1 },
  });
  const find = (importedAtMs: number, ...days: readonly ReturnType<typeof day>[]) =>
    findDifferences(own, [{ id: 'rec_1', providers: 'lab', importedAtMs, days }], NOW_MS + DAY_MS);
  const [small, large] = [day('small', 100n * USD, 98n * USD), day('large', 10n * USD, 15n * USD)];
  expect(texts(find(NOW_MS, small))).toEqual([
    'The invoice of lab differs by more than 1% for small on 2026-11-03: billed $100.00, recorded $98.00.',
  ]);
  expect(texts(find(NOW_MS, small, large))[0]).toEndWith('billed $10.00, recorded $15.00. 1 more difference.');
  const exact = day('exact', 100n * USD, 99n * USD);
  expect(find(NOW_MS, exact, day('silent', null, USD), day('cents', 9_000_000n, 0n))).toEqual([]);
  expect(texts(find(NOW_MS, day('free', 0n, USD)))).toHaveLength(1);
  expect(find(NOW_MS - 1, large)).toEqual([]);
  const again = find(NOW_MS, small, large);
  expect(new Set(ids(find(NOW_MS, small), again)).size).toBe(1);
  // The same file, imported again.
  expect(new Set(ids(again, find(NOW_MS + 1, small))).size).toBe(2);
  expect(again[0]?.delivery.remedy?.page).toBe('/app/reconciliation?import=rec_1');
});
