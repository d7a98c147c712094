/** Tests the routes of monthly statements: rights, months, the page's bound on lines, and the same sums in the file. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { keepCall, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';
import { showLines } from './statements.ts';

const newFolder = temporaryFolders();
const BILLING = person('per_billing', 'team', 'billing');
const DEVELOPER = person('per_developer', 'team', 'developer');
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('the page and the file of a month have the same lines, and only the account’s', async () => {
  const mine = (await rig.run('keys.create', { name: 'mine', workspace: 'red' })).id;
  const other = (await rig.run('keys.create', { name: 'other' })).id;
  const usage = { input: 7, cache_read: 5, cache_write_5m: 3, cache_write_1h: 2, output: 11, reasoning: 4 };
  await keepCall(rig, mine, { model: 'm', cost_nano_usd: '1000000001', usage });
  await keepCall(rig, mine, { model: 'm', cost_nano_usd: '2', usage });
  await keepCall(rig, other, { model: 'secret', cost_nano_usd: '77' });
  rig.nowMs = Date.now();
  await rig.run('accounts.topup', { account: 'team', usd: '2', note: 'bill, paid', id: 'mov_a' });
  await rig.run('accounts.set', { id: 'team', mode: 'prepaid' });
  const month = new Date(rig.nowMs).toISOString().slice(0, 7);
  const { json } = await rig.ask(BILLING, `GET /accounts/team/statement?month=${month}`);
  const line = { input: 14, cache_read: 10, cache_write_5m: 6, cache_write_1h: 4, output: 22 };
  expect(json).toMatchObject({
    account: 'team',
    month,
    final: false,
    opening_nano_usd: '0',
    closing_nano_usd: '999999997',
    credits_nano_usd: '2000000000',
    charges_nano_usd: '1000000003',
    lines: [{ workspace: 'red', key: mine, key_name: 'mine', model: 'm', requests: 2, ...line }],
    rest: null,
    months: { last: month },
  });
  expect(json.lines).toHaveLength(1);
  const { text, headers } = await rig.ask(BILLING, `GET /accounts/team/statement.csv?month=${month}`);
  expect(headers.get('content-disposition')).toContain(`"tollgate-statement-team-${month}.csv"`);
  expect(text.split('\r\n').slice(0, -1)).toEqual([
    'kind,at,workspace,key_id,key_name,model,requests,input,cache_read,cache_write_5m,cache_write_1h,output,reference,note,charge_usd,credit_usd,balance_usd',
    `opening,${json.from},,,,,,,,,,,,,,,0`,
    `topup,${new Date(rig.nowMs).toISOString()},,,,,,,,,,,mov_a,"bill, paid",,2,`,
    `charges,,red,${mine},mine,m,2,14,10,6,4,22,,,1.000000003,,`,
    `closing,${json.to},,,,,,,,,,,,,,,0.999999997`,
  ]);
});

test('without a month it is the last one that has ended, and a month to come is refused', async () => {
  rig.nowMs = Date.parse('2027-01-31T11:00:00Z');
  expect((await rig.ask(BILLING, 'GET /accounts/team/statement')).json).toMatchObject({
    month: '2026-12',
    final: true,
  });
  await rig.run('accounts.set', { id: 'team', time_zone: 'Pacific/Kiritimati' });
  expect((await rig.ask(BILLING, 'GET /accounts/team/statement')).json).toMatchObject({
    month: '2027-01',
    final: true,
  });
  for (const [month, member] of [
    ['2027-03', 'month'],
    ['2026-13', 'month'],
    ['1926-10', 'month'],
  ]) {
    const { status, json } = await rig.ask(BILLING, `GET /accounts/team/statement?month=${month}`);
    expect([status, json.error.member]).toEqual([400, member]);
  }
});

test('an account that was created this month begins with this month', async () => {
  rig.nowMs = Date.now();
  await rig.run('accounts.create', { id: 'new', time_zone: 'UTC' });
  const { json } = await rig.ask(person('per_new', 'new', 'owner'), 'GET /accounts/new/statement');
  const month = new Date(rig.nowMs).toISOString().slice(0, 7);
  expect(json).toMatchObject({ month, final: false, months: { first: month, last: month } });
});

test('a member without the right to bills sees none', async () => {
  for (const route of ['statement', 'statement.csv']) {
    expect((await rig.ask(DEVELOPER, `GET /accounts/team/${route}`)).status).toBe(403);
  }
});

test('the lines beyond the page are summed, and none is lost', () => {
  const lines = Array.from({ length: 7 }, (_, nth) => ({
    workspace: 'w',
    key: `k${nth}`,
    key_name: 'k',
    model: 'm',
    requests: 1,
    input: nth,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output: 1,
    cost_nano_usd: String(10 + ((nth * 3) % 7)),
  }));
  expect(showLines(lines, 7)).toEqual({ lines, rest: null });
  const { lines: shown, rest } = showLines(lines, 3);
  expect(shown.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual(['16', '15', '14']);
  expect(rest).toMatchObject({ lines: 4, requests: 4, output: 4, cost_nano_usd: '46' });
});
