/**
 * Tests Responses through a running gateway: to upstreams of the format and of the others, from clients of the others to
 * upstreams of the format, and the answers to clients when an upstream fails. OpenAI's own SDK reads the answers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { asObject, type JsonObject } from '../../../src/protocols/json.ts';
import { violationOf } from '../../../src/protocols/responses/testing/responses-stream.ts';
import { SEAL } from '../../fake-upstream/answer/responses-answer.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { type Answer, eventsIn, lastSent as lastSentTo, outputIn, ask as send } from './rig.ts';

const PRICE = { input: 1, output: 5 };
const SPEECHES = ['ok', 'tool', 'think'];
/** Upstream's format by the beginning of a model's name. */
const SIDES = { r: 'lab-responses', c: 'lab', m: 'lab-messages', g: 'lab-gemini', k: 'lab-converse' } as const;
const OWN = ['cut', 'failing', 'failed-late', 'gone', 'limited', 'rejecting', 'refused'];

function configFor(fakeUrl: string): object {
  const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  const providers = {
    lab: { kind: 'openai-compatible', ...base },
    'lab-messages': { kind: 'anthropic', ...base },
    'lab-responses': { kind: 'openai', ...base },
    'lab-gemini': { kind: 'gemini', base_url: fakeUrl, api_key: 'lab-credential' },
    'lab-converse': { kind: 'bedrock', region: 'us-east-1', base_url: fakeUrl, api_key: 'lab-credential-0123' },
  };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  const speeches = Object.entries(SIDES).flatMap(([side, provider]) =>
    SPEECHES.map((speech) => [`${side}-${speech}`, target(provider, speech)] as const),
  );
  const own = OWN.map((name) => [name, target('lab-responses', name)] as const);
  const rescue = {
    targets: [
      { provider: 'lab-responses', model: 'failing' },
      { provider: 'lab', model: 'ok' },
    ],
    price: PRICE,
  };
  const codex = { 'gpt-5-codex': target('lab-responses', 'gpt-5-codex') };
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    limits: { keep_alive: '250ms' },
    providers,
    models: {
      ...Object.fromEntries([...speeches, ...own]),
      ...codex,
      quiet: target('lab', 'quiet'),
      rescue: { ...rescue, routing: { max_extra_attempts: 1 } },
    },
  };
}

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(configFor);
  const { fake } = pair;
  fake.script('cut', { answer: 'ok', omitEnd: true });
  fake.script('failing', { answer: 'ok', errorEvent: 3 });
  fake.script('failed-late', { answer: 'ok', errorEvent: 6 });
  fake.script('gone', { status: 500, errorBodyBytes: 100 });
  fake.script('limited', { status: 429, headers: { 'retry-after': '2' }, errorBodyBytes: 100 });
  fake.script('rejecting', {
    status: 400,
    json: { error: { message: 'not so', type: 'invalid_request_error', code: 'unsupported_parameter', param: 'x' } },
  });
  fake.script('refused', {
    status: 429,
    json: {
      error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
    },
  });
  fake.script('quiet', { answer: 'ok', holdAfterEvent: 6 });
  fake.script('gpt-5-codex', { answer: 'think' });
}, 60_000);
afterAll(() => pair.stop());

const ask = (path: string, body: object) => send(pair, path, body);
const respond = (model: string, members: object = {}) => ask('/v1/responses', { model, input: 'hi', ...members });
const lastSent = (model: string) => lastSentTo(pair, model);

async function recordOf({ headers }: Answer) {
  const id = headers.get('x-request-id');
  return (await pair.gateway.calls()).find(({ request_id }) => request_id === id);
}

describe.each(Object.keys(SIDES))('a Responses client, upstream %s', (side) => {
  test('gets text, plain and streamed, with counters and cost', async () => {
    const plain = await respond(`${side}-ok`);
    const response = JSON.parse(plain.text);
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'Good day to you.' }] }],
    });
    expect(response.usage.total_tokens).toBe(response.usage.input_tokens + response.usage.output_tokens);
    const streamed = await respond(`${side}-ok`, { stream: true });
    expect([streamed.status, violationOf(streamed.text)]).toEqual([200, null]);
    const end = asObject(eventsIn(streamed.text).at(-1)?.response);
    expect(end?.usage).toEqual(response.usage);
    for (const answer of [plain, streamed]) {
      const record = await recordOf(answer);
      expect(record).toMatchObject({ protocol: 'responses', status: 200, error: null, usage_source: 'upstream' });
      expect([record?.usage.input, record?.usage.output]).toEqual([11, 5]);
      expect(record?.cost_nano_usd).toBe(String(11 * 1_000 + 5 * 5_000));
    }
  });

  test('gets parallel calls, and sends their outputs back', async () => {
    const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: false }];
    const { text } = await respond(`${side}-tool`, { tools, stream: true });
    expect(violationOf(text)).toBeNull();
    const output = outputIn(text);
    const calls = output.filter(({ type }) => type === 'function_call');
    expect(calls.map(({ name, arguments: written }) => [name, JSON.parse(String(written))])).toEqual([
      ['get_weather', { city: 'Zürich' }],
      ['get_weather', { city: 'Oslo' }],
    ]);
    // Vector 9.
    const outputs = calls
      .map(({ call_id }, at) => ({ type: 'function_call_output', call_id, output: `${at} degrees` }))
      .toReversed();
    const next = await respond(`${side}-ok`, {
      tools,
      input: [{ role: 'user', content: 'hi' }, ...output, ...outputs],
    });
    expect([next.status, JSON.parse(next.text).status]).toEqual([200, 'completed']);
  });

  test('gets reasoning, which goes back to its issuer', async () => {
    const { text } = await respond(`${side}-think`);
    const [reasoning, message] = JSON.parse(text).output;
    expect([reasoning.type, reasoning.summary[0].text, message.type]).toEqual([
      'reasoning',
      'Two and two are four.',
      'message',
    ]);
    const input = [{ role: 'user', content: 'hi' }, reasoning, message, { role: 'user', content: 'and?' }];
    expect((await respond(`${side}-ok`, { input })).status).toBe(200);
    if (side === 'r') expect(JSON.stringify(lastSent('ok').input)).toContain(SEAL);
  });

  test("is read by OpenAI's SDK, raw and by its stream helper", async () => {
    const { gateway } = pair;
    const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
    const plain = await sdk.responses.create({ model: `${side}-think`, input: 'hi' });
    expect(plain.output_text).toBe('The sum is 4.');
    for (const speech of SPEECHES) {
      const types: string[] = [];
      const stream = sdk.responses.stream({ model: `${side}-${speech}`, input: 'hi' });
      for await (const { type } of stream) types.push(type);
      const final = await stream.finalResponse();
      expect([types[0], final.status, final.output.length > 0]).toEqual(['response.created', 'completed', true]);
    }
  });
});

// Vectors 4 and 5.
describe.each(['c', 'm', 'g', 'k'])('Codex, upstream %s', (side) => {
  const patch = '*** Begin Patch\n"ä"\n';
  const tools = [
    { type: 'function', name: 'exec_command', parameters: { type: 'object' }, strict: false },
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
    { type: 'web_search', external_web_access: true },
  ];
  const body = {
    stream: true,
    store: false,
    tools,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'thread',
    text: { verbosity: 'low' },
    client_metadata: { a: 'b' },
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You are Codex' }] },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'patch it' }],
        internal_chat_message_metadata_passthrough: {},
      },
    ],
  };

  test('calls its patch tool as free text, and sends the result back', async () => {
    const calls = [{ id: 'call_1', name: 'apply_patch', input: { input: patch } }];
    pair.fake.script('ok', [{ say: { calls } }, { answer: 'ok' }]);
    const answer = await respond(`${side}-ok`, body);
    expect([answer.status, violationOf(answer.text)]).toEqual([200, null]);
    const dropped = answer.headers.get('x-tollgate-dropped')?.split(',') ?? [];
    for (const name of ['tools.web_search', 'tools[].format.grammar']) expect(dropped).toContain(name);
    const said = outputIn(answer.text);
    const call = said.at(-1);
    expect(call).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: patch, status: 'completed' });
    const output = { type: 'custom_tool_call_output', call_id: call?.call_id, output: 'done' };
    const next = await respond(`${side}-ok`, { ...body, input: [...body.input, ...said, output] });
    expect([next.status, violationOf(next.text)]).toEqual([200, null]);
    expect(JSON.stringify(lastSent('ok'))).toContain('Begin Patch');
  });
});

test('arguments that are no JSON are named by their item, upstream m', async () => {
  const call = (call_id: string, text: string) => ({ type: 'function_call', call_id, name: 'f', arguments: text });
  const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'done' });
  const input = [{ role: 'user', content: 'hi' }, call('c1', '{}'), call('c2', '{"a'), output('c1'), output('c2')];
  const answer = await respond('m-ok', { input });
  expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([400, 'input.2']);
});

// Vectors 6 and 7.
test.each(['c', 'm', 'g', 'k'])(
  'calls of a namespace and searches for tools come back as such, upstream %s',
  async (side) => {
    const spawn = { type: 'function', name: 'spawn', parameters: { type: 'object' }, strict: false };
    const tools = [
      { type: 'namespace', name: 'agents', tools: [spawn] },
      { type: 'tool_search', execution: 'client' },
    ];
    const calls = [
      { id: 'call_1', name: 'agents__spawn', input: { a: 1 } },
      { id: 'call_2', name: 'tool_search', input: { query: 'q' } },
    ];
    pair.fake.script('ok', [{ say: { calls } }, { answer: 'ok' }]);
    const { text } = await respond(`${side}-ok`, { tools, stream: true });
    expect(violationOf(text)).toBeNull();
    const said = outputIn(text);
    const output = said.filter(({ type }) => type !== 'reasoning');
    expect(output).toMatchObject([
      { type: 'function_call', name: 'spawn', namespace: 'agents', arguments: '{"a":1}' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'q' }, status: 'completed' },
    ]);
    const results = [
      { type: 'function_call_output', call_id: output[0]?.call_id, output: 'spawned' },
      {
        type: 'tool_search_output',
        call_id: output[1]?.call_id,
        tools: [
          { ...spawn, name: 'one' },
          { ...spawn, name: 'two' },
        ],
      },
    ];
    const next = await respond(`${side}-ok`, { tools, input: [{ role: 'user', content: 'hi' }, ...said, ...results] });
    expect(next.status).toBe(200);
    const names = JSON.stringify(lastSent('ok').tools);
    for (const name of ['agents__spawn', 'tool_search', 'one', 'two']) expect(names).toContain(`"name":"${name}"`);
  },
);

test.each(['c', 'm', 'g', 'k'])('calls of tools that the client runs come back as such, upstream %s', async (side) => {
  const tools = [{ type: 'local_shell' }, { type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }];
  const operation = { type: 'create_file', path: 'a.txt', diff: '+hi' };
  const calls = [
    { id: 'call_1', name: 'local_shell', input: { command: ['ls', '-a'] } },
    { id: 'call_2', name: 'shell', input: { commands: ['ls'], timeout_ms: 9 } },
    { id: 'call_3', name: 'apply_patch', input: operation },
  ];
  pair.fake.script('ok', [{ say: { calls } }, { answer: 'ok' }]);
  const { text } = await respond(`${side}-ok`, { tools, stream: true });
  expect(violationOf(text)).toBeNull();
  const said = outputIn(text);
  const [local, shell, patch] = said.filter(({ type }) => type !== 'reasoning');
  expect([local, shell, patch]).toMatchObject([
    { type: 'local_shell_call', status: 'completed', action: { type: 'exec', command: ['ls', '-a'], env: {} } },
    { type: 'shell_call', status: 'completed', action: { commands: ['ls'], timeout_ms: 9, max_output_length: null } },
    { type: 'apply_patch_call', status: 'completed', operation },
  ]);
  const results = [
    { type: 'local_shell_call_output', id: local?.call_id, output: 'a.txt' },
    { type: 'shell_call_output', call_id: shell?.call_id, output: [{ stdout: 'a.txt', stderr: '' }] },
    { type: 'apply_patch_call_output', call_id: patch?.call_id, status: 'completed' },
  ];
  const next = await respond(`${side}-ok`, { tools, input: [{ role: 'user', content: 'hi' }, ...said, ...results] });
  expect([next.status, JSON.parse(next.text).status]).toEqual([200, 'completed']);
});

describe('an upstream that only has Responses', () => {
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];

  test('answers chat clients, plain and streamed', async () => {
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'hi' },
    ];
    const plain = JSON.parse(
      (await ask('/v1/chat/completions', { model: 'gpt-5-codex', messages, tools, max_tokens: 5 })).text,
    );
    expect(plain.choices[0]).toMatchObject({
      message: { content: 'The sum is 4.', reasoning_content: 'Two and two are four.' },
      finish_reason: 'stop',
    });
    const body = lastSent('gpt-5-codex');
    // Vectors 31 and 32.
    expect(body).toMatchObject({
      store: false,
      max_output_tokens: 16,
      tools: [{ type: 'function', name: 'get_weather', strict: false }],
      input: [{ role: 'developer' }, { role: 'user' }],
    });
    const streamed = await ask('/v1/chat/completions', { model: 'gpt-5-codex', messages, stream: true });
    expect(streamed.text).toEndWith('data: [DONE]\n\n');
    expect(lastSent('gpt-5-codex').stream_options).toEqual({ include_obfuscation: false });
  });

  test('an empty stop sequence stops nothing', async () => {
    pair.fake.script('gpt-5-codex', { answer: 'ok' });
    for (const stream of [false, true]) {
      const members = { model: 'gpt-5-codex', messages: [{ role: 'user', content: 'hi' }], stream };
      const answer = await ask('/v1/chat/completions', { ...members, stop: ['', 'to you'] });
      expect([answer.status, answer.text.includes('[DONE]')]).toEqual([200, stream]);
      expect((await recordOf(answer))?.error).toBeNull();
    }
    pair.fake.script('gpt-5-codex', { answer: 'think' });
  });

  test('answers messages clients, plain and streamed', async () => {
    const members = { model: 'gpt-5-codex', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
    const plain = JSON.parse((await ask('/v1/messages', members)).text);
    expect(plain).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'thinking' }, { type: 'text', text: 'The sum is 4.' }],
      usage: { input_tokens: 11, output_tokens: 19 },
    });
    const streamed = await ask('/v1/messages', { ...members, stream: true });
    expect(streamed.text).toContain('event: message_stop');
  });

  // Vector 34.
  test('gets its sealed reasoning back with the calls after it, as it was', async () => {
    const calls = [{ id: 'call_1', name: 'get_weather', input: {} }];
    pair.fake.script('gpt-5-codex', [{ say: { reasoning: 'hm', calls } }, { answer: 'ok' }, { answer: 'think' }]);
    const tool = { name: 'get_weather', input_schema: { type: 'object' } };
    const members = { model: 'gpt-5-codex', max_tokens: 100, tools: [tool] };
    const question = { role: 'user', content: 'hi' };
    const { content } = JSON.parse((await ask('/v1/messages', { ...members, messages: [question] })).text);
    const { id } = content.find(({ type }: JsonObject) => type === 'tool_use');
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '9 degrees' }] };
    const next = await ask('/v1/messages', {
      ...members,
      messages: [question, { role: 'assistant', content }, result],
    });
    expect(next.status).toBe(200);
    expect(lastSent('gpt-5-codex').input).toMatchObject([
      { type: 'message', role: 'user' },
      { type: 'reasoning', encrypted_content: SEAL, summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'function_call', call_id: id, name: 'get_weather' },
      { type: 'function_call_output', call_id: id, output: '9 degrees' },
    ]);
    // Vector 35.
    const edited = content.filter(({ type }: JsonObject) => type !== 'tool_use');
    const answer = await ask('/v1/messages', {
      ...members,
      messages: [question, { role: 'assistant', content: edited }, question],
    });
    expect([answer.status, JSON.stringify(lastSent('gpt-5-codex')).includes(SEAL)]).toEqual([200, false]);
  });
});

// Vector 29.
test('a silent upstream leaves the stream alive with events, and its numbers without a gap', async () => {
  const { fake, gateway } = pair;
  const { body } = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'quiet', input: 'hi', stream: true }),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.split('event: keepalive\n').length === 3) fake.release();
  }
  expect(text.split('event: keepalive\n').length).toBeGreaterThan(2);
  expect(asObject(eventsIn(text).at(-1)?.response)?.status).toBe('completed');
  expect(violationOf(text)).toBeNull();
});

describe('a failure', () => {
  // Vector 22.
  test('of a cut stream continues the stream with error events', async () => {
    const answer = await respond('cut', { stream: true });
    const events = eventsIn(answer.text);
    expect([answer.status, violationOf(answer.text)]).toEqual([200, null]);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(asObject(events.at(-1)?.response)?.id).toBe(asObject(events[0]?.response)?.id);
    expect(await recordOf(answer)).toMatchObject({ status: 200, error: 'upstream_truncated' });
  });

  // Vector 23.
  test('before any content goes to the next target, and the client sees only its answer', async () => {
    const { text, status } = await respond('rescue', { stream: true });
    expect([status, violationOf(text)]).toEqual([200, null]);
    expect(asObject(eventsIn(text).at(-1)?.response)).toMatchObject({ status: 'completed', model: 'ok' });
  });

  // Vector 24.
  test('after content passes as it came', async () => {
    const { text } = await respond('failed-late', { stream: true });
    expect(text).toEndWith('"code":"server_is_overloaded","message":"Overloaded","param":null}}\n\n');
  });

  // Contract, 10.11.
  test('of all targets is a stream that ends the turn for a streaming client, and a 500 for others', async () => {
    const streamed = await respond('gone', { stream: true });
    expect([streamed.status, streamed.headers.get('content-type'), violationOf(streamed.text)]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      null,
    ]);
    const error = asObject(asObject(eventsIn(streamed.text).at(-1)?.response)?.error);
    expect(error?.code).toBe('server_is_overloaded');
    expect(await recordOf(streamed)).toMatchObject({ status: 200, error: 'upstream_failed', cost_nano_usd: '0' });
    expect((await respond('gone')).status).toBe(500);
  });

  test('of a rate limit, of the request and of our account each have their status and code', async () => {
    const limited = await respond('limited', { stream: true });
    expect([limited.status, limited.headers.get('retry-after'), JSON.parse(limited.text).error.code]).toEqual([
      429,
      '2',
      'rate_limit_exceeded',
    ]);
    const rejected = await respond('rejecting', { stream: true });
    expect([rejected.status, JSON.parse(rejected.text).error.code]).toEqual([400, 'unsupported_parameter']);
    const refused = await respond('refused');
    expect([refused.status, refused.text.includes('quota')]).toEqual([500, false]);
    const unknown = await respond('nope');
    expect([unknown.status, JSON.parse(unknown.text).error]).toMatchObject([
      400,
      { code: 'model_not_found', param: 'model' },
    ]);
  });
});
