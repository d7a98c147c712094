/**
 * Tests tool loops of ten turns with thinking against an upstream that refuses a missing or altered signature, as Gemini 3
 * does, from clients of both formats, plain and streamed.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { loopOverResponses } from '../../providers/tool-loop.ts';
import { blocksOf } from '../message-blocks.ts';
import { type Json, list, object } from '../wire-text.ts';

const MODEL = 'gemini-3-harbor';
/** One whose answers may need several requests. */
const NEXT = 'gemini-4-harbor';
const TURNS = 10;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => ({
    providers: { google: { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream-0123456789' } },
    models: Object.fromEntries(
      [MODEL, NEXT].map((name) => [name, { targets: [{ provider: 'google' }], price: { input: 1, output: 5 } }]),
    ),
  }));
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

/** Every turn but the last calls two tools after some thinking. */
function scriptLoop(): void {
  const turns = Array.from({ length: TURNS }, (_, turn) => ({
    say: {
      reasoning: `Turn ${turn}: I have to look.`,
      ...(turn % 3 === 0 ? { text: 'I look.' } : {}),
      calls: ['pier', 'sky'].map((where) => ({ id: `call_${turn}_${where}`, name: 'look', input: { where, turn } })),
    },
  }));
  pair.fake.script(MODEL, [...turns, { say: { text: 'The ferry leaves at noon.' } }]);
}

async function send(path: string, body: object): Promise<string> {
  const headers = {
    authorization: `Bearer ${pair.gateway.key}`,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
  };
  const response = await fetch(`${pair.gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  return text;
}

function dataOf(stream: string): Json[] {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
}

/** The assistant's message as a chat client puts it together from deltas, keeping members that it does not know. */
function chatMessageOf(stream: string): Json {
  const calls: Record<string, unknown>[] = [];
  let content = '';
  for (const chunk of dataOf(stream)) {
    const delta = object(object(list(chunk.choices)[0])?.delta) ?? {};
    content += typeof delta.content === 'string' ? delta.content : '';
    for (const piece of list(delta.tool_calls).map((one) => object(one) ?? {})) {
      const { index, function: called, ...rest } = piece;
      const before = calls[Number(index)] ?? {};
      const [old, more] = [object(before.function) ?? {}, object(called) ?? {}];
      const text = `${old.arguments ?? ''}${more.arguments ?? ''}`;
      calls[Number(index)] = { ...before, ...rest, function: { ...old, ...more, arguments: text } };
    }
  }
  return { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

const CHAT_TOOLS = [
  {
    type: 'function',
    function: { name: 'look', parameters: { type: 'object', properties: { where: { type: 'string' } } } },
  },
];
const TOOLS = [{ name: 'look', input_schema: { type: 'object', properties: { where: { type: 'string' } } } }];

/** Runs a loop; `drop` removes from a message what the client cannot keep. */
async function runChatLoop(stream: boolean, drop: (message: Json) => Json = (message) => message): Promise<string> {
  const messages: Json[] = [{ role: 'user', content: 'When does the ferry leave?' }];
  for (let turn = 0; turn <= TURNS; turn++) {
    const body = { model: MODEL, messages, tools: CHAT_TOOLS, reasoning_effort: 'high', stream };
    const text = await send('/v1/chat/completions', body);
    const message = stream ? chatMessageOf(text) : (object(object(list(JSON.parse(text).choices)[0])?.message) ?? {});
    const calls = list(message.tool_calls).map((call) => object(call) ?? {});
    if (calls.length === 0) return String(message.content);
    messages.push(drop(message), ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fog' })));
  }
  throw new Error('the loop has no end');
}

async function runMessagesLoop(stream: boolean): Promise<string> {
  const messages: Json[] = [{ role: 'user', content: 'When does the ferry leave?' }];
  for (let turn = 0; turn <= TURNS; turn++) {
    const thinking = { type: 'enabled', budget_tokens: 4096 };
    const body = { model: MODEL, max_tokens: 8192, messages, tools: TOOLS, thinking, stream };
    const text = await send('/v1/messages', body);
    const blocks = blocksOf(text);
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return String(blocks.find(({ type }) => type === 'text')?.text);
    expect(String(blocks[0]?.signature)).toStartWith('gw1.');
    const sealed = blocks
      .filter(({ type }) => type === 'redacted_thinking')
      .map(({ data }) => String(data).slice(0, 4));
    expect(sealed).toEqual(['gw2.']);
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'fog' }));
    messages.push({ role: 'assistant', content: blocks }, { role: 'user', content: results });
  }
  throw new Error('the loop has no end');
}

/** Every request reached the upstream once, was accepted, and none needed a stand-in. */
function expectNoRefusal(): void {
  const served = pair.fake.served(MODEL);
  expect(served.map(({ status }) => status)).toEqual(Array.from({ length: TURNS + 1 }, () => 200));
  for (const { requestBody } of served) expect(Buffer.from(requestBody).toString()).not.toContain('skip_thought');
}

describe.each([false, true])('ten turns with thinking, stream %p', (stream) => {
  beforeEach(scriptLoop);

  test('of a chat client that keeps extra_content need no stand-in', async () => {
    expect(await runChatLoop(stream)).toBe('The ferry leaves at noon.');
    expectNoRefusal();
  });

  test('of a chat client that drops extra_content get the signatures back from the gateway', async () => {
    const drop = (message: Json) => ({
      ...message,
      tool_calls: list(message.tool_calls).map((call) => {
        const { extra_content: _, ...rest } = object(call) ?? {};
        return rest;
      }),
    });
    expect(await runChatLoop(stream, drop)).toBe('The ferry leaves at noon.');
    expectNoRefusal();
  });

  test('of a messages client that sends its blocks back need no stand-in', async () => {
    expect(await runMessagesLoop(stream)).toBe('The ferry leaves at noon.');
    expectNoRefusal();
  });

  test('of a Responses client that sends its items back need no stand-in', async () => {
    const told = await loopOverResponses({ gateway: pair.gateway, model: MODEL, stream });
    expect(told.at(-1)).toEqual({ calls: [], text: 'The ferry leaves at noon.' });
    expectNoRefusal();
  });
});

test('a history of another model is accepted with the stand-in', async () => {
  pair.fake.script(MODEL, [{ say: { text: 'At noon.' } }]);
  const call = { id: 'x', type: 'function', function: { name: 'look', arguments: '{"where":"pier"}' } };
  const messages = [
    { role: 'user', content: 'When does the ferry leave?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'x', content: 'fog' },
  ];
  await send('/v1/chat/completions', { model: MODEL, messages, tools: CHAT_TOOLS });
  expect(Buffer.from(pair.fake.served(MODEL)[0]?.requestBody ?? []).toString()).toContain('skip_thought');
});

test('a signature that the client altered is replaced after the refusal', async () => {
  pair.fake.script(MODEL, [{ say: { text: 'At noon.' } }]);
  const extra_content = { google: { thought_signature: 'YWx0ZXJlZA==' } };
  const call = { id: 'x', type: 'function', function: { name: 'look', arguments: '{"where":"sea"}' }, extra_content };
  const messages = [
    { role: 'user', content: 'When does the ferry leave?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'x', content: 'fog' },
  ];
  await send('/v1/chat/completions', { model: MODEL, messages, tools: CHAT_TOOLS });
  expect(pair.fake.served(MODEL).map(({ status }) => status)).toEqual([400, 200]);
});

test('the request names its model in the path and its key in the header alone', async () => {
  pair.fake.script(MODEL, [{ say: { text: 'At noon.' } }]);
  const text = await send('/v1/chat/completions', { model: MODEL, messages: [{ role: 'user', content: 'When?' }] });
  const [served] = pair.fake.served(MODEL);
  expect(served?.requestLine).toBe(`POST /v1beta/models/${MODEL}:generateContent HTTP/1.1`);
  expect(served?.headers.find(([name]) => name === 'x-goog-api-key')?.[1]).toBe('AIza-upstream-0123456789');
  expect(JSON.parse(text)).toMatchObject({
    model: MODEL,
    usage: { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 },
  });
  const [record] = await pair.gateway.calls('--limit', '1');
  expect(record).toMatchObject({ usage: { input: 11, output: 2 }, usage_source: 'upstream', cost_nano_usd: '21000' });
});

test.each([false, true])(
  'vector 19: an answer of two hops is one attempt of two exchanges, stream %p',
  async (stream) => {
    const hop = (text: string, prompt: number, output: number, more: object) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: output, totalTokenCount: prompt + output },
    });
    const hops = [
      hop('At ', 100, 800, { finishReason: 'CONTINUATION', continuationToken: 'T1' }),
      hop('noon.', 900, 200, { finishReason: 'STOP' }),
    ];
    const scenarios = hops.map((one) =>
      stream ? { records: [`data: ${JSON.stringify(one)}\r\n\r\n`] } : { json: one },
    );
    pair.fake.script(NEXT, scenarios);
    const body = { model: NEXT, messages: [{ role: 'user', content: 'When?' }], stream };
    const text = await send('/v1/chat/completions', body);
    const message = stream ? chatMessageOf(text) : object(object(list(JSON.parse(text).choices)[0])?.message);
    expect(message?.content).toBe('At noon.');
    const sent = pair.fake.served(NEXT).map(({ requestBody }) => JSON.parse(Buffer.from(requestBody).toString()));
    expect(sent.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 'T1']);
    const [record] = await pair.gateway.calls('--limit', '1');
    expect(record).toMatchObject({ usage: { input: 1000, output: 1000 }, attempts: [{ exchanges: 2 }] });
  },
);

test('the prompt is counted by Google, and by the gateway where Google does not', async () => {
  const body = { model: MODEL, messages: [{ role: 'user', content: 'When does the ferry leave?' }] };
  pair.fake.script(`count-tokens:${MODEL}`, [{ json: { totalTokens: 4321 } }, { status: 503 }]);
  expect(JSON.parse(await send('/v1/messages/count_tokens', body))).toEqual({ input_tokens: 4321 });
  const [served] = pair.fake.served(MODEL);
  expect(served?.requestLine).toBe(`POST /v1beta/models/${MODEL}:countTokens HTTP/1.1`);
  expect(JSON.parse(Buffer.from(served?.requestBody ?? []).toString())).toEqual({
    generateContentRequest: {
      model: `models/${MODEL}`,
      contents: [{ role: 'user', parts: [{ text: 'When does the ferry leave?' }] }],
    },
  });
  const estimated = JSON.parse(await send('/v1/messages/count_tokens', body)).input_tokens;
  expect(estimated).toBeGreaterThan(3);
  expect(estimated).toBeLessThan(30);
});

describe('a picture that the model drew', () => {
  const parts = [{ text: 'The pier:' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }];
  const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' }, index: 0 };
  const draw = (path: string, more: object = {}) =>
    fetch(`${pair.gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Draw.' }], ...more }),
    });

  test('is an image of the message in chat', async () => {
    pair.fake.script(MODEL, [{ json: answer }]);
    const response = await draw('/v1/chat/completions');
    expect(response.headers.get('x-tollgate-dropped')).toBeNull();
    expect(object(JSON.parse(await response.text()))?.choices).toMatchObject([
      { message: { content: 'The pier:', images: [image] }, finish_reason: 'stop' },
    ]);
  });

  test('is an image of a delta in a stream of chat', async () => {
    pair.fake.script(MODEL, [{ records: [`data: ${JSON.stringify(answer)}\r\n\r\n`] }]);
    const response = await draw('/v1/chat/completions', { stream: true });
    const deltas = (await response.text()).match(/"delta":\{"images":.*?\},"finish_reason"/g) ?? [];
    expect(deltas).toEqual([`"delta":${JSON.stringify({ images: [image] })},"finish_reason"`]);
  });

  test('is named as lost in a format without a place for it', async () => {
    pair.fake.script(MODEL, [{ json: answer }]);
    const response = await draw('/v1/messages', { max_tokens: 64 });
    expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, 'image']);
  });
});

test.each([false, true])('vector 14: a malformed call goes out once more, stream %p', async (stream) => {
  const failed = { candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] };
  const first = stream ? { records: [`data: ${JSON.stringify(failed)}\r\n\r\n`] } : { json: failed };
  pair.fake.script(MODEL, [first, { say: { text: 'At noon.' } }]);
  const text = await send('/v1/chat/completions', {
    model: MODEL,
    messages: [{ role: 'user', content: 'When?' }],
    stream,
  });
  expect(text).toContain(stream ? 'At noon' : 'At noon.');
  const [record] = await pair.gateway.calls('--limit', '1');
  expect(record).toMatchObject({ status: 200, attempts: [{ class: 'fault' }, { status: 200 }] });
});

test('vector 21: a rate limit pauses its model for the delay that it names, and no other', async () => {
  const error = {
    code: 429,
    message: 'You exceeded your current quota.',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel', quotaDimensions: { model: MODEL } }] },
      { retryDelay: '23s' },
    ],
  };
  pair.fake.script(MODEL, [{ status: 429, json: { error } }]);
  pair.fake.script(NEXT, [{ say: { text: 'At noon.' } }]);
  const ask = (model: string) =>
    fetch(`${pair.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'When?' }] }),
    });
  const first = await ask(MODEL);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '23']);
  const second = await ask(MODEL);
  expect([second.status, pair.fake.served(MODEL).length]).toEqual([429, 1]);
  expect((await ask(NEXT)).status).toBe(200);
});

test('vector 20: an invalid key is no fault of the caller, who gets 500', async () => {
  const message = 'API key not valid. Please pass a valid API key.';
  const error = { code: 400, message, status: 'INVALID_ARGUMENT' };
  pair.fake.script(NEXT, [{ status: 400, json: { error } }]);
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: NEXT, messages: [{ role: 'user', content: 'When?' }] }),
  });
  const text = await response.text();
  expect([response.status, text.includes('API key not valid')]).toEqual([500, false]);
  const [record] = await pair.gateway.calls('--limit', '1');
  expect(record).toMatchObject({ attempts: [{ status: 400, class: 'credential' }] });
});
