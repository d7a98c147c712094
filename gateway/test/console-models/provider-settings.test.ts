/**
 * Tests changes to the address and settings of providers entered in the console, end to end: they apply from the next
 * request, and no stored credential ever reaches an address that it was not entered for.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { hasTerminal, send } from '../fault/calls.ts';
import { ACCOUNT, CANARY, call, entryAt, type ModelsRig, startModels } from './models-rig.ts';

setDefaultTimeout(30_000);

type Provider = Reply<'GET /accounts/{account}/providers'>['providers'][number];

const PROVIDERS = `${ACCOUNT}/providers`;
const PATH = `${PROVIDERS}/entered`;
const LIST = { json: { data: [{ id: 'their-model' }] } };
const SECOND = 'canary-of-the-second-address-91ab';

let rig: ModelsRig;
let other: FakeUpstream;

beforeAll(async () => {
  other = await startFakeUpstream();
  other.script('their-model', {});
  other.script('models', LIST);
  rig = await startModels([other.url]);
  expect((await rig.admin.ask('POST', PROVIDERS, entryAt(rig.fake))).status).toBe(200);
});
afterAll(async () => {
  await rig.stop();
  await other.stop();
});

async function find(name = 'entered'): Promise<Provider | undefined> {
  const { json } = await rig.admin.ask('GET', PROVIDERS);
  return (json as Reply<'GET /accounts/{account}/providers'>).providers.find((one) => one.name === name);
}

async function lastEntry() {
  const { json } = await rig.admin.ask('GET', `${ACCOUNT}/audit?limit=1`);
  return (json as Reply<'GET /accounts/{account}/audit'>).entries[0];
}

/** Everything that reached a fake upstream, heads only. */
function headsAt(fake: FakeUpstream): string {
  return fake
    .served()
    .flatMap(({ headLines }) => headLines)
    .join('\n');
}

const add = (body: object) => rig.admin.ask('POST', PROVIDERS, { base_url: null, models: [], ...body });
const MODELS = [{ name: 'cloud-model', upstream: 'm' }];

test('files are opened and closed with a setting, from the next request', async () => {
  const list = async () => {
    const headers = { authorization: `Bearer ${rig.gateway.key}` };
    return (await fetch(`${rig.gateway.url}/v1/files`, { headers })).status;
  };
  expect(await list()).toBe(404);
  const wrong = await rig.admin.ask('PATCH', PATH, { settings: { files: 'yes' } });
  expect(wrong).toMatchObject({ status: 400, json: { error: { member: 'settings.files' } } });
  for (const [files, status] of [
    ['on', 200],
    ['off', 404],
  ] as const) {
    expect((await rig.admin.ask('PATCH', PATH, { settings: { files } })).status).toBe(200);
    expect(await list()).toBe(status);
  }
  expect((await rig.admin.ask('PATCH', PATH, { settings: {} })).status).toBe(200);
});

describe('another address', () => {
  test('needs the credential again: without it nothing changes, and nothing is sent there', async () => {
    const before = await find();
    for (const address of [`${other.url}/v1`, `${rig.fake.url}/of-another-tenant/v1`]) {
      for (const [method, path] of [
        ['PATCH', PATH],
        ['POST', `${PATH}/test`],
      ] as const) {
        const refused = await rig.admin.ask(method, path, { base_url: address });
        expect(refused).toMatchObject({ status: 400, json: { error: { code: 'invalid', member: 'credentials' } } });
        expect(refused.text).not.toContain(CANARY);
      }
    }
    expect(await find()).toEqual(before);
    expect(other.served()).toEqual([]);
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(headsAt(rig.fake)).not.toContain('of-another-tenant');
  });

  test('is tested with the entered credential before it is saved; nothing is kept of the test but its entry', async () => {
    const before = await find();
    const change = { base_url: `${other.url}/v1`, credentials: { api_key: SECOND } };
    const tested = await rig.admin.ask('POST', `${PATH}/test`, change);
    expect(tested).toMatchObject({ status: 200, json: { ok: true } });
    expect(other.served().at(-1)?.requestLine).toStartWith('GET /v1/models');
    expect(headsAt(other)).toContain(`Bearer ${SECOND}`);
    expect(await find()).toEqual(before);
    expect(await lastEntry()).toMatchObject({
      act: 'providers.test',
      after: { base_url: `${other.url}/v1`, ok: true },
    });
    other.script('models', { status: 401, json: { error: { message: `no key ${SECOND}` } } });
    const refused = await rig.admin.ask('POST', `${PATH}/test`, change);
    expect(refused).toMatchObject({ json: { ok: false } });
    expect(refused.text).not.toContain(SECOND);
    other.script('models', LIST);
  });

  test('applies from the next request; a running one ends where it began, with its own credential', async () => {
    expect(
      (await rig.admin.ask('POST', `${PATH}/credentials`, { name: 'spare', secrets: { api_key: `${CANARY}-spare` } }))
        .status,
    ).toBe(200);
    rig.fake.script('their-model', { say: { text: 'one two three' }, holdAfterEvent: 2 });
    const running = await send(rig.gateway, { protocol: 'chat', model: 'entered-model', stream: true });
    const change = { base_url: `${other.url}/v1`, credentials: { api_key: SECOND } };
    const changed = await rig.admin.ask('PATCH', PATH, change);
    expect(changed).toMatchObject({
      status: 200,
      json: { base_url: `${other.url}/v1`, entered_base_url: `${other.url}/v1`, last4: '91ab', problem: null },
    });
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(other.served('their-model')).toHaveLength(1);
    rig.fake.release();
    expect(hasTerminal('chat', await running.text())).toBe(true);
    // No credential of the first address came along, and none of the second went back.
    expect(headsAt(other)).not.toContain(CANARY);
    expect(headsAt(rig.fake)).not.toContain(SECOND);
    const { json } = await rig.admin.ask('GET', `${PATH}/credentials`);
    expect((json as { credentials: { name: string }[] }).credentials.map(({ name }) => name)).toEqual(['default']);
    rig.fake.script('their-model', {});
  });

  test('leaves an audit entry with both addresses and no secret', async () => {
    expect(await lastEntry()).toMatchObject({
      act: 'providers.change',
      subject: { id: 'entered' },
      before: { base_url: `${rig.fake.url}/v1` },
      after: { base_url: `${other.url}/v1`, credentials: 'replaced' },
    });
    const trail = await rig.admin.ask('GET', `${ACCOUNT}/audit?limit=200`);
    expect(trail.text).not.toContain('canary');
  });

  test('does not bring the first credential back when the address is the first again', async () => {
    expect((await rig.admin.ask('PATCH', PATH, { base_url: `${rig.fake.url}/v1` })).status).toBe(400);
    const without = { base_url: `${rig.fake.url}/v1`, credentials: {} };
    expect(await rig.admin.ask('PATCH', PATH, without)).toMatchObject({ status: 200, json: { last4: null } });
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(rig.fake.served('their-model').at(-1)?.headLines.join('\n')).not.toContain('uthorization');
    // Without a credential, the address may change.
    expect((await rig.admin.ask('PATCH', PATH, { base_url: `${other.url}/v1` })).status).toBe(200);
    expect((await rig.admin.ask('PATCH', PATH, { base_url: `${rig.fake.url}/v1` })).status).toBe(200);
  });
});

describe('settings', () => {
  const CLOUD = `${PROVIDERS}/cloud`;
  const KEY = { api_key: `${CANARY}-bedrock` };
  const hostIn = (region: string) => `https://bedrock-runtime.${region}.amazonaws.com`;

  test('that keep the address keep the credential; the others stay as they were', async () => {
    const settings = { region: 'eu-central-1' };
    expect(await add({ name: 'cloud', kind: 'bedrock', settings, credentials: KEY, models: MODELS })).toMatchObject({
      json: { base_url: hostIn('eu-central-1'), entered_base_url: null },
    });
    const changed = await rig.admin.ask('PATCH', CLOUD, { settings: { ...settings, service_tier: 'flex' } });
    expect(changed).toMatchObject({
      status: 200,
      json: { settings: { ...settings, service_tier: 'flex' }, last4: 'rock', problem: null },
    });
    expect(await lastEntry()).toMatchObject({
      act: 'providers.change',
      before: { settings },
      after: { settings: { ...settings, service_tier: 'flex' } },
    });
    expect(Object.keys((await lastEntry())?.after ?? {})).toEqual(['settings']);
  });

  test('that lead to another host need the credential again, and move the address', async () => {
    const settings = { region: 'us-east-1' };
    expect(await rig.admin.ask('PATCH', CLOUD, { settings })).toMatchObject({
      status: 400,
      json: { error: { member: 'credentials' } },
    });
    expect(await find('cloud')).toMatchObject({ base_url: hostIn('eu-central-1'), problem: null });
    const moved = await rig.admin.ask('PATCH', CLOUD, { settings, credentials: KEY });
    expect(moved).toMatchObject({
      status: 200,
      json: { base_url: hostIn('us-east-1'), entered_base_url: null, settings, problem: null },
    });
  });

  test('that a credential names are filled in, and can be changed', async () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    const account = { type: 'service_account', client_email: 'gw@p9.example', private_key: pem, project_id: 'p9' };
    const credentials = { credentials_json: JSON.stringify(account) };
    expect(await add({ name: 'google', kind: 'vertex', credentials, models: MODELS })).toMatchObject({
      status: 200,
      json: { settings: { project: 'p9' }, base_url: 'https://aiplatform.googleapis.com', problem: null },
    });
    const google = `${PROVIDERS}/google`;
    for (const [settings, found] of [
      [
        { project: 'p1', location: 'global' },
        { project: 'p1', location: 'global' },
      ],
      // The stored credential names it, too.
      [{}, { project: 'p9' }],
    ]) {
      expect(await rig.admin.ask('PATCH', google, { settings })).toMatchObject({ status: 200 });
      expect((await find('google'))?.settings).toEqual(found ?? {});
    }
    const moved = await rig.admin.ask('PATCH', google, { settings: { location: 'eu' } });
    expect(moved).toMatchObject({ status: 400, json: { error: { member: 'credentials' } } });
  });

  test('do not move an address that was entered', async () => {
    const azure = `${PROVIDERS}/azure`;
    const address = 'https://proxy.example';
    const credentials = { api_key: `${CANARY}-azure` };
    expect((await add({ name: 'azure', kind: 'azure', base_url: address, credentials, models: MODELS })).status).toBe(
      200,
    );
    const changed = await rig.admin.ask('PATCH', azure, { settings: { resource: 'acme', api_version: 'preview' } });
    expect(changed).toMatchObject({ status: 200, json: { base_url: address, entered_base_url: address } });
    // Without it, the address follows from the settings.
    expect(await rig.admin.ask('PATCH', azure, { base_url: null })).toMatchObject({ status: 400 });
    expect(await rig.admin.ask('PATCH', azure, { base_url: null, credentials })).toMatchObject({
      status: 200,
      json: { base_url: 'https://acme.openai.azure.com', entered_base_url: null },
    });
  });

  test.each<[string, object, string]>([
    ['cloud', { settings: { region: 'evil.com/#' } }, 'settings.region'],
    ['cloud', { settings: {} }, 'settings.region'],
    ['cloud', { settings: { region: 'us-east-1', guardrail_id: 'g' } }, 'settings.guardrail_id'],
    ['cloud', { settings: { region: 'us-east-1', nonsense: 'x' } }, 'settings.nonsense'],
    ['cloud', { credentials: { access_key_id: 'AKIDEXAMPLE' } }, 'credentials.access_key_id'],
    ['entered', { base_url: null }, 'base_url'],
    ['entered', { base_url: 'http://127.0.0.1:1/v1', credentials: {} }, 'base_url'],
    ['entered', { base_url: 'https://169.254.169.254/v1', credentials: {} }, 'base_url'],
    ['entered', { base_url: 'https://127。0。0。1/v1', credentials: {} }, 'base_url'],
    ['entered', { base_url: 'https://evil.example#.openai.azure.com/v1', credentials: {} }, 'base_url'],
    ['entered', { base_url: 'https://localhost/v1', credentials: {} }, 'base_url'],
    ['entered', { base_url: 'http://api.example.com/v1', credentials: {} }, 'base_url'],
  ])('of %s are refused as at its creation: %j', async (name, change, member) => {
    const before = await find(name);
    const refused = await rig.admin.ask('PATCH', `${PROVIDERS}/${name}`, change);
    expect(refused).toMatchObject({ status: 400, json: { error: { member } } });
    expect((await rig.admin.ask('POST', `${PROVIDERS}/${name}/test`, change)).status).toBe(400);
    expect(await find(name)).toEqual(before);
  });

  test('that are the same leave no entry', async () => {
    const before = await lastEntry();
    const { settings, base_url } = (await find('cloud')) ?? {};
    expect((await rig.admin.ask('PATCH', CLOUD, { settings, base_url: base_url ?? null })).status).toBe(200);
    expect(await lastEntry()).toEqual(before);
  });

  test('of a provider of the file stay read-only, with where to change them', async () => {
    for (const [method, path] of [
      ['PATCH', `${PROVIDERS}/filed`],
      ['POST', `${PROVIDERS}/filed/test`],
    ] as const) {
      const refused = await rig.admin.ask(method, path, { base_url: `${other.url}/v1`, credentials: KEY });
      expect(refused).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
      expect(refused.text).toContain('read-only here; change it there');
    }
    expect(await rig.admin.ask('PATCH', `${PROVIDERS}/missing`, { settings: {} })).toMatchObject({ status: 404 });
  });

  test('survive a restart', async () => {
    const before = await find('cloud');
    await rig.restart();
    expect(await find('cloud')).toEqual(before);
  });
});
