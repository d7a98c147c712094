/** Tests usage-checks.ts: how far upstream's numbers may be from our own estimate, and what is not checked. */
import { describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import { routedCall } from '../testing/routed-call.ts';
import { checkUsage, TokenRatio } from './usage-checks.ts';

/** Four bytes per token: nothing was learned. */
const RATIO = new TokenRatio();

function flagsOf(
  asked: Partial<RequestFacts>,
  told: Partial<AnswerFacts>,
  reasons: boolean | null = null,
  outputTokensMax: number | null = null,
) {
  const call = routedCall({ facts: { inputBytes: 0, outputTokensMax: null, ...asked }, outputTokensMax });
  const { target } = call;
  const takes = { ...target.traits.takes, reasoning: reasons };
  const facts = {
    usageFlags: [],
    usageSoFar: null,
    finish_reason: 'stop',
    model: 'm',
    outputBytes: 0,
    reasoningBytes: 0,
    outputBytesMax: told.outputBytes ?? 0,
    usage: null,
  };
  const judged = { facts: call.facts, target: { ...target, traits: { ...target.traits, takes } } };
  return checkUsage(judged, { ...facts, ...told }, RATIO);
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
    ['of a stream that had no text, of a model that does not reason', 0, usage(0, 90_000), false, []],
    [
      'far less than came as reasoning, which tools may have filled',
      4_100,
      { ...usage(0, 20), reasoningBytes: 4_000 },
      null,
      [],
    ],
    [
      'far less than came beside the reasoning',
      9_000,
      { ...usage(0, 20), reasoningBytes: 1_000 },
      null,
      ['far_output'],
    ],
  ] as const)('%s', (_, outputBytes, told, reasons, flags) => {
    expect(flagsOf({}, { ...told, outputBytes }, reasons)).toEqual([...flags]);
  });
});

describe('the output of an answer in one piece', () => {
  const body = (outputBytesMax: number, outputBytes = 0) => ({ outputBytesMax, outputBytes });

  test.each([
    ['that its body bears', body(4_000), usage(0, 4_000), false, []],
    ['far more than its body bears', body(4_000), usage(0, 4_001), false, ['far_output']],
    ['far more than its body bears, of a model that may hide it', body(4_000), usage(0, 4_001), null, []],
    ['far more than its body bears, beside the reasoning', body(400), usage(0, 9_101, 8_000), true, ['far_output']],
    [
      'by its sound',
      body(4_000),
      { usage: { ...ZERO_USAGE, output: 9_000, extras: { audio_output: 8_000 } } },
      false,
      [],
    ],
    ['none of a long text', body(51_000, 50_000), usage(0, 0), null, ['far_output']],
    ['of a short text in a long body', body(51_000, 100), usage(0, 25), null, []],
  ] as const)('%s', (_, bytes, told, reasons, flags) => {
    expect(flagsOf({}, { ...told, ...bytes }, reasons)).toEqual([...flags]);
  });
});

describe('the most that may be said', () => {
  test.each([
    ['by the caller', { outputTokensMax: 100 }, null, 5_000_000, ['far_output']],
    ['by the caller, not far', { outputTokensMax: 100 }, null, 1_100, []],
    ['by the caller, far', { outputTokensMax: 100 }, null, 1_101, ['far_output']],
    ['by the caller, for each of several answers', { outputTokensMax: 1_000, answers: 4 }, null, 16_000, []],
    ['by the caller, before the catalogue', { outputTokensMax: 4_000 }, 100, 9_000, []],
    ['by the catalogue', {}, 8_000, 32_001, ['far_output']],
    ['by nobody', {}, null, 5_000_000, []],
  ] as const)('%s', (_, asked, catalogued, output, flags) => {
    for (const reasoning of [0, output - 1]) {
      const told = { ...usage(0, output, reasoning), outputBytesMax: 300 };
      expect(flagsOf(asked, told, reasoning > 0 ? true : null, catalogued)).toEqual([...flags]);
    }
  });
});

test('contradictions between the numbers come first, and need numbers', () => {
  expect(flagsOf({ inputBytes: 4_000 }, { ...usage(9_000), usageFlags: ['sum'] })).toEqual(['sum', 'far_input']);
  expect(flagsOf({ inputBytes: 90_000 }, { usage: null, usageFlags: ['sum'] })).toEqual([]);
});

describe('the model', () => {
  const answeredBy = (model: string, answersAsOther: boolean) => {
    const { facts, target } = routedCall({});
    const upstream = { ...target.upstream, answersAsOther };
    const told = { usageFlags: [], usageSoFar: null, finish_reason: 'stop', model, outputBytes: 0, reasoningBytes: 0 };
    const answer = { ...told, outputBytesMax: 0, usage: { ...ZERO_USAGE } };
    return checkUsage({ facts, target: { ...target, upstream } }, answer, RATIO);
  };

  test('is flagged if an upstream that is known for it answers with another one', () => {
    const { model } = routedCall({}).target.upstream;
    expect(answeredBy('deepseek-v4-flash', true)).toContain('other_model');
    expect(answeredBy('deepseek-v4-flash', false)).not.toContain('other_model');
    expect(answeredBy(model, true)).not.toContain('other_model');
    expect(answeredBy(`${model}-20261120`, true)).not.toContain('other_model');
  });
});
