/**
 * Tests that an answer from the cache is one hold and one settlement of nothing within all limits, and what becomes of
 * cached answers when the process is killed, a workspace changes or content expires.
 */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachePath } from '../../src/store/sqlite/cache/answer-cache-store.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { moneyOf, verified } from '../money/money-rig.ts';
import { ask, askUntilHit, cacheConfig, FORMATS, newTenant, startCachePair } from './cache-rig.ts';

const { path, body } = FORMATS.chat;
/** The fake's `ok` answer: 11 tokens of input, 5 of output. */
const OK_COST = 11_000n + 25_000n;

test('a hit costs nothing, is not refused for money, and counts within the other limits', async () => {
  const pair = await startCachePair();
  try {
    const { gateway } = pair;
    const tenant = await newTenant(gateway);
    await control(gateway, 'accounts.set', { id: tenant.account, mode: 'prepaid' });
    await control(gateway, 'accounts.topup', { account: tenant.account, usd: '0.01' });
    const request = body('c-ok', 'money');
    await askUntilHit(tenant, path, request);
    const paid = (await moneyOf(gateway, tenant)).charged;
    expect(paid % OK_COST).toBe(0n);
    const streamed = { ...request, stream: true };
    await askUntilHit(tenant, path, streamed);
    const before = await moneyOf(gateway, tenant);
    for (let times = 0; times < 20; times++) {
      expect((await ask(tenant, path, times % 2 === 0 ? request : streamed)).cache).toBe('hit');
    }
    expect(await moneyOf(gateway, tenant)).toEqual(before);
    // A budget that is spent: only the cache answers.
    const spent = await createKey(gateway, { workspace: tenant.workspace, budget_usd: '0.001' });
    const at = { ...tenant, key: spent.key };
    let refused = 0;
    for (let times = 0; times < 40 && refused === 0; times++) {
      const { status } = await ask(at, path, body('c-ok', `spends the budget ${times}`));
      refused = status === 200 ? 0 : status;
    }
    expect(refused).toBe(429);
    for (let times = 0; times < 3; times++) expect((await ask(at, path, request)).cache).toBe('hit');
    // Requests per minute bind all the same.
    const bound = await createKey(gateway, { workspace: tenant.workspace, rpm: 2 });
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) {
      statuses.push((await ask({ ...tenant, key: bound.key }, path, request)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
    // And so does the right to the model.
    const other = await createKey(gateway, { workspace: tenant.workspace, models: ['m-ok'] });
    expect((await ask({ ...tenant, key: other.key }, path, request)).status).toBe(403);
    await control(gateway, 'keys.revoke', { id: other.id });
    expect((await ask({ ...tenant, key: other.key }, path, request)).status).toBe(401);
    const records = await gateway.calls('--limit', '500');
    const hits = records.filter(({ usage_source }) => usage_source === 'cache');
    expect(hits.every(({ attempts, cost_nano_usd }) => attempts.length === 0 && cost_nano_usd === '0')).toBe(true);
    expect(await verified(pair)).toBeGreaterThan(20);
    expect((await moneyOf(gateway, tenant)).held).toBe(0n);
  } finally {
    await pair.stop();
  }
}, 60_000);

test('with an idempotency key the answer from the cache is the answer of its run', async () => {
  const pair = await startCachePair();
  try {
    const tenant = await newTenant(pair.gateway);
    const request = body('c-ok', 'idempotent');
    await askUntilHit(tenant, path, request);
    const named = { 'idempotency-key': 'once' };
    const first = await ask(tenant, path, request, named);
    expect(first.cache).toBe('hit');
    const again = await ask(tenant, path, request, named);
    expect([again.text, again.headers.get('x-tollgate-replayed')]).toEqual([first.text, 'true']);
    await verified(pair);
  } finally {
    await pair.stop();
  }
}, 60_000);

test('answers survive kill -9, sealed, and are deleted with their workspace’s cache and its content', async () => {
  const pair = await startCachePair();
  const { gateway, fake } = pair;
  const canary = 'a word of this answer only';
  fake.script('c-ok', { say: { text: canary } });
  const tenant = await newTenant(gateway);
  const brief = await newTenant(gateway, { cache: 'all' });
  const request = body('c-ok', 'kept');
  const { hit } = await askUntilHit(tenant, path, request);
  await askUntilHit(brief, path, request);
  expect(hit.text).toContain(canary);
  // Requests are running when it dies: some at the provider, some answered from the cache.
  const running = Array.from({ length: 40 }, (_, at) =>
    ask(tenant, path, at % 2 === 0 ? request : body('c-ok', `at its end ${at}`)).catch(() => null),
  );
  await Promise.race(running);
  gateway.signal('SIGKILL');
  await Promise.all([gateway.exited, ...running]);
  const again = await startGateway({ dataDir: gateway.dataDir, config: cacheConfig(fake.url) });
  try {
    const at = { ...tenant, url: again.url };
    const kept = await ask(at, path, request);
    expect([kept.cache, kept.text]).toEqual(['hit', hit.text]);
    await verified({ ...pair, gateway: again });
    const files = readdirSync(again.dataDir).filter((name) => name.startsWith('cache.db'));
    expect(files).not.toEqual([]);
    for (const file of files) expect(readFileSync(join(again.dataDir, file)).includes(canary)).toBe(false);
    // Turned off: at once no answer, and with the sweep of the next start no row.
    await control(again, 'workspaces.set', { id: brief.workspace, cache: 'off' });
    expect((await ask({ ...brief, url: again.url }, path, request)).cache).toBeNull();
  } finally {
    await again.stop(true);
  }
  const last = await startGateway({ dataDir: gateway.dataDir, config: cacheConfig(fake.url) });
  try {
    expect(existsSync(cachePath(last.dataDir))).toBe(true);
    await eventually('the deletion of the answers', () => {
      const text = readFileSync(cachePath(last.dataDir));
      return text.includes(brief.workspace) ? null : true;
    });
    expect(readFileSync(cachePath(last.dataDir)).includes(tenant.workspace)).toBe(true);
    expect((await ask({ ...tenant, url: last.url }, path, request)).cache).toBe('hit');
  } finally {
    await last.stop();
    await fake.stop();
  }
}, 60_000);

test('a damaged file of the cache costs only its answers', async () => {
  const pair = await startCachePair();
  const { gateway, fake } = pair;
  const tenant = await newTenant(gateway);
  const request = body('c-ok', 'damaged');
  await askUntilHit(tenant, path, request);
  await gateway.stop(true);
  for (const name of readdirSync(gateway.dataDir).filter((one) => one.startsWith('cache.db'))) {
    writeFileSync(
      join(gateway.dataDir, name),
      'not a database at all, but long enough to be taken for one'.repeat(200),
    );
  }
  const again = await startGateway({ dataDir: gateway.dataDir, config: cacheConfig(fake.url) });
  try {
    for (let times = 0; times < 3; times++) {
      const got = await ask({ ...tenant, url: again.url }, path, request);
      expect([got.status, got.cache]).toEqual([200, 'miss']);
    }
    await eventually('the warning', () => (again.stdout() + again.stderr()).includes('could not be cached') || null);
  } finally {
    await again.stop();
    await fake.stop();
  }
}, 60_000);
