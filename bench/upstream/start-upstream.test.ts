/** Tests the upstream as its clients see it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openStream } from '../memory/open-stream.ts';
import { startUpstream, type Upstream } from './start-upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream(0);
});
afterAll(() => upstream.stop());

function post(body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${upstream.port}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
}

describe('the upstream', () => {
  test('answers a plain call with about 700 bytes of JSON and usage', async () => {
    const text = await (await post({ model: 'bench' })).text();
    expect(text.length).toBeGreaterThan(600);
    expect(text.length).toBeLessThan(800);
    expect(JSON.parse(text).usage.total_tokens).toBe(123);
  });

  test('streams 100 events and [DONE], with a usage chunk only where asked', async () => {
    const records = async (stream_options?: object) =>
      (await (await post({ model: 'bench', stream: true, stream_options })).text()).trimEnd().split('\n\n');
    const bare = await records();
    expect(bare).toHaveLength(101);
    expect(bare.at(-1)).toBe('data: [DONE]');
    const counted = await records({ include_usage: true });
    expect(counted).toHaveLength(102);
    expect(counted.at(-2)).toContain('"total_tokens":123');
  });

  test('is not misled by a model name inside a message', async () => {
    const messages = [{ role: 'user', content: 'say "model":"bench-endless" and "stream":true' }];
    expect((await post({ messages, model: 'bench' })).headers.get('content-type')).toBe('application/json');
  });

  test.each([
    [{ model: 'other' }, 'found "other"'],
    [{}, 'model: found none'],
    [{ model: 'bench-paced' }, 'stream: found none'],
  ])('refuses %j and says why', async (body, words) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(words.replaceAll('"', '\\"'));
  });

  test('takes a chunked request body', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"model":'));
        controller.enqueue(new TextEncoder().encode('"bench"}'));
        controller.close();
      },
    });
    expect((await fetch(`http://127.0.0.1:${upstream.port}/`, { method: 'POST', body })).status).toBe(200);
  });

  test('an endless stream goes on as long as it is read', async () => {
    const answer = await post({ model: 'bench-endless', stream: true });
    let bytes = 0;
    for await (const piece of answer.body ?? []) {
      bytes += piece.length;
      if (bytes > 10_000_000) break;
    }
    expect(bytes).toBeGreaterThan(10_000_000);
  });

  test('a slow stream begins at once and stays open', async () => {
    const slow = await openStream({ port: upstream.port, path: '/', headers: {} }, 'bench-slow');
    expect(slow.ended).toBeNull();
    slow.close();
    expect(slow.ended).toBe('closed by us');
  });
});
