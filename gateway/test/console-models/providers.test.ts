/**
 * Tests providers entered in the console end to end: they serve at once, survive restarts, yield to the file, and their
 * credentials are never shown.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { eventually } from '../harness/eventually.ts';
import { createKey } from '../http-contract/make-key.ts';
import { ACCOUNT, askApi, CANARY, call, configBeside, entryAt, type ModelsRig, startModels } from './models-rig.ts';

setDefaultTimeout(30_000);

let rig: ModelsRig;

beforeAll(async () => {
  rig = await startModels();
});
afterAll(() => rig.stop());

const providers = `${ACCOUNT}/providers`;
const list = async () =>
  ((await rig.admin.ask('GET', providers)).json as Reply<'GET /accounts/{account}/providers'>).providers;
const find = async (name: string) => (await list()).find((one) => one.name === name);
type Tested = Reply<'POST /accounts/{account}/providers/{provider}/test'>;

describe('a provider entered in the console', () => {
  test('serves the next call, with its credential to its own host', async () => {
    expect(await call(rig.gateway, 'entered-model')).toBe(403);
    const made = await rig.admin.ask('POST', providers, entryAt(rig.fake));
    expect(made).toMatchObject({
      status: 200,
      json: {
        name: 'entered',
        source: 'console',
        last4: '55aa',
        models: 1,
        entered_models: [{ name: 'entered-model', upstream: 'their-model' }],
        problem: null,
        tested: null,
      },
    });
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    const [served] = rig.fake.served('their-model');
    expect(served?.headLines.join('\n')).toContain(`Bearer ${CANARY}`);
  });

  test('has health from its requests: a word for everyone, numbers for operators, the same on every page', async () => {
    rig.fake.script('their-model', { status: 500, json: { error: { message: 'no' } } });
    for (let index = 0; index < 3; index++) expect(await call(rig.gateway, 'entered-model')).toBe(500);
    // Each request was sent again as often as its retries allowed.
    const errors = rig.fake.served('their-model').length - 1;
    expect(errors).toBeGreaterThan(4);
    expect((await find('entered'))?.health).toMatchObject({ state: 'failing', calls: errors + 1, errors });
    const status = await rig.admin.ask('GET', '/status');
    expect(status.json).toMatchObject({
      state: 'degraded',
      problems: ['The provider entered is failing.'],
      providers: [
        { name: 'filed', state: 'idle' },
        { name: 'entered', state: 'failing' },
      ],
      call: null,
    });
    const readHome = async () => (await rig.admin.ask('GET', '/accounts/default/home')).json;
    expect(await readHome()).toMatchObject({ providers: [{ name: 'entered', state: 'failing', errors: 3 }] });
    const list = await rig.admin.ask('GET', providers);
    const ruleIn = (json: unknown) => (json as { readonly health_rule: string }).health_rule;
    const rules = [status.json, await readHome(), list.json].map(ruleIn);
    expect(new Set(rules).size).toBe(1);
    expect(rules[0]).toContain('in the last 15 minutes');
    rig.fake.script('their-model', {});
    // Most requests failed, but not the last: the single health rule then says healthy everywhere.
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect((await find('entered'))?.health.state).toBe('healthy');
    expect(await readHome()).toMatchObject({ providers: [{ name: 'entered', state: 'healthy' }] });
    expect((await askApi(rig.gateway, null, 'GET', '/status')).json).toMatchObject({ state: 'ready' });
  });

  test('a new credential and new models apply from the next request', async () => {
    const path = `${providers}/entered`;
    const changed = await rig.admin.ask('PATCH', path, { credentials: { api_key: `${CANARY}-second` } });
    expect(changed).toMatchObject({ status: 200, json: { last4: 'cond' } });
    await call(rig.gateway, 'entered-model');
    expect(rig.fake.served('their-model').at(-1)?.headLines.join('\n')).toContain(`Bearer ${CANARY}-second`);
    const models = [{ name: 'renamed', upstream: 'their-model' }];
    expect((await rig.admin.ask('PATCH', path, { models })).status).toBe(200);
    expect([await call(rig.gateway, 'entered-model'), await call(rig.gateway, 'renamed')]).toEqual([403, 200]);
    expect(
      (await rig.admin.ask('PATCH', path, { models: [{ name: 'entered-model', upstream: 'their-model' }] })).status,
    ).toBe(200);
  });

  test('is tested with its credential, and the result stays until it changes', async () => {
    const tested = (await rig.admin.ask('POST', `${providers}/entered/test`, {})).json as Tested;
    expect(tested.ok).toBe(true);
    expect(tested.cut).toBe(false);
    expect(tested.models.length).toBeGreaterThan(0);
    rig.fake.script('models', [{ json: { data: [{ id: 'their-model' }, { id: 'another' }] } }]);
    expect((await rig.admin.ask('POST', `${providers}/entered/test`, {})).json).toMatchObject({
      message: 'It has 2 models.',
      models: [
        { model: 'their-model', served_as: ['entered-model'], retires: null },
        { model: 'another', served_as: [], retires: null },
      ],
      cut: false,
    });
    expect(rig.fake.served().at(-1)?.requestLine).toStartWith('GET /v1/models');
    expect((await find('entered'))?.tested).toMatchObject({ ok: true, message: 'It has 2 models.' });
    expect(await rig.admin.ask('POST', `${providers}/filed/test`, {})).toMatchObject({ json: { ok: true } });
    expect((await find('filed'))?.tested?.ok).toBe(true);
  });

  test('a provider’s refusal is shown without the credential', async () => {
    const leak = `bad key ${CANARY}-second`;
    for (const scenario of [
      { status: 401, json: { error: { message: leak } } },
      { status: 500, body: leak },
      { status: 302, body: leak, headers: { location: 'http://127.0.0.1:1/' } },
      { status: 200, body: leak },
      { rawHead: `HTTP/1.1 ${leak}\r\n\r\n` },
    ]) {
      rig.fake.script('models', scenario);
      const answer = await rig.admin.ask('POST', `${providers}/entered/test`, {});
      expect(answer).toMatchObject({ status: 200, json: { ok: false, models: [] } });
      expect(answer.text).not.toContain(CANARY);
    }
    rig.fake.script('models', { status: 302, headers: { location: `${rig.fake.url}/v1/models` } });
    const before = rig.fake.served().length;
    expect((await rig.admin.ask('POST', `${providers}/entered/test`, {})).text).toContain('redirect');
    expect(rig.fake.served()).toHaveLength(before + 1);
    rig.fake.script('models', {});
  });
});

describe('a refused change', () => {
  test.each([
    ['filed', {}, 409, 'name'],
    ['entered', {}, 409, 'name'],
    ['demo', {}, 409, 'name'],
    ['Upper', {}, 400, 'name'],
    ['other', { kind: 'nonsense' }, 400, 'kind'],
    ['other', { credentials: { api_key: 'two words' } }, 400, 'credentials.api_key'],
    ['other', { credentials: { api_key: CANARY, other: CANARY } }, 400, 'credentials.other'],
    ['other', { kind: 'openai', credentials: {} }, 400, 'credentials.api_key'],
    ['other', { models: [] }, 400, 'models'],
    ['other', { base_url: null }, 400, 'base_url'],
    ['other', { models: [{ name: 'file-priced', upstream: 'x' }] }, 409, 'models.0.name'],
    ['other', { models: [{ name: 'another-name', upstream: 'x' }] }, 409, 'models.0.name'],
    [
      'other',
      {
        models: [
          { name: 'a', upstream: 'x' },
          { name: 'a', upstream: 'y' },
        ],
      },
      400,
      'models.1.name',
    ],
    ['other', { base_url: 'http://127.0.0.1:1/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://169.254.169.254/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://0x7f.1/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://2130706433/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://127。0。0。1/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://evil.example#.openai.azure.com/v1' }, 400, 'base_url'],
    ['other', { base_url: 'https://localhost/v1' }, 400, 'base_url'],
    ['other', { base_url: 'http://api.example.com/v1' }, 400, 'base_url'],
  ])('a provider %s with %p', async (name, changes, status, member) => {
    const answer = await rig.admin.ask('POST', providers, entryAt(rig.fake, { name, ...changes }));
    expect(answer).toMatchObject({ status, json: { error: { member } } });
    expect(answer.text).not.toContain(CANARY);
  });

  test('a change of a configured or unknown provider', async () => {
    for (const [method, body] of [
      ['PATCH', { models: [] }],
      ['DELETE', undefined],
    ] as const) {
      expect((await rig.admin.ask(method, `${providers}/filed`, body)).status).toBe(409);
      expect((await rig.admin.ask(method, `${providers}/nobody`, body)).status).toBe(404);
    }
  });

  test('everyone but operators', async () => {
    const { key } = await createKey(rig.gateway, { scopes: ['usage'] });
    for (const [method, path, body] of [
      ['GET', providers, undefined],
      ['POST', providers, entryAt(rig.fake, { name: 'other' })],
      ['POST', `${providers}/entered/test`, {}],
      ['DELETE', `${providers}/entered`, undefined],
      ['PUT', `${ACCOUNT}/models/file-unpriced/price`, {}],
    ] as const) {
      expect((await askApi(rig.gateway, key, method, path, body)).status).toBe(403);
      expect((await askApi(rig.gateway, null, method, path, body)).status).toBeGreaterThanOrEqual(401);
    }
  });
});

/** Returns every byte under a folder. */
function readAll(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

test('the credential is in no answer, no line of the log, and not in the database', async () => {
  const seen = [rig.gateway.stdout(), rig.gateway.stderr(), readAll(rig.gateway.dataDir)];
  for (const path of [
    providers,
    `${ACCOUNT}/models`,
    `${ACCOUNT}/models/entered-model/dry-run`,
    `${ACCOUNT}/model-matches?patterns=*`,
    '/status',
  ]) {
    const answer = await rig.admin.ask('GET', path);
    expect(answer.status).toBe(200);
    seen.push(answer.text);
  }
  for (const text of seen) {
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('filed-credential');
  }
});

test('it survives a reload and a restart, and disappears when it is removed', async () => {
  const logged = () =>
    rig.gateway.stderr().split('the configuration was reloaded').length +
    rig.gateway.stdout().split('the configuration was reloaded').length;
  const before = logged();
  writeFileSync(rig.gateway.configFile, JSON.stringify(configBeside(rig.fake, { limits: { messages_max: 5 } })));
  await eventually('the reload', () => (logged() > before ? true : null));
  expect(await call(rig.gateway, 'entered-model')).toBe(200);

  await rig.restart();
  expect(await call(rig.gateway, 'entered-model')).toBe(200);
  expect(rig.fake.served('their-model').at(-1)?.headLines.join('\n')).toContain(`Bearer ${CANARY}-second`);
});

test('a credential that is found on the machine is shown as its source', async () => {
  const cloud = { kind: 'bedrock', region: 'eu-central-1', credentials: 'chain' };
  const beside = configBeside(rig.fake) as { readonly providers: object };
  const added = { ...beside, providers: { ...beside.providers, cloud } };
  writeFileSync(rig.gateway.configFile, JSON.stringify(added));
  const view = await eventually('the reload', async () => (await find('cloud')) ?? null);
  expect(view).toMatchObject({ last4: null, credential_source: "AWS's own sources" });
  expect(await find('filed')).toMatchObject({ last4: '9f2c', credential_source: null });
});

test('a file entry with the same name or model takes precedence, and the console says so', async () => {
  const taking = configBeside(rig.fake, {
    providers: { filed: { kind: 'openai-compatible', base_url: `${rig.fake.url}/v1` } },
    models: { 'entered-model': { targets: [{ provider: 'filed', model: 'of-the-file' }] } },
  });
  writeFileSync(rig.gateway.configFile, JSON.stringify(taking));
  await eventually('the file to answer', async () => {
    await call(rig.gateway, 'entered-model');
    return rig.fake.served('of-the-file').length > 0 ? true : null;
  });
  expect((await find('entered'))?.problem).toContain('entered-model');
  const notice = 'The provider entered, entered in the console:';
  await eventually('the notice', () =>
    `${rig.gateway.stdout()}${rig.gateway.stderr()}`.includes(notice) ? true : null,
  );

  writeFileSync(rig.gateway.configFile, JSON.stringify(configBeside(rig.fake, { server: {} })));
  await eventually('the address to be refused', async () =>
    (await find('entered'))?.problem?.includes('private_origins') ? true : null,
  );
  expect(await call(rig.gateway, 'entered-model')).toBe(403);

  writeFileSync(rig.gateway.configFile, JSON.stringify(configBeside(rig.fake)));
  await eventually('it to serve again', async () => ((await call(rig.gateway, 'entered-model')) === 200 ? true : null));
  expect((await rig.admin.ask('DELETE', `${providers}/entered`)).status).toBe(200);
  expect(await call(rig.gateway, 'entered-model')).toBe(403);
  expect(await find('entered'))?.toBeUndefined();
});
