/**
 * Tests that messages streams that Bedrock wraps in its frames give the client and the record the same as Anthropic's own
 * server-sent events: all recorded streams, wrapped, in one piece and in hostile pieces, whole and cut.
 */
import { describe, expect, test } from 'bun:test';
import { BEDROCK_MESSAGES } from '../../src/framing/bedrock-messages.ts';
import { encodeChunk, encodeException } from '../../src/framing/testing/encode-frame.ts';
import type { Recording } from '../fake-upstream/recording.ts';
import { recordingSets } from '../fake-upstream/recordings.ts';
import { relayed } from './relay-stream.ts';
import { recordedText, textRecords } from './wire-text.ts';

const SIZES = [1_000, 61];
const STREAMS_MIN = { corpus: 15, recordings: 60 };

interface Wrapped {
  readonly id: string;
  /** As Anthropic sends it. */
  readonly sse: Buffer;
  readonly frames: readonly Buffer[];
}

/** Null: the stream has a record that Bedrock could not wrap. */
function wrap(recording: Recording): Wrapped | null {
  const records = textRecords(recordedText(recording, false)).filter(({ data }) => data !== null);
  const data = records.map(({ text }) => /^data: ?(.*)$/m.exec(text)?.[1] ?? '');
  const isPlain = records.every(({ data: parsed, event }) => parsed !== 'DONE' && parsed?.type === event);
  if (!isPlain || records.length === 0) return null;
  const sse = records.map(({ event }, index) => `event: ${event}\ndata: ${data[index]}\n\n`).join('');
  return {
    id: recording.id,
    sse: Buffer.from(sse),
    frames: data.map((text, index) => encodeChunk(text, 'p'.repeat(index % 40))),
  };
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

describe.each(recordingSets('anthropic-messages'))('streams of $name, wrapped', ({ name, recordings }) => {
  const streams = recordings
    .filter(({ stream, response }) => stream && response.status === 200)
    .flatMap((recording) => wrap(recording) ?? []);

  test('are many', () => {
    expect(streams.length).toBeGreaterThanOrEqual(STREAMS_MIN[name]);
  });

  test('give the same bytes and facts as server-sent events, however they are divided', async () => {
    for (const { id, sse, frames } of streams) {
      const whole = await relayed('messages', [sse]);
      const bytes = Buffer.concat(frames);
      for (const parts of [[bytes], frames, ...SIZES.map((size) => pieces(bytes, size))]) {
        expect([id, await relayed('messages', parts, 'clean', BEDROCK_MESSAGES)]).toEqual([id, whole]);
      }
    }
  }, 60_000);

  test('that are cut inside a frame end like those that are cut before it', async () => {
    for (const { id, frames } of streams.slice(0, 10)) {
      const some = frames.slice(0, Math.ceil(frames.length / 2));
      const cut = Buffer.concat(some);
      const before = await relayed('messages', [Buffer.concat(some.slice(0, -1))], 'clean', BEDROCK_MESSAGES);
      const inside = await relayed('messages', [cut.subarray(0, cut.length - 1)], 'clean', BEDROCK_MESSAGES);
      expect([id, inside]).toEqual([id, before]);
    }
  });
});

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const TEXT = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Nine' } },
];
const WORDS = 'Too many tokens, please wait before trying again.';

test('vector 36: an exception as the first frame is no answer', async () => {
  const { began, text } = await relayed(
    'messages',
    [encodeException('throttlingException', WORDS)],
    'clean',
    BEDROCK_MESSAGES,
  );
  expect([began, text]).toEqual([false, 'the model provider limits the rate of calls; try again later']);
});

test('an exception after text is the error event of the format, in its own words', async () => {
  const bytes = Buffer.concat([
    ...[START, ...TEXT].map((event) => encodeChunk(event)),
    encodeException('internalServerException', 'gone'),
  ]);
  const { text, outcome } = await relayed('messages', [bytes], 'clean', BEDROCK_MESSAGES);
  expect(text).toEndWith('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"gone"}}\n\n');
  expect(outcome?.failure).toBe('upstream_failed');
});

test('a damaged frame after text ends the stream with an error', async () => {
  const damaged = Buffer.concat([START, ...TEXT, { type: 'ping' }].map((event) => encodeChunk(event)));
  damaged.writeUInt8((damaged.at(-1) ?? 0) ^ 1, damaged.length - 1);
  const { text, outcome } = await relayed('messages', [damaged], 'clean', BEDROCK_MESSAGES);
  expect([text.includes('Nine'), text.includes('ping'), text.match(/^event: error$/gm)?.length]).toEqual([
    true,
    false,
    1,
  ]);
  expect(outcome?.failure).toBe('upstream_malformed');
});
