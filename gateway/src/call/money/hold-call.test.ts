/** Tests what a call takes from its limits and its money before it is sent, and that a refused call takes nothing. */
import { describe, expect, test } from 'bun:test';
import { parseConfigPrice } from '../../billing/config-price.ts';
import { withMarkUp } from '../../billing/price.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { generateKeyText } from '../../identity/key-format.ts';
import type { Subject } from '../../store/ports/limits.ts';
import { ConstraintViolation } from '../../store/ports/store-errors.ts';
import { type Routed, setMoney } from '../call.ts';
import { budgetOf, openDesk } from '../testing/open-desk.ts';
import { type CallPlan, routedCall } from '../testing/routed-call.ts';
import type { BillingDeps } from './billing-deps.ts';
import { CallMoney } from './call-money.ts';
import { holdCall } from './hold-call.ts';

const KEY: Subject = { kind: 'key', id: 'key_1' };
const UNPRICED = { price: null } as const;

/** Holds a call of the plan: the request to the ledger, and the refusal. */
async function hold(billing: BillingDeps, plan: CallPlan = {}) {
  const call = routedCall({ ...plan, billing });
  let refusal: string | null = null;
  try {
    setMoney(call, await holdCall(call));
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    refusal = fault.kind;
  }
  return { call, refusal };
}

describe('the size of a hold', () => {
  // 400 bytes are 100 input tokens, held with 15% more; a token costs one nano-dollar.
  const WORST = 115n + 1_000n;

  const cases: readonly (readonly [string, CallPlan, bigint])[] = [
    ['a plain call: input and the worst case of the output', {}, WORST],
    ['each of several answers', { facts: { answers: 3 } }, WORST + 2_000n],
    ['an image as tokens of input', { facts: { mediaParts: 2 } }, 1_000n + (3_300n * 115n) / 100n],
    [
      'the most that the model can say, where the caller does not',
      { facts: { outputTokensMax: null }, outputTokensMax: 50 },
      165n,
    ],
    ['an output that nobody bounds', { facts: { outputTokensMax: null } }, 115n + 131_072n],
    ['a first slice of a long stream', { facts: { stream: true, outputTokensMax: 64_000 } }, 115n + 2_048n],
    [
      'the worst case of a stream that is strict',
      { holds: 'strict', facts: { stream: true, outputTokensMax: 64_000 } },
      115n + 64_000n,
    ],
    [
      'the worst case of a stream where the configuration says strict',
      { defaults: { holds: 'strict' }, facts: { stream: true, outputTokensMax: 64_000 } },
      115n + 64_000n,
    ],
    [
      'a first slice where the key says adaptive and the configuration strict',
      { holds: 'adaptive', defaults: { holds: 'strict' }, facts: { stream: true, outputTokensMax: 64_000 } },
      115n + 2_048n,
    ],
    [
      'the fees of the tools that it declares',
      {
        facts: { extras: { mediaInput: false, mediaOutput: false, toolRequests: new Map([['web_search', 3]]) } },
        price: parseConfigPrice({ input: '0.001', output: '0.001', per_1000_requests: { web_search: 10 } }),
      },
      WORST + 30_000_000n,
    ],
    ['the account’s mark-up', { markUpPpm: 1_000_000 }, 2n * WORST],
    ['nothing of a model without a price, where no money binds', UNPRICED, 0n],
  ];

  test.each(cases)('%s', async (_, plan, amount) => {
    const { billing, ledger } = openDesk();
    const { call, refusal } = await hold(billing, plan);
    expect([refusal, ledger.kept]).toEqual([null, [`hold ${call.requestId} ${amount}`]]);
    expect(call.money?.price?.version ?? null).toBe(
      'price' in plan
        ? (plan.price?.version ?? null)
        : withMarkUp(parseConfigPrice({ input: '0.001', output: '0.001' }), plan.markUpPpm ?? 0).version,
    );
  });

  test('is decided synchronously where all money is seeded', () => {
    expect(holdCall(routedCall({ billing: openDesk().billing }))).toBeInstanceOf(CallMoney);
  });

  test('that the ledger rejects reaches its awaiters only', async () => {
    const { billing, ledger } = openDesk();
    ledger.failing.add('hold');
    const { call } = await hold(billing);
    await expect(call.money?.whenSaved()).rejects.toThrow('no hold is kept');
  });
});

test('a hold that the ledger refuses as wrong is a fault of the gateway, never a lack of quota', async () => {
  const { billing, ledger } = openDesk();
  const refuse = () => Promise.reject(new ConstraintViolation('invalid', 'There is no account "lost".'));
  const { call } = await hold({ ...billing, ledger: { ...ledger, hold: refuse } });
  await expect(call.money?.whenSaved()).rejects.toMatchObject({ kind: 'gateway_fault' });
});

describe('a refusal', () => {
  test('of a rate takes nothing and states the remaining allowance', async () => {
    const { billing, ledger, store } = openDesk([[KEY, { requestsPerMinute: 1, ...budgetOf(10_000n) }]]);
    const first = await hold(billing);
    const second = await hold(billing);
    expect([first.refusal, second.refusal, second.call.money]).toEqual([null, 'rate_limited', null]);
    expect(second.call.rateLimitStatus?.requests).toMatchObject({ limit: 1, remaining: 0 });
    expect([ledger.kept.length, store.size().calls]).toEqual([1, 1]);
  });

  test.each([
    ['a budget that does not cover the call', 1_114n, 'quota_exceeded'],
    ['a budget that just covers it', 1_115n, null],
  ])('for %s', async (_, amount, refusal) => {
    const { billing, ledger } = openDesk([[KEY, budgetOf(amount)]]);
    const held = await hold(billing);
    expect([held.refusal, ledger.kept.length]).toEqual([refusal, refusal === null ? 1 : 0]);
  });

  test.each([
    [1_114n, 'quota_exceeded'],
    [1_115n, null],
  ] as const)('for a prepaid balance of %d', async (available, refusal) => {
    const { billing } = openDesk([], { readAvailable: async () => available });
    expect((await hold(billing, { mode: 'prepaid' })).refusal).toBe(refusal);
    // The same account, postpaid, needs no balance.
    expect((await hold(billing)).refusal).toBeNull();
  });

  test('for a model without a price, where a balance or a budget pays', async () => {
    expect((await hold(openDesk([[KEY, budgetOf(9n)]]).billing, UNPRICED)).refusal).toBe('unpriced');
    expect((await hold(openDesk().billing, { ...UNPRICED, mode: 'prepaid' })).refusal).toBe('unpriced');
    expect((await hold(openDesk([[KEY, { requestsPerMinute: 9 }]]).billing, UNPRICED)).refusal).toBeNull();
  });
});

describe('a plain call to a target that is not proven to honor its limit', () => {
  const WORST = 115n + 1_000n;
  const limited = { outputTokensMax: 1_000, outputLimitMember: 'max_tokens' } as const;
  const holdLimited = async (billing: BillingDeps, plan: CallPlan = {}) => {
    const { call } = await hold(billing, { host: 'lab', ...plan, facts: { ...limited, ...plan.facts } });
    return [call.folded, call.money?.isMetered];
  };

  test.each([
    ['a key budget', {}],
    ['strict holds', { holds: 'strict' }],
  ] as const)('is streamed and metered under %s, with the hold of its worst case', async (_, plan) => {
    const { billing, ledger } = openDesk([[KEY, budgetOf(WORST)]]);
    expect(await holdLimited(billing, plan)).toEqual([true, true]);
    expect(ledger.kept).toEqual([expect.stringContaining(` ${WORST}`)]);
  });

  test('is streamed under a prepaid balance', async () => {
    const { billing } = openDesk([], { readAvailable: async () => WORST });
    expect(await holdLimited(billing, { mode: 'prepaid' })).toEqual([true, true]);
  });

  test.each([
    ['no money binds it', [], {}],
    ['only a rate binds it', [[KEY, { requestsPerMinute: 5 }]], {}],
    ['its model is free', [[KEY, budgetOf(WORST)]], { price: parseConfigPrice('free') }],
    ['it has no limit', [[KEY, budgetOf(200_000n)]], { facts: { outputTokensMax: null, outputLimitMember: null } }],
  ] as const)('is sent as it is where %s', async (_, rules, plan) => {
    const { billing } = openDesk(rules as Parameters<typeof openDesk>[0]);
    expect(await holdLimited(billing, plan as CallPlan)).toEqual([false, false]);
  });

  test('is streamed whatever is proven where it has a member that a host may read as another limit', async () => {
    const { billing } = openDesk([[KEY, budgetOf(4n * WORST)]]);
    const { call } = await hold(billing, { host: 'lab', facts: limited });
    billing.limitProofs.note(answerOf(call, { output: 1_000, endedByLimit: true }), 0);
    expect(await holdLimited(billing)).toEqual([false, false]);
    expect(await holdLimited(billing, { facts: { mayChangeLimit: true } })).toEqual([true, true]);
  });

  test('holds a slice at least once its target went above a limit', async () => {
    const { billing, ledger } = openDesk([[KEY, budgetOf(10n * WORST)]]);
    const { call } = await hold(billing, { host: 'lab', facts: limited });
    billing.limitProofs.note(answerOf(call, { output: 1_001, endedByLimit: false }), 0);
    await holdLimited(billing);
    expect(ledger.kept.at(-1)).toEndWith(` ${115n + 2_048n}`);
  });

  test('holds what its model may produce at most where its target cannot be stopped either', async () => {
    const { billing, ledger } = openDesk([[KEY, budgetOf(100_000n)]]);
    const { call } = await hold(billing, { host: 'lab', facts: limited });
    const { upstream } = answerOf(call, { output: 0, endedByLimit: false });
    billing.limitProofs.noteStreaming(upstream, 'refuses');
    expect(await holdLimited(billing, { outputTokensMax: 50_000 })).toEqual([false, false]);
    expect(ledger.kept.at(-1)).toEndWith(` ${115n + 50_000n}`);
    expect((await hold(billing, { host: 'lab', facts: limited, outputTokensMax: 500_000 })).refusal).toBe(
      'quota_exceeded',
    );
  });

  function answerOf({ requestId, target }: Routed, end: { readonly output: number; readonly endedByLimit: boolean }) {
    const limit = { member: 'max_tokens', tokens: 1_000 } as const;
    return { upstream: target.upstream, limit, answers: 1, requestId, ...end };
  }
});

describe('a stream whose reasoning does not show', () => {
  const SLICE = 115n + 2_048n;
  const streamOf = (outputTokensMax: number) => ({ stream: true, outputTokensMax });
  const THINKS = '{"model":"m","thinking":{"type":"adaptive"}}';

  const cases: readonly (readonly [string, CallPlan, bigint, bigint | null])[] = [
    ['with two slices left: a slice', { facts: streamOf(64_000) }, 2n * SLICE, SLICE],
    ['with less: its worst case, which is refused', { facts: streamOf(64_000) }, 2n * SLICE - 1n, null],
    ['with less that covers it: its worst case', { facts: streamOf(3_000) }, 2n * SLICE - 1n, 115n + 3_000n],
    ['that one slice covers, with just that left: all of it', { facts: streamOf(2_048) }, SLICE, SLICE],
    [
      'where only those that ask hide it, and none is asked for',
      { hiddenReasoning: 'on_request', facts: streamOf(64_000) },
      SLICE,
      SLICE,
    ],
    [
      'where those that ask hide it',
      { hiddenReasoning: 'on_request', body: THINKS, facts: streamOf(64_000) },
      SLICE,
      null,
    ],
    ['where none hides it', { hiddenReasoning: 'never', body: THINKS, facts: streamOf(64_000) }, SLICE, SLICE],
  ];

  test.each(cases)('holds %s', async (_, plan, left, amount) => {
    const given = { hiddenReasoning: 'always', ...plan } as const;
    const budgeted = openDesk([[KEY, budgetOf(left)]]);
    const prepaid = openDesk([], { readAvailable: async () => left });
    for (const [{ billing, ledger }, mode] of [
      [budgeted, 'postpaid'],
      [prepaid, 'prepaid'],
    ] as const) {
      const { call, refusal } = await hold(billing, { ...given, mode });
      expect([refusal, ledger.kept]).toEqual(
        amount === null ? ['quota_exceeded', []] : [null, [`hold ${call.requestId} ${amount}`]],
      );
      if (amount !== null) expect(call.money?.isMetered).toBe(true);
    }
  });

  test('is refused for a rate as every call is', async () => {
    const { billing } = openDesk([[KEY, { requestsPerMinute: 1, ...budgetOf(100_000n) }]]);
    const plan: CallPlan = { hiddenReasoning: 'always', facts: streamOf(64_000) };
    expect((await hold(billing, plan)).refusal).toBeNull();
    expect((await hold(billing, plan)).refusal).toBe('rate_limited');
  });
});

test('a model without a price is served if the operator allows it, holds nothing, and is reported', async () => {
  const told: string[] = [];
  const plan: CallPlan = { ...UNPRICED, defaults: { unpriced: 'allow' }, onUnpriced: (model) => told.push(model) };
  const { billing, ledger } = openDesk([[KEY, budgetOf(0n)]]);
  const { call, refusal } = await hold(billing, { ...plan, mode: 'prepaid' });
  expect([refusal, call.money?.price, ledger.kept]).toEqual([null, null, [`hold ${call.requestId} 0`]]);
  expect(told).toEqual(['m']);
});

describe('a plain call whose worst case its money does not cover', () => {
  const LONG: CallPlan = { facts: { outputTokensMax: 64_000 } };
  const SLICE = 115n + 2_048n;

  test.each([
    ['covers a slice: it is held as a stream', SLICE, null],
    ['covers none: it is refused', SLICE - 1n, 'quota_exceeded'],
  ])('but a budget %s', async (_, amount, refusal) => {
    const { billing, ledger } = openDesk([[KEY, budgetOf(amount)]]);
    const held = await hold(billing, LONG);
    expect([held.refusal, held.call.folded]).toEqual([refusal, refusal === null]);
    expect(ledger.kept).toEqual(refusal === null ? [`hold ${held.call.requestId} ${SLICE}`] : []);
    expect(held.call.money?.isMetered ?? null).toBe(refusal === null ? true : null);
  });

  test('but a balance covers a slice is held as a stream, too', async () => {
    const { billing } = openDesk([], { readAvailable: async () => SLICE });
    expect((await hold(billing, { ...LONG, mode: 'prepaid' })).call.folded).toBe(true);
  });

  test('is held whole where its money does cover it', async () => {
    const { billing } = openDesk([[KEY, budgetOf(64_115n)]]);
    const { call } = await hold(billing, LONG);
    expect([call.folded, call.money?.isMetered]).toEqual([false, false]);
  });

  test('takes the places and rates of one call', async () => {
    const { billing, store } = openDesk([[KEY, { requestsPerMinute: 2, ...budgetOf(9n * SLICE) }]]);
    expect([(await hold(billing, LONG)).refusal, (await hold(billing, LONG)).refusal]).toEqual([null, null]);
    expect((await hold(billing, LONG)).refusal).toBe('rate_limited');
    expect(store.size().calls).toBe(2);
  });

  test('is refused for a rate like every call', async () => {
    const { billing } = openDesk([[KEY, { concurrency: 1, ...budgetOf(9n * SLICE) }]]);
    expect([(await hold(billing, LONG)).refusal, (await hold(billing, LONG)).refusal]).toEqual([null, 'rate_limited']);
  });
});

test('each rule that names the call applies to it: by any name of the model, and for any end user', async () => {
  const subjects: readonly Subject[] = [
    KEY,
    { kind: 'workspace', id: 'default' },
    { kind: 'account', id: 'default' },
    { kind: 'model', id: 'm' },
    { kind: 'model', id: 'alias' },
    { kind: 'end_user', id: 'default/ann' },
    { kind: 'end_user', id: 'default/*' },
  ];
  for (const subject of subjects) {
    const { billing } = openDesk([[subject, { concurrency: 1 }]]);
    const plan: CallPlan = { facts: { model: 'alias', endUser: 'ann' } };
    expect([subject.id, (await hold(billing, plan)).refusal, (await hold(billing, plan)).refusal]).toEqual([
      subject.id,
      null,
      'rate_limited',
    ]);
  }
});

test('an end user is bound under the name that the records keep of it', async () => {
  const asked: string[] = [];
  const everyone: Subject = { kind: 'end_user', id: 'default/*' };
  const { billing } = openDesk([[everyone, budgetOf(9_999n)]], {
    readSettled: async ({ subject }) => {
      asked.push(subject.id);
      return 0n;
    },
  });
  await hold(billing, { facts: { endUser: generateKeyText() } });
  expect(asked).toEqual(['default/[key]']);
});
