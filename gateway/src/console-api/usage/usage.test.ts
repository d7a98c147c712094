/**
 * Tests the pages about usage and logs over a real store: the same money everywhere, and no account sees another's
 * calls.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CONSOLE_ROUTES, type Reply } from '../contract/contract.ts';
import { BOUND, costOf, NOW_MS, OWNER, openUsageRig, START_MS } from '../testing/usage-rig.ts';

const newFolder = temporaryFolders();
/** A page has 3 s: the sample is small enough for a busy machine. */
const CALLS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 10_000 : 1_000;
let rig: Awaited<ReturnType<typeof openUsageRig>>;
beforeAll(async () => {
  rig = await openUsageRig(newFolder(), CALLS);
}, 60_000);
afterAll(() => rig.store.close());

const HOUR_MS = 3_600_000;
const iso = (atMs: number) => new Date(atMs).toISOString();
const RANGE = `from=${iso(START_MS)}&to=${iso(NOW_MS)}`;
const ACME = { account: 'acme', role: 'viewer', workspaces: null } as const;

async function json<Body>(response: Response): Promise<Body> {
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Body;
}

/** Cells by column, one object per line. */
async function csv(response: Response): Promise<Record<string, string>[]> {
  const [head = '', ...lines] = (await response.text()).trimEnd().split('\r\n');
  const columns = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [columns[index], cell])));
}

const sumOf = (lines: readonly Record<string, string>[], column: string) =>
  lines.reduce((sum, line) => sum + BigInt(line[column] || 0), 0n).toString();

type Usage = Reply<'GET /accounts/{account}/usage'>;
const addUp = (amounts: Usage['totals']) => amounts.reduce<bigint>((sum, one) => sum + BigInt(one ?? 0), 0n).toString();
type Logs = Reply<'GET /accounts/{account}/logs'>;

/** All of them, as a reader who pages to the end sees them. */
async function listCalls(get: (path: string) => Promise<Response>): Promise<Logs['calls']> {
  const calls: Logs['calls'] = [];
  for (let before = ''; ; ) {
    const page: Logs = await json(await get(`logs?limit=200${before}`));
    CONSOLE_ROUTES['GET /accounts/{account}/logs'].reply.parse(page);
    calls.push(...page.calls);
    if (page.next === null) return calls;
    before = `&before=${page.next}`;
  }
}

describe('the same money', () => {
  test.each([OWNER, ACME])(
    'of $account: in usage, its file, the file of calls, the list page by page, and the proof',
    async (grant) => {
      const { account } = grant;
      const get = (path: string) => rig.get(`/accounts/${account}/${path}`, [grant]);
      const own = rig.calls.filter((call) => call.account === account);
      expect(own.length).toBeGreaterThan(CALLS / 4);
      const expected = costOf(own);
      for (const by of ['model', 'key,protocol', 'member', 'session']) {
        const usage = await json<Usage>(await get(`usage?${RANGE}&by=${by}`));
        CONSOLE_ROUTES['GET /accounts/{account}/usage'].reply.parse(usage);
        expect(usage.total).toMatchObject({ requests: own.length, cost_nano_usd: expected });
        const parts = [...usage.groups.map(({ sums }) => sums), ...(usage.rest === null ? [] : [usage.rest])];
        expect(parts.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd), 0n).toString()).toBe(expected);
        expect(addUp(usage.totals)).toBe(expected);
        expect(addUp([...usage.groups.flatMap(({ amounts }) => amounts ?? []), ...(usage.others ?? [])])).toBe(
          expected,
        );
        const lines = await csv(await get(`usage.csv?${RANGE}&by=${by}`));
        expect([sumOf(lines, 'cost_nano_usd'), sumOf(lines, 'requests')]).toEqual([expected, `${own.length}`]);
      }
      const filed = await csv(await get(`logs.csv?${RANGE}`));
      const listed = await listCalls(get);
      for (const calls of [filed, listed]) {
        expect(calls.map(({ request_id }) => request_id)).toEqual(own.map(({ request_id }) => request_id).toReversed());
        expect(calls.map(({ cost_nano_usd }) => cost_nano_usd || null)).toEqual(
          own.map(({ cost_nano_usd }) => cost_nano_usd).toReversed(),
        );
      }
      const proof = await json<object>(await get(`usage/proof?${RANGE}`));
      expect(proof).toMatchObject({
        equal: true,
        usage_nano_usd: expected,
        ledger_nano_usd: expected,
        calls: own.length,
      });
    },
  );

  test('the chart’s amounts are those of the metric: they add up to the totals, column by column', async () => {
    for (const metric of ['cost', 'requests', 'tokens', 'errors', 'cache_savings']) {
      const usageReply = await rig.get(`/accounts/default/usage?${RANGE}&by=end_user&metric=${metric}`);
      const { groups, others, totals, kinds, total } = await json<Usage>(usageReply);
      expect(groups.map(({ amounts }) => amounts !== null)).toEqual(groups.map((_, nth) => nth < 8));
      expect(others).not.toBeNull();
      for (const [at, whole] of totals.entries()) {
        const column = [...groups.map(({ amounts }) => amounts?.[at] ?? 0), others?.[at] ?? 0];
        expect(addUp(column)).toBe(`${whole ?? 0}`);
      }
      expect(kinds?.input.reduce((sum, one) => sum + one, 0)).toBe(metric === 'tokens' ? total.input : undefined);
    }
  });

  test('percentiles over time cover exactly the groups of the whole range', async () => {
    const usageReply = await rig.get(`/accounts/default/usage?${RANGE}&by=end_user&metric=ttfb_p95`);
    const { groups, others, totals } = await json<Usage>(usageReply);
    expect(others).toBeNull();
    expect(totals.every((one) => typeof one === 'number' && one > 0)).toBe(true);
    expect(groups[0]?.amounts?.some((one) => typeof one === 'number' && one > 0)).toBe(true);
  });

  test('sums by tag: the requests of the keys that have it, and of all others', async () => {
    const keys = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&by=key`));
    const tags = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&by=tag.team`));
    const web = keys.groups.find(({ values }) => values[0] === 'key_default_1')?.sums;
    expect(web?.requests).toBeGreaterThan(0);
    expect(tags.groups.find(({ values }) => values[0] === 'web')?.sums).toEqual(web as never);
    expect(tags.groups.map(({ values }) => values[0]).toSorted()).toEqual([null, 'web']);
    const lines = await csv(await rig.get(`/accounts/default/usage.csv?${RANGE}&by=tag.team`));
    expect(new Set(lines.map((line) => line['tag.team']))).toEqual(new Set(['', 'web']));
    expect((await rig.get(`/accounts/default/usage?${RANGE}&by=tag.`)).status).toBe(400);
  });

  test('buckets are days in the account’s zone, and members have names', async () => {
    const usage = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&by=member`));
    expect([usage.step, usage.time_zone]).toEqual(['day', 'Europe/Berlin']);
    // Clocks went forward on March 30.
    expect(usage.buckets.slice(8, 11)).toEqual([
      '2025-03-28T23:00:00.000Z',
      '2025-03-29T23:00:00.000Z',
      '2025-03-30T22:00:00.000Z',
    ]);
    expect(usage.groups.map(({ values, labels }) => [...values, ...labels]).sort()).toEqual([
      [null, 'command line'],
      ['usr_ann', 'Ann'],
    ]);
  });

  test('the period before, and the month at its pace against its budget', async () => {
    const half = START_MS + 10 * 86_400_000;
    const path = `/accounts/default/usage?from=${iso(half)}&to=${iso(NOW_MS)}&compare=before`;
    const { before, forecast } = await json<Usage>(await rig.get(path));
    const earlier = rig.calls.filter(({ account, at_ms }) => account === 'default' && at_ms < half);
    expect(before?.cost_nano_usd).toBe(costOf(earlier));
    const monthMs = Date.UTC(2025, 2, 31, 22);
    const spent = costOf(rig.calls.filter(({ account, at_ms }) => account === 'default' && at_ms >= monthMs));
    const whole = (BigInt(spent) * BigInt(30 * 86_400_000)) / BigInt(NOW_MS - monthMs);
    expect(forecast).toEqual({ month_nano_usd: `${whole}`, spent_nano_usd: spent, budget_nano_usd: '1000000000000' });
    expect((await json<Usage>(await rig.get(`${path}&model=model-1`))).forecast).toBeNull();
  });

  test('home has the same sums in one answer', async () => {
    const home = await json<Reply<'GET /accounts/{account}/home'>>(await rig.get('/accounts/default/home?range=7d'));
    CONSOLE_ROUTES['GET /accounts/{account}/home'].reply.parse(home);
    const weekMs = NOW_MS - 7 * 86_400_000;
    const week = rig.calls.filter(({ account, at_ms }) => account === 'default' && at_ms >= weekMs);
    expect(home).toMatchObject({
      sums: { requests: week.length, cost_nano_usd: costOf(week) },
      budget: { window: 'month', limit_nano_usd: '1000000000000' },
      balance_nano_usd: null,
      has_keys: true,
      has_calls: true,
    });
    const series = home.series.reduce((sum, bucket) => sum + BigInt(bucket?.cost_nano_usd ?? 0), 0n);
    expect(series.toString()).toBe(costOf(week));
    expect(home.series.length).toBe(home.buckets.length);
    expect(home.series.some((bucket) => (bucket?.ttfb_p50_ms ?? 0) > 0)).toBe(true);
  });

  test.each([
    ['24h', 1],
    ['7d', 7],
  ])('home over %s begins with a whole hour, as usage and logs do', async (range, days) => {
    const nowMs = NOW_MS - 20 * 60_000;
    const fromMs = NOW_MS - HOUR_MS - days * 24 * HOUR_MS;
    const sumsOf = (startMs: number, endMs: number) => {
      const calls = rig.calls.filter((one) => one.account === 'default' && one.at_ms >= startMs && one.at_ms < endMs);
      return { requests: calls.length, cost_nano_usd: costOf(calls) };
    };
    expect(sumsOf(fromMs, fromMs + 40 * 60_000).requests).toBeGreaterThan(0);
    const home = await json<object>(await rig.get(`/accounts/default/home?range=${range}`, [OWNER], nowMs));
    expect(home).toMatchObject({
      sums: sumsOf(fromMs, nowMs),
      before: sumsOf(fromMs - (nowMs - fromMs), fromMs),
    });
  });
});

test.each(['model', 'provider', 'end_user', 'session', 'member'] as const)(
  'calls without %s are the same in usage, its groups, its file, the list and its file',
  async (name) => {
    const ownOf = (call: (typeof rig.calls)[number]) =>
      name === 'member' ? (call.key_id === 'key_default_1' ? 'usr_ann' : null) : call[name];
    const without = rig.calls.filter((call) => call.account === 'default' && ownOf(call) === null);
    const query = `${RANGE}&without=${name}`;
    const usage = await json<Usage>(await rig.get(`/accounts/default/usage?${query}&by=workspace`));
    expect(usage.total).toMatchObject({ requests: without.length, cost_nano_usd: costOf(without) });
    const whole = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&by=${name}`));
    const group = whole.groups.find(({ values: [value] }) => value === null)?.sums;
    expect([group?.requests ?? 0, group?.cost_nano_usd ?? '0']).toEqual([without.length, costOf(without)]);
    const sums = await csv(await rig.get(`/accounts/default/usage.csv?${query}&by=workspace`));
    const calls = await csv(await rig.get(`/accounts/default/logs.csv?${query}`));
    expect([sumOf(sums, 'cost_nano_usd'), sumOf(calls, 'cost_nano_usd')]).toEqual([costOf(without), costOf(without)]);
    const newestFirst = without.map(({ request_id }) => request_id).toReversed();
    expect(await listedIds(query)).toEqual(newestFirst);
  },
);

/** A page may end early, and returns where it continues. */
async function listedIds(query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const { calls, next } = await json<Logs>(await rig.get(`/accounts/default/logs?limit=200&${query}${after}`));
    ids.push(...calls.map(({ request_id }) => request_id));
    if (next === null) return ids;
    after = `&before=${next}`;
  }
}

test('a member’s requests are those of their keys, also in the list', async () => {
  const own = rig.calls.filter(({ key_id }) => key_id === 'key_default_1');
  const lines = await csv(await rig.get(`/accounts/default/logs.csv?${RANGE}&member=usr_ann`));
  expect([lines.length, sumOf(lines, 'cost_nano_usd')]).toEqual([own.length, costOf(own)]);
  const none = await csv(await rig.get(`/accounts/default/logs.csv?${RANGE}&key=key_default_1&without=member`));
  expect(none).toEqual([]);
});

test('the cost of failed attempts is that of the records of all accounts, and only operators see it', async () => {
  const attempts = rig.calls.flatMap((call) => call.attempts).filter(({ billed }) => billed !== undefined);
  expect(attempts.length).toBeGreaterThan(CALLS / 10);
  const reply = await json<Reply<'GET /attempt-costs'>>(await rig.get(`/attempt-costs?${RANGE}`));
  const { costs } = CONSOLE_ROUTES['GET /attempt-costs'].reply.parse(reply);
  expect(costs.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd), 0n).toString()).toBe(costOf(attempts));
  expect(costs.reduce((sum, one) => sum + one.attempts, 0)).toBe(attempts.length);
  expect(costs.reduce((sum, one) => sum + one.input, 0)).toBe(
    attempts.reduce((sum, { usage }) => sum + (usage?.input ?? 0), 0),
  );
  expect((await rig.get(`/attempt-costs?${RANGE}`, [ACME])).status).toBe(404);
});

describe('accounts cannot see each other’s requests', () => {
  test('of another account', async () => {
    const own = rig.calls.filter(({ account }) => account === 'acme');
    const usage = await json<Usage>(await rig.get(`/accounts/acme/usage?${RANGE}`, [ACME]));
    expect(usage.total.cost_nano_usd).toBe(costOf(own));
    for (const route of ['usage', 'usage.csv', 'usage/proof', 'home', 'logs', 'logs.csv', 'logs/req_1']) {
      expect((await rig.get(`/accounts/default/${route}?${RANGE}`, [ACME])).status).toBe(404);
    }
    const foreign = rig.calls.find(({ account }) => account === 'default')?.request_id;
    expect((await rig.get(`/accounts/acme/logs/${foreign}`, [ACME])).status).toBe(404);
  });

  test('of other workspaces', async () => {
    const own = rig.calls.filter(({ account, workspace }) => account === 'default' && workspace === 'default-w0');
    const expected = costOf(own);
    expect(own.length).toBeGreaterThan(50);
    const usage = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&by=workspace`, [BOUND]));
    expect(usage.groups.map(({ values }) => values)).toEqual([['default-w0']]);
    expect([usage.total.cost_nano_usd, usage.forecast]).toEqual([expected, null]);
    const proof = await json<object>(await rig.get(`/accounts/default/usage/proof?${RANGE}`, [BOUND]));
    expect(proof).toMatchObject({ equal: true, records_nano_usd: expected, ledger_nano_usd: expected });
    const lines = await csv(await rig.get(`/accounts/default/logs.csv?${RANGE}`, [BOUND]));
    expect([lines.length, sumOf(lines, 'cost_nano_usd')]).toEqual([own.length, expected]);
    const home = await json<object>(await rig.get('/accounts/default/home?range=30d', [BOUND]));
    expect(home).toMatchObject({ sums: { cost_nano_usd: expected }, budget: null, balance_nano_usd: null });
    const hidden = rig.calls.find(({ account, workspace }) => account === 'default' && workspace !== 'default-w0');
    expect((await rig.get(`/accounts/default/logs/${hidden?.request_id}`, [BOUND])).status).toBe(404);
    const usageReply = await json<Usage>(await rig.get(`/accounts/default/usage?${RANGE}&workspace=default`, [BOUND]));
    expect(usageReply.total.requests).toBe(0);
  });
});

describe('logs', () => {
  test('the tail continues from the value of newest', async () => {
    const { newest } = await json<Logs>(await rig.get('/accounts/default/logs?limit=1'));
    const tail = await json<Logs>(await rig.get(`/accounts/default/logs?after=${newest}`));
    expect([tail.calls.length, tail.newest]).toEqual([0, `${NOW_MS - 2_000}`]);
  });

  test('one request in detail: its cost lines add up to the settled amount', async () => {
    const one = rig.calls.find(
      (call) => call.account === 'default' && call.usage.cache_read > 0 && call.price_version !== null,
    );
    const path = `/accounts/default/logs/${one?.request_id}`;
    const detail = await json<Reply<'GET /accounts/{account}/logs/{request}'>>(await rig.get(path));
    CONSOLE_ROUTES['GET /accounts/{account}/logs/{request}'].reply.parse(detail);
    const pico = detail.cost?.lines.reduce((sum, line) => sum + BigInt(line.cost_pico_usd), 0n) ?? 0n;
    expect(`${(pico + 500n) / 1_000n}`).toBe(one?.cost_nano_usd ?? 'no cost');
    expect(detail.cost).toMatchObject({ settled_nano_usd: one?.cost_nano_usd, written_off_nano_usd: '0' });
    expect(detail.entries.map(({ kind }) => kind)).toEqual(['hold', 'post']);
    expect([detail.content, detail.conversation, detail.raw]).toEqual(['none', null, null]);
  });
});

test.each([
  [`/usage?from=${iso(NOW_MS)}&to=${iso(START_MS)}`, 400, 'expected a later time'],
  [`/usage?${RANGE}&step=minute`, 400, 'choose a shorter range, or step=hour'],
  [`/usage?${RANGE}&by=model,model`, 400, 'found model twice'],
  [`/usage?${RANGE}&without=model&model=m`, 400, 'found model together with model=m'],
  [`/logs?without=key`, 400, 'without'],
  [`/usage?${RANGE}&by=session,model`, 400, 'over 7 days at most, found 20'],
  ['/logs?after=soon', 400, 'expected the value of newest'],
  ['/logs/req_none', 404, 'see its logs'],
])('%s is refused with words', async (path, status, words) => {
  const response = await rig.get(`/accounts/default${path}`, [OWNER]);
  expect(response.status).toBe(status);
  expect(await response.text()).toContain(words);
});
