/** Tests split-thoughts.ts: tags at the beginning of a response become reasoning, wherever the pieces are cut. */
import { expect, test } from 'bun:test';
import type { GenerationEvent } from '../event.ts';
import { foldGeneration } from '../generation.ts';
import { splitThoughts } from './split-thoughts.ts';

const FINISH: readonly GenerationEvent[] = [
  { kind: 'finish', finish_reason: 'stop', stop_sequence: null, reported: 'stop', explanation: null },
  { kind: 'end' },
];
const CALL = { kind: 'tool_call', id: 'a', name: 'look', tool: 'function' } as const;

function run(...events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const filter = splitThoughts();
  return [...events, ...FINISH].flatMap((event) => filter.push(event));
}

function textOf(...pieces: readonly string[]): readonly GenerationEvent[] {
  return [
    { kind: 'start', id: 'x', model: 'm' },
    { kind: 'part_start', part: 0, opening: { kind: 'text' } },
    ...pieces.map((text) => ({ kind: 'text_delta', part: 0, text }) as const),
    { kind: 'part_end', part: 0 },
  ];
}

function partsOf(events: readonly GenerationEvent[]) {
  return foldGeneration(events).parts.map((part) => ('text' in part ? [part.kind, part.text] : [part.kind]));
}

test('thoughts and text are separated, cut at every place', () => {
  const whole = '\n<think>\nA harbour < a port.</think>\n\nAt <think> noon.';
  for (let at = 1; at < whole.length; at++) {
    expect(partsOf(run(...textOf(whole.slice(0, at), whole.slice(at))))).toEqual([
      ['reasoning', 'A harbour < a port.'],
      ['text', 'At <think> noon.'],
    ]);
  }
  expect(partsOf(run(...textOf(...whole)))).toHaveLength(2);
});

test.each([
  ['At noon.', [['text', 'At noon.']]],
  ['<thinking>At noon.', [['text', '<thinking>At noon.']]],
  ['  <thi', [['text', '  <thi']]],
  ['At <think>x</think>', [['text', 'At <think>x</think>']]],
  ['<think>cut </thi', [['reasoning', 'cut </thi']]],
  ['<think>only</think>\n', [['reasoning', 'only']]],
])('%j is %j', (text, parts) => {
  expect(partsOf(run(...textOf(...text)))).toEqual(parts);
});

test('a call after the text gets the next number, with and without text between', () => {
  const call: readonly GenerationEvent[] = [
    { kind: 'part_start', part: 1, opening: CALL },
    { kind: 'arguments_delta', part: 1, text: '{}' },
    { kind: 'part_end', part: 1 },
  ];
  const numbers = (text: string) =>
    run(...textOf(text), ...call).flatMap((event) => (event.kind === 'part_start' ? [event.part] : []));
  expect(numbers('<think>a</think>b')).toEqual([0, 1, 2]);
  expect(numbers('<think>a</think>')).toEqual([0, 1]);
  expect(numbers('b')).toEqual([0, 1]);
});

test('a response with reasoning of its own passes unchanged', () => {
  const own: readonly GenerationEvent[] = [
    { kind: 'part_start', part: 0, opening: { kind: 'reasoning', redacted: false, issuer: null } },
    { kind: 'text_delta', part: 0, text: 'hm' },
    { kind: 'part_end', part: 0 },
    { kind: 'part_start', part: 1, opening: { kind: 'text' } },
    { kind: 'text_delta', part: 1, text: '<think>' },
    { kind: 'part_end', part: 1 },
  ];
  expect(run(...own)).toEqual([...own, ...FINISH]);
});
