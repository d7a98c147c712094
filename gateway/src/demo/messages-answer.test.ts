/** Tests the demo model's answers on messages, and that its streams keep the format. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { askDemo } from './testing/ask-demo.ts';
import { foldMessagesStream } from './testing/fold-messages-stream.ts';

const user = (content: unknown) => ({ role: 'user', content });
const ask = (extra: object, ...messages: object[]) => {
  const body = {
    model: 'claude-demo',
    max_tokens: 1_000,
    messages: messages.length > 0 ? messages : [user('Hello there')],
  };
  return JSON.parse(askDemo('messages', { ...body, ...extra }).text);
};

const weather = {
  name: 'get_weather',
  description: 'The weather of a place',
  input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const clock = { name: 'get_time', input_schema: { type: 'object' } };
const tools = [weather, clock];

describe('a message', () => {
  test('introduces itself, repeats the text, and counts tokens', () => {
    const message = ask({});
    expect(message.content).toEqual([{ type: 'text', text: expect.stringContaining('“Hello there”') }]);
    expect(message.usage).toMatchObject({
      output_tokens: Math.ceil(Buffer.byteLength(message.content[0].text) / 4),
      cache_read_input_tokens: 0,
    });
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null });
  });

  test('of max_tokens 0 has no content', () => {
    expect(ask({ max_tokens: 0 })).toMatchObject({
      content: [],
      stop_reason: 'max_tokens',
      usage: { output_tokens: 0 },
    });
  });

  test('ends at max_tokens, and before a stop sequence that it names', () => {
    expect(ask({ max_tokens: 3 })).toMatchObject({ content: [{ text: 'This is Toll' }], stop_reason: 'max_tokens' });
    const stopped = ask({ stop_sequences: ['offline', 'demo'] });
    expect(stopped).toMatchObject({
      content: [{ text: "This is Tollgate's built-in " }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'demo',
    });
  });

  test('thinks first when thinking is on, and hides it when it must be omitted', () => {
    const shown = ask({ thinking: { type: 'adaptive' } });
    expect(shown.content.map((block: { type: string }) => block.type)).toEqual(['thinking', 'text']);
    expect(shown.content[0].signature).toMatch(/^[A-Za-z0-9+/]{80,}={0,2}$/);
    expect(shown.usage.output_tokens_details.thinking_tokens).toBeGreaterThan(0);
    const hidden = ask({ thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' }, max_tokens: 2_000 });
    expect(hidden.content[0]).toMatchObject({ type: 'thinking', thinking: '' });
    expect(hidden.usage.output_tokens_details).toEqual(shown.usage.output_tokens_details);
    expect(ask({ thinking: { type: 'between_tools' } }).content[0].type).toBe('text');
  });

  test('is JSON of the requested form', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const message = ask({ output_config: { format: { type: 'json_schema', schema } } }, user('I live in Lisbon'));
    expect(JSON.parse(message.content[0].text)).toEqual({ city: 'Lisbon' });
  });

  test('names the type and size of images and documents', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const pdf = { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } };
    const { text } = ask({}, user([image, pdf, { type: 'text', text: 'See' }])).content[0];
    expect(text).toContain('1 image (image/png, 3 bytes)');
    expect(text).toContain('1 document (type not said, size not known since I fetch nothing)');
  });

  test('answers what the person wrote, not the reminders that an agent adds', () => {
    const reminder = { type: 'text', text: '<system-reminder>be brief</system-reminder>' };
    expect(ask({}, user([reminder, { type: 'text', text: 'Name a colour' }, reminder])).content[0].text).toContain(
      '“Name a colour”',
    );
  });
});

describe('tools', () => {
  const calls = (message: { content: { type: string; name: string }[] }) =>
    message.content.filter(({ type }) => type === 'tool_use').map(({ name }) => name);

  test('are called with an input from the message', () => {
    expect(ask({ tools }, user('How is the weather in Paris?'))).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'tool_use', id: expect.stringMatching(/^call_/), name: 'get_weather', input: { place: 'Paris' } },
      ],
    });
  });

  test('are called two at a time unless that is switched off, and when the choice forces them', () => {
    const question = user('What are the time and the weather in Oslo?');
    expect(calls(ask({ tools }, question)).sort()).toEqual(['get_time', 'get_weather']);
    expect(
      calls(ask({ tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, question)),
    ).toHaveLength(1);
    expect(calls(ask({ tools, tool_choice: { type: 'none' } }, question))).toEqual([]);
    expect(calls(ask({ tools, tool_choice: { type: 'any' } }))).toEqual(['get_weather']);
    expect(calls(ask({ tools, tool_choice: { type: 'tool', name: 'get_time' } }))).toEqual(['get_time']);
  });

  test('tool calls that exceed max_tokens are omitted entirely', () => {
    const message = ask({ tools, max_tokens: 2 }, user('How is the weather in Paris?'));
    expect(message).toMatchObject({ content: [], stop_reason: 'max_tokens' });
  });

  test('are answered from: results that came back, errors too, are quoted', () => {
    const uses = ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: `tool_${id}`, input: {} }));
    const results = [
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'sunny' }] },
      { type: 'tool_result', tool_use_id: 'b', content: 'no such place', is_error: true },
    ];
    const { text } = ask({ tools }, user('weather?'), { role: 'assistant', content: uses }, user(results)).content[0];
    expect(text).toContain('The tool tool_a returned: “sunny”');
    expect(text).toContain('The tool tool_b failed: “no such place”');
  });
});

test('count_tokens gives the input_tokens that the message is metered with', () => {
  const prompt = { model: 'claude-demo', system: 'Be brief', tools, messages: [user('Hi ✓')] };
  const counted = JSON.parse(askDemo('messages', prompt, 'req_1', true).text);
  const { input_tokens } = JSON.parse(askDemo('messages', { ...prompt, max_tokens: 5, temperature: 1 }).text).usage;
  expect(input_tokens).toBeGreaterThan(0);
  expect(counted).toEqual({ input_tokens });
});

test('a stream keeps all twelve invariants and folds into the plain message', () => {
  const prompts = fc.record({
    text: fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant('the weather and the time in Rome')),
    max_tokens: fc.integer({ min: 0, max: 120 }),
    thinking: fc.constantFrom({ type: 'disabled' }, { type: 'adaptive' }, { type: 'adaptive', display: 'omitted' }),
    stop_sequences: fc.constantFrom([], ['offline']),
    tools: fc.constantFrom([], tools),
  });
  fc.assert(
    fc.property(prompts, ({ text, ...rest }) => {
      const body = { model: 'claude-demo', messages: [user(text)], ...rest };
      const plain = JSON.parse(askDemo('messages', body).text);
      // A stream reports cache writes only as their sum, not per cache.
      plain.usage.cache_creation = null;
      expect(foldMessagesStream(askDemo('messages', { ...body, stream: true }).records)).toEqual(plain);
    }),
    { numRuns: 200 },
  );
});
