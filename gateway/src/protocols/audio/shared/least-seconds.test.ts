/** Tests the seconds that the text of a transcription takes at least. */
import { expect, test } from 'bun:test';
import { leastSecondsOf } from './least-seconds.ts';

test.each([
  ['', 0],
  ['x'.repeat(59), 0],
  ['x'.repeat(6_000), 100],
  ['1\n00:00:00,000 --> 00:00:04,000\nhi\n\n2\n01:02:00,000 --> 01:02:33,999\nthere\n', 3_723],
  ['WEBVTT\n\n00:00.000 --> 02:10.500\nhi\n', 100],
  ['1\n00:00:00,000 --> 00:00:29,000\nhi\n', 0],
  ['an arrow --> in a text', 0],
])('%j takes %d s', (text, seconds) => {
  expect(leastSecondsOf(text)).toBe(seconds);
});
