/** Tests of flag-usage.ts: at which distance from our own estimate upstream's numbers are far, and what is not judged. */
import { describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../generation/usage.ts';
import type { AnswerFacts } from '../protocols/protocol.ts';
import type { RequestFacts } from '../protocols/request-facts.ts';
import { flagUsage } from './flag-usage.ts';
import { LearntRatio } from './learnt-ratio.ts';
import { routedCall } from './testing/routed-call.ts';

/** Four bytes a token: nothing was learnt. */
const RATIO = new LearntRatio();

function flagsOf(asked: Partial<RequestFacts>, told: Partial<AnswerFacts>, reasons: boolean | null = null) {
  const { call } = routedCall({ facts: { inputBytes: 0, ...asked } });
  const { route } = call;
  if (route === null) throw new Error('the call has no route');
  const takes = { ...route.traits.takes, reasoning: reasons };
  const facts = { usageFlags: [], usageSoFar: null, finish_reason: 'stop', model: 'm', outputBytes: 0, usage: null };
  const judged = { facts: call.facts, route: { ...route, traits: { ...route.traits, takes } } };
  return flagUsage(judged, { ...facts, ...told }, RATIO);
}

const usage = (input: number, output = 0, reasoning = 0) => ({ usage: { ...ZERO_USAGE, input, output, reasoning } });

describe('the input', () => {
  test.each([
    [4_000, 4_000, []],
    [4_000, 4_001, ['far_input']],
    [400, 1_100, []],
    [400, 1_101, ['far_input']],
    [8_000, 500, []],
    [8_000, 499, ['far_input']],
    [3_996, 0, []],
    [4_004, 0, ['far_input']],
  ] as const)('of %d bytes, counted %d', (inputBytes, counted, flags) => {
    expect(flagsOf({ inputBytes }, usage(counted))).toEqual([...flags]);
  });

  test('is all of the prompt, cached or not', () => {
    const { input, ...rest } = ZERO_USAGE;
    const parts = { input: 1_000, cache_read: 1_000, cache_write_5m: 1_000, cache_write_1h: 1_001 };
    expect(flagsOf({ inputBytes: 4_000 }, { usage: { ...rest, ...parts } })).toEqual(['far_input']);
    expect(input).toBe(0);
  });

  test('with an image may be any larger, and not that much smaller', () => {
    expect(flagsOf({ inputBytes: 400, mediaParts: 1 }, usage(200_000))).toEqual([]);
    expect(flagsOf({ inputBytes: 8_000, mediaParts: 1 }, usage(499))).toEqual(['far_input']);
  });
});

describe('the output', () => {
  test.each([
    ['far less than came', 8_000, usage(0, 499), null, ['far_output']],
    ['as much as came', 8_000, usage(0, 2_000), false, []],
    ['far more than came, of a model that does not reason', 4_000, usage(0, 4_001), false, ['far_output']],
    ['far more than came, of one that may', 4_000, usage(0, 4_001), null, []],
    ['far more than came, beside the reasoning', 4_000, usage(0, 9_001, 5_000), true, ['far_output']],
    ['more by the reasoning', 4_000, usage(0, 9_000, 5_000), true, []],
    ['of an answer in one piece, whose bytes are not counted', 0, usage(0, 90_000), false, []],
  ] as const)('%s', (_, outputBytes, told, reasons, flags) => {
    expect(flagsOf({}, { ...told, outputBytes }, reasons)).toEqual([...flags]);
  });
});

test('what the numbers say against each other comes first; without numbers there is nothing', () => {
  expect(flagsOf({ inputBytes: 4_000 }, { ...usage(9_000), usageFlags: ['sum'] })).toEqual(['sum', 'far_input']);
  expect(flagsOf({ inputBytes: 90_000 }, { usage: null, usageFlags: ['sum'] })).toEqual([]);
});
