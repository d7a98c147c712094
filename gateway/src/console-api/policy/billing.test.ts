/**
 * Tests the routes about money over a real ledger: what moves once, what is listed, and a statement that equals the
 * ledger to the nano-dollar.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { parseUsd } from '../../billing/money.ts';
import { lostAttempt } from '../../store/testing/sample-call.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { keepCall, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';
import { renderStatement } from './billing.ts';

const newFolder = temporaryFolders();
const OPERATOR = person('per_operator', 'default', 'admin');
const BILLING = person('per_billing', 'team', 'billing');
const HOUR_MS = 3_600_000;
let rig: PolicyRig;
let keyId: string;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
  keyId = (await rig.run('keys.create', { name: 'n', workspace: 'red' })).id;
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

const idOf = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;

test('a top-up and a correction apply once for each id, and appear on the page', async () => {
  const topup = { id: idOf(1), usd: '10.5', note: 'invoice 7' };
  const correct = { id: idOf(2), usd: '-0.000000001', note: 'typo' };
  for (const _ of [1, 2]) {
    expect((await rig.ask(OPERATOR, 'POST /accounts/team/topup', topup)).json).toMatchObject({
      topped_up_nano_usd: '10500000000',
    });
  }
  for (const _ of [1, 2]) {
    const moved = await rig.ask(OPERATOR, 'POST /accounts/team/correct', correct);
    expect(moved.json).toMatchObject({
      id: 'team',
      balance_nano_usd: '10499999999',
      topped_up_nano_usd: '10500000000',
    });
  }
  expect((await rig.ask(OPERATOR, 'POST /accounts/team/topup', { ...topup, usd: '11' })).json).toMatchObject({
    error: { code: 'conflict' },
  });
  expect((await rig.ask(BILLING, 'GET /accounts/team/billing')).json).toMatchObject({
    account: { id: 'team', balance_nano_usd: '10499999999' },
    // Of the same millisecond, in no order that means anything.
    entries: expect.arrayContaining([
      expect.objectContaining({ kind: 'correct', ref: idOf(2), amount_nano_usd: '-1', note: 'typo' }),
      expect.objectContaining({ kind: 'topup', ref: idOf(1), amount_nano_usd: '10500000000', note: 'invoice 7' }),
    ]),
    next: null,
  });
  const acts = (await rig.ask(OPERATOR, 'GET /accounts/team/audit')).json.entries.map(
    ({ act }: { act: string }) => act,
  );
  expect(acts.slice(0, 3)).toEqual(['accounts.correct', 'accounts.topup', 'keys.create']);
});

test('all entries come page by page, the newest first, each once, and only those of the account', async () => {
  const other = (await rig.run('keys.create', { name: 'o' })).id;
  for (let nth = 0; nth < 120; nth++)
    await keepCall(rig, nth % 3 === 0 ? other : keyId, { cost_nano_usd: String(nth) });
  const found: { readonly at: string; readonly kind: string; readonly ref: string }[] = [];
  let before = '';
  for (let pages = 0; pages < 9; pages++) {
    const page = (await rig.ask(BILLING, `GET /accounts/team/billing?kind=all${before}`)).json;
    found.push(...page.entries);
    if (page.next === null) break;
    before = `&before=${encodeURIComponent(page.next)}`;
  }
  expect(new Set(found.map(({ kind, ref }) => `${kind} ${ref}`)).size).toBe(160);
  expect(found).toHaveLength(160);
  const refs = found.map(({ ref }) => ref);
  expect(refs).toEqual(refs.toSorted().reverse());
  for (const wrong of ['7', '%23x', 'NaN', '~']) {
    const reply = await rig.ask(BILLING, `GET /accounts/team/billing?kind=all&before=${wrong}`);
    expect(reply.json).toMatchObject({ error: { code: 'invalid', member: 'before' } });
  }
});

test('a statement is opening balance, movements, each day’s charges and closing balance, by the account’s days', async () => {
  rig.nowMs = Date.UTC(2026, 10, 19);
  await rig.run('accounts.topup', { account: 'team', usd: '1', note: '=2+3', id: 'mov_a' });
  rig.nowMs += 22 * HOUR_MS;
  await rig.run('accounts.correct', { account: 'team', usd: '-0.25', note: 'typo', id: 'mov_b' });
  rig.nowMs += HOUR_MS;
  const { text, headers } = await rig.ask(
    BILLING,
    'GET /accounts/team/billing.csv?from=2026-11-19T12:00:00Z&to=2026-11-21T00:00:00Z',
  );
  // The requested range ends in the future; the file name has the last known day.
  expect(headers.get('content-disposition')).toContain('"tollgate-statement-team-2026-11-19-to-2026-11-19.csv"');
  expect(text.split('\r\n')).toEqual([
    'date,kind,ref,note,workspace,model,key_id,key_name,calls,amount_usd,balance_usd',
    '2026-11-19T12:00:00.000Z,opening,,,,,,,,,1',
    '2026-11-19T22:00:00.000Z,correct,mov_b,typo,,,,,,-0.25,0.75',
    '2026-11-19T23:00:00.000Z,closing,,,,,,,,,0.75',
    '',
  ]);
  const whole = (
    await rig.ask(BILLING, 'GET /accounts/team/billing.csv?from=2026-11-01T00:00:00Z&to=2026-11-21T00:00:00Z')
  ).text;
  expect(whole).toContain(`"'=2+3"`);
  const ahead = 'GET /accounts/team/billing.csv?from=2026-11-22T00:00:00Z&to=2026-11-23T00:00:00Z';
  expect((await rig.ask(BILLING, ahead)).json).toMatchObject({ error: { code: 'invalid', member: 'from' } });
  const backwards = 'GET /accounts/team/billing.csv?from=2026-11-21T00:00:00Z&to=2026-11-01T00:00:00Z';
  expect((await rig.ask(BILLING, backwards)).json).toMatchObject({ error: { code: 'invalid', member: 'to' } });
});

test('a day’s charges are behind its movements, a line for each model and key, the greatest first', async () => {
  const entry = { seq: 1, kind: 'topup', ref: 'mov_a', released: 0n, note: null } as const;
  const tokens = { input: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 1 };
  const charge = { workspace: 'red', keyId: 'k', keyName: 'web', tokens };
  const statement = {
    opening: 1_000_000_000n,
    closing: 1_500_000_000n,
    movements: [{ ...entry, atMs: Date.UTC(2026, 10, 19, 22, 50), amount: 2_000_000_000n }],
    charges: [
      { ...charge, dayMs: Date.UTC(2026, 10, 19, 23), model: 'm', calls: 1, amount: 1_000_000_000n },
      { ...charge, dayMs: Date.UTC(2026, 10, 18, 23), model: 'm', calls: 1, amount: 100_000_000n },
      { ...charge, dayMs: Date.UTC(2026, 10, 18, 23), model: '=n', calls: 2, amount: 400_000_000n },
    ],
  };
  const lines: string[] = [];
  for await (const line of renderStatement(statement, { zone: 'Europe/Berlin', fromMs: 0, closedMs: 1 }))
    lines.push(line.trim());
  expect(lines.slice(2, -1)).toEqual([
    '2026-11-19T22:50:00.000Z,topup,mov_a,,,,,,,2,3',
    `2026-11-19,charges,,,red,"'=n",k,web,2,-0.4,2.6`,
    '2026-11-19,charges,,,red,m,k,web,1,-0.1,2.5',
    '2026-11-20,charges,,,red,m,k,web,1,-1,1.5',
  ]);
});

test('charges are grouped by day in the account’s zone, model and key, and add up to the ledger', async () => {
  const other = (await rig.run('keys.create', { name: 'second', workspace: 'red' })).id;
  await rig.run('accounts.set', { id: 'team', time_zone: 'Pacific/Kiritimati' });
  const fromMs = Date.now() - 1;
  for (const [key, model, cost] of [
    [keyId, 'gpt-5-mini', '1000000000'],
    [keyId, 'gpt-5-mini', '500000000'],
    [keyId, 'o4', '250000000'],
    [other, 'gpt-5-mini', '125000000'],
  ] as const) {
    await keepCall(rig, key, { model, cost_nano_usd: cost });
  }
  rig.nowMs = Date.now() + 1;
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(rig.nowMs + HOUR_MS).toISOString()}`;
  const { text } = await rig.ask(BILLING, `GET /accounts/team/billing.csv?${range}`);
  const lines = text.split('\r\n').filter((line) => line.includes(',charges,'));
  expect(lines.map((line) => line.split(',').toSpliced(7, 1).slice(5, 9))).toEqual([
    ['gpt-5-mini', keyId, '2', '-1.5'],
    ['o4', keyId, '1', '-0.25'],
    ['gpt-5-mini', other, '1', '-0.125'],
  ]);
  const dates = new Set(lines.map((line) => line.slice(0, 10)));
  expect([...dates]).toEqual([new Date(Date.now() + 14 * HOUR_MS).toISOString().slice(0, 10)]);
});

test('a statement up to now closes at the ledger’s balance, and adds up line by line', async () => {
  const other = (await rig.run('keys.create', { name: 'o' })).id;
  const move = fc.record({
    kind: fc.constantFrom('call', 'other', 'topup', 'correct'),
    nano: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  });
  let nth = 100;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 8 }), fc.integer({ min: 0, max: 8 }), async (moves, cut) => {
      let fromMs = Date.now() - 60_000;
      for (const [index, { kind, nano }] of moves.entries()) {
        if (index === cut) fromMs = await afterNow();
        rig.nowMs = Date.now();
        const usd = `${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, '0')}`;
        if (kind === 'call' || kind === 'other')
          await keepCall(rig, kind === 'call' ? keyId : other, { cost_nano_usd: String(nano) });
        else
          await rig.run(`accounts.${kind}`, {
            account: 'team',
            usd: kind === 'correct' ? `-${usd}` : usd,
            note: 'n',
            id: idOf(nth++),
          });
      }
      const toMs = await afterNow();
      rig.nowMs = toMs;
      const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
      const { text } = await rig.ask(BILLING, `GET /accounts/team/billing.csv?${range}`);
      const rows = text
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(','));
      let balance = parseSigned(rows[0]?.[10]);
      for (const row of rows.slice(1, -1)) {
        balance += parseSigned(row[9]);
        expect(parseSigned(row[10])).toBe(balance);
      }
      const kept = (await rig.store.ledger.readBalances()).find(({ account }) => account === 'team');
      expect([parseSigned(rows.at(-1)?.[10]), balance]).toEqual(
        [kept, kept].map((one) => (one?.available ?? 0n) + (one?.held ?? 0n)),
      );
    }),
    { numRuns: runsOf(12) },
  );
}, 60_000);

/** A time after everything that has happened. */
async function afterNow(): Promise<number> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setImmediate(resolve));
  return Date.now();
}

function parseSigned(usd = ''): bigint {
  return usd.startsWith('-') ? -parseUsd(usd.slice(1), 'usd') : parseUsd(usd, 'usd');
}

test('the cost of failed attempts is the operator’s: it is in the list of accounts, and nowhere for the account', async () => {
  await keepCall(rig, keyId, { attempts: [lostAttempt('yes', 7), lostAttempt('maybe', 1)] });
  const listed = (await rig.ask(OPERATOR, 'GET /accounts')).json.accounts;
  expect(listed).toContainEqual(expect.objectContaining({ id: 'team', absorbed_attempts_nano_usd: '16' }));
  const { account, entries } = (await rig.ask(BILLING, 'GET /accounts/team/billing?kind=all')).json;
  expect(account).toMatchObject({ written_off_nano_usd: '0' });
  expect(account).not.toHaveProperty('absorbed_attempts_nano_usd');
  expect(entries.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['hold', 'post']);
});
