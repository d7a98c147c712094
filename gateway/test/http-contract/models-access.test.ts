/**
 * Tests which models a caller may use and list: unknown, forbidden by key or workspace, wrong endpoint. Contract 3 and
 * 5.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Address, get, goodBody, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { expectRefusal, invalid, type Refusal } from './expect-refusal.ts';
import { control, createKey } from './make-key.ts';

const DUAL = {
  targets: [{ provider: 'demo', model: 'demo' }],
  alias: ['dual/alias', { name: 'claude-dual', protocols: ['messages'] }],
};
const KNOWN = { targets: [{ provider: 'mistral', model: 'mistral-large-latest' }], alias: ['claude-own'] };
const ALIASED = { targets: [{ provider: 'lab', model: 'ok' }], alias: ['team/alias', 'other-alias'], price: 'free' };

let pair: Pair;
let narrow: Address;
let walled: Address;

beforeAll(async () => {
  pair = await startPair((url) => {
    const models = { 'public-model': ALIASED, dual: DUAL, known: KNOWN };
    const config = contractConfig(url, { models }) as { readonly providers: object };
    const mistral = { kind: 'openai-compatible', preset: 'mistral', base_url: `${url}/v1`, api_key: 'none' };
    return { ...config, providers: { ...config.providers, mistral } };
  });
  scriptContractModels(pair.fake);
  const { gateway } = pair;
  await control(gateway, 'workspaces.create', { id: 'walled', models: ['ok', 'm-*'] });
  const [forNarrow, forWalled] = await Promise.all([
    createKey(gateway, { models: ['o*', 'team/*'] }),
    createKey(gateway, { workspace: 'walled', models: ['ok', 'tool', 'm-ok'] }),
  ]);
  narrow = { url: gateway.url, key: forNarrow.key };
  walled = { url: gateway.url, key: forWalled.key };
});
afterAll(() => pair.stop());

const forbidden: Refusal = { status: 403, type: 'permission_error', code: 'forbidden', param: 'model' };
const notFound: Refusal = { status: 404, type: 'not_found_error' };

function ask(address: Address, side: Side, model: string): Promise<Response> {
  return post(address, side, goodBody(side, { model }));
}

async function expectServed(address: Address, side: Side, model: string): Promise<void> {
  const response = await ask(address, side, model);
  expect({ model, status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
}

describe('calls', () => {
  test('an unknown model is 403 on chat and 404 on messages, and is named', async () => {
    for (const model of ['gpt-none', 'OK', 'ok ', '__proto__', 'constructor', '../ok', 'ok\u200b', '😀']) {
      const says = JSON.stringify(model);
      await expectRefusal(await ask(pair.gateway, 'chat', model), 'chat', { ...forbidden, says });
      await expectRefusal(await ask(pair.gateway, 'messages', model), 'messages', { ...notFound, says });
    }
  });

  test('a model is served at both endpoints, whatever its provider speaks', async () => {
    for (const model of ['ok', 'm-ok', 'demo', 'team/alias']) {
      for (const side of ['chat', 'messages'] as const) await expectServed(pair.gateway, side, model);
    }
  });

  test('a model of the other endpoint is 400 on chat and 404 on messages, and the right endpoint is named', async () => {
    await expectServed(pair.gateway, 'messages', 'messages-only');
    const wrongOnChat = await ask(pair.gateway, 'chat', 'messages-only');
    await expectRefusal(wrongOnChat, 'chat', invalid('chat', 'POST /v1/messages', 'model'));
    await expectServed(pair.gateway, 'chat', 'chat-only');
    const wrongOnMessages = await ask(pair.gateway, 'messages', 'chat-only');
    await expectRefusal(wrongOnMessages, 'messages', { ...notFound, says: 'POST /v1/chat/completions' });
  });

  test('an alias of one endpoint is 400 at the other, where the model has its other names', async () => {
    await expectServed(pair.gateway, 'messages', 'claude-dual');
    const refused = await ask(pair.gateway, 'chat', 'claude-dual');
    await expectRefusal(refused, 'chat', invalid('chat', /"claude-dual".*POST \/v1\/messages/, 'model'));
    for (const side of ['chat', 'messages'] as const) {
      for (const name of ['dual', 'dual/alias']) await expectServed(pair.gateway, side, name);
    }
  });

  test('a model that the key does not allow is 403 on both endpoints', async () => {
    await expectServed(narrow, 'chat', 'ok');
    await expectRefusal(await ask(narrow, 'chat', 'tool'), 'chat', forbidden);
    await expectRefusal(await ask(narrow, 'messages', 'm-ok'), 'messages', forbidden);
    await expectRefusal(await ask(narrow, 'chat', 'demo'), 'chat', forbidden);
  });

  test('a model that the workspace does not allow is 403, even if the key allows it', async () => {
    await expectServed(walled, 'chat', 'ok');
    await expectServed(walled, 'messages', 'm-ok');
    await expectRefusal(await ask(walled, 'chat', 'tool'), 'chat', forbidden);
    await expectRefusal(await ask(walled, 'messages', 'm-long'), 'messages', forbidden);
  });

  test('a model answers to each of its names; a key that allows one of them may use all', async () => {
    for (const name of ['public-model', 'team/alias', 'other-alias']) {
      await expectServed(pair.gateway, 'chat', name);
      await expectServed(narrow, 'chat', name);
      expect(pair.fake.served().at(-1)?.model).toBe('ok');
    }
    await expectServed(pair.gateway, 'chat', 'vendor/renamed');
  });
});

interface Listing {
  readonly object: string;
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly id: string }>;
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

async function list(address: Address, query = ''): Promise<Listing> {
  const response = await get(address, `/v1/models${query}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  return (await response.json()) as Listing;
}

const ids = ({ data }: Listing) => data.map(({ id }) => id);

describe('lists', () => {
  test('one body that both SDK families read', async () => {
    const listing = await list(pair.gateway);
    expect(listing).toMatchObject({ object: 'list', has_more: false });
    expect(listing.first_id).toBe(ids(listing)[0] ?? '');
    expect(listing.last_id).toBe(ids(listing).at(-1) ?? '');
    for (const model of listing.data) {
      expect(model).toMatchObject({
        object: 'model',
        type: 'model',
        owned_by: expect.any(String),
        display_name: expect.any(String),
      });
      expect(Number.isInteger(model.created)).toBe(true);
      expect(new Date(String(model.created_at)).getTime()).toBe(Number(model.created) * 1000);
    }
    expect(new Set(ids(listing)).size).toBe(listing.data.length);
    expect(ids(listing)).toEqual(
      expect.arrayContaining(['ok', 'm-ok', 'demo', 'public-model', 'team/alias', 'vendor/renamed']),
    );
  });

  test('each name lists its endpoints, and an alias its model', async () => {
    const shown = new Map((await list(pair.gateway)).data.map((model) => [model.id, model]));
    const of = (id: string) => [shown.get(id)?.protocols, shown.get(id)?.display_name];
    expect(of('ok')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'ok']);
    expect(of('m-ok')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'm-ok']);
    expect(of('chat-only')).toEqual([['chat'], 'chat-only']);
    expect(of('dual')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'dual']);
    expect(of('dual/alias')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'dual/alias (dual)']);
    expect(of('claude-dual')).toEqual([['messages'], 'claude-dual (dual)']);
    expect(of('known')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'Mistral Large']);
    expect(of('claude-own')).toEqual([['chat', 'messages', 'responses', 'gemini'], 'claude-own (Mistral Large)']);
    const one = await get(pair.gateway, '/v1/models/claude-dual');
    expect(await one.json()).toMatchObject({ id: 'claude-dual', protocols: ['messages'] });
  });

  test('a caller of either family is shown the same list', async () => {
    const listing = await list(pair.gateway);
    const withApiKey = await get(pair.gateway, '/v1/models?limit=1000', {
      authorization: null,
      'x-api-key': pair.gateway.key,
      'anthropic-version': '2023-06-01',
    });
    expect(await withApiKey.json()).toEqual(listing);
  });

  test('lists only models that the key and its workspace allow', async () => {
    expect(ids(await list(narrow)).sort()).toEqual(['ok', 'other-alias', 'public-model', 'team/alias']);
    expect(ids(await list(walled)).sort()).toEqual(['m-ok', 'ok']);
  });

  test('pages: limit, after_id, before_id', async () => {
    const all = ids(await list(pair.gateway));
    const first = await list(pair.gateway, '?limit=3');
    expect(ids(first)).toEqual(all.slice(0, 3));
    expect(first).toMatchObject({ has_more: true, first_id: all[0], last_id: all[2] });
    const next = await list(pair.gateway, `?limit=3&after_id=${all[2]}`);
    expect(ids(next)).toEqual(all.slice(3, 6));
    const back = await list(pair.gateway, `?limit=3&before_id=${all[5]}`);
    expect(ids(back)).toEqual(all.slice(2, 5));
    expect(back.has_more).toBe(true);
    const end = await list(pair.gateway, `?limit=1000&after_id=${all.at(-2)}`);
    expect(ids(end)).toEqual(all.slice(-1));
    expect(end.has_more).toBe(false);
    expect(ids(await list(pair.gateway, `?limit=${all.length}`))).toEqual(all);
  });

  test('a cursor that names no model is refused, not taken for the beginning', async () => {
    for (const cursor of ['after_id', 'before_id']) {
      const response = await get(pair.gateway, `/v1/models?${cursor}=no-such-model`);
      await expectRefusal(response, 'chat', invalid('chat', `${cursor}: found "no-such-model"`, cursor));
    }
  });

  test('limit below 1, above 1000 or no integer is 400', async () => {
    for (const limit of ['0', '-1', '1001', '1.5', 'x', '', '1e9']) {
      const response = await get(pair.gateway, `/v1/models?limit=${limit}`);
      await expectRefusal(response, 'chat', invalid('chat', 'limit: found', 'limit'));
    }
    expect((await get(pair.gateway, '/v1/models?limit=1')).status).toBe(200);
    expect((await get(pair.gateway, '/v1/models?limit=1000')).status).toBe(200);
  });

  test('one model, by its name as it is or percent-encoded', async () => {
    for (const path of ['ok', 'vendor/renamed', 'vendor%2Frenamed', 'long:20', 'long%3A20']) {
      const response = await get(pair.gateway, `/v1/models/${path}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: decodeURIComponent(path), object: 'model', type: 'model' });
    }
  });

  test('one model that is unknown or not for this key is 404, both alike', async () => {
    for (const [address, id] of [
      [pair.gateway, 'gpt-none'],
      [narrow, 'tool'],
      [walled, 'm-long'],
    ] as const) {
      const response = await get(address, `/v1/models/${id}`);
      await expectRefusal(response, 'chat', { ...invalid('chat', id), status: 404 });
    }
    const messages = await get(narrow, '/v1/models/tool', { 'anthropic-version': '2023-06-01' });
    await expectRefusal(messages, 'messages', notFound);
  });
});
