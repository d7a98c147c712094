/** Shows that the built-in models give answers that the protocols allow, in every form, and that endless ones wait for their reader. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { splitRecords, sseDataOf, textOf } from './body-part.ts';
import { connectRaw, exchange, rawRequest } from './raw-client.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

async function bodyOf(call: Uint8Array): Promise<string> {
  const { response, client } = await exchange(fake.port, call);
  client.leave();
  expect(response?.status).toBe(200);
  return response?.body.toString() ?? '';
}

const recordsOf = (body: string): string[] =>
  splitRecords(Buffer.from(body)).map((part) => sseDataOf(textOf(part.bytes)) ?? '');

describe('chat completions', () => {
  test('a plain answer has text and usage', async () => {
    expect(JSON.parse(await bodyOf(chatCall('ok')))).toMatchObject({
      object: 'chat.completion',
      model: 'ok',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good day to you.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 },
    });
  });

  test('the usage chunk comes only where it was asked for, last before [DONE]', async () => {
    const without = recordsOf(await bodyOf(chatCall('ok', { stream: true })));
    expect(without.join()).not.toContain('usage');
    const records = recordsOf(await bodyOf(chatCall('ok', { stream: true, stream_options: { include_usage: true } })));
    expect(records.at(-1)).toBe('[DONE]');
    expect(JSON.parse(records.at(-2) ?? '')).toMatchObject({ choices: [], usage: { completion_tokens: 5 } });
    expect(records).toHaveLength(without.length + 1);
  });

  test.each(['ok', 'tool', 'think', 'long:7'])('%s says the same streamed as plain', async (model) => {
    const plain = JSON.parse(await bodyOf(chatCall(model))).choices[0].message;
    let content = '';
    let reasoning = '';
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
    for (const record of recordsOf(await bodyOf(chatCall(model, { stream: true }))).slice(0, -1)) {
      const { delta } = JSON.parse(record).choices[0];
      content += delta.content ?? '';
      reasoning += delta.reasoning_content ?? '';
      for (const { index, ...call } of delta.tool_calls ?? []) {
        const known = calls[index];
        if (known === undefined) calls[index] = call;
        else known.function.arguments += call.function.arguments;
      }
    }
    expect([content, reasoning, calls]).toEqual([plain.content, plain.reasoning_content ?? '', plain.tool_calls ?? []]);
    for (const call of calls) expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
  });
});

describe('messages', () => {
  test.each(['ok', 'tool', 'think', 'long:7'])(
    '%s keeps the grammar and says the same streamed as plain',
    async (model) => {
      const plain = JSON.parse(await bodyOf(messagesCall(model)));
      const events = recordsOf(await bodyOf(messagesCall(model, { stream: true }))).map((record) => JSON.parse(record));
      const types = events.map((event) => event.type).filter((type) => type !== 'ping');
      const order = types.map((type: string) => type.replace(/^content_block_/, '')).join(' ');
      expect(order).toMatch(/^message_start( start( delta)* stop)+ message_delta message_stop$/);
      const blocks: Record<string, unknown>[] = [];
      const json: string[] = [];
      for (const { type, index, content_block, delta } of events) {
        if (type === 'content_block_start') {
          expect(index).toBe(blocks.length);
          blocks.push({ ...content_block });
          json.push('');
        }
        const block = blocks[index];
        if (type !== 'content_block_delta' || block === undefined) continue;
        const { type: kind, partial_json, ...member } = delta;
        if (kind === 'input_json_delta') json[index] += partial_json;
        else if (kind === 'signature_delta') block.signature = member.signature;
        else for (const [name, piece] of Object.entries(member)) block[name] = `${block[name]}${piece}`;
      }
      for (const [index, text] of json.entries())
        if (text !== '') Object.assign(blocks[index] ?? {}, { input: JSON.parse(text) });
      expect(blocks).toEqual(plain.content);
      const tail = events.find((event) => event.type === 'message_delta');
      expect([tail.delta.stop_reason, tail.usage.output_tokens]).toEqual([
        plain.stop_reason,
        plain.usage.output_tokens,
      ]);
    },
  );
});

describe('the other endpoints', () => {
  test('models lists what there is in a form that both families read, and one by its id', async () => {
    fake.script('mine', {});
    const list = JSON.parse(await bodyOf(rawRequest('GET', '/v1/models')));
    expect(list.data.map((model: { id: string }) => model.id)).toEqual(['ok', 'tool', 'think', 'endless', 'mine']);
    expect(list).toMatchObject({ object: 'list', has_more: false, first_id: 'ok', last_id: 'mine' });
    expect(JSON.parse(await bodyOf(rawRequest('GET', '/models/mine?x=1')))).toMatchObject({
      id: 'mine',
      type: 'model',
    });
  });

  test('count_tokens counts, or follows its own script', async () => {
    const count = (): Uint8Array => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
      return rawRequest('POST', '/v1/messages/count_tokens?beta=true', body, { 'anthropic-version': '2023-06-01' });
    };
    expect(JSON.parse(await bodyOf(count()))).toEqual({ input_tokens: 14 });
    fake.script('count-tokens:m', { json: { input_tokens: 3 } });
    fake.script('m', { status: 500 });
    expect(JSON.parse(await bodyOf(count()))).toEqual({ input_tokens: 3 });
    expect(fake.served('m').map((call) => call.endpoint)).toEqual(['count-tokens', 'count-tokens']);
  });
});

describe('an endless answer', () => {
  test('stops being made while the reader does not read, and goes on when it does', async () => {
    const client = await connectRaw(fake.port);
    client.pause();
    client.send(chatCall('endless', { stream: true }));
    await fake.waitFor((call) => call.eventsSent > 1_000);
    const settled = async (): Promise<number> => {
      let before = -1;
      for (;;) {
        const now = fake.served('endless')[0]?.bytesSent ?? 0;
        if (now === before) return now;
        before = now;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    };
    const stuckAt = await settled();
    expect(stuckAt).toBeLessThan(16_000_000);
    client.resume();
    await fake.waitFor((call) => call.bytesSent > stuckAt);
    client.leave();
    await fake.waitFor((call) => call.finished === 'client-left');
  });
});
