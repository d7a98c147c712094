/**
 * Tests the official OpenAI SDK with a messages model: long conversations with tools, preserved signatures, images,
 * exact arguments.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { SIGNATURE } from '../fake-upstream/answer/messages-answer.ts';
import type { Pair } from '../harness/start-pair.ts';
import { sentTexts } from '../harness/start-pair.ts';
import { drainStream, openAi } from './sdk-rig.ts';
import {
  ANSWER,
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
let client: OpenAI;
beforeAll(async () => {
  pair = await startTranslatedRig();
  client = openAi(pair);
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

type Message = OpenAI.ChatCompletionMessageParam;

const tools: OpenAI.ChatCompletionTool[] = TOOLS.map((tool) => ({
  type: 'function',
  function: { ...tool, parameters: { ...tool.parameters } },
}));
const question: Message[] = [{ role: 'user', content: QUESTION }];
const text = (words: string) => ({ type: 'text', text: words });
const photo = [text(PHOTO_WORDS), { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }];

function contentOf(name: string, city: string): string {
  return name === 'take_photo' ? PHOTO_WORDS : weatherOf(city);
}

/**
 * The whole conversation as the messages upstream must get it; each request is a prefix of it. `photos`: with the
 * images.
 */
function conversation(photos: boolean): object[] {
  const thinking = (words: string) => ({ type: 'thinking', thinking: words, signature: SIGNATURE });
  const use = (number: number, name: string, city: string) => ({
    type: 'tool_use',
    id: `toolu_${number}`,
    name,
    input: { city },
  });
  const result = (number: number, content: unknown) => ({
    type: 'tool_result',
    tool_use_id: `toolu_${number}`,
    content,
  });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
  const taken = photos ? [text(PHOTO_WORDS), image] : PHOTO_WORDS;
  return [
    { role: 'user', content: [text(QUESTION)] },
    {
      role: 'assistant',
      content: [
        thinking('Two at once will do.'),
        text('I look.'),
        use(1, 'get_weather', 'Zürich'),
        use(2, 'get_weather', 'Oslo'),
      ],
    },
    { role: 'user', content: [result(1, 'sunny in Zürich'), result(2, 'sunny in Oslo')] },
    {
      role: 'assistant',
      content: [thinking('Now a photo.'), use(3, 'take_photo', 'Lima'), use(4, 'get_weather', 'Rome')],
    },
    { role: 'user', content: [result(3, taken), result(4, 'sunny in Rome')] },
    { role: 'assistant', content: [text('One more.'), use(5, 'get_weather', 'Bern')] },
    { role: 'user', content: [result(5, 'sunny in Bern')] },
    {
      role: 'assistant',
      content: [thinking('And the last two.'), use(6, 'get_weather', 'Kyiv'), use(7, 'take_photo', 'Kyiv')],
    },
    { role: 'user', content: [result(6, 'sunny in Kyiv'), result(7, taken)] },
  ];
}

function expectSent(streamed: boolean, photos: boolean): void {
  const whole = conversation(photos);
  const bodies = sentBodies(pair, CLAUDE);
  expect(bodies.map(({ messages }) => messages)).toEqual([1, 3, 5, 7, 9].map((length) => whole.slice(0, length)));
  for (const body of bodies) {
    expect(body).toMatchObject({ model: CLAUDE, max_tokens: 900 });
    expect(body.tools).toEqual(
      TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    );
    expect(body.stream).toBe(streamed ? true : undefined);
  }
}

const called = (number: number, name: string, city: string) => ({
  id: `toolu_${number}`,
  type: 'function',
  function: { name, arguments: JSON.stringify({ city }) },
});
/** What the SDK must return at each turn, plain or streamed. */
const RETURNED = [
  {
    content: 'I look.',
    reasoning_content: 'Two at once will do.',
    tool_calls: [called(1, 'get_weather', 'Zürich'), called(2, 'get_weather', 'Oslo')],
  },
  {
    content: null,
    reasoning_content: 'Now a photo.',
    tool_calls: [called(3, 'take_photo', 'Lima'), called(4, 'get_weather', 'Rome')],
  },
  { content: 'One more.', tool_calls: [called(5, 'get_weather', 'Bern')] },
  {
    content: null,
    reasoning_content: 'And the last two.',
    tool_calls: [called(6, 'get_weather', 'Kyiv'), called(7, 'take_photo', 'Kyiv')],
  },
  { content: ANSWER, reasoning_content: 'All are known.' },
];

/** Plays the answers of a conversation without the helper; each client decides what it replays. */
async function playByHand(
  ask: (messages: Message[]) => Promise<OpenAI.ChatCompletion>,
  replay: (message: OpenAI.ChatCompletionMessage) => Message,
  photos: boolean,
): Promise<OpenAI.ChatCompletion[]> {
  const messages = [...question];
  const answers: OpenAI.ChatCompletion[] = [];
  for (;;) {
    const answer = await ask(messages);
    answers.push(answer);
    const [choice] = answer.choices;
    if (choice?.finish_reason !== 'tool_calls') return answers;
    messages.push(replay(choice.message));
    for (const call of choice.message.tool_calls ?? []) {
      if (call.type !== 'function') throw new Error(`a call of the type ${call.type}`);
      const { name, arguments: json } = call.function;
      const { city } = JSON.parse(json) as { city: string };
      // Officially only text is allowed there; providers accept images anyway.
      const content = (photos && name === 'take_photo' ? photo : contentOf(name, city)) as string;
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

function expectReturned(answers: readonly OpenAI.ChatCompletion[]): void {
  expect(answers.map(({ choices }) => choices[0]?.message)).toMatchObject(RETURNED);
  const finished = answers.map(({ choices }) => choices[0]?.finish_reason);
  expect(finished).toEqual([...Array(4).fill('tool_calls'), 'stop']);
  expect(answers.at(-1)?.usage).toMatchObject({
    prompt_tokens: 18,
    completion_tokens: 6,
    total_tokens: 24,
    prompt_tokens_details: { cached_tokens: 7 },
    completion_tokens_details: { reasoning_tokens: 2 },
  });
}

const body = (messages: Message[]) => ({ model: CLAUDE, max_completion_tokens: 900, tools, messages });
/** As the SDK's own loop does, and every client without support for reasoning. */
const plainly = ({ content, tool_calls }: OpenAI.ChatCompletionMessage): Message => ({
  role: 'assistant',
  content,
  ...(tool_calls === undefined ? {} : { tool_calls }),
});
/** Clients may re-serialize the arguments. */
const respaced = (message: OpenAI.ChatCompletionMessage): Message => ({
  role: 'assistant',
  content: message.content,
  tool_calls: (message.tool_calls ?? []).map((call) => {
    if (call.type !== 'function') return call;
    const json: unknown = JSON.parse(call.function.arguments);
    return { ...call, function: { ...call.function, arguments: JSON.stringify(json, null, 2) } };
  }),
});

describe('five turns with tools', () => {
  test.each([
    ['which replays the message whole', (message: OpenAI.ChatCompletionMessage): Message => message],
    ['which knows of no reasoning', plainly],
    ['which writes arguments anew', respaced],
  ] as const)('in one piece, by a client %s: the thinking is put back with its signature', async (_, replay) => {
    pair.fake.script(CLAUDE, LOOP);
    expectReturned(await playByHand((messages) => client.chat.completions.create(body(messages)), replay, true));
    expectSent(false, true);
  });

  test('reasoning that the stream helper broke is not taken for the model’s when it comes back', async () => {
    pair.fake.script(CLAUDE, LOOP);
    const received: string[] = [];
    const answers = await playByHand(
      (messages) => {
        const stream = client.chat.completions.stream({ ...body(messages), stream_options: { include_usage: true } });
        return stream.on('content', (delta) => received.push(delta)).finalChatCompletion();
      },
      (message) => message,
      true,
    );
    // The helper keeps only the last delta of unknown members (openai 7.55); the first content is the empty one.
    const known = RETURNED.map(({ reasoning_content: _, ...message }) => ({
      ...message,
      content: message.content ?? '',
    }));
    expect(answers.map(({ choices }) => choices[0]?.message)).toMatchObject(known);
    expect(answers.at(-1)?.usage).toMatchObject({ prompt_tokens: 18, completion_tokens: 6 });
    expect(received.join('')).toBe(`I look.One more.${ANSWER}`);
    expectSent(true, true);
  });

  test.each([false, true])('by runTools, streamed: %p', async (stream) => {
    pair.fake.script(CLAUDE, LOOP);
    const runnable = tools.map((tool) => {
      if (tool.type !== 'function') throw new Error('the tools are functions');
      const { name, description = '', parameters = {} } = tool.function;
      return {
        type: 'function' as const,
        function: {
          name,
          description,
          parameters,
          parse: (json: string) => JSON.parse(json) as { city: string },
          function: ({ city }: { city: string }) => contentOf(name, city),
        },
      };
    });
    const streamBody = { ...body([...question]), tools: runnable };
    const runner = stream
      ? client.chat.completions.runTools({ ...streamBody, stream: true })
      : client.chat.completions.runTools(streamBody);
    expect(await runner.finalContent()).toBe(ANSWER);
    expectSent(stream, false);
  });

  test('the raw stream: role first, reasoning and text as deltas, calls counted from 0, finish, usage, one id', async () => {
    pair.fake.script(CLAUDE, LOOP[0] ?? {});
    const streamBody = { ...body(question), stream: true, stream_options: { include_usage: true } } as const;
    const { items, error } = await drainStream(await client.chat.completions.create(streamBody));
    expect(error).toBeNull();
    expect(new Set(items.map(({ id }) => id)).size).toBe(1);
    expect(items[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant' });
    expect(items.map(({ choices }) => choices[0]?.finish_reason ?? null).filter(Boolean)).toEqual(['tool_calls']);
    expect(items.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 11 } });
    const calls = items.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls.filter(({ id }) => id !== undefined).map(({ index, id, type }) => [index, id, type])).toEqual([
      [0, 'toolu_1', 'function'],
      [1, 'toolu_2', 'function'],
    ]);
    const joined = (index: number) =>
      calls.map((call) => (call.index === index ? (call.function?.arguments ?? '') : '')).join('');
    expect([joined(0), joined(1)]).toEqual(['{"city":"Zürich"}', '{"city":"Oslo"}']);
  });
});

describe('exact arguments', () => {
  /** Digits above 2^53, a duplicate member, its own order, an escape: all of it must be preserved. */
  const INPUT = '{"z":12345678901234567890,"a":1e2,"a":0.10,"s":"\\u00fc\\/"}';
  const message = (content: string, usage = '{"input_tokens":3,"output_tokens":4}') =>
    `{"id":"msg_1","type":"message","role":"assistant","model":"${CLAUDE}","content":${content},"stop_reason":"tool_use","stop_sequence":null,"usage":${usage}}`;
  const PLAIN = message(`[{"type":"tool_use","id":"toolu_x","name":"get_weather","input":${INPUT}}]`);
  const event = (type: string, members: string) => `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;
  const STREAMED = [
    event('message_start', `"message":${message('[]').replace('"tool_use"', 'null')}`),
    event(
      'content_block_start',
      '"index":0,"content_block":{"type":"tool_use","id":"toolu_x","name":"get_weather","input":{}}',
    ),
    ...[INPUT.slice(0, 9), INPUT.slice(9)].map((piece) =>
      event(
        'content_block_delta',
        `"index":0,"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(piece)}}`,
      ),
    ),
    event('content_block_stop', '"index":0'),
    event('message_delta', '"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}'),
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ];

  test.each([false, true])(
    'vectors 48 and 49: digits, order and duplicates reach the client and come back, streamed: %p',
    async (stream) => {
      pair.fake.script(CLAUDE, [stream ? { records: STREAMED } : { body: PLAIN }, { answer: 'ok' }]);
      const answer = stream
        ? await client.chat.completions.stream(body(question)).finalChatCompletion()
        : await client.chat.completions.create(body(question));
      const firstMessage = answer.choices[0]?.message;
      expect(firstMessage?.tool_calls).toMatchObject([{ id: 'toolu_x', function: { arguments: INPUT } }]);
      if (firstMessage === undefined) throw new Error('no message');
      const result: Message = { role: 'tool', tool_call_id: 'toolu_x', content: 'x' };
      await client.chat.completions.create(body([...question, plainly(firstMessage), result]));
      expect(sentTexts(pair, CLAUDE).at(-1)).toContain(`"input":${INPUT}`);
    },
  );
});

describe('signatures', () => {
  const thoughtful = LOOP[0] ?? {};

  async function callOnce(): Promise<OpenAI.ChatCompletionMessage> {
    pair.fake.script(CLAUDE, thoughtful);
    const answer = await client.chat.completions.create(body(question));
    const [choice] = answer.choices;
    if (choice === undefined) throw new Error('no choice');
    return choice.message;
  }

  const results: Message[] = [1, 2].map((number) => ({
    role: 'tool',
    tool_call_id: `toolu_${number}`,
    content: 'fine',
  }));

  test('are not put back where the call is not the one that was thought about', async () => {
    const message = await callOnce();
    const changed: Message = {
      role: 'assistant',
      content: message.content,
      tool_calls: (message.tool_calls ?? []).map((call) => ({
        ...call,
        function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
        type: 'function' as const,
      })),
    };
    await client.chat.completions.create(body([...question, changed, ...results]));
    expect(sentTexts(pair, CLAUDE).at(-1)).not.toContain('thinking');
  });

  test('members of one format never reach a host of the other', async () => {
    const message = await callOnce();
    pair.fake.script('own', { answer: 'ok' });
    await client.chat.completions.create({ ...body([...question, message, ...results]), model: 'own' });
    expect(sentTexts(pair, 'own').at(-1)).not.toContain(SIGNATURE);
  });
});
