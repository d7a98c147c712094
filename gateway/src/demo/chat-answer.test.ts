/** Tests the demo model's answers on chat completions, and that its streams keep the format. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../test/harness/exhaustive.ts';
import { estimateTextTokens } from '../tokens/estimate-tokens.ts';
import { askDemo } from './testing/ask-demo.ts';
import { foldChatStream } from './testing/fold-chat-stream.ts';

const user = (content: unknown) => ({ role: 'user', content });
const ask = (extra: object, ...messages: object[]) =>
  JSON.parse(
    askDemo('chat', { model: 'demo', messages: messages.length > 0 ? messages : [user('Hello there')], ...extra }).text,
  );

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a place',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
};
const clock = { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } };

describe('a plain answer', () => {
  test('introduces itself, repeats the message, and counts tokens', () => {
    const answer = ask({});
    const { content } = answer.choices[0].message;
    expect(content).toContain("Tollgate's built-in demo model");
    expect(content).toContain('“Hello there”');
    const prompt_tokens = estimateTextTokens('Hello there', 'other');
    expect(answer.usage.prompt_tokens).toBeWithin(prompt_tokens, prompt_tokens + 20);
    const completion_tokens = Math.ceil(Buffer.byteLength(content) / 4);
    expect(answer.usage).toMatchObject({
      completion_tokens,
      total_tokens: answer.usage.prompt_tokens + completion_tokens,
    });
    expect(answer.choices[0].finish_reason).toBe('stop');
    expect(answer).toMatchObject({ object: 'chat.completion', created: 1_760_000_000, model: 'demo' });
  });

  test('is the same for the same body and request id, and has another id for another request id', () => {
    const body = { model: 'demo', messages: [user('Hi')] };
    expect(askDemo('chat', body, 'req_a').text).toBe(askDemo('chat', body, 'req_a').text);
    expect(JSON.parse(askDemo('chat', body, 'req_a').text).id).not.toBe(
      JSON.parse(askDemo('chat', body, 'req_b').text).id,
    );
  });

  test('names the type and size of images, documents and sounds', () => {
    const png = `data:image/png;base64,${Buffer.alloc(2048).toString('base64')}`;
    const { content } = ask(
      {},
      user([
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: png } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
        { type: 'input_audio', input_audio: { data: 'AAA=', format: 'wav' } },
      ]),
    ).choices[0].message;
    expect(content).toContain('2 images (image/png, 2.0 KiB; type not said, size not known since I fetch nothing)');
    expect(content).toContain('1 document (application/pdf, 3 bytes)');
    expect(content).toContain('1 sound (audio/wav, 2 bytes)');
  });

  test('gives up to eight different choices', () => {
    const { choices, usage } = ask({ n: 8 });
    expect(new Set(choices.map((choice: { message: { content: string } }) => choice.message.content)).size).toBe(8);
    expect(usage.completion_tokens).toBeGreaterThan(8 * 60);
  });

  test('ends at max_completion_tokens with the reason length', () => {
    const answer = ask({ max_completion_tokens: 5 });
    expect(answer.choices[0].finish_reason).toBe('length');
    expect(answer.usage.completion_tokens).toBe(5);
    expect(answer.choices[0].message.content.length).toBe(20);
  });

  test('ends before a stop text', () => {
    const answer = ask({ stop: ['offline', 'demo'] });
    expect(answer.choices[0].message.content).toBe("This is Tollgate's built-in ");
    expect(answer.choices[0].finish_reason).toBe('stop');
  });

  test('reasons when an effort is set, and not for the effort none', () => {
    const answer = ask({ reasoning_effort: 'low' });
    const reasoning = answer.choices[0].message.reasoning_content;
    expect(reasoning).toContain('Hello there');
    const { reasoning_tokens } = answer.usage.completion_tokens_details;
    expect(reasoning_tokens).toBe(Math.ceil(Buffer.byteLength(reasoning) / 4));
    expect(answer.usage.completion_tokens).toBeGreaterThan(reasoning_tokens);
    expect(ask({ reasoning_effort: 'none' }).choices[0].message).not.toHaveProperty('reasoning_content');
  });

  test('writes JSON when a format requires it', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18 } },
      required: ['name', 'age'],
    };
    const response_format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } };
    const made = JSON.parse(ask({ response_format }, user('Meet Ada Lovelace, who is 36')).choices[0].message.content);
    expect(made).toEqual({ name: 'Ada Lovelace', age: 36 });
    expect(JSON.parse(ask({ response_format: { type: 'json_object' } }).choices[0].message.content)).toBeObject();
  });
});

describe('tools', () => {
  const tools = [weather, clock];
  const calls = (answer: { choices: { message: { tool_calls?: { function: { name: string } }[] } }[] }) =>
    answer.choices[0]?.message.tool_calls?.map((call) => call.function.name) ?? [];

  test('are called when the message is about them, with arguments from the message', () => {
    const answer = ask({ tools }, user('How is the weather in Paris?'));
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"place":"Paris"}' } }],
      },
    });
  });

  test('are called two at a time when two match, unless that is switched off', () => {
    const question = user('What are the time and the weather in Oslo?');
    expect(calls(ask({ tools }, question)).sort()).toEqual(['get_time', 'get_weather']);
    expect(calls(ask({ tools, parallel_tool_calls: false }, question))).toHaveLength(1);
  });

  test('are not called when the message is about something else, or the choice is “none”', () => {
    expect(calls(ask({ tools }, user('Tell me a joke')))).toEqual([]);
    expect(calls(ask({ tools, tool_choice: 'none' }, user('weather?')))).toEqual([]);
  });

  test('are called when the choice forces them', () => {
    expect(calls(ask({ tools, tool_choice: 'required' }))).toEqual(['get_weather']);
    expect(calls(ask({ tools, tool_choice: { type: 'function', function: { name: 'get_time' } } }))).toEqual([
      'get_time',
    ]);
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'get_time' } }] };
    expect(calls(ask({ tools, tool_choice: { type: 'allowed_tools', allowed_tools } }))).toEqual(['get_time']);
  });

  test('that take free text get the message', () => {
    const shell = { type: 'custom', custom: { name: 'run_code', description: 'Runs code' } };
    const { tool_calls } = ask({ tools: [shell], tool_choice: 'required' }, user('print(1)')).choices[0].message;
    expect(tool_calls).toEqual([
      { id: expect.any(String), type: 'custom', custom: { name: 'run_code', input: 'print(1)' } },
    ]);
  });

  test('are answered from: a result that came back is quoted', () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }];
    const messages = [
      user('weather?'),
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: 'c1', content: '12 °C' },
    ];
    const answer = ask({ tools }, ...messages);
    expect(answer.choices[0].message.content).toContain('The tool get_weather returned: “12 °C”');
    expect(answer.choices[0].finish_reason).toBe('stop');
  });
});

describe('a stream', () => {
  test('keeps the format and has the text of the plain answer', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constant('the weather and the time in Rome'),
    );
    const prompts = fc.record({
      text,
      n: fc.integer({ min: 1, max: 3 }),
      max_tokens: fc.option(fc.integer({ min: 1, max: 90 })),
      reasoning_effort: fc.constantFrom('none', 'high'),
      withTools: fc.boolean(),
    });
    fc.assert(
      fc.property(prompts, ({ text, withTools, ...rest }) => {
        const body = {
          model: 'demo',
          messages: [user(text)],
          ...rest,
          ...(withTools ? { tools: [weather, clock] } : {}),
        };
        const plain = JSON.parse(askDemo('chat', body).text);
        const stream = askDemo('chat', { ...body, stream: true, stream_options: { include_usage: true } });
        expect(stream.contentType).toBe('text/event-stream; charset=utf-8');
        const folded = foldChatStream(stream.records);
        expect(folded.usage).toEqual(plain.usage);
        for (const [index, { message, finish_reason }] of plain.choices.entries()) {
          const calls = (message.tool_calls ?? []) as { function: { name: string; arguments: string } }[];
          expect(folded.choices[index]).toMatchObject({
            content: message.content ?? '',
            reasoning: message.reasoning_content ?? '',
            calls: calls.map((call) => call.function),
            finish: finish_reason,
          });
        }
      }),
      { numRuns: runsOf(150) },
    );
  });
});
