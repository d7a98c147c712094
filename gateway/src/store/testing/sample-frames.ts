/** Creates frames of the journal for tests: one of each kind, and arbitrary ones. */
import fc from 'fast-check';
import { REASON_KINDS, type Reason } from '../../errors/reason.ts';
import type { MediaAndToolUsage, Usage, UsageFlag, UsageSource } from '../../generation/usage.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import { AUDIT_ACTOR_KINDS, type NewAuditEntry } from '../ports/audit.ts';
import type {
  CheckpointFrame,
  DetachFrame,
  EndFrame,
  ExtendFrame,
  Frame,
  HoldFrame,
  MovementFrame,
  RefusedFrame,
} from '../ports/journal.ts';
import { ATTEMPT_PHASES, type AttemptCost, type AttemptRecord, BILLED, type CallRecord } from '../ports/records.ts';
import { heldCall, jobOf, usageOf } from './sample-call.ts';
import { sampleRecord } from './sample-record.ts';

type FrameOf = {
  readonly hold: HoldFrame;
  readonly extend: ExtendFrame;
  readonly end: EndFrame;
  readonly refused: RefusedFrame;
  readonly checkpoint: CheckpointFrame;
  readonly movement: MovementFrame;
  readonly fallback: RefusedFrame;
  readonly regional: RefusedFrame;
  readonly moved: CheckpointFrame;
  readonly traced: HoldFrame;
  readonly tracedEnd: EndFrame;
  readonly storedEnd: EndFrame;
  readonly detach: DetachFrame;
  readonly cachedEnd: EndFrame;
};

/** With its members in the order of the decoder's. */
function cachedRecord(): CallRecord {
  const { price_version, cost_nano_usd, ttfb_ms, duration_ms, ...first } = sampleRecord('req_6');
  const { attempts: _, ...named } = { ...first, usage_source: 'cache' } as const;
  const rare = { cached_from: 'req_01JDA7M2W8Q5', masked: { grl_1: 2, grl_2: 1 } };
  return { ...named, ...rare, price_version, cost_nano_usd, ttfb_ms, duration_ms, attempts: [] };
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

/**
 * One of each kind. The end is that of a plain request, with its own hold. Then what calls of several targets have: an
 * attempt with most members, one at a service in a region, and a checkpoint at another target than the hold's. Then a hold
 * and an end of a call in a trace; an end and a detachment of calls that left something at their provider; an end of a
 * call that was answered from the cache, and masked by guardrails.
 */
export const SAMPLE_FRAMES: FrameOf = {
  hold: { kind: 'hold', draft: heldCall('req_1', 5_000_000n).draft, amount: 5_000_000n, prepaid: true },
  extend: { kind: 'extend', call_id: 'req_1', nth: 1, amount: 250_000n, prepaid: true, at_ms: 1_790_000_000_500 },
  end: {
    kind: 'end',
    record: sampleRecord('req_01JDA7M2W8Q5', {
      stream: false,
      ttfb_ms: 210.5,
      attempts: [
        {
          provider: 'openai',
          model: 'gpt-5-mini',
          status: 200,
          error: null,
          start_ms: 1,
          connect_ms: null,
          ttfb_ms: 209,
          ttft_ms: null,
          duration_ms: 1_829,
        },
      ],
    }),
    hold: { amount: 400_000n, prepaid: false },
    posted: 123_450n,
    released: 276_550n,
    writtenOff: 0n,
    at_ms: 1_790_000_001_830,
  },
  refused: {
    kind: 'refused',
    record: sampleRecord('req_2', {
      status: 402,
      error: 'balance_empty',
      reason: { kind: 'balance_empty', at_step: 'limits' },
      usage_source: 'void',
      usage_flags: ['sum', 'cached'],
      model: 'modèle',
      cost_nano_usd: null,
      ttfb_ms: null,
      attempts: [],
    }),
  },
  checkpoint: {
    kind: 'checkpoint',
    call_id: 'req_1',
    usage: {
      input: 10,
      cache_read: 0,
      cache_write_5m: 300,
      cache_write_1h: 0,
      output: 70_000,
      reasoning: 3,
      extras: { audio_output: 7, server_tools: { web_search: 2 } },
    },
    cost: 140_010n,
  },
  movement: {
    kind: 'movement',
    of: 'correct',
    movement: { id: 'mov_1', account: 'acme', amount: -9_223_372_036_854_775_808n, note: '', at_ms: 1_790_000_000_000 },
    prepaid: true,
    audit: {
      atMs: 1_790_000_000_000,
      account: 'acme',
      workspace: null,
      by: { actor: { kind: 'person', id: 'per_1', name: 'Zoë' }, address: '::1' },
      act: 'accounts.correct',
      subject: { kind: 'account', id: 'acme' },
      before: null,
      after: { amount_usd: '-9.5', note: '' },
    },
  },
  fallback: {
    kind: 'refused',
    record: sampleRecord('req_3', {
      attempts: [
        {
          provider: 'lab',
          model: 'm',
          status: 500,
          error: 'upstream_failed',
          duration_ms: 5,
          cost_nano_usd: '70',
          billed: 'maybe',
          n: 2,
          target: 'spare',
          credential: 'second',
          format: 'messages',
          why: 'fallback',
          class: 'fault',
          phase: 'sent',
          wait_ms: 40,
          exchanges: 2,
          usage: { input: 7, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: 0 },
          price_version: 'config@1',
          upstream_request_id: 'req-9',
        },
      ],
    }),
  },
  moved: {
    kind: 'checkpoint',
    call_id: 'req_1',
    usage: usageOf(50),
    cost: 100n,
    target: { provider: 'lab', served_model: 'gpt-5', price_version: 'config@1' },
  },
  regional: {
    kind: 'refused',
    record: sampleRecord('req_5', {
      attempts: [
        {
          provider: 'aws',
          model: 'm',
          status: 500,
          error: 'upstream_failed',
          duration_ms: 5,
          exchanges: 2,
          door: 'runtime',
          region: 'eu-central-1',
        },
      ],
    }),
  },
  traced: { kind: 'hold', draft: { ...heldCall('req_4', 0n).draft, trace_id: TRACE_ID }, amount: 0n, prepaid: false },
  tracedEnd: {
    kind: 'end',
    record: sampleRecord('req_4', { trace_id: TRACE_ID, attempts: [] }),
    hold: null,
    posted: 0n,
    released: 0n,
    writtenOff: 0n,
    at_ms: 1_790_000_001_830,
  },
  storedEnd: {
    kind: 'end',
    record: sampleRecord('req_5', { attempts: [] }),
    hold: null,
    posted: 0n,
    released: 0n,
    writtenOff: 0n,
    at_ms: 1_790_000_001_830,
    stored: {
      provider: 'openai',
      model: 'gpt-5-mini',
      credential: 'eu',
      tokens: 900,
      output_tokens: 40,
      expires_at_ms: 1_792_592_001_830,
      things: [
        { kind: 'response', id: 'resp_1' },
        { kind: 'item', id: 'msg_1' },
      ],
    },
  },
  detach: {
    kind: 'detach',
    call_id: 'req_6',
    at_ms: 1_790_000_000_000,
    job: jobOf('resp_1'),
    stored: {
      provider: 'openai',
      model: 'gpt-5-mini',
      credential: 'default',
      tokens: 0,
      output_tokens: 0,
      expires_at_ms: 1_792_592_001_830,
      things: [{ kind: 'response', id: 'resp_1' }],
    },
  },
  cachedEnd: {
    kind: 'end',
    record: cachedRecord(),
    hold: null,
    posted: 0n,
    released: 0n,
    writtenOff: 0n,
    at_ms: 1_790_000_001_830,
  },
};

const text = fc.oneof(
  fc.constantFrom('', 'openai', 'gpt-5-mini', 'default', '\ufeff', 'é', '😀', 'a\0b'),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);
const textOrNull = fc.option(text);
const amount = fc.oneof(
  fc.constantFrom(
    0n,
    1n,
    -1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    2n ** 53n,
    2n ** 53n - 1n,
    -(2n ** 53n),
    2n ** 32n,
    -(2n ** 32n),
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const count = fc.oneof(fc.nat(300), fc.maxSafeNat());
/** Finite numbers without -0, which becomes 0. */
const stored = fc.record(
  {
    provider: text,
    model: text,
    credential: text,
    tokens: fc.nat(),
    output_tokens: fc.nat(),
    expires_at_ms: fc.nat(),
    things: fc.array(fc.record({ kind: text, id: text }, { noNullPrototype: true }), { maxLength: 5 }),
  },
  { noNullPrototype: true },
);
const finite = fc
  .oneof(
    fc.maxSafeInteger(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.constantFrom(0, 2 ** 60, 127, 128, 2 ** 32),
  )
  .map((value) => value + 0 || 0);
const numberOrNull = fc.option(finite);
const members = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue().map(plain), { maxKeys: 4 });

/** As JSON gives it back. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const usage: fc.Arbitrary<Usage> = fc.record(
  {
    input: count,
    cache_read: count,
    cache_write_5m: count,
    cache_write_1h: count,
    output: count,
    reasoning: count,
    extras: members as fc.Arbitrary<MediaAndToolUsage>,
  },
  {
    requiredKeys: ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'],
    noNullPrototype: true,
  },
);

const attemptCost: fc.Arbitrary<AttemptCost> = fc.oneof(
  fc.constant({}),
  fc.record(
    { billed: fc.constantFrom(...BILLED), usage, price_version: text, cost_nano_usd: fc.option(amount.map(String)) },
    { requiredKeys: ['billed', 'usage', 'cost_nano_usd'], noNullPrototype: true },
  ),
);

const attemptMembers: fc.Arbitrary<AttemptRecord> = fc.record(
  {
    provider: text,
    model: text,
    status: numberOrNull,
    error: textOrNull,
    start_ms: finite,
    connect_ms: numberOrNull,
    ttfb_ms: numberOrNull,
    ttft_ms: numberOrNull,
    duration_ms: finite,
    n: count,
    target: text,
    credential: text,
    format: fc.constantFrom('chat' as const, 'messages' as const),
    why: text,
    class: text,
    phase: fc.constantFrom(...ATTEMPT_PHASES),
    wait_ms: finite,
    exchanges: count,
    upstream_request_id: text,
    door: text,
    region: text,
    message: text,
  },
  { requiredKeys: ['provider', 'model', 'status', 'error', 'duration_ms'], noNullPrototype: true },
);
const attempt = fc
  .tuple(attemptMembers, attemptCost)
  .map(([members, cost]): AttemptRecord => ({ ...members, ...cost }));

const draft = {
  request_id: text,
  at_ms: finite,
  account: text,
  workspace: text,
  key_id: text,
  key_name: text,
  end_user: textOrNull,
  session: textOrNull,
  trace_id: textOrNull,
  protocol: fc.constantFrom<ClientProtocolName>('chat', 'messages'),
  model: textOrNull,
  served_model: textOrNull,
  provider: textOrNull,
  stream: fc.boolean(),
  price_version: textOrNull,
};

const recordMembers: fc.Arbitrary<CallRecord> = fc.record({
  ...draft,
  status: count,
  error: textOrNull,
  reason: fc.option(
    fc.record({ kind: fc.constantFrom(...REASON_KINDS), upstream: members }),
  ) as fc.Arbitrary<Reason | null>,
  finish_reason: textOrNull,
  usage,
  usage_source: fc.constantFrom<UsageSource>('upstream', 'partial', 'counted', 'checkpoint', 'void', 'cache'),
  usage_flags: fc.option(fc.uniqueArray(fc.constantFrom<UsageFlag>('sum', 'cached', 'reasoning', 'far_input'))),
  cost_nano_usd: fc.option(amount.map(String)),
  ttfb_ms: numberOrNull,
  duration_ms: finite,
  attempts: fc.array(attempt, { maxLength: 3 }),
});
const rareMembers = fc.record(
  {
    cached_from: text,
    masked: fc.dictionary(fc.constantFrom('grl_1', 'grl_2'), count, { noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const record = fc.tuple(recordMembers, rareMembers).map(([members, rare]): CallRecord => ({ ...members, ...rare }));

const audit: fc.Arbitrary<NewAuditEntry> = fc.record({
  atMs: finite,
  account: text,
  workspace: textOrNull,
  by: fc.record({
    actor: fc.record({ kind: fc.constantFrom(...AUDIT_ACTOR_KINDS), id: text, name: text }),
    address: textOrNull,
  }),
  act: text,
  subject: fc.record({ kind: text, id: text }),
  before: fc.option(members),
  after: fc.option(members),
});

/** Any frame that can be encoded, with all members that may be absent. */
export const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constant('hold' as const), draft: fc.record(draft), amount, prepaid: fc.boolean() }),
  fc.record({
    kind: fc.constant('extend' as const),
    call_id: text,
    nth: count,
    amount,
    prepaid: fc.boolean(),
    at_ms: finite,
  }),
  fc.record(
    {
      kind: fc.constant('end' as const),
      record,
      hold: fc.option(fc.record({ amount, prepaid: fc.boolean() })),
      posted: amount,
      released: amount,
      writtenOff: amount,
      at_ms: finite,
      stored,
    },
    {
      requiredKeys: ['kind', 'record', 'hold', 'posted', 'released', 'writtenOff', 'at_ms'],
      noNullPrototype: true,
    },
  ),
  fc.record({ kind: fc.constant('refused' as const), record }),
  fc.record(
    {
      kind: fc.constant('checkpoint' as const),
      call_id: text,
      usage,
      cost: amount,
      target: fc.record({ provider: text, served_model: text, price_version: text }),
    },
    { requiredKeys: ['kind', 'call_id', 'usage', 'cost'], noNullPrototype: true },
  ),
  fc.record({
    kind: fc.constant('movement' as const),
    of: fc.constantFrom('topup' as const, 'correct' as const),
    movement: fc.record({ id: text, account: text, amount, note: textOrNull, at_ms: finite }),
    prepaid: fc.boolean(),
    audit: fc.option(audit),
  }),
  fc.record(
    {
      kind: fc.constant('detach' as const),
      call_id: text,
      at_ms: finite,
      job: fc.record(
        {
          kind: fc.constantFrom('response' as const, 'batch' as const),
          id: text,
          provider: text,
          model: text,
          credential: text,
          deadline_ms: fc.nat(),
          held_tokens: fc.record({ input: fc.nat(), output: fc.nat() }, { noNullPrototype: true }),
          price_version: textOrNull,
          tier: text,
          tier_prices: fc.record({ flex: text }, { noNullPrototype: true }),
          attempts: fc.array(attemptMembers, { maxLength: 2 }),
        },
        {
          requiredKeys: [
            'kind',
            'id',
            'provider',
            'model',
            'credential',
            'deadline_ms',
            'held_tokens',
            'price_version',
            'attempts',
          ],
          noNullPrototype: true,
        },
      ),
      stored,
    },
    { requiredKeys: ['kind', 'call_id', 'at_ms', 'job'], noNullPrototype: true },
  ),
);
