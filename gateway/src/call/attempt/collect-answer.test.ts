/** Tests the facts of answers that are too long to be parsed whole. */
import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { audioUpstream } from '../../protocols/audio/upstream/upstream-protocol.ts';
import { UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
import { AnswerCollector, type CollectedAnswer, readAnswerBody } from './collect-answer.ts';

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

describe('an answer of more than 1 MiB has the facts of a short one', () => {
  const long = 'A'.repeat(1_200_000);
  const image = {
    candidates: [
      {
        content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: long } }] },
        finishReason: 'STOP',
        groundingMetadata: { webSearchQueries: ['a', 'b'] },
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
    modelVersion: 'gemini-3-pro-image',
  };
  const sound = { id: 'audio_1', expires_at: 1_800_000_000, data: long, transcript: 'hi' };
  const result = { type: 'bash_code_execution_result', content: [{ file_id: 'file_1' }] };

  test.each([
    ['gemini', image],
    ['gemini', [image, image]],
    ['gemini', { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: image.usageMetadata, more: long }],
    [
      'chat',
      {
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, audio: sound } }],
        usage: { prompt_tokens: 5, completion_tokens: 1290 },
      },
    ],
    [
      'messages',
      {
        type: 'message',
        content: [
          { type: 'bash_code_execution_tool_result', content: result },
          { type: 'more', data: long },
        ],
        container: { id: 'container_1' },
        stop_reason: 'refusal',
        stop_details: { fallback_credit_token: 'token' },
        usage: { input_tokens: 5, output_tokens: 1290 },
      },
    ],
    [
      'converse',
      {
        output: { message: { role: 'assistant', content: [{ image: { source: { bytes: long } } }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 5, outputTokens: 1290 },
        serviceTier: { type: 'flex' },
      },
    ],
  ] as const)('%s', async (format, answer) => {
    const body = Buffer.from(JSON.stringify(answer));
    const protocol = UPSTREAM_PROTOCOLS[format];
    const whole = protocol.readAnswer(answer, body.length);
    const { kind, facts } = await readAnswerBody(body, protocol);
    expect(kind).toBe('answer');
    // Of content, only its size is counted.
    expect({ ...facts, outputBytes: 0 }).toEqual({ ...whole.facts, outputBytes: 0 });
  });
});

describe('a compressed answer', () => {
  const LIMITS = { errorBodyBytesMax: 1_000, responseBytesMax: 5_000 };
  const collect = (status: number, coding: string, body: Buffer) =>
    new Promise<CollectedAnswer | string>((resolve) => {
      const headers = [
        ['content-encoding', coding],
        ['retry-after', '7'],
      ] as const;
      const collector = new AnswerCollector(LIMITS, {
        onEnough() {},
        onAnswer: resolve,
        onAnswerFailed: ({ kind }) => resolve(kind),
      });
      collector.onHead({ status, headers, framing: 'chunked', lengthBytes: 0, keepAlive: true });
      collector.onBody(body);
      collector.onEnd();
    });

  test.each([
    ['in an unknown coding', 'zstd', Buffer.from('{}')],
    ['that is not the coding it names', 'gzip', Buffer.from('{"error":{}}')],
    ['that is cut short', 'gzip', gzipSync('{"error":{}}').subarray(0, -4)],
    ['larger than an error may be', 'gzip', gzipSync(Buffer.alloc(1_001))],
    ['larger than an error may be, compressed', 'gzip', Buffer.alloc(1_001)],
  ])('of an error %s leaves its status and headers', async (_, coding, body) => {
    expect(await collect(429, coding, body)).toMatchObject({
      head: { status: 429, headers: expect.arrayContaining([['retry-after', '7']]) },
      body: Buffer.alloc(0),
      cut: true,
    });
  });

  test('of an error is decoded', async () => {
    const answer = await collect(400, 'gzip', gzipSync('{"error":{}}'));
    expect(answer).toMatchObject({ body: Buffer.from('{"error":{}}'), cut: false });
  });

  test.each([
    ['zstd', Buffer.from('{}')],
    ['gzip', gzipSync(Buffer.alloc(5_001))],
  ])('in %s that cannot be decoded is malformed', async (coding, body) => {
    expect(await collect(200, coding, body)).toBe('upstream_malformed');
  });
});
