/**
 * Tests that the relay does not depend on how the network splits a stream: recorded streams without HTTP, split in two
 * at every position (with TOLLGATE_EXHAUSTIVE; otherwise at every third), give the client the same bytes and the record the same facts.
 */
import { describe, expect, test } from 'bun:test';
import { recordingSets } from '../fake-upstream/recordings.ts';
import { chooseStreams } from './choose-streams.ts';
import { relayed } from './relay-stream.ts';
import { recordedText } from './wire-text.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const BYTES_MAX = EXHAUSTIVE ? 8_192 : 3_072;
const STREAMS = EXHAUSTIVE ? 20 : 5;
/** In the sample every third position, a different third for LF and CRLF. */
const STEP = EXHAUSTIVE ? 1 : 3;
for (const [api, protocol] of [
  ['openai-chat', 'chat'],
  ['anthropic-messages', 'messages'],
] as const) {
  describe.each(recordingSets(api))(`every split of ${api} streams of $name`, ({ recordings }) => {
    const streams = chooseStreams(recordings, { bytesMax: BYTES_MAX, count: STREAMS });
    test('there are streams to split', () => {
      expect(streams.length).toBeGreaterThanOrEqual(5);
    });
    test.each(streams.map((one) => [one.id, one] as const))(
      '%s gives the same bytes and facts',
      async (_, recording) => {
        for (const crlf of [false, true]) {
          const bytes = Buffer.from(recordedText(recording, crlf));
          const whole = await relayed(protocol, [bytes]);
          for (let at = crlf && !EXHAUSTIVE ? 2 : 1; at < bytes.length; at += STEP) {
            const split = await relayed(protocol, [bytes.subarray(0, at), bytes.subarray(at)]);
            if (!Bun.deepEquals(split, whole)) expect({ at, ...split }).toEqual({ at, ...whole });
          }
          const single = await relayed(
            protocol,
            Array.from(bytes, (byte) => Uint8Array.of(byte)),
          );
          expect(single).toEqual(whole);
        }
      },
      60_000,
    );
  });
}
