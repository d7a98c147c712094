/** Tests the request parser against its table of members, and how the top level of a body is parsed. */
import { describe, expect, test } from 'bun:test';
import type { Feature, GenerationRequest } from '../../../generation/request.ts';
import { HELLO, parse, refusalOf } from '../testing/chat-request.ts';
import { REQUEST_MEMBERS } from './parse-request.ts';

/** Every member of wire reference A.2 with a value that requests something. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  model: 'm',
  messages: HELLO,
  audio: { format: 'wav', voice: 'alloy' },
  frequency_penalty: 0.5,
  presence_penalty: -0.5,
  function_call: { name: 'weather' },
  functions: [{ name: 'weather' }],
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 2,
  max_completion_tokens: 100,
  max_tokens: 100,
  metadata: { team: 'a' },
  modalities: ['text', 'audio'],
  moderation: { model: 'omni-moderation-latest' },
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'x' },
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'explicit' },
  prompt_cache_retention: '24h',
  reasoning_effort: 'high',
  response_format: { type: 'json_object' },
  safety_identifier: 'u1',
  seed: 7,
  service_tier: 'flex',
  stop: ['END'],
  store: true,
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.5,
  top_p: 0.9,
  tool_choice: 'required',
  tools: [{ type: 'function', function: { name: 'weather' } }],
  user: 'u2',
  verbosity: 'low',
  web_search_options: { search_context_size: 'low' },
};

/** The evidence that a feature was requested. */
const SHOWS: Readonly<Record<Feature, (request: GenerationRequest) => unknown>> = {
  tools: ({ tools }) => tools[0],
  tool_choice: ({ tool_choice }) => tool_choice,
  parallel_tool_calls: (request) => request.parallel_tool_calls,
  output_limit: ({ outputTokensMax }) => outputTokensMax,
  stop: ({ stop }) => stop[0],
  temperature: ({ temperature }) => temperature,
  top_p: ({ top_p }) => top_p,
  top_k: ({ top_k }) => top_k,
  frequency_penalty: (request) => request.frequency_penalty,
  presence_penalty: (request) => request.presence_penalty,
  seed: ({ seed }) => seed,
  reasoning: ({ reasoning }) => reasoning,
  output_format: ({ output_format }) => output_format,
  verbosity: ({ verbosity }) => verbosity,
  end_user: ({ end_user }) => end_user,
  service_tier: ({ service_tier }) => service_tier,
  cache_marks: ({ cache_mark }) => cache_mark,
  web_search: ({ web_search }) => web_search,
  logprobs: ({ logprobs }) => logprobs,
};

const EXTENSIONS: Readonly<Record<string, unknown>> = {
  top_k: 40,
  cache_control: { type: 'ephemeral' },
  reasoning: { effort: 'high' },
  thinking: { type: 'enabled', budget_tokens: 2000 },
};
const BY_NAME = new Map(REQUEST_MEMBERS.map((row) => [row.member, row]));

test('each member of the format has exactly one row', () => {
  const named = REQUEST_MEMBERS.map(({ member }) => member).sort();
  expect(named).toEqual([...Object.keys(SAMPLES), ...Object.keys(EXTENSIONS)].sort());
  for (const { becomes, fate } of REQUEST_MEMBERS) expect(becomes === null).toBe(fate !== null);
});

/** Members that others are only taken with. */
const BESIDE: Readonly<Record<string, object>> = {
  stream_options: { stream: true },
  top_logprobs: { logprobs: true },
};

describe('treats each member as the table states', () => {
  test.each(Object.entries({ ...SAMPLES, ...EXTENSIONS }))('%s', (member, sample) => {
    const row = BY_NAME.get(member);
    const body = { ...BESIDE[member], [member]: sample };
    if (row?.fate === 'refused') {
      expect(refusalOf(() => parse(body)).param).toBe(member);
      return;
    }
    const { request, dropped } = parse(body);
    expect(dropped).toEqual(row?.fate === 'dropped' ? [member] : []);
    if (row?.becomes === null || row?.becomes === undefined) return;
    if (row.becomes === 'turns') expect(request.turns).toHaveLength(1);
    else if (row.becomes === 'model') expect(request.model).toBe('m');
    else if (row.becomes === 'stream') expect(request.stream).toBe(true);
    else {
      expect(SHOWS[row.becomes](request)).not.toBeNull();
      expect(SHOWS[row.becomes](request)).toBeDefined();
      expect(request.named).toEqual({ [row.becomes]: row.becomes === 'logprobs' ? 'logprobs' : member });
    }
  });

  test.each(Object.keys(SAMPLES))('%s: null is absent', (member) => {
    if (member === 'model' || member === 'messages') return;
    const { request, dropped } = parse({ [member]: null });
    expect([request, dropped]).toEqual([parse({}).request, []]);
  });
});

test('refuses under a strict key each member that is otherwise dropped', () => {
  expect(refusalOf(() => parse({ store: true }, true))).toEqual({
    param: 'store',
    message:
      'store: the provider does not store it, and this API key is strict. Leave it out, or use a key that is not',
  });
});

test('accepts neutral values without a note', () => {
  const body = {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    modalities: ['text'],
    store: false,
    metadata: {},
  };
  expect(parse(body, true).dropped).toEqual([]);
});

test('reads how many likely tokens are asked for, and refuses them without logprobs', () => {
  const read = (body: object) => parse(body).request.logprobs;
  expect([read({ logprobs: true }), read({ logprobs: true, top_logprobs: 20 })]).toEqual([{ top: 0 }, { top: 20 }]);
  for (const body of [
    { top_logprobs: 2 },
    { logprobs: false, top_logprobs: 2 },
    { logprobs: true, top_logprobs: 21 },
  ]) {
    expect(refusalOf(() => parse(body)).param).toBe('top_logprobs');
  }
});

test('vector 51: n: 2 is refused, naming n', () => {
  expect(refusalOf(() => parse({ n: 2 }))).toEqual({
    param: 'n',
    message: 'n: only one answer can be requested at a time; leave it out',
  });
});

test.each([false, undefined, null])('vector 52: stream_options with stream %p is refused', (stream) => {
  expect(refusalOf(() => parse({ stream, stream_options: { include_usage: true } })).param).toBe('stream_options');
});

test('vector 42: max_completion_tokens wins over max_tokens, which is named where it differs', () => {
  const { request, dropped } = parse({ max_tokens: 50, max_completion_tokens: 100 });
  expect(request.outputTokensMax).toBe(100);
  expect(request.named.output_limit).toBe('max_completion_tokens');
  expect(dropped).toEqual(['max_tokens']);
  expect(parse({ max_tokens: 100, max_completion_tokens: 100 }).dropped).toEqual([]);
});

test('safety_identifier wins over user', () => {
  const { request, dropped } = parse({ user: 'a', safety_identifier: 'b' });
  expect([request.end_user, request.named.end_user, dropped]).toEqual(['b', 'safety_identifier', ['user']]);
  expect(parse({ user: '' }).request.end_user).toBeNull();
});

test('unknown members are dropped and named, however they nest', () => {
  const { dropped } = parse({
    min_p: 0.1,
    repetition_penalty: 1.1,
    chat_template_kwargs: { a: 1 },
    thinking_budget: 100,
    enable_thinking: false,
    absent: null,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a', extra: 1 }], mood: 'good', tool_calls: null },
      { role: 'user', content: 'b', mood: 'bad' },
    ],
  });
  expect(dropped).toEqual([
    ...['min_p', 'repetition_penalty', 'chat_template_kwargs', 'thinking_budget', 'enable_thinking'],
    ...['messages[].mood', 'messages[].content[].extra'],
  ]);
});

test('moderation is refused where it must block and dropped where it only scores', () => {
  const moderation = (mode: string) => ({ moderation: { model: 'm', policy: { input: { mode } } } });
  expect(refusalOf(() => parse(moderation('block'))).param).toBe('moderation');
  expect(parse(moderation('score')).dropped).toEqual(['moderation']);
});

test('modalities of another shape do not pass as text', () => {
  expect(refusalOf(() => parse({ modalities: 'audio' })).param).toBe('modalities');
});

describe('response_format', () => {
  test('a schema stays as it was written', () => {
    const schema = '{"type":"object","properties":{"n":{"const":9007199254740993},"a":{"type":"string"}}}';
    const text = `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${schema},"strict":true}}}`;
    expect(parse(text).request.output_format).toEqual({
      kind: 'json_schema',
      name: 'answer',
      description: null,
      schema,
      strict: true,
    });
  });

  test('ignores the format text, and reads json_schema without a schema as JSON', () => {
    expect(parse({ response_format: { type: 'text' } }).request.output_format).toBeNull();
    const bare = { type: 'json_schema', json_schema: { name: 'a' } };
    expect(parse({ response_format: bare }).request.output_format).toEqual({ kind: 'json' });
  });

  test('another type is refused', () => {
    expect(refusalOf(() => parse({ response_format: { type: 'xml' } })).param).toBe('response_format.type');
  });
});

test('the place of a web search stays as it was written', () => {
  const text = `{"model":"m","messages":[{"role":"user","content":"x"}],"web_search_options":{"search_context_size":"low","user_location":{"type":"approximate","approximate":{"country":"GB",  "city":"London"}}}}`;
  expect(parse(text).request.web_search).toEqual({
    context_size: 'low',
    location: '{"country":"GB",  "city":"London"}',
  });
});

test('a seed that a double cannot hold is refused, not rounded', () => {
  const text = '{"model":"m","messages":[{"role":"user","content":"x"}],"seed":9007199254740993}';
  expect(refusalOf(() => parse(text)).param).toBe('seed');
});

test('stop is one text or several', () => {
  expect(parse({ stop: 'END' }).request.stop).toEqual(['END']);
  expect(parse({ stop: ['A', 'B'] }).request.stop).toEqual(['A', 'B']);
  expect(refusalOf(() => parse({ stop: ['A', 1] })).param).toBe('stop.1');
});
