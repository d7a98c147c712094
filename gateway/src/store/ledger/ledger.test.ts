/** Tests the ledger over a journal whose disk is steered: what is appended when, and what a refusal takes back. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { outcomeOf } from '../contracts/store-rig.ts';
import type { AccountBalance, Hold } from '../ports/ledger.ts';
import { OutcomeUnknown, Unavailable } from '../ports/store-errors.ts';
import { createMemoryLedger, type MemoryLedger } from '../testing/memory-ledger.ts';
import { heldCall, jobOf, settledCall, usageOf } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';

const MOVEMENT = { account: 'paid', note: null, at_ms: 1 };

function plainCall(id: string, amount: bigint, account = 'default'): Hold {
  const held = heldCall(id, amount, account);
  return { ...held, draft: { ...held.draft, stream: false } };
}

async function openPaid(amount: bigint): Promise<MemoryLedger> {
  const memory = createMemoryLedger();
  memory.setAccount('paid', 'prepaid');
  await memory.ledger.topup({ ...MOVEMENT, id: 'first', amount });
  return memory;
}

async function balanceOf({ ledger }: MemoryLedger, account: string): Promise<AccountBalance | undefined> {
  return (await ledger.readBalances(account))[0];
}

const kindsOf = ({ journal }: MemoryLedger) => journal.durable.map(({ kind }) => kind);

describe('the frames of a call', () => {
  test.each([plainCall, heldCall])('a call that ends at once is one frame, with its own hold: %p', async (callOf) => {
    const memory = createMemoryLedger();
    const held = memory.ledger.hold(callOf('a', 30n));
    await memory.ledger.settle(settledCall('a', { held: 30n, output: 10 }));
    await held;
    memory.ledger.writeHold('a');
    expect(memory.journal.durable).toMatchObject([
      { kind: 'end', hold: { amount: 30n, prepaid: false }, posted: 20n, released: 10n, writtenOff: 0n },
    ]);
    expect(memory.prove()).toMatchObject({ calls: 1, problem: null });
  });

  test('a call that lasts has its hold written soon, and that of a stream at once where it is needed', async () => {
    const memory = createMemoryLedger();
    await memory.ledger.hold(plainCall('plain', 30n));
    const streams = ['stream', 'other'].map((id) => memory.ledger.hold(heldCall(id, 30n)));
    expect(kindsOf(memory)).toEqual([]);
    memory.ledger.writeHold('stream');
    await streams[0];
    expect(memory.journal.durable).toMatchObject([{ kind: 'hold', draft: { request_id: 'stream' } }]);
    await streams[1];
    while (memory.journal.durable.length < 3) await Bun.sleep(1);
    await memory.ledger.settle(settledCall('plain', { held: 30n, output: 10 }));
    expect(kindsOf(memory)).toEqual(['hold', 'hold', 'hold', 'end']);
    expect(memory.journal.durable[3]).toMatchObject({ hold: null });
    expect(memory.prove().problem).toBeNull();
  });

  test('extensions and checkpoints of a plain call follow its hold', async () => {
    const memory = createMemoryLedger();
    await memory.ledger.hold(plainCall('a', 30n));
    await memory.ledger.checkpoint({ call_id: 'a', usage: usageOf(3), cost: 6n });
    await memory.ledger.extend('a', 1, 5n);
    await memory.ledger.settle(settledCall('a', { held: 35n, output: 10 }));
    expect(kindsOf(memory)).toEqual(['hold', 'checkpoint', 'extend', 'end']);
    expect(memory.prove().problem).toBeNull();
  });

  test('a settlement resolves when its frame is durable, and its rest can be held only then', async () => {
    const memory = await openPaid(30n);
    await memory.ledger.hold(plainCall('a', 30n, 'paid'));
    memory.journal.isHeld = true;
    let settled = false;
    const end = memory.ledger.settle(settledCall('a', { held: 30n, output: 10, account: 'paid' })).then(() => {
      settled = true;
    });
    expect(await outcomeOf(memory.ledger.hold(plainCall('b', 1n, 'paid')))).toBe('insufficient_funds');
    expect(settled).toBe(false);
    memory.journal.write();
    await end;
    expect(await outcomeOf(memory.ledger.hold(plainCall('b', 10n, 'paid')))).toBe('kept');
    expect(memory.prove().problem).toBeNull();
  });
});

describe('frames that cannot be written', () => {
  const LONG = 'm'.repeat(2 ** 21);

  test('a call whose end is too large can be ended otherwise', async () => {
    const memory = createMemoryLedger();
    await memory.ledger.hold(plainCall('a', 30n));
    const large = settledCall('a', { held: 0n, output: 5, changes: { served_model: LONG } });
    expect(await outcomeOf(memory.ledger.settleUnheld(large))).toBe('invalid');
    await memory.ledger.abandon('a');
    expect(await balanceOf(memory, 'default')).toMatchObject({ held: 0n });
    expect(memory.prove().problem).toBeNull();
  });

  test('a hold that is too large keeps no other from being written, and its end has it', async () => {
    const memory = createMemoryLedger();
    const large = plainCall('a', 30n);
    await memory.ledger.hold({ ...large, draft: { ...large.draft, key_name: LONG } });
    await memory.ledger.hold(plainCall('b', 30n));
    await Bun.sleep(20);
    expect(memory.journal.durable).toMatchObject([{ kind: 'hold', draft: { request_id: 'b' } }]);
    await memory.ledger.settle(settledCall('a', { held: 30n, output: 10 }));
    expect(memory.journal.durable.at(-1)).toMatchObject({ kind: 'end', hold: { amount: 30n } });
    expect(memory.prove().problem).toBeNull();
  });
});

describe('frames that are refused', () => {
  test('the hold of a stream is given back', async () => {
    const memory = await openPaid(30n);
    memory.journal.isHeld = true;
    const held = outcomeOf(memory.ledger.hold(heldCall('a', 30n, 'paid')));
    memory.ledger.writeHold('a');
    memory.journal.refuse();
    expect(await held).toBe('unknown');
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 30n, held: 0n });
    await memory.ledger.settleUnheld(settledCall('a', { held: 0n, output: 5, account: 'paid' }));
    expect(memory.prove().problem).toBeNull();
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 30n, held: 0n, writtenOff: 10n });
  });

  test('the hold of a stream whose end is refused stays open, as that of a plain call', async () => {
    const memory = await openPaid(30n);
    memory.journal.isHeld = true;
    const held = outcomeOf(memory.ledger.hold(heldCall('a', 30n, 'paid')));
    const settled = outcomeOf(memory.ledger.settle(settledCall('a', { held: 30n, output: 10, account: 'paid' })));
    memory.journal.refuse();
    expect(await Promise.all([held, settled])).toEqual(['kept', 'unknown']);
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 0n, held: 30n });
    memory.journal.isHeld = false;
    await memory.ledger.abandon('a');
    expect(memory.prove().problem).toBeNull();
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 30n, held: 0n });
  });

  test('the hold of a stream is given back although its end is refused with it', async () => {
    const memory = await openPaid(30n);
    memory.journal.isHeld = true;
    const held = outcomeOf(memory.ledger.hold(heldCall('a', 30n, 'paid')));
    memory.ledger.writeHold('a');
    const settled = outcomeOf(memory.ledger.settle(settledCall('a', { held: 30n, output: 10, account: 'paid' })));
    memory.journal.refuse();
    expect(await Promise.all([held, settled])).toEqual(['unknown', 'unknown']);
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 30n, held: 0n });
  });

  test('a settlement leaves the call open, and it can be abandoned or settled again', async () => {
    const memory = await openPaid(60n);
    for (const id of ['again', 'left']) await memory.ledger.hold(plainCall(id, 30n, 'paid'));
    const settle = (id: string) => memory.ledger.settle(settledCall(id, { held: 30n, output: 10, account: 'paid' }));
    memory.journal.isHeld = true;
    const refused = [settle('again'), settle('left')].map(outcomeOf);
    memory.journal.refuse();
    expect(await Promise.all(refused)).toEqual(['unknown', 'unknown']);
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 0n, held: 60n });
    memory.journal.isHeld = false;
    await memory.ledger.abandon('left');
    await settle('again');
    expect(memory.prove().problem).toBeNull();
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 40n, held: 0n, charged: 20n });
    expect(memory.readCalls().map(({ error }) => error)).toEqual(['gateway_fault', null]);
  });

  test('a plain hold is not judged by a mode that its account no longer has when its frame is written', async () => {
    const memory = await openPaid(100n);
    await memory.ledger.hold(plainCall('a', 60n, 'paid'));
    memory.setAccount('paid', 'postpaid');
    await memory.ledger.hold(heldCall('b', 90n, 'paid'));
    expect(memory.prove().problem).toBeNull();
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: -50n, held: 150n });
  });

  test('an extension and the settlement after it are both taken back', async () => {
    const memory = await openPaid(60n);
    await memory.ledger.hold(heldCall('a', 30n, 'paid'));
    memory.journal.isHeld = true;
    const both = [
      memory.ledger.extend('a', 1, 30n),
      memory.ledger.settle(settledCall('a', { held: 60n, output: 30, account: 'paid' })),
    ].map(outcomeOf);
    memory.journal.refuse();
    expect(await Promise.all(both)).toEqual(['unknown', 'unknown']);
    memory.journal.isHeld = false;
    await memory.ledger.extend('a', 1, 10n);
    await memory.ledger.settle(settledCall('a', { held: 40n, output: 20, account: 'paid' }));
    expect(memory.prove().problem).toBeNull();
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 20n, charged: 40n });
  });

  test('an abandoned call waits for its extension that is on the way', async () => {
    for (const end of ['write', 'refuse'] as const) {
      const memory = await openPaid(60n);
      await memory.ledger.hold(heldCall('a', 30n, 'paid'));
      memory.journal.isHeld = true;
      const extended = outcomeOf(memory.ledger.extend('a', 1, 30n));
      await memory.ledger.abandon('a');
      memory.journal[end]();
      expect(await extended).toBe(end === 'write' ? 'kept' : 'unknown');
      expect(memory.prove()).toMatchObject({ calls: 1, problem: null });
      expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 60n, held: 0n });
    }
  });

  test('while the journal takes no frames, plain holds and frames without a waiter are kept for later', async () => {
    const memory = await openPaid(60n);
    memory.journal.failure = new Unavailable('full', 'the disk is full');
    await memory.ledger.hold(plainCall('a', 30n, 'paid'));
    expect(await outcomeOf(memory.ledger.hold(heldCall('b', 30n, 'paid')))).toBe('full');
    expect(await outcomeOf(memory.ledger.append(sampleRecord('c', { cost_nano_usd: null })))).toBe('full');
    expect(await outcomeOf(memory.ledger.correct({ ...MOVEMENT, id: 'm', amount: -1n }))).toBe('full');
    const settlement = settledCall('a', { held: 30n, output: 10, account: 'paid' });
    expect(await outcomeOf(memory.ledger.settle(settlement))).toBe('full');
    await memory.ledger.abandon('a');
    expect(memory.ledger.writable()).toBe(false);
    memory.journal.failure = null;
    expect(memory.prove()).toMatchObject({ calls: 1, problem: null });
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 60n, held: 0n });
  });

  test('while the journal takes no frames, checkpoints do not pile up in memory', async () => {
    const memory = createMemoryLedger();
    await memory.ledger.hold(plainCall('a', 30n));
    await memory.ledger.checkpoint({ call_id: 'a', usage: usageOf(1), cost: 2n });
    memory.journal.failure = new Unavailable('failed', 'the disk is away');
    for (let cost = 3n; cost < 9n; cost++) await memory.ledger.checkpoint({ call_id: 'a', usage: usageOf(2), cost });
    memory.journal.failure = null;
    await memory.ledger.checkpoint({ call_id: 'a', usage: usageOf(3), cost: 9n });
    await memory.ledger.settle(settledCall('a', { held: 30n, output: 10 }));
    expect(kindsOf(memory)).toEqual(['hold', 'checkpoint', 'checkpoint', 'end']);
    expect(memory.prove().problem).toBeNull();
  });

  test('a debit binds before it is durable, a credit only afterwards, and both are taken back', async () => {
    const memory = await openPaid(60n);
    memory.journal.isHeld = true;
    const debit = outcomeOf(memory.ledger.correct({ ...MOVEMENT, id: 'debit', amount: -50n }));
    await Bun.sleep(0);
    expect(await outcomeOf(memory.ledger.hold(plainCall('a', 11n, 'paid')))).toBe('insufficient_funds');
    memory.journal.refuse(new OutcomeUnknown('the disk failed'));
    expect(await debit).toBe('unknown');
    const credit = outcomeOf(memory.ledger.topup({ ...MOVEMENT, id: 'credit', amount: 50n }));
    await Bun.sleep(0);
    expect(await outcomeOf(memory.ledger.hold(plainCall('b', 61n, 'paid')))).toBe('insufficient_funds');
    memory.journal.refuse();
    expect(await credit).toBe('unknown');
    expect(await balanceOf(memory, 'paid')).toMatchObject({ available: 60n, toppedUp: 60n });
    expect(memory.prove().problem).toBeNull();
  });
});

interface Known {
  readonly id: string;
  readonly plain: boolean;
  held: bigint;
  extensions: number;
}

interface Step {
  readonly does:
    | 'extend'
    | 'settle'
    | 'checkpoint'
    | 'write_hold'
    | 'abandon'
    | 'detach'
    | 'topup'
    | 'correct'
    | 'write'
    | 'refuse'
    | 'soon'
    | 'restart';
  /** Which call; one that is not open is held instead. */
  readonly call: number;
  readonly amount: number;
}

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom('extend', 'settle', 'settle', 'checkpoint', 'write_hold', 'abandon', 'detach'),
      },
      { weight: 2, arbitrary: fc.constantFrom('topup', 'correct') },
      { weight: 4, arbitrary: fc.constantFrom('write', 'write', 'refuse', 'soon') },
      { weight: 1, arbitrary: fc.constant('restart') },
    ) as fc.Arbitrary<Step['does']>,
    call: fc.nat(2),
    amount: fc.integer({ min: -20, max: 60 }),
  }),
  { minLength: 30, maxLength: 100 },
);

test('whatever the disk refuses, the durable frames are sound, and the balances are theirs', async () => {
  const seen: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const memory = await openPaid(100n);
      memory.journal.isHeld = true;
      const open = new Map<number, Known>();
      for (const [at, step] of steps.entries()) {
        if (step.does === 'restart') {
          memory.restart();
          memory.journal.isHeld = true;
          open.clear();
        } else if (step.does === 'soon') memory.appendHolds();
        else if (step.does === 'write' || step.does === 'refuse') memory.journal[step.does]();
        else if (step.does === 'topup' || step.does === 'correct')
          void outcomeOf(memory.ledger[step.does]({ ...MOVEMENT, id: `m${at}`, amount: BigInt(step.amount) }));
        else runCall(memory, open, step, `r${at}`);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        expect(memory.proveDurable().problem).toBeNull();
      }
      memory.journal.isHeld = false;
      memory.journal.write();
      await Bun.sleep(0);
      expect(memory.prove().problem).toBeNull();
      for (const { kind } of memory.journal.durable) seen[kind] = (seen[kind] ?? 0) + 1;
    }),
    { numRuns: process.env.TOLLGATE_EXHAUSTIVE === '1' ? 5_000 : 300 },
  );
  for (const kind of ['hold', 'extend', 'checkpoint', 'detach', 'end', 'movement'])
    expect(seen[kind]).toBeGreaterThan(100);
}, 60_000);

/** Plays a step on a call as its caller would, who learns of each outcome when it is certain. */
function runCall({ ledger }: MemoryLedger, open: Map<number, Known>, step: Step, newId: string): void {
  const amount = BigInt(Math.max(0, step.amount));
  const known = open.get(step.call);
  const forget = () => {
    if (open.get(step.call) === known) open.delete(step.call);
  };
  if (known === undefined) {
    const held = { id: newId, plain: step.amount % 2 === 0, held: amount, extensions: 0 };
    open.set(step.call, held);
    const hold = (held.plain ? plainCall : heldCall)(newId, amount, 'paid');
    void outcomeOf(ledger.hold(hold)).then((outcome) => {
      if (outcome !== 'kept' && open.get(step.call) === held) open.delete(step.call);
    });
  } else if (step.does === 'extend') {
    known.held += amount;
    known.extensions += 1;
    void outcomeOf(ledger.extend(known.id, known.extensions, amount)).then((outcome) => {
      if (outcome === 'kept') return;
      known.held -= amount;
      known.extensions -= 1;
    });
  } else if (step.does === 'write_hold') {
    ledger.writeHold(known.id);
  } else if (step.does === 'settle') {
    const settlement = settledCall(known.id, { held: known.held, output: Number(amount), account: 'paid' });
    void outcomeOf(ledger.settle(settlement)).then((outcome) => outcome === 'kept' && forget());
  } else if (step.does === 'detach') {
    void outcomeOf(ledger.detach({ call_id: known.id, job: jobOf(known.id) }));
  } else if (step.does === 'checkpoint') {
    void outcomeOf(ledger.checkpoint({ call_id: known.id, usage: usageOf(Number(amount)), cost: 2n * amount }));
  } else {
    void ledger.abandon(known.id);
    forget();
  }
}
