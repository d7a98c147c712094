/** Tests every row of the table of who pays: what is charged, and the source of its numbers. */
import { describe, expect, test } from 'bun:test';
import { type Usage, ZERO_USAGE } from '../generation/usage.ts';
import { type CallEnding, chooseCharge, type EndedCall, WHO_PAYS } from './who-pays.ts';

const FINAL: Usage = { ...ZERO_USAGE, input: 100, output: 50, reasoning: 10 };
const SO_FAR: Usage = { ...ZERO_USAGE, input: 100, cache_read: 7, output: 20 };
const COUNTED: Usage = { ...ZERO_USAGE, input: 90, output: 33 };
const MORE_CAME: Usage = { ...SO_FAR, output: 33 };

const WHOLE: EndedCall = {
  endedBy: 'complete',
  dispatched: true,
  produced: true,
  usage: FINAL,
  usageSoFar: SO_FAR,
  brokenAnswers: 'bill',
};
const CUT: EndedCall = { ...WHOLE, usage: null };
const SILENT: EndedCall = { ...WHOLE, produced: false, usage: null, usageSoFar: null };

const CASES: readonly [string, EndedCall, CallEnding, Usage, string][] = [
  ['a whole answer with usage', WHOLE, 'complete', FINAL, 'upstream'],
  ['a whole answer that told its input and no end', CUT, 'complete_without_usage', MORE_CAME, 'counted'],
  ['a whole answer that never told any', { ...CUT, usageSoFar: null }, 'complete_without_usage', COUNTED, 'counted'],
  [
    'the caller left before dispatch',
    { ...SILENT, endedBy: 'caller_left', dispatched: false },
    'not_dispatched',
    ZERO_USAGE,
    'void',
  ],
  [
    'a refusal before dispatch',
    { ...SILENT, endedBy: 'failed', dispatched: false },
    'not_dispatched',
    ZERO_USAGE,
    'void',
  ],
  ['the caller left before any output', { ...SILENT, endedBy: 'caller_left' }, 'caller_left', COUNTED, 'counted'],
  ['the caller left mid-stream', { ...CUT, endedBy: 'caller_left' }, 'caller_left', MORE_CAME, 'partial'],
  [
    'the caller left mid-stream, upstream told nothing',
    { ...CUT, endedBy: 'caller_left', usageSoFar: null },
    'caller_left',
    COUNTED,
    'counted',
  ],
  [
    'the caller read all and left before the usage',
    { ...CUT, endedBy: 'caller_left', usageSoFar: { ...SO_FAR, output: 1 } },
    'caller_left',
    MORE_CAME,
    'partial',
  ],
  ['upstream failed without output', { ...SILENT, endedBy: 'failed' }, 'failed_without_output', ZERO_USAGE, 'void'],
  [
    'upstream told its input and failed',
    { ...CUT, endedBy: 'failed', produced: false },
    'failed_without_output',
    ZERO_USAGE,
    'void',
  ],
  ['upstream died mid-stream', { ...CUT, endedBy: 'failed' }, 'failed_mid_stream', MORE_CAME, 'partial'],
  [
    'upstream died mid-stream and told nothing',
    { ...CUT, endedBy: 'failed', usageSoFar: null },
    'failed_mid_stream',
    COUNTED,
    'partial',
  ],
  [
    'upstream died mid-stream, and the operator bears it',
    { ...CUT, endedBy: 'failed', brokenAnswers: 'free' },
    'failed_mid_stream_free',
    MORE_CAME,
    'partial',
  ],
  [
    'upstream failed without output, and the operator bears broken answers',
    { ...SILENT, endedBy: 'failed', brokenAnswers: 'free' },
    'failed_without_output',
    ZERO_USAGE,
    'void',
  ],
  [
    'the caller left an answer, and the operator bears broken ones',
    { ...CUT, endedBy: 'caller_left', brokenAnswers: 'free' },
    'caller_left',
    MORE_CAME,
    'partial',
  ],
  ['an answer that was not delivered', { ...WHOLE, endedBy: 'undelivered' }, 'undelivered', FINAL, 'upstream'],
  [
    'an answer that was not delivered and told its usage in part',
    { ...CUT, endedBy: 'undelivered' },
    'failed_without_output',
    ZERO_USAGE,
    'void',
  ],
  [
    'an answer that was not delivered and told no usage',
    { ...SILENT, endedBy: 'undelivered' },
    'failed_without_output',
    ZERO_USAGE,
    'void',
  ],
  [
    'upstream died mid-stream right after it told its usage',
    { ...CUT, endedBy: 'failed', countedWhenReported: 33 },
    'failed_mid_stream',
    SO_FAR,
    'partial',
  ],
  [
    'upstream died mid-stream after it told its usage, and more text',
    { ...CUT, endedBy: 'failed', countedWhenReported: 30 },
    'failed_mid_stream',
    { ...SO_FAR, output: 23 },
    'partial',
  ],
  [
    'upstream died mid-stream after it told nothing but zeros',
    { ...CUT, endedBy: 'failed', usageSoFar: { ...SO_FAR, output: 0 }, countedWhenReported: 33 },
    'failed_mid_stream',
    MORE_CAME,
    'partial',
  ],
  ['the next slice was refused', { ...CUT, endedBy: 'extension_refused' }, 'extension_refused', MORE_CAME, 'partial'],
  ['a crash after a checkpoint', { ...CUT, endedBy: 'crashed' }, 'crashed', SO_FAR, 'checkpoint'],
  ['a crash before one', { ...SILENT, endedBy: 'crashed' }, 'crashed_without_checkpoint', ZERO_USAGE, 'void'],
  [
    'an attempt before the answer that told its usage',
    { ...WHOLE, endedBy: 'lost' },
    'lost_attempt',
    FINAL,
    'upstream',
  ],
  [
    'an attempt before the answer that told its input',
    { ...CUT, endedBy: 'lost', produced: false },
    'lost_attempt',
    MORE_CAME,
    'upstream',
  ],
  [
    'an attempt before the answer that told nothing',
    { ...SILENT, endedBy: 'lost' },
    'lost_attempt',
    COUNTED,
    'counted',
  ],
  ['a stored answer', { ...WHOLE, endedBy: 'replayed', dispatched: false }, 'replayed', ZERO_USAGE, 'cache'],
];

const OF_OPERATOR: ReadonlySet<string> = new Set(['failed_mid_stream_free', 'undelivered', 'lost_attempt']);

describe('chooseCharge', () => {
  test.each(CASES)('%s', (_, ended, ending, usage, source) => {
    expect(chooseCharge(ended, () => COUNTED)).toEqual({
      ending,
      usage,
      source,
      payer: OF_OPERATOR.has(ending) ? 'operator' : 'account',
    } as ReturnType<typeof chooseCharge>);
  });

  test('has a case above for every row of the table', () => {
    const rows = new Set(CASES.map(([, , ending]) => ending));
    expect([...rows].sort()).toEqual((Object.keys(WHO_PAYS) as CallEnding[]).sort());
  });

  test('keeps upstream’s number of the output where it is the higher one', () => {
    const charge = chooseCharge({ ...CUT, endedBy: 'caller_left' }, () => ({ ...COUNTED, output: 3 }));
    expect(charge.usage).toEqual(SO_FAR);
  });

  test('does not count where upstream’s numbers, or nothing, are charged', () => {
    const never = () => {
      throw new Error('counted');
    };
    expect(chooseCharge(WHOLE, never).usage).toEqual(FINAL);
    expect(chooseCharge({ ...SILENT, endedBy: 'failed' }, never).usage).toEqual(ZERO_USAGE);
  });
});
