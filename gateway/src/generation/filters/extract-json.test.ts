/**
 * Tests that the JSON object requested in the prompt is extracted from the surrounding text of the model, however the
 * text is cut.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../event.ts';
import { foldGeneration } from '../generation.ts';
import { callOpening, cutsArbitrary, finishEvent, partEvents, pushAll, splitDeltas } from '../testing/split-deltas.ts';
import { extractJson, isNoJson } from './extract-json.ts';

const END: readonly GenerationEvent[] = [finishEvent('stop'), { kind: 'end' }];
const text = (...pieces: string[]) => partEvents(0, { kind: 'text' }, ...pieces);

/** The text of the remaining events, which must fold to a complete answer. */
function extracted(events: readonly GenerationEvent[]): string {
  const generation = foldGeneration(pushAll(extractJson(), events));
  expect(generation.complete).toBe(true);
  return generation.parts.map((part) => ('text' in part ? part.text : '')).join('');
}

const SAID: ReadonlyArray<readonly [string, string]> = [
  ['{}', '{}'],
  [' \n{"a": [1, null]}\n', '{"a": [1, null]}'],
  ['```json\n{"a":1}\n```', '{"a":1}'],
  ['```\n\n  {"a":"}```"}\n```\n', '{"a":"}```"}'],
  ['~ ```JSON5\r\n{"a":1}```', '{"a":1}'],
  ['Here it is:\n```json\n{"a":1}\n```\nDoes it help?', '{"a":1}'],
  ['Not ```ts\nlet x;\n``` but\n```json\n{"a":1}\n```', '{"a":1}'],
  ['Here is your JSON: {"a": 1}', '{"a": 1}'],
  ['{"a":1} and so on', '{"a":1}'],
  // None of these contains an object: they pass unchanged.
  ['I cannot do that.', 'I cannot do that.'],
  ['[1, 2]', '[1, 2]'],
  ['7', '7'],
  ['{"a":1', '{"a":1'],
  ['In {braces} nothing is JSON', 'In {braces} nothing is JSON'],
  ['```json\n[1]\n```', '```json\n[1]\n```'],
  ['', ''],
];

test.each(SAID)('%j is answered as %j, however it was cut', (eventList, answer) => {
  expect(extracted([...text(eventList), ...END])).toBe(answer);
  expect(extracted([...text(...eventList), ...END])).toBe(answer);
  fc.assert(
    fc.property(cutsArbitrary, (cuts) => {
      expect(extracted(splitDeltas([...text(eventList), ...END], cuts))).toBe(answer);
    }),
    { numRuns: 20 },
  );
});

test('an object across several texts is one, and texts before it are omitted', () => {
  expect(extracted([...text('{"a"'), ...partEvents(1, { kind: 'text' }, ':1}'), ...END])).toBe('{"a":1}');
  const looked = text('I looked:\n```\n');
  expect(extracted([...looked, ...partEvents(1, { kind: 'text' }, '{"a":1}'), ...END])).toBe('{"a":1}');
  expect(extracted([...text('See: '), ...partEvents(1, { kind: 'text' }, 'it is {"a":1}.'), ...END])).toBe('{"a":1}');
});

test('reasoning passes as it comes', () => {
  const reasoning = partEvents(0, { kind: 'reasoning', redacted: false, issuer: null }, 'a {thought}');
  const filter = extractJson();
  for (const event of reasoning) expect(filter.push(event)).toEqual([event]);
});

test.each(['length', 'refusal', 'stop_sequence', 'pause', 'context_window', 'other'] as const)(
  'an answer that ended by %s passes as it is',
  (reason) => {
    const eventList = [...text('So {"a":1}'), finishEvent(reason), { kind: 'end' }] as const;
    expect(extracted(eventList)).toBe('So {"a":1}');
  },
);

describe('passes text next to a tool call or a refusal unchanged', () => {
  const words = [{ kind: 'part_start', part: 0, opening: { kind: 'text' } }] as const;
  const eventList = [
    ...words,
    { kind: 'text_delta', part: 0, text: 'I look. {}' },
    { kind: 'part_end', part: 0 },
  ] as const;

  test.each([
    ['a call', partEvents(1, callOpening('look'), '{}')],
    ['a refusal', partEvents(1, { kind: 'refusal' }, 'No')],
  ])('%s', (_name, other) => {
    const events = [...eventList, ...other, ...END];
    expect(pushAll(extractJson(), events)).toEqual(events);
  });
});

test('every event of an answer that is an object is the very same, however it was cut', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), cutsArbitrary, (value, cuts) => {
      const filter = extractJson();
      for (const event of splitDeltas([...text(JSON.stringify(value)), ...END], cuts)) {
        expect(filter.push(event)[0]).toBe(event);
      }
    }),
  );
});

test('releases held text before an error', () => {
  const broken = [...text('Well').slice(0, 2), { kind: 'error', type: 'x', message: 'm', status: null }] as const;
  expect(pushAll(extractJson(), broken)).toEqual([...broken]);
});

test('an answer that is no object is known as such, unless it ended otherwise', () => {
  const isNone = (events: readonly GenerationEvent[]) => isNoJson(foldGeneration(events));
  expect(isNone([...text('no'), ...END])).toBe(true);
  expect(isNone([...text('[]'), ...END])).toBe(true);
  expect(isNone([...text('{}'), ...END])).toBe(false);
  expect(isNone([...text('no'), finishEvent('length'), { kind: 'end' }])).toBe(false);
  expect(isNone([...text('no'), ...partEvents(1, callOpening('look'), '{}'), ...END])).toBe(false);
});
