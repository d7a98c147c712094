/**
 * Tests Gemini as a client's format through a running gateway: to upstreams of each format, with its errors, its lists of
 * models and its counts. Numbers of vectors: specification of other endpoints, 5.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asObject, type JsonObject } from '../../../src/protocols/json.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { ask, chunksIn, finishesIn, HELLO, lastSent, partsIn, plain, recordOf, streamed, wordsIn } from './rig.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PRICE = { input: 1, output: 5 };
const SPEECHES = ['ok', 'tool', 'think'];
/** Upstream's format by the beginning of a model's name. */
const SIDES = { g: 'google', v: 'vertex', c: 'lab', m: 'lab-messages', r: 'lab-responses', b: 'bedrock' } as const;
const OWN = ['cut', 'limited', 'gone', 'slow', 'rejecting', 'broke', 'overloaded'];

function configFor(fakeUrl: string): object {
  const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  const providers = {
    google: { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream' },
    vertex: { kind: 'vertex', base_url: fakeUrl, api_key: 'vertex-upstream' },
    lab: { kind: 'openai-compatible', ...base },
    // What is learned of failing providers concerns no others.
    ...Object.fromEntries(
      OWN.flatMap((name) => [
        [`google-${name}`, { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream' }],
        [`lab-${name}`, { kind: 'openai-compatible', ...base }],
        [`claude-${name}`, { kind: 'anthropic', ...base }],
      ]),
    ),
    'lab-messages': { kind: 'anthropic', ...base },
    'lab-responses': { kind: 'openai', ...base },
    bedrock: { kind: 'bedrock', base_url: fakeUrl, region: 'eu-central-1', api_key: 'bedrock-upstream' },
  };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  const speeches = Object.entries(SIDES).flatMap(([side, provider]) =>
    SPEECHES.map((speech) => [`${side}-${speech}`, target(provider, speech)] as const),
  );
  const own = OWN.flatMap((name) => [
    [`g-${name}`, target(`google-${name}`, name)],
    [`c-${name}`, target(`lab-${name}`, name)],
    [`m-${name}`, target(`claude-${name}`, name)],
  ]);
  const named = {
    'models/x': target('lab', 'ok'),
    'qwen3:8b': target('lab', 'ok'),
    'tunedModels/t': target('google', 'tunedModels/t'),
    'only-chat': { ...target('lab', 'ok'), protocols: ['chat'] },
    x: target('google', 'ok'),
    drawing: target('google', 'drawing'),
  };
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers,
    models: { ...Object.fromEntries([...speeches, ...own]), ...named },
  };
}

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(configFor);
  const { fake } = pair;
  fake.script('cut', { answer: 'ok', omitEnd: true });
  fake.script('gone', { status: 500, errorBodyBytes: 100 });
  fake.script('limited', { status: 429, headers: { 'retry-after': '7' }, errorBodyBytes: 100 });
  fake.script('rejecting', {
    status: 400,
    json: { error: { code: 400, message: 'not so', status: 'INVALID_ARGUMENT' } },
  });
  fake.script('broke', {
    status: 403,
    json: { error: { code: 403, message: 'billing', status: 'PERMISSION_DENIED' } },
  });
  fake.script('overloaded', {
    status: 503,
    json: { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
  });
  fake.script('tunedModels/t', { answer: 'ok' });
}, 60_000);
afterAll(() => pair.stop());

test('an image that is longer than any text arrives in a stream of Gemini and of chat', async () => {
  const data = 'A'.repeat(9 * 1024 * 1024);
  const parts = [{ inlineData: { mimeType: 'image/png', data } }];
  const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
  pair.fake.script('drawing', { records: [`data: ${JSON.stringify(answer)}\r\n\r\n`] });
  const own = await streamed(pair, 'drawing', HELLO);
  expect([own.status, own.text.includes(data), finishesIn(own.text)]).toEqual([200, true, ['STOP']]);
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'drawing', stream: true, messages: [{ role: 'user', content: 'Draw.' }] }),
  });
  const text = await response.text();
  expect([text.includes(data), text.endsWith('data: [DONE]\n\n')]).toEqual([true, true]);
});

describe.each(Object.keys(SIDES))('upstream %s', (side) => {
  test('answers in text, plain and streamed, with counters and cost', async () => {
    const answers = [await plain(pair, `${side}-ok`, HELLO), await streamed(pair, `${side}-ok`, HELLO)];
    for (const answer of answers) {
      expect([answer.status, wordsIn(answer.text), finishesIn(answer.text)]).toEqual([
        200,
        'Good day to you.',
        ['STOP'],
      ]);
      const last = chunksIn(answer.text).at(-1);
      expect(last?.usageMetadata).toMatchObject({ promptTokenCount: 11, candidatesTokenCount: 5, totalTokenCount: 16 });
      const record = await recordOf(pair, answer);
      expect(record).toMatchObject({ protocol: 'gemini', status: 200, error: null, usage_source: 'upstream' });
      expect([record?.usage.input, record?.usage.output]).toEqual([11, 5]);
      expect(record?.cost_nano_usd).toBe(String(11 * 1_000 + 5 * 5_000));
    }
  });

  test('answers with parallel calls, and gets their results', async () => {
    const tools = [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: { type: 'object' } }] }];
    for (const answer of [
      await plain(pair, `${side}-tool`, { ...HELLO, tools }),
      await streamed(pair, `${side}-tool`, { ...HELLO, tools }),
    ]) {
      const parts = partsIn(answer.text).filter(({ functionCall }) => functionCall !== undefined);
      const calls = parts.map(({ functionCall }) => asObject(functionCall) ?? {});
      expect(calls.map(({ name, args }) => [name, args])).toEqual([
        ['get_weather', { city: 'Zürich' }],
        ['get_weather', { city: 'Oslo' }],
      ]);
      expect(finishesIn(answer.text)).toEqual(['STOP']);
      const results = calls.map(({ id, name }, at) => ({
        functionResponse: { id, name, response: { output: `${at} degrees` } },
      }));
      const contents = [...HELLO.contents, { role: 'model', parts }, { role: 'user', parts: results }];
      const next = await plain(pair, `${side}-ok`, { contents, tools });
      expect([next.status, wordsIn(next.text)]).toEqual([200, 'Good day to you.']);
    }
  });

  test('shows thoughts only to those who ask for them', async () => {
    const shown = { ...HELLO, generationConfig: { thinkingConfig: { includeThoughts: true } } };
    for (const answer of [await plain(pair, `${side}-think`, shown), await streamed(pair, `${side}-think`, shown)]) {
      expect([wordsIn(answer.text, true), wordsIn(answer.text)]).toEqual(['Two and two are four.', 'The sum is 4.']);
      expect(chunksIn(answer.text).at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 11 });
    }
    if (side === 'g' || side === 'v') return;
    for (const answer of [await plain(pair, `${side}-think`, HELLO), await streamed(pair, `${side}-think`, HELLO)])
      expect([wordsIn(answer.text, true), wordsIn(answer.text)]).toEqual(['', 'The sum is 4.']);
  });

  test('counts tokens', async () => {
    const { status, text } = await ask(pair, `${side}-ok:countTokens`, HELLO);
    expect([status, Number(JSON.parse(text).totalTokens) > 0]).toEqual([200, true]);
    const whole = { generateContentRequest: { model: `models/${side}-ok`, ...HELLO } };
    if (side !== 'v') expect((await ask(pair, `${side}-ok:countTokens`, whole)).status).toBe(200);
  });
});

describe('an address', () => {
  // Vector 20.
  test.each([
    ['models%2Fx:generateContent', 'ok'],
    ['x:generateContent', 'ok'],
    ['qwen3:8b:generateContent', 'ok'],
    ['qwen3%3A8b:generateContent', 'ok'],
  ])('%s names its model', async (target) => {
    for (const base of ['/v1beta', '/v1', '/v1/v1beta', ''])
      expect([base, (await ask(pair, target, HELLO, { base })).status]).toEqual([base, 200]);
  });

  test('of a tuned model names it', async () => {
    const reply = await fetch(`${pair.gateway.url}/v1beta/tunedModels/t:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': pair.gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });
    expect([reply.status, pair.fake.served('tunedModels/t').length]).toEqual([200, 1]);
  });

  test('with a key in it is refused, and the key is nowhere', async () => {
    const { gateway } = pair;
    const before = (await gateway.calls()).length;
    for (const target of ['g-ok:generateContent', 'g-ok:streamGenerateContent', 'g-ok:countTokens', 'g-ok:predict']) {
      const { status, text } = await ask(pair, `${target}?key=${gateway.key}`, HELLO, { headers: {} });
      expect([status, JSON.parse(text).error.status, text.includes(gateway.key)]).toEqual([
        401,
        'UNAUTHENTICATED',
        false,
      ]);
      expect(text).toContain('x-goog-api-key');
    }
    const list = await ask(pair, `g-ok?key=${gateway.key}`, null, { method: 'GET', headers: {} });
    expect(list.status).toBe(401);
    expect((await gateway.calls()).length).toBe(before);
    expect(gateway.stderr()).not.toContain(`key=${gateway.key}`);
  });

  test.each([':embedContent', ':batchEmbedContents', ':predict', ':nope'])(
    'with %s is not found, as Google says it',
    async (method) => {
      const { status, text } = await ask(pair, `g-ok${method}`, HELLO);
      expect([status, JSON.parse(text).error]).toMatchObject([404, { code: 404, status: 'NOT_FOUND' }]);
      expect(text).toContain('streamGenerateContent');
    },
  );

  test.each(['/v1beta/cachedContents', '/v1beta/interactions', '/v1beta/batches', '/upload/v1beta/files'])(
    '%s is not found',
    async (path) => {
      const reply = await fetch(pair.gateway.url + path, {
        method: 'POST',
        headers: { 'x-goog-api-key': pair.gateway.key },
      });
      expect([reply.status, JSON.parse(await reply.text()).error.status]).toEqual([404, 'NOT_FOUND']);
    },
  );

  // Vector 23.
  test('unknown under /v1 is a 404 in JSON', async () => {
    const reply = await fetch(`${pair.gateway.url}/v1/nope`);
    expect([reply.status, JSON.parse(await reply.text()).error.code]).toEqual([404, 'invalid_request_error']);
  });
});

describe('a key', () => {
  test('comes in either header, and not in another', async () => {
    const { key } = pair.gateway;
    const status = async (headers: Record<string, string>) =>
      (await ask(pair, 'g-ok:generateContent', HELLO, { headers })).status;
    expect(await status({ authorization: `Bearer ${key}` })).toBe(200);
    expect(await status({ authorization: 'Bearer other', 'x-goog-api-key': key })).toBe(200);
    expect(await status({ authorization: `Bearer ${key}`, 'x-goog-api-key': 'AIza-mine' })).toBe(200);
    expect(await status({ 'x-api-key': key })).toBe(401);
    expect(await status({})).toBe(401);
  });

  test('stays here', async () => {
    await plain(pair, 'g-ok', HELLO);
    const headers = new Map(pair.fake.served('ok').at(-1)?.headers);
    expect(headers.get('x-goog-api-key')).toBe('AIza-upstream');
    expect(JSON.stringify([...headers])).not.toContain(pair.gateway.key);
  });
});

describe('a list of models', () => {
  const list = async (path: string, headers: Record<string, string>) => {
    const reply = await fetch(pair.gateway.url + path, { headers });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  const google = () => ({ 'x-goog-api-key': pair.gateway.key });

  test('has the shape of the one who asks', async () => {
    const { key } = pair.gateway;
    const forGoogle = await list('/v1beta/models', google());
    const names = forGoogle.body.models.map(({ name }: JsonObject) => name);
    expect(names).toContain('models/g-ok');
    expect(names).not.toContain('models/only-chat');
    expect(forGoogle.body.models[0].supportedGenerationMethods).toEqual(['generateContent', 'countTokens']);
    expect(
      await list('/v1/models', { authorization: `Bearer ${key}`, 'x-goog-api-client': 'google-genai-sdk/3.1.0' }),
    ).toEqual(forGoogle);
    expect((await list('/v1/models', { authorization: `Bearer ${key}` })).body.object).toBe('list');
  });

  test('comes in pages', async () => {
    const names: string[] = [];
    let token = '';
    do {
      const { body } = await list(`/v1beta/models?pageSize=7&pageToken=${encodeURIComponent(token)}`, google());
      expect(body.models.length).toBeLessThanOrEqual(7);
      names.push(...body.models.map(({ name }: JsonObject) => String(name)));
      token = body.nextPageToken ?? '';
    } while (token !== '');
    const whole = await list('/v1beta/models', google());
    expect(names).toEqual(whole.body.models.map(({ name }: JsonObject) => name));
    for (const query of ['pageSize=x', 'pageSize=-1', 'pageToken=nope'])
      expect((await list(`/v1beta/models?${query}`, google())).body.error.status).toBe('INVALID_ARGUMENT');
  });

  test('has each model by its name', async () => {
    const { body } = await list('/v1beta/models/g-ok', google());
    expect(body.name).toBe('models/g-ok');
    expect((await list('/v1beta/models/nope', google())).body.error.status).toBe('NOT_FOUND');
    expect((await list('/v1/models/g-ok', { authorization: `Bearer ${pair.gateway.key}` })).body.id).toBe('g-ok');
    expect((await fetch(`${pair.gateway.url}/v1/models/g-ok`, { method: 'POST' })).status).toBe(405);
  });
});

describe('a failure', () => {
  const errorOf = ({ text }: { readonly text: string }) => asObject(JSON.parse(text).error);

  // Vector 19.
  test.each(['g-cut', 'm-cut'])('of %s, which breaks off, ends its stream', async (model) => {
    const answer = await streamed(pair, model, HELLO);
    const chunks = chunksIn(answer.text);
    expect([answer.status, finishesIn(answer.text), wordsIn(answer.text)]).toEqual([200, [], 'Good day to you.']);
    expect(chunks.at(-1)?.error).toMatchObject({ code: 500, status: 'INTERNAL' });
    expect(await recordOf(pair, answer)).toMatchObject({ status: 200, error: 'upstream_truncated' });
  });

  test.each(['g-limited', 'c-limited'])('of %s says when to ask again', async (model) => {
    const answer = await streamed(pair, model, HELLO);
    expect([answer.status, answer.headers.get('retry-after'), errorOf(answer)]).toMatchObject([
      429,
      '7',
      {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
      },
    ]);
  });

  test('of an upstream is not the caller’s, unless it is', async () => {
    expect(errorOf(await plain(pair, 'c-gone', HELLO))).toMatchObject({ code: 500, status: 'INTERNAL' });
    expect(errorOf(await plain(pair, 'g-broke', HELLO))).toMatchObject({ code: 500, status: 'INTERNAL' });
    expect(errorOf(await plain(pair, 'g-overloaded', HELLO))).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
    const rejected = await plain(pair, 'g-rejecting', HELLO);
    expect([rejected.status, errorOf(rejected)]).toEqual([
      400,
      { code: 400, message: 'not so', status: 'INVALID_ARGUMENT' },
    ]);
    expect(errorOf(await plain(pair, 'nope', HELLO))).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    expect(errorOf(await plain(pair, 'only-chat', HELLO))).toMatchObject({ code: 404, status: 'NOT_FOUND' });
  });
});

describe('a body', () => {
  // Vector 21.
  test.each(['g-ok', 'm-ok'])('in snake case is taken, %s', async (model) => {
    const body = {
      system_instruction: { parts: { text: 'Be brief' } },
      contents: [{ parts: [{ text: 'hi' }, { inline_data: { mime_type: 'image/png', data: PNG } }] }],
      generation_config: { max_output_tokens: 33, stop_sequences: ['END'] },
      tools: [
        {
          function_declarations: [
            { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } } },
          ],
        },
      ],
    };
    const { status, text } = await plain(pair, model, body);
    expect([status, text]).toEqual([200, expect.any(String)]);
    if (model === 'g-ok') expect(lastSent(pair, 'ok')).toEqual(body);
    else
      expect(lastSent(pair, 'ok')).toMatchObject({
        system: [{ text: 'Be brief' }],
        max_tokens: 33,
        stop_sequences: ['END'],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              { type: 'image', source: { media_type: 'image/png' } },
            ],
          },
        ],
        tools: [{ name: 'f', input_schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } }],
      });
  });

  // Vector 22.
  test.each(['c', 'm', 'r', 'b'])(
    'whose calls have no ids has its results matched by their order, upstream %s',
    async (side) => {
      const call = (city: string) => ({ functionCall: { name: 'look', args: { city } } });
      const result = (output: string) => ({ functionResponse: { name: 'look', response: { output } } });
      const contents = [
        ...HELLO.contents,
        { role: 'model', parts: [call('Bern'), call('Oslo')] },
        { role: 'user', parts: [result('cold'), result('dark')] },
      ];
      const tools = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: { type: 'object' } }] }];
      expect((await plain(pair, `${side}-ok`, { contents, tools })).status).toBe(200);
      const sent = JSON.stringify(lastSent(pair, 'ok'));
      const [first, second] = [
        ...sent.matchAll(/"(?:id|tool_use_id|call_id|toolUseId|tool_call_id)":"(call_\d)"/g),
      ].map(([, id]) => id);
      expect([first, second]).toEqual(['call_1', 'call_2']);
      expect(sent.indexOf('cold')).toBeLessThan(sent.indexOf('dark'));
    },
  );

  test.each([
    [{ cachedContent: 'cachedContents/1' }, 404, 'cachedContent'],
    [{ cached_content: 'cachedContents/1' }, 404, 'cachedContent'],
    [
      { contents: [{ parts: [{ fileData: { mimeType: 'a/b', fileUri: 'gs://b/o' } }] }] },
      400,
      'contents.0.parts.0.fileData.fileUri',
    ],
    [
      {
        contents: [
          { parts: [{ file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } }] },
        ],
      },
      400,
      'contents.0.parts.0.fileData.file_uri',
    ],
    [{ contents: [{ parts: [{ fileData: { fileUri: 'files/x' } }] }] }, 400, 'contents.0.parts.0.fileData.fileUri'],
    [
      { contents: [{ parts: [{ functionResponse: { name: 'f', parts: [{ fileData: { fileUri: 'gs://b/o' } }] } }] }] },
      400,
      'contents.0.parts.0.functionResponse.parts.0.fileData.fileUri',
    ],
    [{ tools: [{ fileSearch: { fileSearchStoreNames: ['s'] } }] }, 404, 'tools.0.fileSearch.fileSearchStoreNames'],
    [
      { tools: [{ retrieval: { vertexAiSearch: { datastore: 'd' } } }] },
      404,
      'tools.0.retrieval.vertexAiSearch.datastore',
    ],
    [{ tools: [{ retrieval: { externalApi: {} } }] }, 404, 'tools.0.retrieval'],
    [{ generationConfig: { maxOutputTokens: 0 } }, 400, 'generationConfig.maxOutputTokens'],
    [{ generationConfig: { maxOutputTokens: 5, max_output_tokens: 9 } }, 400, 'generationConfig.max_output_tokens'],
    [{ contents: [] }, 400, 'contents'],
    [{ contents: 'hi' }, 400, 'contents'],
  ] as const)('%j is refused at every target', async (members, status, field) => {
    for (const model of ['g-ok', 'c-ok']) {
      const before = pair.fake.served('ok').length;
      const answer = await plain(pair, model, { ...HELLO, ...members });
      expect([answer.status, JSON.parse(answer.text).error.details[0].fieldViolations[0].field]).toEqual([
        status,
        field,
      ]);
      expect(pair.fake.served('ok').length).toBe(before);
    }
  });

  test('cannot hide an address behind escapes', async () => {
    const body = String.raw`{"contents":[{"parts":[{"functionResponse":{"name":"f","parts":[{"file\u0044ata":{"fileU\u0072i":"g\u0073://b/o"}}]}}]}]}`;
    const { status, text } = await ask(pair, 'g-ok:generateContent', body);
    expect([status, text.includes("operator's account")]).toEqual([400, true]);
  });

  test.each([
    [{ tools: [{ googleSearch: {} }] }, 'tools.0.googleSearch'],
    [{ tools: [{ code_execution: {} }] }, 'tools.0.codeExecution'],
    [{ tools: [{ urlContext: {} }] }, 'tools.0.urlContext'],
    [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [{ generationConfig: { responseModalities: ['IMAGE'] } }, 'generationConfig.responseModalities'],
  ])('%j is for models of Google', async (members, field) => {
    expect((await plain(pair, 'g-ok', { ...HELLO, ...members })).status).toBe(200);
    const answer = await plain(pair, 'c-ok', { ...HELLO, ...members });
    expect([answer.status, JSON.parse(answer.text).error.details[0].fieldViolations[0].field]).toEqual([400, field]);
  });

  test('is refused by the place of the part that a format cannot carry', async () => {
    const sound = { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } };
    const link = { fileData: { mimeType: 'audio/wav', fileUri: 'https://example.com/a.wav' } };
    const [heard, linked] = [sound, link].map((part) => ({
      contents: [{ role: 'user', parts: [{ text: 'hear' }, part] }],
    }));
    const call = { role: 'model', parts: [{ text: 'I look.' }, { functionCall: { name: 'look', args: {} } }] };
    const unanswered = { contents: [...HELLO.contents, call, { role: 'user', parts: [{ text: 'Well?' }] }] };
    for (const [model, body, place] of [
      ['m-ok', heard, 'contents.0.parts.1'],
      ['c-ok', linked, 'contents.0.parts.1'],
      ['m-ok', unanswered, 'contents.1.parts.1'],
      ['c-ok', unanswered, 'contents.1.parts.1'],
    ] as const) {
      const { status, text } = await plain(pair, model, body ?? {});
      expect([status, JSON.parse(text).error.details[0].fieldViolations[0].field]).toEqual([400, place]);
    }
  });

  test('has its safety settings dropped elsewhere, and named', async () => {
    const { headers } = await plain(pair, 'c-ok', {
      ...HELLO,
      safetySettings: [{ category: 'x' }],
      generationConfig: { topK: 5 },
    });
    expect(headers.get('x-tollgate-dropped')).toBe('safetySettings');
  });
});
