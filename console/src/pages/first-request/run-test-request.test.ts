/** Tests reading a streamed chat completion: cut anywhere, broken off, ended by an error. */
import { describe, expect, test } from 'bun:test';
import { readChatStream } from './run-test-request.ts';

const WHOLE = [
  'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}',
  ': keep-alive',
  'data: {"choices":[{"delta":{"content":"Grüße, "}}]}',
  'data: {"choices":[{"delta":{"content":"Ada"}}]}',
  'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
  'data: {"choices":[],"usage":{"total_tokens":9}}',
  'data: [DONE]',
  '',
].join('\n\n');

function streamOf(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function read(...chunks: readonly Uint8Array[]) {
  let text = '';
  const end = await readChatStream(streamOf(...chunks), (piece) => {
    text += piece;
  });
  return { text, end };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a streamed chat completion', () => {
  test('yields the same text for any chunking', async () => {
    const all = bytes(WHOLE);
    for (let at = 0; at <= all.length; at++) {
      const { text, end } = await read(all.slice(0, at), all.slice(at));
      expect(text).toBe('Grüße, Ada');
      expect(end).toEqual({ complete: true });
    }
  });
  test('is incomplete without its end', async () => {
    const { text, end } = await read(bytes(WHOLE.replace('data: [DONE]\n\n', '')));
    expect(text).toBe('Grüße, Ada');
    expect(end).toEqual({ complete: false, error: 'the stream ended early' });
  });
  test('reports an error event with its message', async () => {
    const { end } = await read(bytes('data: {"error":{"message":"upstream failed, id r1"}}\n\n'));
    expect(end).toEqual({ complete: false, error: 'upstream failed, id r1' });
  });
});
