/** Tests usage.ts: counters of 0 are omitted, and a provider's unusual list is not stored whole. */
import { expect, test } from 'bun:test';
import { extrasOf } from './usage.ts';

test('keeps counters above 0, and is absent without them', () => {
  expect(
    extrasOf({ audio_input: 3, image_input: 0 }, [
      ['web_search', 1],
      ['web_fetch', 0],
    ]),
  ).toEqual({
    audio_input: 3,
    server_tools: { web_search: 1 },
  });
  expect(extrasOf({ audio_input: 0 }, [['web_search', 0]])).toBeUndefined();
});

test('reads no kind that is no name, and not more kinds than any host has', () => {
  expect(
    extrasOf({}, [
      ['Web Search', 1],
      ['__proto__', 1],
      ['a'.repeat(41), 1],
    ]),
  ).toBeUndefined();
  const many = Array.from({ length: 40 }, (_, index) => [`kind_${index}`, 1] as const);
  expect(Object.keys(extrasOf({}, many)?.server_tools ?? {})).toHaveLength(16);
});
