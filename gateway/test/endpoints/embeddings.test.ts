/** Tests embeddings through a running gateway: bytes, forms of vectors, usage in all shapes, money, and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { asObject } from '../../src/protocols/json.ts';
import { recordingBytes } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { type EndpointRig, startEndpointRig } from './endpoint-rig.ts';

const PRICE = { input: 1, output: 0 };
const MODELS = ['text-embedding-3-small', 'bge-m3', 'voyage-3.5', 'quiet-embed', 'torn-embed', 'down-embed'];
const recordings = (loadRecordings({ api: 'openai-embeddings' }) ?? []).filter(
  ({ provider, request, response }) => provider !== 'ollama' && request?.method === 'POST' && response.status === 200,
);

const ofCohere = (loadRecordings({ api: 'cohere-embed' }) ?? []).filter(({ response }) => response.status === 200);

function configFor(url: string): object {
  const base = { base_url: `${url}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: {
      openai: { kind: 'openai', ...base },
      lab: { kind: 'openai-compatible', ...base },
      voyage: { kind: 'openai-compatible', preset: 'voyage', ...base },
      cohere: { kind: 'cohere', base_url: `${url}/compatibility/v1`, api_key: 'lab-credential' },
      google: { kind: 'gemini', base_url: url, api_key: 'lab-credential' },
    },
    models: {
      ...Object.fromEntries(MODELS.map((model) => [model, target(model.startsWith('text') ? 'openai' : 'lab', model)])),
      public: target('lab', 'bge-m3'),
      'of-voyage': target('voyage', 'voyage-4'),
      'of-cohere': target('cohere', 'embed-v4.0'),
      'of-google': target('google', 'gemini-embedding-001'),
      chatty: target('lab', 'chatty'),
      listed: { ...target('lab', 'my-own'), protocols: ['embeddings'] },
      both: {
        targets: [
          { provider: 'lab', model: 'chatty' },
          { provider: 'lab', model: 'bge-m3' },
        ],
        price: PRICE,
      },
      ...Object.fromEntries(recordings.map(({ id }) => [`rec:${id}`, target('openai', `embed:${id}`)])),
      ...Object.fromEntries(ofCohere.map(({ id }) => [`rec:${id}`, target('cohere', `embed:${id}`)])),
    },
  };
}

let rig: EndpointRig;
const floats = (...vectors: readonly (readonly number[])[]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'm',
  usage: { prompt_tokens: 7, total_tokens: 7 },
});
const VECTOR = [0.1, -1e-9, 3, 0.333_333_333_333];

beforeAll(async () => {
  rig = await startEndpointRig(configFor);
  const { upstream } = rig;
  upstream.answer('text-embedding-3-small', { body: floats(VECTOR) });
  upstream.answer('bge-m3', { body: floats(VECTOR, [1]) });
  upstream.answer('my-own', { body: floats([1]) });
  upstream.answer('voyage-3.5', { body: { ...floats([1]), usage: { total_tokens: 18 } } });
  upstream.answer('quiet-embed', { body: { ...floats([1]), usage: undefined } });
  upstream.answer('torn-embed', { body: '{"object":"list"' });
  upstream.answer('down-embed', { status: 500, body: { error: { message: 'down' } } });
}, 60_000);
afterAll(() => rig.stop());

const embed = (model: string, members: object = {}, headers = {}) =>
  rig.post('/v1/embeddings', { model, input: 'hello', ...members }, headers);

test('1: base64 of a host passes byte for byte; numbers of a host become the exact 32-bit floats', async () => {
  const text = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"${Buffer.from(new Float32Array(VECTOR).buffer).toString('base64')}"}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}} `;
  rig.upstream.answer('text-embedding-3-small', { body: text });
  const same = await embed('text-embedding-3-small', { encoding_format: 'base64' });
  expect([same.status, same.bytes.toString()]).toEqual([200, text]);
  const made = await embed('public', { encoding_format: 'base64' });
  const [first, second] = made.json.data.map(({ embedding }: { embedding: string }) =>
    Buffer.from(embedding, 'base64'),
  );
  expect([...new Float32Array(new Uint8Array(first).buffer)]).toEqual([...new Float32Array(VECTOR)]);
  expect([second.length, made.json.data[1].index, made.json.usage.prompt_tokens]).toEqual([4, 1, 7]);
  const asked = await embed('public');
  expect(asked.json.data[0].embedding).toEqual(VECTOR);
});

test('1: the OpenAI client reads them, although it asks for base64 unasked', async () => {
  const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1` });
  const { data } = await client.embeddings.create({ model: 'bge-m3', input: ['a', 'b'] });
  expect(JSON.parse(String(rig.upstream.served('bge-m3').at(-1)?.body)).encoding_format).toBe('base64');
  expect(data.map(({ embedding }) => embedding)).toEqual([[...new Float32Array(VECTOR)], [1]]);
});

test.each([[[1, 2, 3]], [[[1, 2], [3]]]])(
  '2: token ids %j pass to OpenAI and are refused for models of others',
  async (input) => {
    const refused = await embed('bge-m3', { input });
    expect([refused.status, refused.json.error.param, refused.json.error.type]).toEqual([
      400,
      'input',
      'invalid_request_error',
    ]);
    expect(refused.json.error.message).toContain('token ids');
    const passed = await embed('text-embedding-3-small', { input });
    expect([
      passed.status,
      JSON.parse(String(rig.upstream.served('text-embedding-3-small').at(-1)?.body)).input,
    ]).toEqual([200, input]);
  },
);

test('3: usage of only total_tokens is billed', async () => {
  const answer = await embed('voyage-3.5');
  const record = await rig.recordOf(answer);
  expect(record).toMatchObject({
    protocol: 'embeddings',
    usage_source: 'upstream',
    cost_nano_usd: '18000',
    error: null,
  });
  expect([record?.usage.input, record?.usage.output]).toEqual([18, 0]);
  expect(answer.headers.get('x-tollgate-cost-usd')).toBe('0.000018');
});

test.each([
  [{ message: 'the input is too long', code: 400 }, 400, 'the input is too long'],
  [{ message: 'slow down', code: 429 }, 429, 'limits the rate'],
])('an error in place of an answer, with the status 200, is that error: %j', async (error, status, words) => {
  rig.upstream.answer('bge-m3', { body: { error } });
  const answer = await embed('public');
  rig.upstream.answer('bge-m3', { body: floats(VECTOR, [1]) });
  expect([answer.status, answer.json.error.message]).toEqual([status, expect.stringContaining(words)]);
  expect(await rig.recordOf(answer)).toMatchObject({ cost_nano_usd: '0' });
});

test('vectors that are no numbers are a failure of the provider, and what it counted is recorded', async () => {
  rig.upstream.answer('bge-m3', { body: { ...floats(), data: [{ index: 0, embedding: null }] } });
  const answer = await embed('public', { encoding_format: 'base64' });
  rig.upstream.answer('bge-m3', { body: floats(VECTOR, [1]) });
  expect([answer.status, answer.json.error.code]).toEqual([500, 'internal_error']);
  expect(await rig.recordOf(answer)).toMatchObject({ error: 'upstream_malformed', usage: { input: 7 } });
});

test('Voyage gets its own name for the dimensions, and no word for its default', async () => {
  rig.upstream.answer('voyage-4', { body: { ...floats([1]), usage: { total_tokens: 3 } } });
  const answer = await embed('of-voyage', {
    dimensions: 256,
    encoding_format: 'float',
    user: 'u',
    input_type: 'query',
  });
  const sent = JSON.parse(String(rig.upstream.served('voyage-4').at(-1)?.body));
  expect(sent).toEqual({ model: 'voyage-4', input: 'hello', output_dimension: 256, input_type: 'query' });
  expect([answer.status, answer.headers.get('x-tollgate-dropped')]).toEqual([200, 'user']);
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 3 }, end_user: 'u' });
});

test('Cohere gets texts with an input type, and its vectors and units come back in the client’s form', async () => {
  const meta = { billed_units: { input_tokens: 4, image_tokens: 0 } };
  rig.upstream.answer('embed-v4.0', {
    body: { id: 'c', texts: ['hello'], embeddings: { float: [[0.5, 0.25]] }, meta },
  });
  const answer = await embed('of-cohere', { dimensions: 512 });
  const sent = rig.upstream.served('embed-v4.0').at(-1);
  expect([sent?.path, JSON.parse(String(sent?.body))]).toEqual([
    '/v2/embed',
    {
      model: 'embed-v4.0',
      texts: ['hello'],
      input_type: 'search_document',
      embedding_types: ['float'],
      output_dimension: 512,
    },
  ]);
  expect(answer.headers.get('x-tollgate-dropped')).toBe('input_type');
  expect(answer.json).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
    model: 'embed-v4.0',
    usage: { prompt_tokens: 4, total_tokens: 4 },
  });
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 4 }, cost_nano_usd: '4000' });
  const query = await embed('of-cohere', { input_type: 'search_query', encoding_format: 'base64' });
  expect(query.headers.get('x-tollgate-dropped')).toBeNull();
  expect(Buffer.from(query.json.data[0].embedding, 'base64').readFloatLE(4)).toBe(0.25);
});

test.each(['of-cohere', 'of-google'])('%s names each member that the host has no place for', async (model) => {
  rig.upstream.answer('undefined', { body: { embeddings: [{ values: [1] }] } });
  const answer = await embed(model, { user: 'u', input_type: 'x', task: 'retrieval', late_chunking: false });
  const dropped = model === 'of-cohere' ? 'user,task' : 'user,input_type,task';
  expect([answer.status, answer.headers.get('x-tollgate-dropped')]).toEqual([200, dropped]);
});

test('a strict key refuses a member that the host has no place for', async () => {
  const made = await rig.gateway.run('keys', 'create', '--name', 'strict', '--strict', '--json');
  const headers = { authorization: `Bearer ${JSON.parse(made.stdout).key}` };
  const refused = await embed('of-cohere', { user: 'u' }, headers);
  expect([refused.status, refused.json.error.param]).toEqual([400, 'user']);
  expect((await embed('of-cohere', {}, headers)).status).toBe(200);
});

test('Gemini embeds a batch, in the order of the inputs, as numbers and as base64', async () => {
  const values = [[0.5, 0.25], [1]];
  rig.upstream.answer('undefined', {
    body: { embeddings: values.map((one) => ({ values: one })), usageMetadata: { promptTokenCount: 6 } },
  });
  const answer = await embed('of-google', { input: ['a', 'b'], dimensions: 2 });
  const sent = rig.upstream.served('undefined').at(-1);
  expect(sent?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
  expect(sent?.headers.get('x-goog-api-key')).toBe('lab-credential');
  expect(JSON.parse(String(sent?.body))).toEqual({
    requests: ['a', 'b'].map((text) => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    })),
  });
  expect(answer.json).toEqual({
    object: 'list',
    data: values.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'gemini-embedding-001',
    usage: { prompt_tokens: 6, total_tokens: 6 },
  });
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 6 }, usage_source: 'upstream' });
  const packed = await embed('of-google', { input: ['a', 'b'], encoding_format: 'base64' });
  expect(Buffer.from(packed.json.data[0].embedding, 'base64').readFloatLE(4)).toBe(0.25);
  expect((await embed('of-google', { input: [[1]] })).status).toBe(400);
});

test('an answer without usage is billed by our own count, and marked so', async () => {
  const record = await rig.recordOf(await embed('quiet-embed', { input: 'x'.repeat(4_000) }));
  expect(record).toMatchObject({ usage_source: 'counted', error: null });
  expect(record?.usage.input).toBeWithin(1_000, 1_030);
  expect(record?.cost_nano_usd).toBe(String((record?.usage.input ?? 0) * 1_000));
});

test('the client’s bytes go upstream with only the model changed, without a header of the client', async () => {
  const body = '{ "model":"public",\t"input": ["caf\\u00e9", "a"], "dimensions":256, "new_member": {"a":[1.0]} }';
  const answer = await rig.post('/v1/embeddings', body, { 'x-own': '1' });
  const sent = rig.upstream.served('bge-m3').at(-1);
  expect([answer.status, sent?.path, String(sent?.body)]).toEqual([
    200,
    '/v1/embeddings',
    body.replace('"public"', '"bge-m3"'),
  ]);
  expect([sent?.headers.get('authorization'), sent?.headers.get('x-own')]).toEqual(['Bearer lab-credential', null]);
});

test('a model is served where its name or the operator says; elsewhere the answer names its endpoints', async () => {
  expect((await embed('listed')).status).toBe(200);
  const refused = await embed('chatty');
  expect([refused.status, refused.json.error.param]).toEqual([404, 'model']);
  expect(refused.json.error.message).toContain('POST /v1/chat/completions');
  const chat = await rig.post('/v1/chat/completions', { model: 'bge-m3', messages: [{ role: 'user', content: 'a' }] });
  expect([chat.status, chat.json.error.message]).toEqual([400, expect.stringContaining('POST /v1/embeddings')]);
  expect((await embed('both')).status).toBe(200);
  const shown = await fetch(`${rig.gateway.url}/v1/models/public`, {
    headers: { authorization: `Bearer ${rig.gateway.key}` },
  });
  expect(await shown.json()).toMatchObject({ protocols: ['embeddings'] });
});

test('an idempotency key gives the stored answer, for one bill', async () => {
  const headers = { 'idempotency-key': 'embed-1' };
  const first = await embed('public', {}, headers);
  const before = rig.upstream.served('bge-m3').length;
  const again = await embed('public', {}, headers);
  expect([again.status, again.headers.get('x-tollgate-replayed'), again.bytes.equals(first.bytes)]).toEqual([
    200,
    'true',
    true,
  ]);
  expect(rig.upstream.served('bge-m3').length).toBe(before);
  expect(await rig.recordOf(again)).toMatchObject({ usage_source: 'cache', cost_nano_usd: '0' });
});

test.each([
  [{ input: undefined }, 'input'],
  [{ input: 5 }, 'input'],
  [{ input: [[1, 'a']] }, 'input.0'],
  [{ encoding_format: 5 }, 'encoding_format'],
  [{ dimensions: 'many' }, 'dimensions'],
  [{ model: undefined }, 'model'],
])('%j is refused by name', async (members, param) => {
  const { status, json } = await embed('bge-m3', members);
  expect([status, json.error.param]).toEqual([400, param]);
});

test('failures have OpenAI’s form, and a record', async () => {
  const torn = await embed('torn-embed');
  expect([torn.status, torn.json.error.code]).toEqual([500, 'internal_error']);
  const down = await embed('down-embed');
  expect([down.status, down.json.error.type]).toEqual([500, 'api_error']);
  expect(await rig.recordOf(down)).toMatchObject({ error: 'upstream_failed', cost_nano_usd: '0' });
  const unknown = await embed('nobody');
  expect([unknown.status, unknown.json.error.code]).toEqual([403, 'forbidden']);
});

test('23: an unknown path below /v1 is a 404 in JSON', async () => {
  const { status, headers, json } = await rig.post('/v1/vector_stores', {});
  expect([status, headers.get('content-type')?.startsWith('application/json')]).toEqual([404, true]);
  expect(json.error).toMatchObject({
    type: 'invalid_request_error',
    message: expect.stringContaining('/v1/vector_stores'),
  });
});

test('a large answer is read in steps, with its usage and in the asked form', async () => {
  const vector = Array.from({ length: 1_536 }, (_, index) => index / 1_537);
  rig.upstream.answer('bge-m3', { body: floats(...Array.from({ length: 100 }, () => vector)) });
  const answer = await embed('bge-m3', { encoding_format: 'base64' });
  expect(answer.json.data.length).toBe(100);
  expect(Buffer.from(answer.json.data[99].embedding, 'base64').length).toBe(1_536 * 4);
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 7, output: 0 }, usage_source: 'upstream' });
  rig.upstream.answer('bge-m3', { body: floats(VECTOR, [1]) });
});

describe.skipIf(recordings.length === 0)('recorded embeddings (needs the recordings)', () => {
  test('pass byte for byte, with the recorded usage', async () => {
    expect(recordings.length).toBeGreaterThan(30);
    for (const recording of recordings) {
      const bytes = Buffer.from(recordingBytes(recording));
      const model = `embed:${recording.id}`;
      rig.upstream.answer(model, { body: bytes });
      const answer = await rig.post('/v1/embeddings', {
        ...asObject(recording.request?.body),
        model: `rec:${recording.id}`,
      });
      const { usage } = JSON.parse(bytes.toString());
      const tokens = usage.prompt_tokens ?? usage.total_tokens;
      expect([recording.id, answer.status, answer.bytes.equals(bytes)]).toEqual([recording.id, 200, true]);
      expect([recording.id, answer.headers.get('x-tollgate-cost-usd')]).toEqual([
        recording.id,
        (tokens / 1e6).toFixed(6).replace(/0+$/, ''),
      ]);
    }
  });

  test('of Cohere become lists of vectors, with the recorded units', async () => {
    expect(ofCohere.length).toBe(5);
    for (const recording of ofCohere) {
      const body = asObject(recording.response.body);
      rig.upstream.answer(`embed:${recording.id}`, { body: recordingBytes(recording) });
      const { texts: input, input_type, output_dimension } = asObject(recording.request?.body) ?? {};
      const asked = { model: `rec:${recording.id}`, input, input_type, dimensions: output_dimension ?? undefined };
      const answer = await rig.post('/v1/embeddings', asked);
      const vectors = answer.json.data.map(({ embedding }: { embedding: number[] }) => embedding);
      const units = asObject(asObject(body?.meta)?.billed_units);
      expect([recording.id, vectors]).toEqual([recording.id, asObject(body?.embeddings)?.float]);
      expect([recording.id, answer.json.usage.prompt_tokens]).toEqual([recording.id, units?.input_tokens]);
    }
  });
});
