/** Tests rankings and moderations through a running gateway: paths, shapes of hosts, units, holds and money. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { asObject, type JsonObject } from '../../src/protocols/json.ts';
import { recordingBytes } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { type EndpointRig, startEndpointRig } from './endpoint-rig.ts';

const SEARCHES = { input: 0, output: 0, per_unit: { search: '0.002' } };
const TOKENS = { input: 0.05, output: 0 };
const BOTH = { ...SEARCHES, ...TOKENS };
const rankings = (loadRecordings({ api: 'rerank' }) ?? []).filter(({ response }) => response.status === 200);
const moderations = (loadRecordings({ api: 'openai-moderations' }) ?? []).filter(
  ({ response }) => response.status === 200,
);

function configFor(url: string): object {
  const base = { base_url: `${url}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string, price: object | string = TOKENS) => ({
    targets: [{ provider, model }],
    price,
  });
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: {
      openai: { kind: 'openai', ...base },
      lab: { kind: 'openai-compatible', ...base },
      voyage: { kind: 'openai-compatible', preset: 'voyage', ...base },
      cohere: { kind: 'cohere', base_url: url, api_key: 'lab-credential' },
    },
    models: {
      'omni-moderation-latest': { targets: [{ provider: 'openai', model: 'omni-moderation-latest' }] },
      'mistral-moderation': target('lab', 'mistral-moderation-latest'),
      'rerank-searches': target('lab', 'rerank-v3.5', SEARCHES),
      'rerank-tokens': target('lab', 'jina-reranker-v2'),
      'rerank-both': target('lab', 'jina-reranker-v2', BOTH),
      'rerank-cohere': target('cohere', 'rerank-v4', SEARCHES),
      'rerank-voyage': target('voyage', 'rerank-2.5'),
      ...Object.fromEntries(rankings.map(({ id }) => [`rec:${id}`, target('lab', `rerank:${id}`, BOTH)])),
    },
  };
}

const results = [
  { index: 1, relevance_score: 0.5 },
  { index: 0, relevance_score: 0.5 },
];
let rig: EndpointRig;
beforeAll(async () => {
  rig = await startEndpointRig(configFor);
  const { upstream } = rig;
  const meta = { billed_units: { search_units: 2 } };
  upstream.answer('rerank-v3.5', { body: { id: 'r1', results, meta } });
  upstream.answer('jina-reranker-v2', { body: { model: 'jina', results, usage: { total_tokens: 40 } } });
  const data = results.map((one) => ({ ...one, document: `d${one.index}` }));
  upstream.answer('rerank-2.5', { body: { object: 'list', data, model: 'rerank-2.5', usage: { total_tokens: 17 } } });
  const verdict = { flagged: true, categories: { hate: true }, category_scores: { hate: 0.9 } };
  upstream.answer('omni-moderation-latest', {
    body: { id: 'modr-1', model: 'omni-moderation-latest', results: [verdict] },
  });
  const counted = { prompt_tokens: 9, total_tokens: 9, completion_tokens: 0 };
  upstream.answer('mistral-moderation-latest', { body: { id: 'm', model: 'm', results: [verdict], usage: counted } });
}, 60_000);
afterAll(() => rig.stop());

const rank = (path: string, model: string, members: object = {}, headers = {}) =>
  rig.post(path, { model, query: 'q', documents: ['a', 'b'], ...members }, headers);
const lastSent = (model: string): JsonObject => JSON.parse(String(rig.upstream.served(model).at(-1)?.body));

test.each(['/v1/rerank', '/v2/rerank', '/rerank'])('%s ranks by searches, byte for byte', async (path) => {
  const answer = await rank(path, 'rerank-searches', { top_n: 2 });
  expect([
    answer.status,
    answer.bytes.equals(
      Buffer.from(JSON.stringify({ id: 'r1', results, meta: { billed_units: { search_units: 2 } } })),
    ),
  ]).toEqual([200, true]);
  const record = await rig.recordOf(answer);
  expect(record).toMatchObject({ protocol: 'rerank', usage: { input: 0, search_units: 2 }, cost_nano_usd: '4000000' });
  expect(record?.price_version).toEndWith(';search=0.002/1');
  expect(rig.upstream.served('rerank-v3.5').at(-1)?.path).toBe('/v1/rerank');
});

test('Cohere gets texts at its own path, and the documents that the client wants back are added', async () => {
  rig.upstream.answer('rerank-v4', { body: { id: 'r', results, meta: { billed_units: { search_units: 1 } } } });
  const documents = ['a', { text: 'b', title: 't' }];
  const answer = await rank('/v1/rerank', 'rerank-cohere', { documents, return_documents: true, top_k: 2 });
  const sent = rig.upstream.served('rerank-v4').at(-1);
  expect([sent?.path, JSON.parse(String(sent?.body))]).toEqual([
    '/v2/rerank',
    { model: 'rerank-v4', query: 'q', documents: ['a', 'b'], top_n: 2 },
  ]);
  expect(answer.json.results).toEqual([
    { index: 1, relevance_score: 0.5, document: { text: 'b' } },
    { index: 0, relevance_score: 0.5, document: { text: 'a' } },
  ]);
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { search_units: 1 }, cost_nano_usd: '2000000' });
});

test('tokens are billed where the host counts tokens; top_k gets the name that it knows', async () => {
  const answer = await rank('/v1/rerank', 'rerank-tokens', { top_k: 1 });
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 40 }, cost_nano_usd: '2000' });
  expect(lastSent('jina-reranker-v2')).toEqual({
    model: 'jina-reranker-v2',
    query: 'q',
    documents: ['a', 'b'],
    top_n: 1,
  });
});

test('13: 250 documents without meta are 3 searches, held and charged', async () => {
  rig.upstream.answer('rerank-v3.5', { body: { id: 'r2', results } });
  const documents = Array.from({ length: 250 }, (_, index) => `d${index}`);
  const answer = await rank('/v1/rerank', 'rerank-searches', { documents });
  const record = await rig.recordOf(answer);
  expect(record).toMatchObject({ usage_source: 'counted', usage: { search_units: 3 }, cost_nano_usd: '6000000' });
  const keyFor = async (usd: string) => {
    const made = await rig.gateway.run('keys', 'create', '--name', usd, '--budget-usd', usd, '--json');
    return { authorization: `Bearer ${JSON.parse(made.stdout).key}` };
  };
  expect((await rank('/v1/rerank', 'rerank-searches', { documents }, await keyFor('0.006'))).status).toBe(200);
  const refused = await rank('/v1/rerank', 'rerank-searches', { documents }, await keyFor('0.005999'));
  expect([refused.status, refused.json.error.type]).toEqual([429, 'insufficient_quota']);
});

test.each([
  ['searches', 'rerank-searches', { input: 40, search_units: 3 }, '6000000'],
  ['tokens', 'rerank-tokens', { input: 40 }, '2000'],
  ['both', 'rerank-both', { input: 40 }, '2000'],
])('a host that counts only tokens, and a price by %s', async (_, model, usage, cost) => {
  rig.upstream.answer('rerank-v3.5', { body: { id: 'r3', results, usage: { total_tokens: 40 } } });
  const documents = Array.from({ length: 250 }, (_one, index) => `d${index}`);
  const record = await rig.recordOf(await rank('/v1/rerank', model, { documents }));
  expect(record).toMatchObject({ usage, cost_nano_usd: cost });
  expect(record?.usage.search_units).toBe('search_units' in usage ? usage.search_units : undefined);
});

test('14: Voyage’s answer reaches a client of Cohere in Cohere’s shape', async () => {
  const answer = await rank('/v2/rerank', 'rerank-voyage', {
    documents: ['a', { text: 'b' }],
    top_n: 2,
    rank_fields: ['text'],
  });
  expect(answer.json).toEqual({
    model: 'rerank-2.5',
    usage: { total_tokens: 17 },
    results: results.map((one) => ({ ...one, document: { text: `d${one.index}` } })),
  });
  expect(lastSent('rerank-2.5')).toEqual({ model: 'rerank-2.5', query: 'q', documents: ['a', 'b'], top_k: 2 });
  expect(answer.headers.get('x-tollgate-dropped')).toBe('rank_fields');
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { input: 17 }, usage_source: 'upstream' });
});

test.each([
  [{ documents: [] }, 'documents'],
  [{ documents: 'a' }, 'documents'],
  [{ documents: [5] }, 'documents.0'],
  [{ query: undefined }, 'query'],
  [{ top_n: 0 }, 'top_n'],
  [{ model: undefined }, 'model'],
])('%j is refused by name', async (members, param) => {
  const { status, json } = await rank('/v1/rerank', 'rerank-tokens', members);
  expect([status, json.error.param]).toEqual([400, param]);
});

test('the records prove: the ledger recomputes every charge by units', async () => {
  const { status, stdout } = await rig.gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.any(String)]);
});

test('16: a moderation without a model goes to the first that the key may use, at no cost', async () => {
  const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1` });
  const { results: found } = await client.moderations.create({ input: 'x' });
  expect(found[0]?.flagged).toBe(true);
  expect(lastSent('omni-moderation-latest')).toEqual({ input: 'x', model: 'omni-moderation-latest' });
  const answer = await rig.post('/v1/moderations', { input: ['x', 'y'] });
  expect(await rig.recordOf(answer)).toMatchObject({
    protocol: 'moderations',
    model: 'omni-moderation-latest',
    cost_nano_usd: '0',
    error: null,
  });
  const made = await rig.gateway.run('keys', 'create', '--name', 'm', '--models', 'mistral-*', '--json');
  const other = await rig.post(
    '/v1/moderations',
    { input: 'x' },
    { authorization: `Bearer ${JSON.parse(made.stdout).key}` },
  );
  expect(await rig.recordOf(other)).toMatchObject({
    model: 'mistral-moderation',
    usage: { input: 9 },
    cost_nano_usd: '450',
  });
  const none = await rig.gateway.run('keys', 'create', '--name', 'n', '--models', 'rerank-*', '--json');
  const refused = await rig.post(
    '/v1/moderations',
    { input: 'x' },
    { authorization: `Bearer ${JSON.parse(none.stdout).key}` },
  );
  expect([refused.status, refused.json.error.param]).toEqual([403, 'model']);
});

test('a moderation passes byte for byte with a model, images included', async () => {
  const body =
    '{"model": "omni-moderation-latest", "input":[{"type":"image_url","image_url":{"url":"https://a/b.png"}}]}';
  const answer = await rig.post('/v1/moderations', body);
  expect([answer.status, String(rig.upstream.served('omni-moderation-latest').at(-1)?.body)]).toEqual([200, body]);
  expect((await rig.post('/v1/moderations', { input: 5 })).json.error.param).toBe('input');
});

describe.skipIf(rankings.length === 0)('recorded rankings and moderations (needs the recordings)', () => {
  test('are read: searches or tokens, and the answers as they came', async () => {
    expect([rankings.length, moderations.length]).toEqual([9, 3]);
    for (const recording of rankings) {
      const bytes = Buffer.from(recordingBytes(recording));
      rig.upstream.answer(`rerank:${recording.id}`, { body: bytes });
      const asked = asObject(recording.request?.body) ?? { query: 'q', documents: ['a'] };
      const answer = await rig.post('/v1/rerank', { ...asked, model: `rec:${recording.id}` });
      const { meta, usage } = JSON.parse(bytes.toString());
      const record = await rig.recordOf(answer);
      const searches = meta?.billed_units?.search_units;
      expect([recording.id, answer.status, answer.bytes.equals(bytes)]).toEqual([recording.id, 200, true]);
      expect([recording.id, record?.usage.input, record?.usage.search_units]).toEqual([
        recording.id,
        usage?.prompt_tokens ?? usage?.total_tokens ?? 0,
        searches,
      ]);
    }
    for (const recording of moderations) {
      const bytes = Buffer.from(recordingBytes(recording));
      rig.upstream.answer('omni-moderation-latest', { body: bytes });
      const { model: _, ...asked } = asObject(recording.request?.body) ?? {};
      const answer = await rig.post('/v1/moderations', asked);
      expect([recording.id, answer.bytes.equals(bytes)]).toEqual([recording.id, true]);
    }
  });
});
