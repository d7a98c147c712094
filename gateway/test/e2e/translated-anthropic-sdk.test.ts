/** Tests the official Anthropic SDK with a chat completions model: long conversations with tools, thinking, images. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import type { Pair } from '../harness/start-pair.ts';
import { sentTexts } from '../harness/start-pair.ts';
import { anthropic } from './sdk-rig.ts';
import {
  ANSWER,
  CHAT_MODELS,
  CLAUDE,
  LOOP,
  PHOTO_WORDS,
  PNG,
  QUESTION,
  sentBodies,
  startTranslatedRig,
  TOOLS,
  weatherOf,
} from './translated-rig.ts';

let pair: Pair;
let client: Anthropic;
beforeAll(async () => {
  pair = await startTranslatedRig();
  client = anthropic(pair);
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

type Host = (typeof CHAT_MODELS)[number];

const tools: Anthropic.Tool[] = TOOLS.map(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: { ...parameters, required: [...parameters.required] },
}));
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } } as const;

function resultOf(name: string, input: unknown): Exclude<Anthropic.ToolResultBlockParam['content'], undefined> {
  const { city } = input as { readonly city: string };
  return name === 'take_photo' ? [{ type: 'text', text: PHOTO_WORDS }, image] : weatherOf(city);
}

/** The whole conversation as a chat upstream must get it; each request is a prefix of it. */
function conversationFor(host: Host): object[] {
  const thought = (text: string) => (host === 'thinker' ? { reasoning_content: text } : {});
  const call = (number: number, name: string, city: string) => ({
    id: `call_${number}`,
    type: 'function',
    function: { name, arguments: JSON.stringify({ city }) },
  });
  const result = (number: number, content: string) => ({ role: 'tool', tool_call_id: `call_${number}`, content });
  const photoOf = (number: number) => ({
    role: 'user',
    content: [
      { type: 'text', text: `From the result of the tool call call_${number}:` },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    ],
  });
  return [
    { role: 'user', content: QUESTION },
    {
      role: 'assistant',
      content: 'I look.',
      ...thought('Two at once will do.'),
      tool_calls: [call(1, 'get_weather', 'Zürich'), call(2, 'get_weather', 'Oslo')],
    },
    result(1, 'sunny in Zürich'),
    result(2, 'sunny in Oslo'),
    {
      role: 'assistant',
      content: null,
      ...thought('Now a photo.'),
      tool_calls: [call(3, 'take_photo', 'Lima'), call(4, 'get_weather', 'Rome')],
    },
    result(3, PHOTO_WORDS),
    result(4, 'sunny in Rome'),
    photoOf(3),
    // The stand-in for reasoning that it refuses to miss.
    { role: 'assistant', content: 'One more.', ...thought(' '), tool_calls: [call(5, 'get_weather', 'Bern')] },
    result(5, 'sunny in Bern'),
    {
      role: 'assistant',
      content: null,
      ...thought('And the last two.'),
      tool_calls: [call(6, 'get_weather', 'Kyiv'), call(7, 'take_photo', 'Kyiv')],
    },
    result(6, 'sunny in Kyiv'),
    result(7, PHOTO_WORDS),
    photoOf(7),
  ];
}

/** Number of messages in each of the five requests. */
const LENGTHS = [1, 4, 8, 10, 14];

function expectSent(host: Host, streamed: boolean): void {
  const whole = conversationFor(host);
  const bodies = sentBodies(pair, host);
  expect(bodies.map(({ messages }) => messages)).toEqual(LENGTHS.map((length) => whole.slice(0, length)));
  for (const body of bodies) {
    expect(body).toMatchObject({ model: host, max_tokens: 900 });
    expect(body.tools).toEqual(TOOLS.map((tool) => ({ type: 'function', function: tool })));
    expect([body.stream, body.stream_options]).toEqual(
      streamed ? [true, { include_usage: true }] : [undefined, undefined],
    );
  }
}

const thinking = (text: string) => ({
  type: 'thinking',
  thinking: text,
  signature: expect.stringMatching(/^gw1\.\S+$/),
});
const use = (number: number, name: string, city: string) => ({
  type: 'tool_use',
  id: `call_${number}`,
  name,
  input: { city },
});

/** What the SDK must return at each turn, plain or streamed. */
const RETURNED = [
  [
    thinking('Two at once will do.'),
    { type: 'text', text: 'I look.' },
    use(1, 'get_weather', 'Zürich'),
    use(2, 'get_weather', 'Oslo'),
  ],
  [thinking('Now a photo.'), use(3, 'take_photo', 'Lima'), use(4, 'get_weather', 'Rome')],
  [{ type: 'text', text: 'One more.' }, use(5, 'get_weather', 'Bern')],
  [thinking('And the last two.'), use(6, 'get_weather', 'Kyiv'), use(7, 'take_photo', 'Kyiv')],
  [thinking('All are known.'), { type: 'text', text: ANSWER }],
];

function expectReturned(answers: readonly Pick<Anthropic.Message, 'content' | 'stop_reason' | 'usage'>[]): void {
  expect(answers.map(({ content }) => content)).toMatchObject(RETURNED);
  expect(answers.map(({ content }) => content.length)).toEqual(RETURNED.map(({ length }) => length));
  expect(answers.map(({ stop_reason }) => stop_reason)).toEqual([...Array(4).fill('tool_use'), 'end_turn']);
  expect(answers.at(-1)?.usage).toMatchObject({ input_tokens: 11, cache_read_input_tokens: 7, output_tokens: 6 });
}

const body = (model: string, messages: Anthropic.MessageParam[]) => ({ model, max_tokens: 900, tools, messages });

describe.each([...CHAT_MODELS])('five turns with tools at %s', (host) => {
  async function playByHand(ask: (messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>) {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
    const answers: Anthropic.Message[] = [];
    for (;;) {
      const answer = await ask(messages);
      answers.push(answer);
      if (answer.stop_reason !== 'tool_use') return answers;
      const content = answer.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: resultOf(block.name, block.input) }]
          : [],
      );
      messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content });
    }
  }

  test('by hand, in one piece', async () => {
    pair.fake.script(host, LOOP);
    expectReturned(await playByHand((messages) => client.messages.create(body(host, messages))));
    expectSent(host, false);
  });

  test('by hand, with the stream helper', async () => {
    pair.fake.script(host, LOOP);
    const received: string[] = [];
    const answers = await playByHand((messages) =>
      client.messages
        .stream(body(host, messages))
        .on('text', (delta) => received.push(delta))
        .on('thinking', (delta) => received.push(delta))
        .finalMessage(),
    );
    expectReturned(answers);
    expectSent(host, true);
    expect(received.join('')).toBe(
      `Two at once will do.I look.Now a photo.One more.And the last two.All are known.${ANSWER}`,
    );
  });

  test.each([
    ['in one piece', false, false],
    ['streamed', true, false],
    ['in one piece, with the message threads that it asks for by itself', false, undefined],
    ['streamed, with the message threads that it asks for by itself', true, undefined],
  ] as const)('by the tool runner, %s', async (_, stream, thread) => {
    pair.fake.script(host, LOOP);
    const runnable = tools.map(({ name, description = '', input_schema }) => ({
      type: 'custom' as const,
      name,
      description,
      input_schema,
      parse: (content: unknown) => content,
      run: (input: unknown) => resultOf(name, input),
    }));
    const runner = client.beta.messages.toolRunner({
      model: host,
      max_tokens: 900,
      messages: [{ role: 'user', content: QUESTION }],
      tools: runnable,
      stream,
      ...(thread === undefined ? {} : { thread }),
    });
    const answer = await runner.runUntilDone();
    expect(answer.content).toMatchObject(RETURNED.at(-1) ?? []);
    expectSent(host, stream);
  });
});

describe('reasoning goes back to its issuer', () => {
  const say = { say: { reasoning: 'Hm.', text: 'Well.' } };
  const history = (content: Anthropic.ContentBlock[]): Anthropic.MessageParam[] => [
    { role: 'user', content: 'First.' },
    { role: 'assistant', content },
    { role: 'user', content: 'Second.' },
  ];

  async function answerOf(model: string) {
    pair.fake.script(model, say);
    const { content } = await client.messages.create(body(model, [{ role: 'user', content: 'First.' }]));
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    pair.fake.reset();
    pair.fake.script(model, say);
    return content;
  }

  test('reasoning goes back to the host that wrote it, if it accepts reasoning', async () => {
    const content = await answerOf('thinker');
    await client.messages.create(body('thinker', history(content)));
    const [, assistant] = sentBodies(pair, 'thinker')[0]?.messages ?? [];
    expect(assistant).toEqual({ role: 'assistant', content: 'Well.', reasoning_content: 'Hm.' });
  });

  test('vector 23: reasoning of one host, or signed thinking, does not go to another host that accepts reasoning', async () => {
    for (const model of ['own', CLAUDE]) {
      const content = await answerOf(model);
      pair.fake.script('thinker', say);
      await client.messages.create(body('thinker', history(content)));
      const [, assistant] = sentBodies(pair, 'thinker')[0]?.messages ?? [];
      expect(assistant).toEqual({ role: 'assistant', content: 'Well.', reasoning_content: ' ' });
      pair.fake.reset();
    }
  });

  test('a changed mark, or a mark with changed text, is not accepted', async () => {
    const content = await answerOf('thinker');
    for (const change of [{ thinking: 'Something else.' }, { signature: `gw1.${'A'.repeat(43)}` }]) {
      const changed = content.map((block) => (block.type === 'thinking' ? { ...block, ...change } : block));
      await client.messages.create(body('thinker', history(changed)));
    }
    for (const { messages } of sentBodies(pair, 'thinker')) {
      expect(messages[1]).toEqual({ role: 'assistant', content: 'Well.', reasoning_content: ' ' });
    }
  });

  test('vector 23: marks of ours never reach a native upstream, and its own signatures do, byte for byte', async () => {
    const marked = await answerOf('thinker');
    const signed = await answerOf(CLAUDE);
    const messages: Anthropic.MessageParam[] = [...history(marked), ...history(signed).slice(1)];
    await client.messages.create(body(CLAUDE, messages));
    const [text = ''] = sentTexts(pair, CLAUDE);
    expect(text).not.toContain('gw1.');
    const [sent] = sentBodies(pair, CLAUDE);
    expect(sent?.messages).toEqual([
      messages[0],
      { role: 'assistant', content: [{ type: 'text', text: 'Well.' }] },
      messages[2],
      { role: 'assistant', content: signed },
      messages[4],
    ]);
    expect(text).toContain(JSON.stringify(signed[0]));
  });
});

describe('the rest of the SDK', () => {
  test('a failed tool is reported as an error', async () => {
    pair.fake.script('own', { answer: 'ok' });
    const failed: Anthropic.ToolResultBlockParam = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      is_error: true,
      content: 'no such city',
    };
    await client.messages.create(
      body('own', [
        { role: 'user', content: QUESTION },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }] },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }, failed] },
      ]),
    );
    expect(sentBodies(pair, 'own')[0]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: '[tool error] no such city' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  test('a photo alone in a result still reaches the model, behind all results', async () => {
    pair.fake.script('own', { answer: 'ok' });
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: QUESTION },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'take_photo', input: { city: 'Lima' } },
          { type: 'tool_use', id: 'b', name: 'get_weather', input: { city: 'Lima' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [image] },
          { type: 'tool_result', tool_use_id: 'b', content: 'fine' },
          { type: 'text', text: 'And now?' },
        ],
      },
    ];
    await client.messages.create(body('own', messages));
    const sent = sentBodies(pair, 'own')[0]?.messages.slice(2);
    expect(sent).toMatchObject([
      { role: 'tool', tool_call_id: 'a' },
      { role: 'tool', tool_call_id: 'b', content: 'fine' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringContaining('a') },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: 'text', text: 'And now?' },
        ],
      },
    ]);
  });

  test('count_tokens is answered by the gateway, and grows with the prompt', async () => {
    const count = async (content: string) =>
      (await client.messages.countTokens({ model: 'own', messages: [{ role: 'user', content }] })).input_tokens;
    const [short, long] = [await count('Good day.'), await count('Good day. '.repeat(200))];
    expect(short).toBeWithin(1, 20);
    // Two words and a period, two hundred times.
    expect(long).toBeWithin(400, 800);
    expect(pair.fake.served()).toEqual([]);
  });

  test('the first event of a stream has an estimate of the prompt, the last one what upstream counted', async () => {
    pair.fake.script('own', { say: { text: 'Yes.', cacheReadTokens: 5 } });
    const usages: { readonly input_tokens: number | null }[] = [];
    const prompt: Anthropic.MessageParam[] = [{ role: 'user', content: 'word '.repeat(100) }];
    for await (const event of await client.messages.create({ ...body('own', prompt), stream: true })) {
      if (event.type === 'message_start') usages.push(event.message.usage);
      if (event.type === 'message_delta') usages.push(event.usage);
    }
    const estimate = usages[0]?.input_tokens ?? 0;
    expect(estimate).toBeWithin(80, 400);
    expect(usages).toMatchObject([
      { input_tokens: estimate, output_tokens: 0, cache_read_input_tokens: 0 },
      { input_tokens: 11, output_tokens: 1, cache_read_input_tokens: 5 },
    ]);
  });
});
