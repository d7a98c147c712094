/** Tests of check-json.ts: an answer that was to be JSON and is none is a failure, never a success. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../event.ts';
import { callOpening, cutsArbitrary, finishEvent, partEvents, pushAll, splitDeltas } from '../testing/split-deltas.ts';
import { checkJson } from './check-json.ts';

const END: readonly GenerationEvent[] = [finishEvent('stop'), { kind: 'end' }];
const text = (...pieces: string[]) => partEvents(0, { kind: 'text' }, ...pieces);
const failed = (events: readonly GenerationEvent[]) =>
  pushAll(checkJson(), events).some(({ kind }) => kind === 'error');

describe('an answer that stopped by itself', () => {
  test.each([
    ['{}', false],
    [' \n{"a": [1, null]}\n', false],
    ['{"a":1', true],
    ['{"a":1} and so on', true],
    ['```json\n{"a":1}\n```', true],
    ['[]', true],
    ['"a"', true],
    ['null', true],
    ['7', true],
    ['', true],
    ['Here it is: {}', true],
  ])('%p fails: %p', (words, fails) => {
    expect(failed([...text(words), ...END])).toBe(fails);
  });

  test('in several texts is read as one', () => {
    expect(failed([...text('{"a"'), ...partEvents(1, { kind: 'text' }, ':1}'), ...END])).toBe(false);
  });

  test('is read without its reasoning', () => {
    const reasoning = partEvents(0, { kind: 'reasoning', redacted: false, issuer: null }, 'let me see');
    expect(failed([...reasoning, ...partEvents(1, { kind: 'text' }, '{}'), ...END])).toBe(false);
  });

  test('and is none fails in the place of its finish, and nothing follows', () => {
    const usage = { input: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 1, reasoning: 0 };
    const out = pushAll(checkJson(), [...text('no'), finishEvent('stop'), { kind: 'usage', usage }, { kind: 'end' }]);
    expect(out).toEqual([
      ...text('no'),
      {
        kind: 'error',
        type: 'api_error',
        message: expect.stringContaining('the model did not answer in JSON'),
        status: null,
      },
    ]);
  });
});

describe('an answer that is not held to it', () => {
  test.each(['length', 'tool_calls', 'refusal', 'stop_sequence', 'pause', 'context_window', 'other'] as const)(
    'ended by %s',
    (reason) => {
      expect(failed([...text('no'), finishEvent(reason), { kind: 'end' }])).toBe(false);
    },
  );

  test('refuses in words', () => {
    expect(failed([...partEvents(0, { kind: 'refusal' }, 'I cannot'), ...END])).toBe(false);
  });

  test('calls a tool', () => {
    expect(failed([...partEvents(0, callOpening('look'), '{}'), ...END])).toBe(false);
  });
});

test('every event of an answer that holds is the very same, however it was cut', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), cutsArbitrary, (value, cuts) => {
      const filter = checkJson();
      for (const event of splitDeltas([...text(JSON.stringify(value)), ...END], cuts)) {
        expect(filter.push(event)[0]).toBe(event);
      }
    }),
  );
});
