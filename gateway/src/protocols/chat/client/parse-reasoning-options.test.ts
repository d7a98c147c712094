/** Tests the meaning of each way to request reasoning in a chat body, alone and combined with the others. */
import { describe, expect, test } from 'bun:test';
import type { ReasoningRequest } from '../../../generation/request.ts';
import { parse, refusalOf } from '../testing/chat-request.ts';

const ON: ReasoningRequest = { mode: null, budgetTokens: null, effort: null, display: null };
const MEDIUM: ReasoningRequest = { ...ON, effort: 'medium' };
const OFF: ReasoningRequest = { ...ON, mode: 'off' };
const budget = (budgetTokens: number): ReasoningRequest => ({ ...ON, mode: 'budget', budgetTokens });

const read = (body: object, strict = false) => {
  const { request, dropped } = parse(body, strict);
  return [request.reasoning, request.named.reasoning, dropped];
};

describe('reasoning_effort', () => {
  test.each(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const)('%s is an effort', (effort) => {
    expect(parse({ reasoning_effort: effort }).request.reasoning).toEqual({
      mode: null,
      budgetTokens: null,
      effort,
      display: null,
    });
  });

  test('none turns reasoning off', () => {
    expect(parse({ reasoning_effort: 'none' }).request.reasoning?.mode).toBe('off');
    expect(parse({ reasoning_effort: 'default' }).request.reasoning).toBeNull();
  });

  test('another word is refused with the words that are known', () => {
    expect(refusalOf(() => parse({ reasoning_effort: 'huge' })).message).toBe(
      'reasoning_effort: found "huge"; expected one of none, minimal, low, medium, high, xhigh, max',
    );
  });
});

test.each([
  [{ effort: 'high' }, { ...ON, effort: 'high' }],
  [{ effort: 'none' }, OFF],
  [{ max_tokens: 2000 }, budget(2000)],
  [
    { max_tokens: 2000, effort: 'low' },
    { ...budget(2000), effort: 'low' },
  ],
  [{ enabled: true }, MEDIUM],
  [
    { enabled: true, effort: 'xhigh' },
    { ...ON, effort: 'xhigh' },
  ],
  [{ enabled: false }, OFF],
  [
    { effort: 'low', exclude: true },
    { ...ON, effort: 'low', display: 'omitted' },
  ],
] as const)('reasoning %j is carried', (reasoning, expected) => {
  expect(read({ reasoning }, true)).toEqual([expected, 'reasoning', []]);
});

test.each([
  [{ type: 'enabled', budget_tokens: 4000 }, budget(4000)],
  [{ budget_tokens: 4000 }, budget(4000)],
  [{ type: 'enabled' }, MEDIUM],
  [{ type: 'disabled' }, OFF],
  [{ type: 'adaptive' }, { ...ON, mode: 'adaptive' }],
  [{ type: 'auto' }, { ...ON, mode: 'adaptive' }],
  [{ type: 'between_tools' }, { ...ON, mode: 'between_tools' }],
  [
    { type: 'adaptive', display: 'summarized' },
    { ...ON, mode: 'adaptive', display: 'summarized' },
  ],
] as const)('thinking %j is carried', (thinking, expected) => {
  expect(read({ thinking }, true)).toEqual([expected, 'thinking', []]);
});

describe('several of them', () => {
  test('are one request if they agree', () => {
    expect(read({ reasoning_effort: 'high', thinking: { type: 'enabled' } }, true)).toEqual([
      { ...ON, effort: 'high' },
      'reasoning_effort',
      [],
    ]);
    expect(read({ reasoning_effort: 'high', reasoning: { enabled: true }, thinking: { type: 'adaptive' } })).toEqual([
      { ...ON, mode: 'adaptive', effort: 'high' },
      'reasoning_effort',
      [],
    ]);
  });

  test('the first of contradicting options applies, and the others are reported', () => {
    const body = { reasoning_effort: 'low', reasoning: { effort: 'high' }, thinking: { type: 'disabled' } };
    expect(read(body)).toEqual([{ ...ON, effort: 'low' }, 'reasoning_effort', ['reasoning', 'thinking']]);
    expect(refusalOf(() => parse(body, true)).param).toBe('reasoning');
    expect(read({ reasoning: { max_tokens: 2000 }, thinking: { type: 'enabled', budget_tokens: 3000 } })).toEqual([
      budget(2000),
      'reasoning',
      ['thinking'],
    ]);
  });
});

test('ignores options that ask for no reasoning, and reports those that cannot be carried', () => {
  expect(read({ reasoning: {} })).toEqual([null, undefined, []]);
  expect(read({ reasoning: { exclude: true } })).toEqual([null, undefined, ['reasoning.exclude']]);
  expect(read({ thinking: { clear_thinking: true } })).toEqual([null, undefined, ['thinking.clear_thinking']]);
  expect(read({ thinking: false, reasoning: null })).toEqual([null, undefined, []]);
  expect(read({ thinking: true })).toEqual([null, undefined, ['thinking']]);
  expect(read({ reasoning: { effort: 'low', summary: 'auto' } })[2]).toEqual(['reasoning.summary']);
});

test.each([
  [{ reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  [{ reasoning: { max_tokens: 0 } }, 'reasoning.max_tokens'],
  [{ reasoning: { enabled: 'yes' } }, 'reasoning.enabled'],
  [{ thinking: { type: 'deep' } }, 'thinking.type'],
  [{ thinking: { type: 'enabled', budget_tokens: 1.5 } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'adaptive', display: 'loud' } }, 'thinking.display'],
])('%j is refused by the name of the member', (body, param) => {
  expect(refusalOf(() => parse(body)).param).toBe(param);
});
