/** Tests the commands about accounts and their money: what they store, apply, move, show and refuse. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { formatPercent } from '../billing/money.ts';
import { authenticate } from '../identity/principal.ts';
import { markUpPercent } from './arguments.ts';
import { bothSides, type ControlRig, createControlRig } from './testing/control-rig.ts';
import { emptyBalance } from './testing/memory-disk.ts';

let rig: ControlRig;
beforeEach(() => {
  rig = createControlRig();
});

afterEach(() => {
  const [bound, kept] = bothSides(rig);
  expect(bound).toEqual(kept);
});

describe('accounts', () => {
  test('are created postpaid, without markup, in UTC, and shown with their balance', async () => {
    expect(await rig.run('accounts.create', { id: 'team' })).toEqual({
      id: 'team',
      name: 'team',
      mode: 'postpaid',
      balance_nano_usd: '0',
      held_nano_usd: '0',
      charged_nano_usd: '0',
      written_off_nano_usd: '0',
      topped_up_nano_usd: '0',
      absorbed_attempts_nano_usd: '0',
      mark_up_percent: '0',
      time_zone: 'UTC',
      holds: null,
      rpm: null,
      tpm: null,
      concurrency: null,
      budget_nano_usd: null,
      budget_window: null,
      own_rpm: null,
      own_tpm: null,
      own_concurrency: null,
      own_budget_nano_usd: null,
      own_budget_window: null,
      created_at: '2026-09-21T14:13:20.000Z',
    });
    rig.disk.balances.set('team', {
      ...emptyBalance('team'),
      available: -5n,
      held: 9_007_199_254_740_993n,
      charged: 3n,
      writtenOff: 2n,
      toppedUp: 1n,
      absorbedAttempts: 6n,
    });
    expect(await rig.run('accounts.list')).toMatchObject([
      { id: 'default', balance_nano_usd: '0' },
      {
        id: 'team',
        balance_nano_usd: '-5',
        held_nano_usd: '9007199254740993',
        charged_nano_usd: '3',
        written_off_nano_usd: '2',
        topped_up_nano_usd: '1',
        absorbed_attempts_nano_usd: '6',
      },
    ]);
  });

  test('a change applies to the keys at once, and is on the feed', async () => {
    const { key } = await rig.run('keys.create', { name: 'n' });
    const given = { id: 'default', mode: 'prepaid', mark_up_percent: '-2.5', time_zone: 'asia/kolkata' };
    expect(await rig.run('accounts.set', given)).toMatchObject({ mode: 'prepaid', mark_up_percent: '-2.5' });
    const found = authenticate(rig.directory, String(key), rig.nowMs);
    if (typeof found === 'string') throw new Error(found);
    expect(found.account).toMatchObject({ mode: 'prepaid', markUpPpm: -25_000 });
    expect(found.account.timeZone).toMatch(/^Asia\/(Kolkata|Calcutta)$/);
    expect(rig.boundAccounts).toEqual([found.account]);
    expect(await rig.run('accounts.set', { id: 'default', mark_up_percent: '0' })).toMatchObject({
      mode: 'prepaid',
      mark_up_percent: '0',
    });
  });

  test('only changes are on the feed', async () => {
    await rig.run('accounts.set', { id: 'default', mode: 'postpaid', time_zone: 'UTC', rpm: 5 });
    expect(rig.boundAccounts).toEqual([]);
    await rig.run('accounts.create', { id: 'team' });
    expect(rig.boundAccounts).toMatchObject([{ id: 'team', mode: 'postpaid' }]);
  });

  test('cannot become prepaid below zero; the error names the missing amount, and a top-up fixes it', async () => {
    rig.disk.balances.set('default', { ...emptyBalance('default'), available: -1_500_000_001n });
    const refused = await rig.refusal('accounts.set', { id: 'default', mode: 'prepaid' });
    expect(refused.message).toContain('First run: tollgate topup default --usd 1.500000001');
    expect(await rig.run('accounts.set', { id: 'default', rpm: 5 })).toMatchObject({ mode: 'postpaid' });
    await rig.run('accounts.topup', { account: 'default', usd: '1.500000001' });
    expect(await rig.run('accounts.set', { id: 'default', mode: 'prepaid' })).toMatchObject({
      mode: 'prepaid',
      balance_nano_usd: '0',
    });
  });

  test.each([
    ['accounts.create', { id: 'default' }, 'failed', 'The account default already exists'],
    ['accounts.create', { id: 'A/b' }, 'usage', 'id: found "A/b"'],
    ['accounts.create', { id: 'a', mode: 'free' }, 'usage', 'mode: found "free", expected postpaid or prepaid'],
    ['accounts.create', { id: 'a', mark_up_percent: 5 }, 'usage', 'mark_up_percent: '],
    ['accounts.create', { id: 'a', mark_up_percent: '-100.0001' }, 'usage', 'expected a percentage from -100 to 10000'],
    ['accounts.create', { id: 'a', mark_up_percent: '1.00001' }, 'usage', 'at most 4 decimal places'],
    ['accounts.create', { id: 'a', time_zone: 'Mars/Olympus' }, 'usage', 'time_zone: found "Mars/Olympus"'],
    ['accounts.create', { id: 'a', time_zone: '+01:00' }, 'usage', 'expected the IANA name of a time zone'],
    ['accounts.set', { id: 'gone', mode: 'prepaid' }, 'failed', 'There is no account with the id "gone"'],
    ['workspaces.create', { id: 'w', account: 'gone' }, 'failed', 'There is no account with the id "gone"'],
    ['accounts.topup', { account: 'gone', usd: '1' }, 'failed', 'There is no account with the id "gone"'],
    ['accounts.topup', { account: 'default', usd: '0' }, 'usage', 'usd: found 0 USD'],
    ['accounts.topup', { account: 'default', usd: '-1' }, 'usage', 'usd: found "-1"'],
    ['accounts.topup', { account: 'default', usd: '1', note: 'a\nb' }, 'usage', 'note: found "a\\nb"'],
    ['accounts.correct', { account: 'default', usd: '--1', note: 'n' }, 'usage', 'usd: found "-1"'],
    ['accounts.correct', { account: 'default', usd: '-0', note: 'n' }, 'usage', 'usd: found 0 USD'],
    ['accounts.correct', { account: 'default', usd: '1' }, 'usage', 'note: '],
  ])('%s %p is refused', async (name, given, kind, message) => {
    const refused = await rig.refusal(name, given);
    expect([refused.kind, refused.message]).toEqual([kind, expect.stringContaining(message)]);
    expect([rig.disk.movements, rig.credits]).toEqual([[], []]);
  });
});

describe('movements of money', () => {
  test('a top-up is stored before it can be spent, and its result shows the balance', async () => {
    const made = await rig.run('accounts.topup', { account: 'default', usd: '10.5', note: 'invoice 7' });
    expect(made).toEqual({
      id: expect.stringMatching(/^mov_[0-9A-Za-z]{20}$/),
      account: 'default',
      moved_nano_usd: '10500000000',
      note: 'invoice 7',
      balance_nano_usd: '10500000000',
      held_nano_usd: '0',
    });
    expect(rig.disk.movements).toMatchObject([{ id: made.id, amount: 10_500_000_000n, at_ms: rig.nowMs }]);
    expect(rig.credits).toEqual([{ account: 'default', amount: 10_500_000_000n }]);
  });

  test('the same id applies once, however often it is sent', async () => {
    const given = { account: 'default', usd: '3', id: 'mov_mine' };
    await Promise.all([rig.run('accounts.topup', given), rig.run('accounts.topup', given)]);
    expect(await rig.run('accounts.topup', given)).toMatchObject({
      moved_nano_usd: '0',
      balance_nano_usd: '3000000000',
    });
    expect(rig.credits).toEqual([{ account: 'default', amount: 3_000_000_000n }]);
  });

  test('a used id returns its movement, or is refused for another one', async () => {
    const given = { account: 'default', usd: '3', id: 'mov_mine', note: 'first' };
    await rig.run('accounts.topup', given);
    expect(await rig.run('accounts.topup', { ...given, note: 'second' })).toMatchObject({
      moved_nano_usd: '0',
      note: 'first',
    });
    const { kind, message } = await rig.refusal('accounts.topup', { ...given, usd: '0.5' });
    expect([kind, message]).toEqual([
      'failed',
      expect.stringContaining('mov_mine moved 3 USD of the account default earlier and cannot be 0.5 USD of default'),
    ]);
    expect(rig.credits).toHaveLength(1);
  });

  test('a movement that was stored despite a failure is found, and can be spent', async () => {
    const { ledger } = rig.disk;
    const { topup } = ledger;
    spyOn(ledger, 'topup').mockImplementationOnce(async (...movement) => {
      await topup(...movement);
      throw new Error('the writer died');
    });
    expect(await rig.run('accounts.topup', { account: 'default', usd: '3' })).toMatchObject({
      moved_nano_usd: '3000000000',
      balance_nano_usd: '3000000000',
    });
    expect(rig.credits).toEqual([{ account: 'default', amount: 3_000_000_000n }]);
  });

  test('money that was not stored cannot be spent', async () => {
    rig.disk.full = true;
    await expect(rig.control.run('accounts.topup', { account: 'default', usd: '1' }, rig.by)).rejects.toThrow(
      'disk is full',
    );
    expect(rig.credits).toEqual([]);
  });

  test('a correction goes either way', async () => {
    await rig.run('accounts.topup', { account: 'default', usd: '5' });
    expect(await rig.run('accounts.correct', { account: 'default', usd: '-2', note: 'typo' })).toMatchObject({
      moved_nano_usd: '-2000000000',
      balance_nano_usd: '3000000000',
    });
    await rig.run('accounts.correct', { account: 'default', usd: '0.5', note: 'kindness' });
    expect(rig.credits.map(({ amount }) => amount)).toEqual([5_000_000_000n, -2_000_000_000n, 500_000_000n]);
  });
});

test('a percentage is read and written exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 100_000_000 }), (ppm) => {
      const text = formatPercent(BigInt(ppm));
      expect(markUpPercent.parse(text)).toBe(ppm);
      expect(text).toMatch(/^-?(0|[1-9][0-9]*)(\.[0-9]{0,3}[1-9])?$/);
    }),
  );
});
