/** Tests that the judge of attempts accepts sound books, and finds each kind of error in them. */
import { expect, test } from 'bun:test';
import type { AttemptRecord, CallRecord } from '../../src/store/ports/records.ts';
import { usageOf } from '../../src/store/testing/sample-call.ts';
import { sampleRecord } from '../../src/store/testing/sample-record.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import { judgeAttempts } from './judge-attempts.ts';

const BODY = { content: 'Count the carts of call-1.' };
const arrived = (model: string, status: number, usage: ServedCall['usage']) =>
  ({
    model,
    status,
    usage,
    eventsSent: 3,
    bytesSent: 9,
    requestBody: Buffer.from(JSON.stringify(BODY)),
  }) as unknown as ServedCall;

const SERVED = [
  arrived('first-stream', 500, null),
  arrived('second-stream', 200, { input_tokens: 7, output_tokens: 4 }),
  arrived('third-stream', 200, { prompt_tokens: 10, completion_tokens: 2 }),
];

const row = (provider: string, changes: Partial<AttemptRecord>): AttemptRecord => ({
  provider,
  model: `${provider}-stream`,
  status: 200,
  error: null,
  connect_ms: 1,
  duration_ms: 2,
  ...changes,
});
const FIRST = row('first', { status: 500, billed: 'maybe', usage: usageOf(0), cost_nano_usd: '9000' });
const SECOND = row('second', { billed: 'yes', usage: usageOf(4), cost_nano_usd: '81000' });
const THIRD = row('third', {});

const sound = (changes: Partial<CallRecord> = {}) =>
  sampleRecord('req_1', {
    end_user: 'call-1',
    provider: 'third',
    cost_nano_usd: '5800',
    attempts: [FIRST, SECOND, THIRD],
    ...changes,
  });

test('sound books are accepted, and added up', () => {
  const unsent = row('first', { status: null, connect_ms: null });
  const { sums, problems } = judgeAttempts([sound({ attempts: [unsent, FIRST, SECOND, THIRD] })], SERVED);
  expect(problems).toEqual([]);
  expect(sums).toEqual({
    calls: 1,
    attempts: 4,
    lost: { no: 1, maybe: 1, yes: 1 },
    reported: 86_800n,
    booked: 86_800n,
    estimated: 9_000n,
    used: 0n,
  });
});

const CASES: readonly (readonly [what: string, record: CallRecord, served: readonly ServedCall[], problem: string])[] =
  [
    ['another cost of the answer', sound({ cost_nano_usd: '5801' }), SERVED, 'costs 5801, the upstream counted 5800'],
    ['another provider', sound({ provider: 'second' }), SERVED, 'is of provider second, its last attempt of third'],
    [
      'a charge that is absorbed as well',
      sound({ attempts: [FIRST, SECOND, { ...THIRD, billed: 'yes' }] }),
      SERVED,
      'its last attempt is charged and billed yes as well',
    ],
    [
      'another cost of an attempt',
      sound({ attempts: [FIRST, { ...SECOND, cost_nano_usd: '80999' }, THIRD] }),
      SERVED,
      'an attempt at second-stream costs 80999, the upstream counted 81000',
    ],
    ['an attempt without a row', sound({ attempts: [FIRST, THIRD] }), SERVED, '1 arrivals at second-stream have no'],
    [
      'a reported usage that is not booked',
      sound({ attempts: [FIRST, row('second', {}), THIRD] }),
      SERVED,
      'an attempt at second-stream costs 0, the upstream counted 81000',
    ],
    [
      'an attempt of unknown fate that is not listed',
      sound({ attempts: [row('first', { status: 500 }), SECOND, THIRD] }),
      SERVED,
      'an attempt at first-stream was not billed, and arrived with status 500',
    ],
    [
      'a usage that the upstream did not report',
      sound({ attempts: [{ ...FIRST, billed: 'yes' }, SECOND, THIRD] }),
      SERVED,
      'an attempt at first-stream was billed, and the upstream reported no usage',
    ],
    [
      'an attempt that never arrived',
      sound(),
      SERVED.slice(1),
      'an attempt at first-stream that did not arrive may be billed',
    ],
    [
      'a request without a record',
      sound({ end_user: 'call-2', attempts: [] }),
      SERVED,
      'the call call-1 reached the upstream and has no record',
    ],
  ];

test.each(CASES)('%s is found', (_, record, served, problem) => {
  expect(judgeAttempts([record], served).problems.join('\n')).toContain(problem);
});
