/** Tests restore-tools.ts: the client gets its own tool names, and free text where it requested free text. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../event.ts';
import { foldGeneration } from '../generation.ts';
import {
  callOpening,
  cutsArbitrary,
  finishEvent,
  joinDeltas,
  partEvents,
  pushAll,
  splitDeltas,
} from '../testing/split-deltas.ts';
import { restoreTools } from './restore-tools.ts';

const NONE: ReadonlySet<string> = new Set();
const CUSTOM = new Set(['patch']);

describe('names', () => {
  test('vector 46: a name that was shortened is the client’s again', () => {
    const long = 'a'.repeat(100);
    const filter = restoreTools(new Map([['aaa_1234', long]]), NONE);
    const out = pushAll(filter, partEvents(0, callOpening('aaa_1234', 'call_1'), '{}'));
    expect(out).toEqual(partEvents(0, callOpening(long, 'call_1'), '{}'));
  });

  test('a name that was not changed stays, and the event is the very same', () => {
    const filter = restoreTools(new Map([['x', 'y']]), NONE);
    for (const event of partEvents(0, callOpening('look'), '{', '}')) expect(filter.push(event)[0]).toBe(event);
  });

  test('deltas of a call whose name is restored are not copied', () => {
    const filter = restoreTools(new Map([['x', 'y']]), NONE);
    const [start, ...others] = partEvents(0, callOpening('x'), '{', '}');
    if (start !== undefined) filter.push(start);
    for (const event of others) expect(filter.push(event)[0]).toBe(event);
  });

  test('texts and opaque parts are left alone', () => {
    const filter = restoreTools(new Map([['x', 'y']]), CUSTOM);
    const events = [...partEvents(0, { kind: 'text' }, 'x'), finishEvent('stop'), { kind: 'end' } as const];
    expect(pushAll(filter, events)).toEqual(events);
  });
});

describe('custom tools', () => {
  const answer = (json: string) => partEvents(0, callOpening('patch', 'call_1'), json);
  const textOf = (json: string): unknown => {
    const [part] = foldGeneration(pushAll(restoreTools(new Map(), CUSTOM), answer(json))).parts;
    return part;
  };

  test.each([
    ['{"input": "*** Begin\\n\\"a\\" \\ud83d\\ude00"}', '*** Begin\n"a" 😀'],
    [' { "input" : "" } ', ''],
    ['', ''],
    ['{"input": 5}', '{"input": 5}'],
    ['{"input": "a", "more": 1}', '{"input": "a", "more": 1}'],
    ['{"text": "a"}', '{"text": "a"}'],
    ['["a"]', '["a"]'],
    ['"a"', '"a"'],
    ['null', 'null'],
    ['{"input": "cut o', '{"input": "cut o'],
    ['plain text', 'plain text'],
  ])('the arguments %s are the text %s', (json, text) => {
    expect(textOf(json)).toEqual({
      kind: 'tool_call',
      id: 'call_1',
      name: 'patch',
      tool: 'custom',
      arguments: text,
      cache_mark: null,
    });
  });

  test('are opened at once and completed at their end', () => {
    const filter = restoreTools(new Map([['p', 'patch']]), CUSTOM);
    const events = partEvents(0, callOpening('p', 'call_1'), '{"input":', '"a"}');
    expect(events.map((event) => filter.push(event).length)).toEqual([1, 0, 0, 2]);
  });

  test('keep their order among other calls', () => {
    const filter = restoreTools(new Map(), CUSTOM);
    const events: GenerationEvent[] = [
      { kind: 'part_start', part: 0, opening: callOpening('patch') },
      { kind: 'part_start', part: 1, opening: callOpening('look') },
      { kind: 'arguments_delta', part: 0, text: '{"input":' },
      { kind: 'arguments_delta', part: 1, text: '{"a":9007199254740993}' },
      { kind: 'part_end', part: 1 },
      { kind: 'arguments_delta', part: 0, text: '"a"}' },
      { kind: 'part_end', part: 0 },
    ];
    expect(pushAll(filter, events)).toEqual([
      { kind: 'part_start', part: 0, opening: { ...callOpening('patch'), tool: 'custom' } },
      { kind: 'part_start', part: 1, opening: callOpening('look') },
      { kind: 'arguments_delta', part: 1, text: '{"a":9007199254740993}' },
      { kind: 'part_end', part: 1 },
      { kind: 'arguments_delta', part: 0, text: 'a' },
      { kind: 'part_end', part: 0 },
    ]);
  });

  test('any text is restored, for any division of its JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), cutsArbitrary, (text, cuts) => {
        const events = splitDeltas(answer(JSON.stringify({ input: text })), cuts);
        const out = joinDeltas(pushAll(restoreTools(new Map(), CUSTOM), events));
        expect(foldGeneration(out).parts[0]).toMatchObject({ arguments: text });
      }),
    );
  });
});
