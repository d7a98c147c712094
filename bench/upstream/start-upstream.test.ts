/** Tests the upstream as its clients see it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openStream } from '../memory/open-stream.ts';
import { CALL_PATH, type Protocol } from '../protocol.ts';
import { STREAM_EVENTS } from './answer-content.ts';
import { startUpstream, type Upstream } from './start-upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream(0);
});
afterAll(() => upstream.stop());

function post(body: object, path: string = CALL_PATH.chat): Promise<Response> {
  return fetch(`http://127.0.0.1:${upstream.port}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

/** The records of a body, each as its event name and its parsed data. */
async function readRecords(answer: Response): Promise<{ name: string; record: unknown }[]> {
  const records = (await answer.text()).trimEnd().split('\n\n');
  return records.map((text) => {
    const [, name, json] = /^event: ([\w.]+)\ndata: (.*)$/.exec(text) ?? [];
    if (name === undefined || json === undefined) throw new Error(`found ${text}, expected an event with its data`);
    return { name, record: JSON.parse(json) };
  });
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

  test.each([
    ['chat', '"finish_reason":"length"', '"total_tokens":25'],
    ['messages', '"stop_reason":"max_tokens"', '"output_tokens":1'],
    ['responses', '"reason":"max_output_tokens"', '"total_tokens":25'],
  ] as const)('keeps a limit of one token on a %s stream, not a larger one', async (protocol, reason, usage) => {
    const member = protocol === 'responses' ? 'max_output_tokens' : 'max_tokens';
    const streamed = async (tokens: number) =>
      (await post({ model: 'bench', stream: true, [member]: tokens }, CALL_PATH[protocol])).text();
    const limited = await streamed(1);
    expect(limited.split('\n\n').length).toBeLessThan(11);
    expect(limited).toContain(reason);
    expect(limited).toContain(usage);
    expect(await streamed(10)).not.toContain(reason);
  });

  test('answers a plain messages call with about 700 bytes of JSON and usage', async () => {
    const text = await (await post({ model: 'bench' }, `${CALL_PATH.messages}?beta=true`)).text();
    expect(text.length).toBeGreaterThan(600);
    expect(text.length).toBeLessThan(800);
    expect(JSON.parse(text)).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: expect.stringContaining('toll gate') }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 24, output_tokens: 99 },
    });
  });

  test('streams messages in the order that their grammar wants, each event under its own name', async () => {
    const records = await readRecords(await post({ model: 'bench', stream: true }, CALL_PATH.messages));
    expect(records).toHaveLength(STREAM_EVENTS.messages);
    for (const { name, record } of records) expect(record).toHaveProperty('type', name);
    const names = records.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['message_start', 'content_block_start']);
    expect(new Set(names.slice(2, -3))).toEqual(new Set(['content_block_delta']));
    expect(names.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
    expect(records[0]?.record).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 24 } },
    });
    expect(records.at(-2)?.record).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 24, output_tokens: 99 },
    });
  });

  test('answers Responses with the same text and usage, and numbers the events of a stream', async () => {
    const plain = await (await post({ model: 'bench' }, CALL_PATH.responses)).text();
    expect(plain.length).toBeGreaterThan(600);
    expect(plain.length).toBeLessThan(800);
    expect(JSON.parse(plain)).toMatchObject({ status: 'completed', usage: { input_tokens: 24, output_tokens: 99 } });
    const records = await readRecords(await post({ model: 'bench', stream: true }, CALL_PATH.responses));
    expect(records).toHaveLength(STREAM_EVENTS.responses);
    for (const [sequence_number, { name, record }] of records.entries()) {
      expect(record).toMatchObject({ type: name, sequence_number });
    }
    expect(records.at(-1)?.record).toMatchObject({
      response: { status: 'completed', usage: { input_tokens: 24, output_tokens: 99 } },
    });
  });

  test('says the same text, in the same pieces, in all formats', async () => {
    const read = async (protocol: Protocol, pattern: RegExp) => {
      const text = await (await post({ model: 'bench', stream: true }, CALL_PATH[protocol])).text();
      return [...text.matchAll(pattern)].map(([, piece]) => piece);
    };
    const pieces = await read('messages', /"text_delta","text":"([^"]*)"/g);
    expect(pieces).toHaveLength(98);
    expect(await read('chat', /"delta":\{"content":"([^"]*)"/g)).toEqual(pieces);
    expect(await read('responses', /"delta":"([^"]*)"/g)).toEqual(pieces);
  });

  test('paces both formats with the same bytes as at once', async () => {
    const read = async (model: string, protocol: Protocol) =>
      await (await post({ model, stream: true }, CALL_PATH[protocol])).text();
    const [chat, messages] = await Promise.all([read('bench-paced', 'chat'), read('bench-paced', 'messages')]);
    expect(chat).toBe(await read('bench', 'chat'));
    expect(messages).toBe(await read('bench', 'messages'));
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

  test('refuses a messages call in the words of its format', async () => {
    const answer = await post({ model: 'other' }, CALL_PATH.messages);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('found "other"') },
    });
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

  test.each([
    ['chat', 'data: {"id":"chatcmpl-bench"'],
    ['messages', 'event: message_start\n'],
  ] as const)('an endless %s stream begins as any and goes on as long as it is read', async (protocol, beginning) => {
    const answer = await post({ model: 'bench-endless', stream: true }, CALL_PATH[protocol]);
    let bytes = 0;
    for await (const piece of answer.body ?? []) {
      if (bytes === 0) expect(Buffer.from(piece).toString()).toStartWith(beginning);
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
