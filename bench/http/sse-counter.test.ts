/** Tests that events are counted exactly at every split, and that only a body that ends with [DONE] counts as finished. */
import { describe, expect, test } from 'bun:test';
import { createSseCounter } from './sse-counter.ts';

function count(text: string, cut: number): { events: number; heard: number; finished: boolean } {
  let heard = 0;
  const counter = createSseCounter(() => {
    heard += 1;
  });
  const bytes = Buffer.from(text);
  counter.push(bytes.subarray(0, cut));
  counter.push(bytes.subarray(cut));
  return { events: counter.events, heard, finished: counter.finished };
}

describe('counting events', () => {
  test('gives the same at every split: comments and [DONE] are no events', () => {
    const text = ':\n\ndata: {"a":1}\n\n: keep-alive\n\nevent: x\ndata: {"b":2}\n\ndata: [DONE]\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(count(text, cut)).toEqual({ events: 2, heard: 2, finished: true });
    }
  });

  test.each([
    ['no end mark', 'data: 1\n\n'],
    ['an end mark without its blank line', 'data: 1\n\ndata: [DONE]\n'],
    ['an event after the end mark', 'data: [DONE]\n\ndata: 1\n\n'],
    ['bytes after the end mark', 'data: [DONE]\n\ndata: 1'],
  ])('%s is not finished', (_, text) => {
    expect(count(text, 3).finished).toBe(false);
  });
});
