/** Tests thinking and effort against the table of the wire reference, B.9 and C.5. */
import { describe, expect, test } from 'bun:test';
import type { GenerationRequest, ReasoningEffort, ReasoningRequest } from '../../../generation/request.ts';
import { withMessagesTraits } from '../../testing/capable-upstream.ts';
import type { MessagesTraits } from '../../upstream-traits.ts';
import { render, requestWith } from '../testing/request-rig.ts';

const REASONING: ReasoningRequest = { mode: null, budgetTokens: null, effort: null, display: null };

function reason(
  given: Partial<ReasoningRequest>,
  model: Partial<MessagesTraits>,
  changes: Partial<GenerationRequest> = {},
) {
  const reasoning = { ...REASONING, ...given };
  const request = requestWith({
    reasoning,
    named: { reasoning: 'reasoning_effort' },
    outputTokensMax: 100_000,
    ...changes,
  });
  const { body, dropped } = render(request, withMessagesTraits(model));
  return { thinking: body.thinking, effort: body.output_config?.effort, dropped };
}

const ADAPTIVE = { thinking: ['adaptive'], effort: ['low', 'medium', 'high', 'xhigh', 'max'] };
const BUDGET = { thinking: ['enabled', 'disabled'], effort: [] };
const NAMED = ['reasoning_effort'];

test('without a request nothing is sent', () => {
  const { body } = render(requestWith({}));
  expect([body.thinking, body.output_config]).toEqual([undefined, undefined]);
});

test.each([
  ['minimal', 'low', 1024],
  ['low', 'low', 2048],
  ['medium', 'medium', 8192],
  ['high', 'high', 16_384],
  ['xhigh', 'xhigh', 32_768],
  ['max', 'max', 80_000],
] as const)('effort %s is adaptive with %s, or a budget of %i', (effort: ReasoningEffort, word, budget_tokens) => {
  expect(reason({ effort }, ADAPTIVE)).toEqual({ thinking: { type: 'adaptive' }, effort: word, dropped: [] });
  const thinking = { type: 'enabled', budget_tokens };
  expect(reason({ effort }, BUDGET)).toEqual({ thinking, effort: undefined, dropped: [] });
  expect(reason({ effort }, { thinking: null, effort: null }).thinking).toEqual(thinking);
});

test('an effort that the model does not take becomes the nearest below, and is named', () => {
  const older = { thinking: ['adaptive', 'enabled'], effort: ['low', 'medium', 'high', 'max'] };
  expect(reason({ effort: 'xhigh' }, older)).toEqual({
    thinking: { type: 'adaptive' },
    effort: 'high',
    dropped: NAMED,
  });
  expect(reason({ effort: 'max' }, older)).toEqual({ thinking: { type: 'adaptive' }, effort: 'max', dropped: [] });
  const least = { thinking: ['adaptive'], effort: ['medium', 'high'] };
  expect(reason({ effort: 'low' }, least)).toEqual({
    thinking: { type: 'adaptive' },
    effort: 'medium',
    dropped: NAMED,
  });
});

describe('a budget', () => {
  const high = (outputTokensMax: number) => reason({ effort: 'high' }, BUDGET, { outputTokensMax });

  test('leaves a fifth of the answer to the answer, and is never below 1024', () => {
    expect(high(10_000).thinking).toEqual({ type: 'enabled', budget_tokens: 8000 });
    expect(high(1025).thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
  });

  test('has no room in an answer of 1024 tokens, and then is named', () => {
    expect(high(1024)).toEqual({ thinking: { type: 'disabled' }, effort: undefined, dropped: NAMED });
  });

  test('the caller’s budget is kept, and a cap below max_tokens is reported', () => {
    const own = (budgetTokens: number) => reason({ mode: 'budget', budgetTokens }, BUDGET, { outputTokensMax: 4000 });
    expect(own(3999)).toEqual({ thinking: { type: 'enabled', budget_tokens: 3999 }, effort: undefined, dropped: [] });
    expect(own(4000)).toEqual({
      thinking: { type: 'enabled', budget_tokens: 3999 },
      effort: undefined,
      dropped: NAMED,
    });
  });

  test.each([
    [2048, 'low'],
    [8192, 'medium'],
    [24_576, 'high'],
    [24_577, 'xhigh'],
  ] as const)('of %i at an adaptive model is the effort %s', (budgetTokens, effort) => {
    expect(reason({ mode: 'budget', budgetTokens }, ADAPTIVE)).toEqual({
      thinking: { type: 'adaptive' },
      effort,
      dropped: [],
    });
  });

  test('a budget below Anthropic’s minimum is raised and reported', () => {
    expect(reason({ mode: 'budget', budgetTokens: 500 }, BUDGET)).toEqual({
      thinking: { type: 'enabled', budget_tokens: 1024 },
      effort: undefined,
      dropped: NAMED,
    });
  });
});

describe('a forced tool', () => {
  const tools = [
    { kind: 'function', name: 't', description: null, parameters: null, strict: null, cache_mark: null },
  ] as const;
  const forced = (model: Partial<MessagesTraits>, effort: ReasoningEffort = 'low') =>
    reason({ effort }, model, { tools, tool_choice: { kind: 'required' } });

  test('leaves no thinking, by a budget or adaptive, and the member is named', () => {
    expect(forced(BUDGET)).toEqual({ thinking: { type: 'disabled' }, effort: undefined, dropped: NAMED });
    expect(forced({ ...ADAPTIVE, thinking: ['adaptive', 'disabled'] })).toEqual({
      thinking: { type: 'disabled' },
      effort: 'low',
      dropped: NAMED,
    });
  });

  test('does not mention thinking to a model that cannot turn it off', () => {
    expect(forced(ADAPTIVE)).toEqual({ thinking: undefined, effort: 'low', dropped: NAMED });
  });

  test('takes no more effort than goes with disabled thinking', () => {
    const model = { ...ADAPTIVE, thinking: ['adaptive', 'disabled'], effortMaxWhenDisabled: 'high' };
    expect(forced(model, 'max').effort).toBe('high');
  });

  test('a tool that is only allowed keeps the thinking', () => {
    const { thinking } = reason({ effort: 'low' }, ADAPTIVE, { tools, tool_choice: { kind: 'auto' } });
    expect(thinking).toEqual({ type: 'adaptive' });
  });
});

describe('no thinking', () => {
  test.each([
    ['is disabled', { thinking: ['adaptive', 'disabled', 'between_tools'] }, { type: 'disabled' }, undefined, []],
    ['is disabled where nobody knows', { thinking: null }, { type: 'disabled' }, undefined, []],
    [
      'is between tools where it cannot be disabled',
      { thinking: ['adaptive', 'between_tools'] },
      { type: 'between_tools' },
      undefined,
      [],
    ],
    ['is a low effort where nothing else is taken, and named', { thinking: ['adaptive'] }, undefined, 'low', NAMED],
    ['is silence at a model with budgets only', { thinking: ['enabled'] }, undefined, undefined, []],
  ] as const)('%s', (_name, model, thinking, effort, dropped) => {
    expect(reason({ mode: 'off' }, model)).toEqual({ thinking, effort, dropped: [...dropped] });
  });

  test('takes no more effort than the model takes with it', () => {
    const model = { thinking: ['disabled'], effortMaxWhenDisabled: 'high' };
    expect(reason({ mode: 'off', effort: 'max' }, model)).toEqual({
      thinking: { type: 'disabled' },
      effort: 'high',
      dropped: NAMED,
    });
    expect(reason({ mode: 'off', effort: 'low' }, model).effort).toBe('low');
  });
});

test('the modes of the format itself are carried with their display', () => {
  expect(reason({ mode: 'adaptive', display: 'summarized' }, ADAPTIVE).thinking).toEqual({
    type: 'adaptive',
    display: 'summarized',
  });
  expect(reason({ mode: 'adaptive' }, BUDGET).thinking).toEqual({ type: 'enabled', budget_tokens: 16_384 });
  expect(reason({ mode: 'between_tools' }, { thinking: ['between_tools'] }).thinking).toEqual({
    type: 'between_tools',
  });
  expect(reason({ mode: 'between_tools' }, BUDGET).thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
});

test('for a model that does not think the option is dropped', () => {
  const plain = (given: Partial<ReasoningRequest>) => {
    const request = requestWith({ reasoning: { ...REASONING, ...given }, named: { reasoning: 'reasoning_effort' } });
    const { body, dropped } = render(request, withMessagesTraits({}, { reasoning: false }));
    return [body.thinking, dropped];
  };
  expect(plain({ effort: 'high' })).toEqual([undefined, NAMED]);
  expect(plain({ mode: 'off' })).toEqual([undefined, []]);
  expect(reason({ effort: 'high' }, { thinking: [], effort: [] })).toEqual({
    thinking: undefined,
    effort: undefined,
    dropped: NAMED,
  });
  expect(reason({ effort: 'high' }, { thinking: [], effort: ['high'] })).toEqual({
    thinking: undefined,
    effort: 'high',
    dropped: [],
  });
});
