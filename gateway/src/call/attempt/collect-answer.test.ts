/** Tests the facts of answers that are too long to be parsed whole. */
import { expect, test } from 'bun:test';
import { audioUpstream } from '../../protocols/audio/upstream/upstream-protocol.ts';
import { readAnswerBody } from './collect-answer.ts';

test('a long transcription has its text and its duration', async () => {
  const text = 'x'.repeat(100_000);
  const words = Array.from({ length: 40_000 }, (_, start) => ({ word: 'x', start, end: start + 1 }));
  const body = Buffer.from(JSON.stringify({ text, duration: 40_000.5, words }));
  expect(body.length).toBeGreaterThan(1024 * 1024);
  expect(await readAnswerBody(body, audioUpstream)).toMatchObject({
    kind: 'answer',
    facts: { outputBytes: 100_000, counted: { extras: { seconds: 40_001 } } },
  });
});
