/** Tests the chain of filters: filters receive each other's output in order, and an empty chain costs nothing. */
import { expect, test } from 'bun:test';
import { chainFilters, type EventFilter, type GenerationEvent } from '../event.ts';

const delta = (text: string): GenerationEvent => ({ kind: 'text_delta', part: 0, text });
const END: GenerationEvent = { kind: 'end' };

/** Repeats each text this many times, with a mark. */
function repeat(times: number, mark: string): EventFilter {
  return {
    push: (event) =>
      event.kind === 'text_delta' ? Array.from({ length: times }, () => delta(event.text + mark)) : [event],
  };
}

test('without a filter the same list is returned', () => {
  const events = [delta('a'), END];
  expect(chainFilters([])(events)).toBe(events);
});

test('passes the output of each filter to the next, in order', () => {
  const pipe = chainFilters([repeat(2, '1'), repeat(2, '2')]);
  expect(pipe([delta('a')])).toEqual([delta('a12'), delta('a12'), delta('a12'), delta('a12')]);
  expect(pipe([delta('a'), END])).toHaveLength(5);
});

test('does not pass dropped events to later filters', () => {
  const pipe = chainFilters([repeat(0, ''), repeat(1, 'x')]);
  expect(pipe([delta('a'), END])).toEqual([END]);
  expect(pipe([delta('a')])).toEqual([]);
  expect(pipe([])).toEqual([]);
});
