/** Tests that the answer to a request for a summary becomes one part that stands for the conversation. */
import { describe, expect, test } from 'bun:test';
import type { FinishReason, GenerationEvent } from './event.ts';
import { summaryIn, textPart } from './part.ts';
import type { GenerationRequest } from './request.ts';
import { collectSummary, summaryRequest } from './summarize.ts';

const START: GenerationEvent = { kind: 'start', id: 'a', model: 'm' };
const finish = (finish_reason: FinishReason): GenerationEvent => ({
  kind: 'finish',
  finish_reason,
  stop_sequence: null,
  reported: null,
  explanation: null,
});
const text = (part: number, ...pieces: string[]): GenerationEvent[] => [
  { kind: 'part_start', part, opening: { kind: 'text' } },
  ...pieces.map((piece): GenerationEvent => ({ kind: 'text_delta', part, text: piece })),
  { kind: 'part_end', part },
];
const THOUGHT: GenerationEvent[] = [
  { kind: 'part_start', part: 0, opening: { kind: 'reasoning', redacted: false, issuer: null } },
  { kind: 'text_delta', part: 0, text: 'hm' },
  { kind: 'part_end', part: 0 },
];

function collect(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const filter = collectSummary();
  return events.flatMap((event) => filter.push(event));
}

describe('the answer', () => {
  test('is one part with the texts, without reasoning and calls', () => {
    const call: GenerationEvent[] = [
      { kind: 'part_start', part: 3, opening: { kind: 'tool_call', id: 'c', name: 'f', tool: 'function' } },
      { kind: 'arguments_delta', part: 3, text: '{}' },
      { kind: 'part_end', part: 3 },
    ];
    const events = collect([
      START,
      ...THOUGHT,
      ...text(1, 'We ', 'met. '),
      ...text(2, 'Then.'),
      ...call,
      finish('stop'),
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'part_start', 'part_end', 'finish']);
    const opening = events[1]?.kind === 'part_start' ? events[1].opening : null;
    expect(opening?.kind === 'opaque' && summaryIn(opening.part)).toBe('We met. \n\nThen.');
  });

  test.each(['length', 'context_window', 'refusal', 'pause'] as const)('that ends by %s has no summary', (reason) => {
    expect(collect([START, ...text(0, 'We met'), finish(reason)])).toEqual([START, finish(reason)]);
  });

  test('without text is malformed, so that the client keeps its history', () => {
    expect(collect([START, ...THOUGHT, ...text(1, ' '), finish('stop')])).toMatchObject([START, { kind: 'malformed' }]);
  });
});

test('the request asks for it last, keeps the tools of the history but forbids their use', () => {
  const tool = {
    kind: 'function',
    name: 'f',
    description: null,
    parameters: null,
    strict: null,
    cache_mark: null,
  } as const;
  const turn = { role: 'user', name: null, parts: [textPart('hi')], path: 'input.0' } as const;
  const base = {
    turns: [turn],
    output_format: { kind: 'json' },
    named: { output_format: 'text.format', tools: 'tools' },
  };
  const made = (tools: readonly object[]) =>
    summaryRequest({ ...base, tools } as unknown as GenerationRequest, 'input');
  expect(made([tool])).toMatchObject({
    summarizes: true,
    tools: [tool],
    tool_choice: { kind: 'none' },
    output_format: null,
    named: { tools: 'tools' },
  });
  expect(made([tool]).named).not.toHaveProperty('output_format');
  expect(made([]).tool_choice).toBeNull();
  expect(made([]).turns).toMatchObject([turn, { role: 'user', path: 'input' }]);
});
