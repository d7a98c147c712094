/**
 * Tests prices set in the console: they apply from their start time on, the file takes precedence, and the ledger check
 * still passes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { ACCOUNT, type ApiAnswer, askApi, call, type ModelsRig, startModels } from './models-rig.ts';

setDefaultTimeout(30_000);

let rig: ModelsRig;

beforeAll(async () => {
  rig = await startModels();
});
afterAll(() => rig.stop());

const NO_RATES = { cache_read: null, cache_write_5m: null, cache_write_1h: null, reasoning: null };
const put = (model: string, price: object) =>
  rig.admin.ask('PUT', `${ACCOUNT}/models/${encodeURIComponent(model)}/price`, {
    from: null,
    free: false,
    input: '3',
    output: '15',
    ...NO_RATES,
    ...price,
  });
const models = async () =>
  ((await rig.admin.ask('GET', `${ACCOUNT}/models`)).json as Reply<'GET /accounts/{account}/models'>).models;

async function model(name: string) {
  const found = (await models()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`expected the model ${name}`);
  return found;
}

test('a price applies from the next request, earlier requests keep theirs, and the ledger is valid', async () => {
  expect(await call(rig.gateway, 'file-unpriced')).toBe(200);
  expect(await put('another-name', {})).toMatchObject({
    status: 200,
    json: { source: 'console', input: '3', cache_read: '3', output: '15', free: false },
  });
  expect(await call(rig.gateway, 'file-unpriced')).toBe(200);
  expect((await put('file-unpriced', { input: '4', cache_read: '0.5' })).status).toBe(200);
  expect(await call(rig.gateway, 'file-unpriced')).toBe(200);
  const versions = (await rig.gateway.calls()).map((record) => record.price_version?.replace(/:.*@/, '@') ?? null);
  expect(versions).toEqual(['console@4_0.5_4_4_15_15', 'console@3_3_3_3_15_15', null]);
  const shown = await model('file-unpriced');
  expect(shown.price).toMatchObject({ source: 'console', input: '4' });
  expect(shown.prices.map(({ input }) => input)).toEqual(['4', '3']);
  expect(await rig.gateway.run('verify')).toMatchObject({ status: 0 });
});

test('sound and tools that run upstream have prices of their own', async () => {
  const price = { audio_input: '40', per_1000_requests: { web_search: '10' } };
  const answer = await put('file-unpriced', { input: '4', ...price });
  expect(answer).toMatchObject({ status: 200, json: price });
  expect(answer.json).not.toHaveProperty('image_input');
  expect((await model('file-unpriced')).price).toMatchObject(price);
});

test('longer input has its own rates, and omitted rates of the previous price are reported', async () => {
  const longer = { above: 200_000, input: '6', output: '22.5', ...NO_RATES };
  const fees = { web_search: '10', web_fetch: '0' };
  const whole = await put('file-unpriced', {
    cache_read: '0.3',
    audio_cache_read: '0.3',
    audio_input: '40',
    per_1000_requests: fees,
    tiers: [longer],
  });
  expect(whole).toMatchObject({
    status: 200,
    json: { left_out: [], tiers: [{ above: 200_000, input: '6', reasoning: '22.5' }] },
  });
  expect((await model('file-unpriced')).price).toMatchObject({ per_1000_requests: fees, tiers: [{ above: 200_000 }] });
  const less = await put('file-unpriced', { per_1000_requests: { web_fetch: '0' } });
  expect(less.json).toMatchObject({
    left_out: ['cache_read', 'audio_input', 'tiers.200000', 'per_1000_requests.web_search'],
  });
  expect((await model('file-unpriced')).price).not.toHaveProperty('tiers');
  expect((await put('file-unpriced', { input: '4' })).json).toMatchObject({
    left_out: ['per_1000_requests.web_fetch'],
  });
});

test('a future price is shown and does not apply yet', async () => {
  const from = '2099-01-01T00:00:00.000Z';
  expect(await put('file-unpriced', { from, free: true, input: null, output: null })).toMatchObject({
    status: 200,
    json: { from, free: true },
  });
  const shown = await model('file-unpriced');
  expect(shown.prices[0]).toMatchObject({ from, free: true, source: 'console' });
  expect(shown.price?.input).toBe('4');
});

describe('a refused price', () => {
  test.each([
    ['file-priced', {}, 409, null],
    ['nothing', {}, 404, null],
    ['file-unpriced', { from: '2020-01-01T00:00:00Z' }, 400, 'from'],
    ['file-unpriced', { input: null }, 400, 'input'],
    ['file-unpriced', { output: null }, 400, 'output'],
    ['file-unpriced', { free: true }, 400, 'input'],
    ['file-unpriced', { input: '-1' }, 400, 'input'],
    ['file-unpriced', { output: '0.00000001' }, 400, 'output'],
    ['file-unpriced', { reasoning: 'much' }, 400, 'reasoning'],
    ['file-unpriced', { audio_output: '-1' }, 400, 'audio_output'],
    ['file-unpriced', { per_1000_requests: { web_search: 'x' } }, 400, 'web_search'],
    ['file-unpriced', { tiers: [{ above: 5, ...NO_RATES, input: null, output: '1' }] }, 400, 'tiers.5.input'],
    [
      'file-unpriced',
      { tiers: [9, 5].map((above) => ({ above, ...NO_RATES, input: '1', output: '1' })) },
      400,
      'tiers',
    ],
    ['file-unpriced', { free: true, input: null, output: null, tiers: [] }, 400, 'tiers'],
    ['file-unpriced', { free: true, input: null, output: null, per_1000_requests: {} }, 400, 'per_1000_requests'],
  ])('of %s with %p', async (name, price, status, member) => {
    expect(await put(name, price)).toMatchObject({ status, json: { error: { member } } });
  });
});

test('prices per unit are set, shown as they are written, and named where the next price leaves them out', async () => {
  const price = { input: '0', output: '0' };
  const per_unit = { image: { '1024x1024/high': '0.17' }, second: '0.0001' };
  const set = await put('file-unpriced', { ...price, per_unit });
  expect(set).toMatchObject({ status: 200, json: { per_unit, free: false } });
  expect((await model('file-unpriced')).price).toMatchObject({ per_unit });
  expect(await put('file-unpriced', { ...price, per_unit: { second: 'x' } })).toMatchObject({
    status: 400,
    json: { error: { member: 'per_unit.second' } },
  });
  expect(await put('file-unpriced', price)).toMatchObject({
    json: { left_out: ['per_unit.image', 'per_unit.second'] },
  });
});

test('models are listed with their details and the number of keys that may use them', async () => {
  await createKey(rig.gateway, { models: ['file-*'] });
  await createKey(rig.gateway, { models: ['nothing'] });
  await createKey(rig.gateway, { scopes: ['usage'] });
  expect(await model('file-unpriced')).toMatchObject({
    aliases: ['another-name'],
    protocols: ['chat', 'messages', 'responses', 'gemini'],
    targets: [{ provider: 'filed', model: 'file-unpriced' }],
    source: 'file',
    // The first key, the administrator's, and the one whose pattern matches.
    keys: 3,
  });
  expect((await model('file-priced')).price).toMatchObject({ source: 'file', from: null, output: '2' });
});

const namesOf = ({ json }: ApiAnswer) => (json as Reply<'GET /accounts/{account}/model-matches'>).models;

test('patterns match as they do for calls', async () => {
  const matches = async (patterns: string) =>
    namesOf(await rig.admin.ask('GET', `${ACCOUNT}/model-matches?patterns=${encodeURIComponent(patterns)}`));
  expect(await matches('file-*')).toEqual(['file-priced', 'file-unpriced']);
  expect(await matches('another-name, nothing')).toEqual(['file-unpriced']);
  expect(await matches('*priced')).toEqual(['file-priced', 'file-unpriced']);
  expect(await matches('FILE-*')).toEqual([]);
});

const stepsOf = ({ json }: ApiAnswer) => (json as Reply<'GET /accounts/{account}/models/{model}/dry-run'>).steps;

test('a routing preview matches the request', async () => {
  const { id, key } = await createKey(rig.gateway, { models: ['file-priced'] });
  const run = async (name: string, query: string) =>
    stepsOf(await rig.admin.ask('GET', `${ACCOUNT}/models/${encodeURIComponent(name)}/dry-run?${query}`));
  for (const name of ['file-priced', 'file-unpriced', 'another-name', 'un/known']) {
    const [step] = await run(name, `protocol=chat&key=${id}`);
    const status = await call(rig.gateway, name, key);
    expect([name, step?.outcome]).toEqual([name, status === 200 ? 'goes' : 'stops']);
  }
  const [goes] = await run('another-name', '');
  expect(goes?.text).toStartWith('filed as file-unpriced: the only target');
  expect(goes?.text).toContain(' another-name is another name of file-unpriced. ');
  const [priced] = await run('file-priced', '');
  expect(priced?.text).toEndWith('It costs $1 per million tokens of input and $2 of output, by the configuration.');
  const [translated] = await run('file-priced', 'protocol=messages');
  expect(translated?.text).toContain('translated from messages to chat');
  expect((await rig.admin.ask('GET', `${ACCOUNT}/models/file-priced/dry-run?key=key_of_another`)).status).toBe(404);
});

test('an account sees its own keys alone, and a key with scope usage those of its workspace', async () => {
  await control(rig.gateway, 'accounts.create', { id: 'team' });
  await control(rig.gateway, 'workspaces.create', { id: 'team-space', account: 'team' });
  await control(rig.gateway, 'workspaces.create', { id: 'other-space', account: 'team' });
  const reader = await createKey(rig.gateway, { workspace: 'team-space', scopes: ['usage', 'inference'] });
  const other = await createKey(rig.gateway, { workspace: 'other-space' });
  const keysOf = async (key: string, account: string) => {
    const { status, json } = await askApi(rig.gateway, key, 'GET', `/accounts/${account}/models`);
    const { models } = json as Partial<Reply<'GET /accounts/{account}/models'>>;
    return models?.find(({ name }) => name === 'file-priced')?.keys ?? status;
  };
  expect(await keysOf(rig.admin.key, 'team')).toBe(2);
  expect(await keysOf(reader.key, 'team')).toBe(1);
  expect(await keysOf(reader.key, 'default')).toBe(404);
  const run = async (key: string, account: string, id: string) =>
    (await askApi(rig.gateway, key, 'GET', `/accounts/${account}/models/file-priced/dry-run?key=${id}`)).status;
  expect(await run(reader.key, 'team', reader.id)).toBe(200);
  expect(await run(reader.key, 'team', other.id)).toBe(404);
  expect(await run(rig.admin.key, 'default', other.id)).toBe(404);
  const matches = (workspace: string) =>
    askApi(rig.gateway, reader.key, 'GET', `/accounts/team/model-matches?patterns=*&workspace=${workspace}`);
  expect([(await matches('team-space')).status, (await matches('other-space')).status]).toEqual([200, 404]);
});

test('anyone can look up the outcome of a request; only authorized users see its account', async () => {
  const [{ request_id } = { request_id: '' }] = await rig.gateway.calls('--limit', '1');
  const path = `/status?request_id=${request_id}`;
  expect(await askApi(rig.gateway, null, 'GET', path)).toMatchObject({ json: { call: { request_id, account: null } } });
  expect(await rig.admin.ask('GET', path)).toMatchObject({ json: { call: { request_id, account: 'default' } } });
  expect(await askApi(rig.gateway, null, 'GET', '/status?request_id=none')).toMatchObject({ json: { call: null } });
  let status = 200;
  for (let tries = 0; tries < 40 && status === 200; tries++)
    status = (await askApi(rig.gateway, null, 'GET', path)).status;
  expect(status).toBe(429);
  expect((await rig.admin.ask('GET', path)).status).toBe(200);
});
