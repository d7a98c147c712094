/** Tests the facts of answers that are too long to be parsed whole. */
import { describe, expect, test } from 'bun:test';
import { audioUpstream } from '../../protocols/audio/upstream/upstream-protocol.ts';
import { UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
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
