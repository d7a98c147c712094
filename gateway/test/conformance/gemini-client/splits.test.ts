/**
 * Tests that recorded Gemini streams reach a client of the format byte for byte however they are split, that their end
 * waits for the record, and that a cut one never looks complete.
 */
import { describe, expect, test } from 'bun:test';
import { recordingSets } from '../../fake-upstream/recordings.ts';
import { expectedOf, isStream } from '../gemini/answer-oracle.ts';
import { relayed } from '../relay-stream.ts';
import { recordedText } from '../wire-text.ts';

const BYTES_MAX = 3_000;

describe.each(recordingSets('gemini-generate'))('streams of the $name', ({ recordings }) => {
  const streams = recordings.filter((one) => isStream(one) && one.response.status === 200);
  const complete = streams.filter((one) => {
    const { finish } = expectedOf(one);
    return finish !== 'failed' && /"finishReason"|"blockReason"/.test(recordedText(one, false));
  });

  test('pass whole, with their counters', async () => {
    expect(complete.length).toBeGreaterThan(2);
    for (const recording of complete) {
      const text = recordedText(recording, false);
      const bytes = Buffer.from(text);
      for (const size of [bytes.length, 64, 7]) {
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const found = await relayed('gemini', parts);
        expect([recording.id, size, found.text === text]).toEqual([recording.id, size, true]);
        const { usage } = expectedOf(recording);
        if (usage === null) continue;
        const { input, cache_read, output, reasoning } = found.outcome?.facts?.usage ?? {};
        expect([recording.id, { input, cache_read, output, reasoning }]).toEqual([recording.id, usage]);
      }
    }
  });

  test('pass whole, split at every byte; cut at every byte they fail until the finish reason', async () => {
    const short = complete.filter((one) => recordedText(one, false).length < BYTES_MAX).slice(0, 3);
    for (const recording of short) {
      const text = recordedText(recording, false);
      const bytes = Buffer.from(text);
      for (let at = 1; at < bytes.length; at++) {
        const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
        expect((await relayed('gemini', [head, tail])).text).toBe(text);
        const cut = await relayed('gemini', [head]);
        const isWhole = cut.outcome?.failure === null;
        expect([at, isWhole || !/"finishReason"/.test(cut.text)]).toEqual([at, true]);
        if (!isWhole && cut.began) expect(cut.text.split('\r\n\r\n').at(-2)).toContain('"error"');
      }
    }
  });
});
