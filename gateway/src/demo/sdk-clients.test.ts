/**
 * Tests the demo model through the vendors' own SDKs: plain, streamed, with their stream helpers, with tools, and
 * refused.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import Anthropic, { BadRequestError as MessagesRefused } from '@anthropic-ai/sdk';
import OpenAI, { BadRequestError as ChatRefused } from 'openai';
import { serveDemo } from './testing/ask-demo.ts';

const demo = serveDemo();
afterAll(() => demo.stop());

const question = 'How is the weather in Paris?';
const parameters = { type: 'object' as const, properties: { place: { type: 'string' } }, required: ['place'] };

describe('the openai SDK', () => {
  const client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const ask = { model: 'demo', messages: [{ role: 'user' as const, content: question }] };
  const tools = [
    { type: 'function' as const, function: { name: 'get_weather', description: 'The weather of a place', parameters } },
  ];

  test('gets a plain answer with its request id', async () => {
    const completion = await client.chat.completions.create(ask);
    expect(completion.choices[0]?.message.content).toContain(question);
    expect(completion._request_id).toStartWith('req_');
  });

  test('gets a stream whose words add up to the answer, with usage at the end', async () => {
    const plain = await client.chat.completions.create(ask);
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: unknown = null;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(plain.choices[0]?.message.content ?? '');
    expect(usage).toEqual(plain.usage);
  });

  test('gets through a tool round trip with the stream helper', async () => {
    const asked = await client.chat.completions.stream({ ...ask, tools }).finalMessage();
    const call = asked.tool_calls?.[0];
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ place: 'Paris' });
    const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: '12 °C and rain' };
    const answered = client.chat.completions.stream({ ...ask, tools, messages: [...ask.messages, asked, result] });
    expect(await answered.finalContent()).toContain('get_weather returned: “12 °C and rain”');
  });

  test('runs tools by itself', async () => {
    const asked: unknown[] = [];
    const run = (input: unknown) => {
      asked.push(input);
      return 'sunny';
    };
    const runner = client.chat.completions.runTools({
      ...ask,
      tools: [
        {
          type: 'function',
          function: { name: 'get_weather', description: 'weather', parameters, parse: JSON.parse, function: run },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('“sunny”');
    expect(asked).toEqual([{ place: 'Paris' }]);
  });

  test('parses an answer of the requested form', async () => {
    const response_format = {
      type: 'json_schema' as const,
      json_schema: { name: 'place', strict: true, schema: parameters },
    };
    const completion = await client.chat.completions.parse({ ...ask, response_format });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ place: 'Paris' });
  });

  test('raises its own error for a refused body', async () => {
    const refused = client.chat.completions.create({ ...ask, temperature: 3 }).catch((error: unknown) => error);
    const error = await refused;
    expect(error).toBeInstanceOf(ChatRefused);
    expect(error).toMatchObject({ status: 400, param: 'temperature', type: 'invalid_request_error' });
  });
});

describe('the anthropic SDK', () => {
  const client = new Anthropic({ baseURL: demo.url, apiKey: 'none', maxRetries: 0 });
  const ask = { model: 'claude-demo', max_tokens: 3_000, messages: [{ role: 'user' as const, content: question }] };
  const tools = [{ name: 'get_weather', description: 'The weather of a place', input_schema: parameters }];

  test('gets a plain message with its request id', async () => {
    const message = await client.messages.create(ask);
    expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining(question) });
    expect(message._request_id).toStartWith('req_');
  });

  test('gets a stream of events that it accumulates into the message, thinking included', async () => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
    const message = await client.messages.stream({ ...ask, thinking }).finalMessage();
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text']);
    const { content, usage, stop_reason } = await client.messages.create({ ...ask, thinking });
    const text = (blocks: typeof content) => blocks.map((block) => (block.type === 'text' ? block.text : block.type));
    expect(text(message.content)).toEqual(text(content));
    expect(message.usage).toEqual({ ...usage, cache_creation: null });
    expect(message.stop_reason).toBe(stop_reason);
  });

  test('iterates raw events up to message_stop', async () => {
    const types: string[] = [];
    for await (const event of await client.messages.create({ ...ask, stream: true })) types.push(event.type);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
  });

  test('gets through a tool round trip with the stream helper', async () => {
    const asked = await client.messages.stream({ ...ask, tools }).finalMessage();
    const [use] = asked.content;
    expect(use).toMatchObject({ type: 'tool_use', name: 'get_weather', input: { place: 'Paris' } });
    const id = use?.type === 'tool_use' ? use.id : '';
    const result = {
      role: 'user' as const,
      content: [{ type: 'tool_result' as const, tool_use_id: id, content: 'rain' }],
    };
    const messages = [...ask.messages, { role: 'assistant' as const, content: asked.content }, result];
    const text = await client.messages.stream({ ...ask, tools, messages }).finalText();
    expect(text).toContain('get_weather returned: “rain”');
  });

  test('counts the tokens that a message is metered with', async () => {
    const { max_tokens: _, ...prompt } = ask;
    const { input_tokens } = await client.messages.countTokens(prompt);
    expect(input_tokens).toBe((await client.messages.create(ask)).usage.input_tokens);
  });

  test('raises its own error for a refused body', async () => {
    const error = await client.messages.create({ ...ask, max_tokens: -1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MessagesRefused);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});
