/**
 * Tests routes and pools of credentials end to end: they apply from the next call, survive restarts, yield to the file,
 * show no secret, and belong to operators.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { ACCOUNT, askApi, CANARY, call, entryAt, type ModelsRig, startModels } from './models-rig.ts';

setDefaultTimeout(30_000);

const ROUTES = `${ACCOUNT}/routes`;
const CREDENTIALS = `${ACCOUNT}/providers/entered/credentials`;
const SPARE = 'spare-credential-1c9a44f0d3e7';

let rig: ModelsRig;

beforeAll(async () => {
  rig = await startModels();
  expect((await rig.admin.ask('POST', `${ACCOUNT}/providers`, entryAt(rig.fake))).status).toBe(200);
});
afterAll(() => rig.stop());

type RouteView = Reply<'GET /accounts/{account}/routes/{model}'>;
type Models = Reply<'GET /accounts/{account}/models'>;
type States = Reply<'GET /accounts/{account}/routing/states'>;

/** Calls the model, and returns the upstream model that answered. */
async function servedBy(model: string): Promise<string | undefined> {
  expect(await call(rig.gateway, model)).toBe(200);
  return rig.fake.served().at(-1)?.model ?? undefined;
}

const credentialOf = () => /Bearer (\S+)/.exec(rig.fake.served().at(-1)?.headLines.join('\n') ?? '')?.[1];
const TARGETS = [
  { provider: 'entered', model: 'second-of-theirs', name: 'main' },
  { provider: 'filed', model: 'of-the-file', priority: 2 },
];

const NO_RATES = { cache_read: null, cache_write_5m: null, cache_write_1h: null, reasoning: null };

describe('a route entered in the console', () => {
  test('applies from the next call, as do changes of it', async () => {
    expect(await call(rig.gateway, 'new')).toBe(403);
    const made = await rig.admin.ask('POST', ROUTES, { model: 'new', targets: TARGETS, alias: ['nick/name'] });
    expect(made).toMatchObject({ status: 200, json: { source: 'console', served: true, problem: null } });
    expect([await servedBy('new'), await servedBy('nick/name')]).toEqual(['second-of-theirs', 'second-of-theirs']);
    const changed = await rig.admin.ask('PATCH', `${ROUTES}/new`, { targets: [...TARGETS].reverse().map(levelled) });
    expect((changed.json as RouteView).targets.map(({ name }) => name)).toEqual(['filed/of-the-file', 'main']);
    expect(await servedBy('new')).toBe('of-the-file');
    expect((await rig.admin.ask('GET', `${ROUTES}/${encodeURIComponent('nick/name')}`)).json).toEqual(changed.json);
  });

  test('has targets that go out of rotation and stay out over a restart', async () => {
    const out = await rig.admin.ask('POST', `${ROUTES}/new/rotation`, {
      target: 'filed/of-the-file',
      in_rotation: false,
    });
    expect((out.json as RouteView).targets[0]?.out_of_rotation_since).toBeString();
    expect(await servedBy('new')).toBe('second-of-theirs');
    const last = await rig.admin.ask('POST', `${ROUTES}/new/rotation`, { target: 'main', in_rotation: false });
    expect(last).toMatchObject({ status: 409 });
    await rig.restart();
    expect(await servedBy('new')).toBe('second-of-theirs');
    const back = await rig.admin.ask('POST', `${ROUTES}/new/rotation`, {
      target: 'filed/of-the-file',
      in_rotation: true,
    });
    expect((back.json as RouteView).targets[0]?.out_of_rotation_since).toBeNull();
    expect(await servedBy('new')).toBe('of-the-file');
  });

  test('sets a price that is the console’s own, and is changed there', async () => {
    const target = { ...TARGETS[0], price: { input: 1, output: 5 } };
    expect((await rig.admin.ask('POST', ROUTES, { model: 'priced', targets: [target] })).status).toBe(200);
    const { models } = (await rig.admin.ask('GET', `${ACCOUNT}/models`)).json as Models;
    expect(models.find(({ name }) => name === 'priced')?.price).toMatchObject({ input: '1', source: 'console' });
    expect(models.find(({ name }) => name === 'file-priced')?.price).toMatchObject({ source: 'file' });
    const price = { from: null, free: true, input: null, output: null };
    const refused = await rig.admin.ask('PUT', `${ACCOUNT}/models/priced/price`, { ...price, ...NO_RATES });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('its route in the console sets the')]);
    expect((await rig.admin.ask('DELETE', `${ROUTES}/priced`)).status).toBe(200);
  });

  test('is refused with the member and the words of the configuration, each fault by itself', async () => {
    const targets = [{ provider: 'nobody' }, { provider: 'filed', weight: -1 }];
    const refused = await rig.admin.ask('POST', ROUTES, { model: 'bad', targets: targets.slice(1) });
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid', member: 'targets.0.weight' } },
    });
    expect(refused.text).toContain("found '-1', expected a whole number from 0");
    const unknown = await rig.admin.ask('POST', ROUTES, { model: 'bad', targets: targets.slice(0, 1) });
    expect(unknown).toMatchObject({ json: { error: { member: 'targets.0.provider' } } });
    expect((await rig.admin.ask('PATCH', `${ROUTES}/file-priced`, { alias: null })).status).toBe(409);
    expect((await rig.admin.ask('POST', ROUTES, { model: 'another-name', targets: TARGETS })).status).toBe(400);
    expect((await rig.admin.ask('DELETE', `${ROUTES}/nothing`)).status).toBe(404);
  });

  test('keeps its provider from being removed', async () => {
    const refused = await rig.admin.ask('DELETE', `${ACCOUNT}/providers/entered`);
    expect(refused).toMatchObject({ status: 409 });
    expect(refused.text).toContain('the routes new have targets at entered');
  });
});

function levelled<Target extends object>(target: Target): Target {
  return { ...target, priority: 1 };
}

describe('a pool of credentials', () => {
  test('takes a further one, whose secret is sent and never shown', async () => {
    const made = await rig.admin.ask('POST', CREDENTIALS, { name: 'spare', secrets: { api_key: SPARE }, weight: 2 });
    expect(made).toMatchObject({ status: 200, json: { name: 'spare', last4: 'd3e7', weight: 2, models: null } });
    const path = `${ACCOUNT}/providers/entered/test`;
    expect(await rig.admin.ask('POST', path, { credential: 'spare' })).toMatchObject({
      status: 200,
      json: { ok: true },
    });
    expect(credentialOf()).toBe(SPARE);
    expect((await rig.admin.ask('GET', `${ACCOUNT}/providers`)).json).toMatchObject({
      providers: [{ name: 'filed' }, { name: 'entered', tested: null }],
    });
    expect((await rig.admin.ask('POST', path, { credential: 'nobody' })).status).toBe(404);
    await rig.admin.ask('POST', `${CREDENTIALS}/default/rotation`, { in_rotation: false });
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(credentialOf()).toBe(SPARE);
    await rig.restart();
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(credentialOf()).toBe(SPARE);
    const replaced = await rig.admin.ask('POST', `${CREDENTIALS}/spare/replace`, {
      secrets: { api_key: `${SPARE}-new` },
    });
    expect(replaced.json).toMatchObject({ last4: '-new' });
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(credentialOf()).toBe(`${SPARE}-new`);
    expect((await rig.admin.ask('DELETE', `${CREDENTIALS}/spare`)).status).toBe(409);
    await rig.admin.ask('POST', `${CREDENTIALS}/default/rotation`, { in_rotation: true });
    expect((await rig.admin.ask('DELETE', `${CREDENTIALS}/spare`)).status).toBe(200);
    expect(await call(rig.gateway, 'entered-model')).toBe(200);
    expect(credentialOf()).toBe(CANARY);
    const texts = [
      await rig.admin.ask('GET', CREDENTIALS),
      await rig.admin.ask('GET', ROUTES),
      await rig.admin.ask('GET', `${ACCOUNT}/audit`),
      await rig.admin.ask('GET', `${ACCOUNT}/routing/states`),
    ].map(({ text }) => text);
    for (const text of texts) for (const secret of [SPARE, CANARY]) expect(text).not.toContain(secret);
  });

  test('forgets that a credential was out of rotation when it is removed with its provider’s secrets', async () => {
    const provider = `${ACCOUNT}/providers/entered`;
    await rig.admin.ask('POST', CREDENTIALS, { name: 'other', secrets: { api_key: SPARE } });
    expect((await rig.admin.ask('POST', `${CREDENTIALS}/default/rotation`, { in_rotation: false })).status).toBe(200);
    expect((await rig.admin.ask('PATCH', provider, { credentials: {} })).status).toBe(200);
    const again = await rig.admin.ask('POST', CREDENTIALS, { name: 'default', secrets: { api_key: CANARY } });
    expect(again).toMatchObject({ status: 200, json: { name: 'default', out_of_rotation_since: null } });
    expect((await rig.admin.ask('DELETE', `${CREDENTIALS}/other`)).status).toBe(200);
  });

  test('leaves an audit entry for each change', async () => {
    const { json } = await rig.admin.ask('GET', `${ACCOUNT}/audit?limit=200`);
    const { entries } = json as Reply<'GET /accounts/{account}/audit'>;
    const acts = new Map(entries.map(({ act, subject }) => [act, subject.id]));
    expect(Object.fromEntries(acts)).toMatchObject({
      'routes.create': 'new',
      'routes.set': 'new',
      'routes.disable': 'new filed/of-the-file',
      'routes.enable': 'new filed/of-the-file',
      'credentials.add': 'entered/spare',
      'credentials.replace': 'entered/spare',
      'credentials.remove': 'entered/spare',
      'credentials.disable': 'entered/default',
      'credentials.enable': 'entered/default',
    });
  });
});

describe('states', () => {
  test('show used targets and all credentials; a breaker is closed by hand, with an entry', async () => {
    const { json } = await rig.admin.ask('GET', `${ACCOUNT}/routing/states`);
    const states = json as States;
    expect(states.targets.find(({ model, target }) => model === 'new' && target === 'main')).toMatchObject({
      provider: 'entered',
      upstream_model: 'second-of-theirs',
      state: 'closed',
    });
    expect(states.credentials.map(({ provider, name, state }) => `${provider}/${name} ${state}`)).toEqual([
      'filed/default usable',
      'entered/default usable',
    ]);
    expect((await rig.admin.ask('POST', `${ROUTES}/new/close`, { target: 'main' })).status).toBe(200);
    expect((await rig.admin.ask('POST', `${ROUTES}/new/close`, { target: 'nothing' })).status).toBe(409);
    const { entries } = (await rig.admin.ask('GET', `${ACCOUNT}/audit?limit=1`)).json as {
      readonly entries: readonly object[];
    };
    expect(entries[0]).toMatchObject({ act: 'routes.close', subject: { kind: 'target', id: 'new main' } });
  });
});

test('a member’s preview names the targets in the order of trial, and no state, cost or credential', async () => {
  await rig.admin.ask('PATCH', `${ROUTES}/new`, { targets: [{ ...TARGETS[0], tags: ['eu'] }, TARGETS[1]] });
  const { id, key } = await createKey(rig.gateway, { scopes: ['inference', 'usage'], required_tags: ['eu'] });
  const stepsOf = async (query: string) => {
    const { json } = await askApi(rig.gateway, key, 'GET', `${ACCOUNT}/models/new/dry-run${query}`);
    const { steps } = json as Reply<'GET /accounts/{account}/models/{model}/dry-run'>;
    return steps.map(({ outcome, text }) => `${outcome} ${text.split(':')[0]}`);
  };
  expect(await stepsOf('')).toEqual(['goes entered as second-of-theirs', 'then If that fails, filed as of-the-file']);
  expect(await stepsOf(`?key=${id}`)).toEqual(['goes entered as second-of-theirs', 'stops Not for this request']);
});

describe('the preview', () => {
  const explain = async (body: object) => {
    const { status, json } = await rig.admin.ask('POST', `${ROUTES}/explain`, body);
    expect(status).toBe(200);
    return json as Reply<'POST /accounts/{account}/routes/explain'>;
  };

  test('names each target with its verdict, sends nothing, and leaves what a call would need', async () => {
    await rig.admin.ask('PATCH', `${ROUTES}/new`, { targets: [{ ...TARGETS[0], tags: ['eu'] }, TARGETS[1]] });
    const before = rig.fake.served().length;
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const messages = [{ role: 'user', content: 'x'.repeat(4_000) }];
    const seen = await explain({ model: 'nick/name', protocol: 'chat', request: { model: 'other', messages, tools } });
    expect(seen).toMatchObject({ model: 'new', strategy: 'order', pin: null, needs: ['tools'], refusal: null });
    expect(seen.input_tokens).toBeGreaterThan(100);
    expect(seen.targets.map(({ target, verdict, credential }) => [target, verdict, credential])).toEqual([
      ['main', 'chosen', 'default'],
      ['filed/of-the-file', 'fallback', 'default'],
    ]);
    expect(rig.fake.served()).toHaveLength(before);
  });

  test('runs on the command line too, which shares all changes with the API', async () => {
    const { stdout, stderr } = await rig.gateway.run('route', 'explain', '--model', 'nick/name');
    expect([stderr, stdout.split('\n')[0]]).toEqual([
      '',
      expect.stringMatching(/^new {2}strategy order, pin none, .* tokens$/),
    ]);
    expect(stdout).toMatch(/ {2}1 entered\/main +chosen/);
    expect((await rig.gateway.run('routes', 'states')).stdout).toMatch(/new +main +closed/);
    expect((await rig.gateway.run('routes', 'close', 'new', 'main')).status).toBe(0);
    expect((await rig.gateway.run('routes', 'disable', 'new', 'main')).status).toBe(0);
    expect(await servedBy('new')).toBe('of-the-file');
    expect((await rig.gateway.run('routes', 'enable', 'new', 'main')).status).toBe(0);
    expect(await servedBy('new')).toBe('second-of-theirs');
  });

  test('knows the tags that a key requires, what is out of rotation, and refusals', async () => {
    const { id } = await createKey(rig.gateway, { required_tags: ['eu'] });
    const tagged = await explain({ model: 'new', key: id });
    expect(tagged.targets.map(({ target, verdict, why }) => [target, verdict, why])).toEqual([
      ['main', 'chosen', expect.any(String)],
      ['filed/of-the-file', 'filtered', 'tag'],
    ]);
    await rig.admin.ask('POST', `${ROUTES}/new/rotation`, { target: 'main', in_rotation: false });
    const refused = await explain({ model: 'new', key: id });
    expect(refused.refusal).toContain('eu');
    expect(refused.targets.at(-1)).toMatchObject({ target: 'main', verdict: 'skipped', why: 'out', state: 'out' });
    await rig.admin.ask('POST', `${ROUTES}/new/rotation`, { target: 'main', in_rotation: true });
    expect((await explain({ model: 'gone' })).refusal).toContain('is not served here');
    expect((await explain({ model: 'new', request: { messages: 5 } })).refusal).toContain('messages');
    expect((await rig.admin.ask('POST', `${ROUTES}/explain`, { model: 'new', key: 'key_none' })).status).toBe(404);
  });
});

test('tenants and members without the permission see nothing of it', async () => {
  await control(rig.gateway, 'accounts.create', { id: 'acme' });
  await control(rig.gateway, 'workspaces.create', { id: 'acme-main', account: 'acme' });
  const { key: tenant } = await createKey(rig.gateway, { workspace: 'acme-main', scopes: ['admin'] });
  const { key: reader } = await createKey(rig.gateway, { scopes: ['usage'] });
  for (const [method, path, body] of [
    ['GET', 'routes', undefined],
    ['GET', 'routes/new', undefined],
    ['GET', 'routing/states', undefined],
    ['GET', 'providers/entered/credentials', undefined],
    ['POST', 'routes/explain', { model: 'new' }],
    ['POST', 'routes', { model: 'x', targets: TARGETS }],
    ['POST', 'routes/new/rotation', { target: 'main', in_rotation: false }],
    ['POST', 'providers/entered/credentials', { name: 'x', secrets: { api_key: 'y' } }],
  ] as const) {
    for (const [key, account] of [
      [tenant, 'acme'],
      [reader, 'default'],
    ] as const) {
      const { status, text } = await askApi(rig.gateway, key, method, `/accounts/${account}/${path}`, body);
      expect([path, status]).toEqual([path, 403]);
      expect(text).not.toContain('second-of-theirs');
    }
  }
});
