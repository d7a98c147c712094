/** Tests that an event stream is read the same wherever it is cut. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type SseEvent, startSseReader } from './answer.ts';

function readAll(pieces: readonly string[]): SseEvent[] {
  const reader = startSseReader();
  return pieces.flatMap((piece) => [...reader.push(piece)]);
}

const STREAM = ': hello\n\nevent: a\ndata: {"x":1}\n\ndata: one\r\ndata:two\r\n\r\ndata: [DONE]\n\n';
const EVENTS: SseEvent[] = [
  { event: 'a', data: '{"x":1}' },
  { event: 'message', data: 'one\ntwo' },
  { event: 'message', data: '[DONE]' },
];

describe('startSseReader', () => {
  test('reads names and data, joins lines, skips comments', () => {
    expect(readAll([STREAM])).toEqual(EVENTS);
  });
  test('yields the same events for any chunking', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: STREAM.length - 1 }), { maxLength: 12 }), (cuts) => {
        const places = [0, ...[...new Set(cuts)].sort((one, other) => one - other), STREAM.length];
        const pieces = places.slice(1).map((end, at) => STREAM.slice(places[at], end));
        expect(readAll(pieces)).toEqual(EVENTS);
      }),
    );
  });
  test('discards an event without a final blank line', () => {
    expect(readAll(['data: half\n'])).toEqual([]);
  });
});
