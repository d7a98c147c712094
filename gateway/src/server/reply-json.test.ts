/** Tests in which format an error is told where no request was read, and that no path makes the choice slow. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { asObject, parseObject } from '../protocols/json.ts';
import { notFound, replyFailure } from './reply-json.ts';

/** The format of the error by its members. */
async function formatOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const failure = new CallFailure('not_found', 'missing');
  const body = parseObject(await replyFailure(failure, path, new Headers(headers)).text());
  if (body?.type === 'error') return 'messages';
  return asObject(body?.error)?.status === undefined ? 'openai' : 'gemini';
}

describe('the format of an error', () => {
  test.each([
    ['/v1/messages/batches', 'messages'],
    ['/v1/nothing', 'openai'],
    ['/v1beta/files', 'gemini'],
    ['/v1/v1alpha2', 'gemini'],
    ['/v1/models/m:predict', 'gemini'],
    ['/models/qwen3:8b%3AgenerateContent', 'gemini'],
    ['/v1/tunedModels/t:generateContent', 'gemini'],
    ['/v1/models/m', 'openai'],
    ['/v1/models', 'openai'],
  ])('for %s is that of %s', async (path, format) => {
    expect(await formatOf(path)).toBe(format);
  });

  test('follows the headers that only clients of one format send', async () => {
    expect(await formatOf('/v1/nothing', { 'x-goog-api-client': 'google-genai-sdk/3.1' })).toBe('gemini');
    expect(await formatOf('/v1/nothing', { 'anthropic-version': '2023-06-01' })).toBe('messages');
  });
});

test.each(['/models/', '/chat/', '/v1', ':', '%3A', 'a', '/'])(
  'a path of many %p takes no longer than its length',
  (piece) => {
    const path = `/models/${piece.repeat(8_000 / piece.length)}!`;
    const failure = notFound(path);
    const cpuMs = startCpuClock();
    for (let round = 0; round < 50; round++) {
      replyFailure(failure, path, new Headers());
      notFound(path);
    }
    expect(cpuMs()).toBeLessThan(500);
  },
);
