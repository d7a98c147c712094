/** Tests stop-texts.ts: the answer ends before the first stop text, wherever its deltas end. */
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
import { stopAtTexts } from './stop-texts.ts';

const USAGE: GenerationEvent = {
  kind: 'usage',
  usage: { input: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 1, reasoning: 0 },
};
const END: readonly GenerationEvent[] = [finishEvent('stop'), USAGE, { kind: 'end' }];
const text = (...pieces: string[]) => partEvents(0, { kind: 'text' }, ...pieces);
const through = (stops: readonly string[], events: readonly GenerationEvent[]) => pushAll(stopAtTexts(stops), events);

describe('a stop text', () => {
  test('in one delta ends the answer before it and names itself', () => {
    expect(through(['END'], [...text('one END two'), ...END])).toEqual([
      ...text('one '),
      finishEvent('stop_sequence', 'END'),
      USAGE,
      { kind: 'end' },
    ]);
  });

  test('a stop text across deltas is found', () => {
    const out = through(['END'], [...text('one E', 'N', 'D two'), ...END]);
    expect(joinDeltas(out)).toEqual([...text('one '), finishEvent('stop_sequence', 'END'), USAGE, { kind: 'end' }]);
  });

  test('a stop text at the start leaves an empty part', () => {
    expect(through(['END'], [...text('END'), ...END]).slice(0, 3)).toEqual([
      ...text(),
      finishEvent('stop_sequence', 'END'),
    ]);
  });

  test('a repeating stop text is found at its first end', () => {
    expect(foldGeneration(through(['aab'], [...text('aa', 'ab', 'aab'), ...END])).parts[0]).toMatchObject({
      text: 'a',
    });
  });

  test.each([
    [['abcd', 'bc'], 'xabcd', 'xa', 'bc'],
    [['bc', 'abc'], 'xabc', 'x', 'abc'],
    [['b', 'a'], 'cab', 'c', 'a'],
    [['\n\n'], 'a\n\nb', 'a', '\n\n'],
    [['😀'], 'a😁😀b', 'a😁', '😀'],
  ])('%p in %p leaves %p: the first complete one, of several the longest', (stops, given, left, stop) => {
    const generation = foldGeneration(through(stops, [...text(given), ...END]));
    expect([generation.parts[0], generation.stop_sequence]).toMatchObject([{ text: left }, stop]);
  });

  test('ends the whole answer: later output is not passed, except calls that were open', () => {
    const events: GenerationEvent[] = [
      { kind: 'part_start', part: 0, opening: callOpening('look') },
      { kind: 'arguments_delta', part: 0, text: '{' },
      { kind: 'part_start', part: 1, opening: { kind: 'text' } },
      { kind: 'text_delta', part: 1, text: 'a END b' },
      { kind: 'text_delta', part: 1, text: 'c' },
      { kind: 'arguments_delta', part: 0, text: '}' },
      { kind: 'part_end', part: 1 },
      { kind: 'part_end', part: 0 },
      ...partEvents(2, callOpening('later'), '{}'),
      ...partEvents(3, { kind: 'text' }, 'd'),
      finishEvent('tool_calls'),
      { kind: 'end' },
    ];
    expect(through(['END'], events)).toEqual([
      { kind: 'part_start', part: 0, opening: callOpening('look') },
      { kind: 'arguments_delta', part: 0, text: '{' },
      { kind: 'part_start', part: 1, opening: { kind: 'text' } },
      { kind: 'text_delta', part: 1, text: 'a ' },
      { kind: 'part_end', part: 1 },
      { kind: 'arguments_delta', part: 0, text: '}' },
      { kind: 'part_end', part: 0 },
      finishEvent('stop_sequence', 'END'),
      { kind: 'end' },
    ]);
  });

  test('in reasoning, refusals and arguments does not count', () => {
    const events = [
      ...partEvents(0, { kind: 'reasoning', redacted: false, issuer: null }, 'END'),
      ...partEvents(1, { kind: 'refusal' }, 'END'),
      ...partEvents(2, callOpening('look'), '"END"'),
      finishEvent('tool_calls'),
    ];
    expect(through(['END'], events)).toEqual(events);
  });

  test('without a character is refused: it would be found everywhere', () => {
    expect(() => through([''], text('a'))).toThrow('empty');
  });
});

describe('text that may begin a stop sequence', () => {
  test('is held back, and no character more', () => {
    const open = stopAtTexts(['ENDE']);
    open.push({ kind: 'part_start', part: 0, opening: { kind: 'text' } });
    const passed = ['one E', 'N', 'DX', 'E', 'E'].map((piece) =>
      open.push({ kind: 'text_delta', part: 0, text: piece }),
    );
    expect(passed).toEqual([
      [{ kind: 'text_delta', part: 0, text: 'one ' }],
      [],
      [{ kind: 'text_delta', part: 0, text: 'ENDX' }],
      [],
      [{ kind: 'text_delta', part: 0, text: 'E' }],
    ]);
  });

  test('is reported at the end of the part', () => {
    expect(through(['END'], [...text('one EN'), ...END])).toEqual([...text('one ', 'EN'), ...END]);
  });

  test('does not reach into the next part', () => {
    const events = [...text('E'), ...partEvents(1, { kind: 'text' }, 'ND'), ...END];
    expect(through(['END'], events)).toEqual(events);
  });

  test('is reported before the answer fails', () => {
    const error: GenerationEvent = { kind: 'error', type: 'api_error', message: 'x', status: null };
    expect(through(['END'], [...text('EN').slice(0, -1), error])).toEqual([...text('EN').slice(0, -1), error]);
  });
});

test('deltas in which nothing could be a stop text are the very same', () => {
  const filter = stopAtTexts(['END']);
  for (const event of text('one', ' two')) expect(filter.push(event)[0]).toBe(event);
});

describe('any text', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });
  const stopsArbitrary = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  });

  /** A naive reference: the shortest prefix that ends with a stop text; of several stop texts, the longest. */
  function plainly(given: string, stops: readonly string[]): { readonly left: string; readonly stop: string | null } {
    for (let end = 1; end <= given.length; end++) {
      const head = given.slice(0, end);
      const found = stops.filter((stop) => head.endsWith(stop)).sort((one, other) => other.length - one.length)[0];
      if (found !== undefined) return { left: head.slice(0, -found.length), stop: found };
    }
    return { left: given, stop: null };
  }

  test('is cut where the plain meaning cuts it, at any split', () => {
    fc.assert(
      fc.property(letters, stopsArbitrary, cutsArbitrary, (given, stops, cuts) => {
        const generation = foldGeneration(through(stops, splitDeltas([...text(given), ...END], cuts)));
        const { left, stop } = plainly(given, stops);
        expect([generation.parts[0], generation.stop_sequence]).toMatchObject([{ text: left }, stop]);
        expect(generation.complete).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('gives the same events at any split', () => {
    fc.assert(
      fc.property(letters, stopsArbitrary, cutsArbitrary, (given, stops, cuts) => {
        const events = [...text(given), ...END];
        expect(joinDeltas(through(stops, splitDeltas(events, cuts)))).toEqual(joinDeltas(through(stops, events)));
      }),
      { numRuns: 500 },
    );
  });
});
