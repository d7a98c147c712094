/**
 * Tests how a provider is added and changed in the console: the form of a kind from its descriptor, the tests before and
 * after, and the choice among the models that the provider offers. A kind with every sort of field is played into the reply of the API.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { must, type Person } from '../console-api/api-visitor.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import { choose, press } from './press.ts';
import type { Visitor } from './visitor.ts';

type Kind = Reply<'GET /accounts/{account}/providers'>['kinds'][number];

const CLOUD: Kind = {
  kind: 'cloud',
  name: 'Cloud',
  base_url: null,
  derives_base_url: true,
  secrets: [
    { name: 'access_key_id', title: 'Access key ID', hint: 'Together with its secret.', document: false },
    { name: 'key_file', title: 'Key file', hint: null, document: true },
  ],
  settings: [
    { name: 'region', title: 'Region', hint: 'Enter a region such as eu-central-1.', options: [] },
    { name: 'door', title: 'Endpoint', hint: 'Auto: by the model.', options: ['auto', 'runtime'] },
  ],
};
const PROVIDERS = '**/app/api/accounts/default/providers';

let api: Person;
let gateway: RunningGateway;
let fake: FakeUpstream | undefined;
let visitor: Visitor;
let page: Page;

openOwnConsole(
  (opened) => {
    ({ owner: api, gateway, visitor, page } = opened);
  },
  async () => {
    fake = await startFakeUpstream();
    const filed = { kind: 'openai-compatible', base_url: `${fake.url}/v1`, api_key: 'none' };
    return { config: { server: { private_origins: [fake.url] }, providers: { filed } } };
  },
);
afterAll(async () => void (await fake?.stop()));

const dialog = (name = 'Add provider') => page.getByRole('dialog', { name });
const field = (label: string) => dialog().getByLabel(label, { exact: true });

async function openForm(type: string): Promise<void> {
  await openPage(page, `${gateway.url}/app/providers`);
  await press(page, 'Add provider');
  await field('Type').selectOption(type);
}

describe.skipIf(!HAS_BROWSER)('the form of a provider (needs Chromium for Linux on x64)', () => {
  test('has the settings and secrets of its kind, and shows each error at its field', async () => {
    await page.route(PROVIDERS, async (route) => {
      if (route.request().method() === 'POST') {
        const faults = [
          { member: 'settings.region', message: 'settings.region: found x, expected a region' },
          { member: 'credentials.key_file', message: 'credentials.key_file: found no JSON' },
        ];
        await route.fulfill({
          status: 400,
          json: { error: { code: 'invalid', message: 'settings.region: …', faults } },
        });
        return;
      }
      const reply = await route.fetch();
      const json = (await reply.json()) as Reply<'GET /accounts/{account}/providers'>;
      await route.fulfill({ json: { ...json, kinds: [...json.kinds, CLOUD] } });
    });
    await openForm('cloud');
    await dialog().getByText('Enter a region such as eu-central-1.').waitFor();
    await dialog().getByText('Leave blank to derive it from the fields above.').waitFor();
    expect(await field('Access key ID').getAttribute('type')).toBe('password');
    await field('Region').fill('x');
    await field('Endpoint').selectOption('runtime');
    await field('Access key ID').fill('AKIDEXAMPLE');
    await field('Key file').fill('{\n  "type": "service_account"\n}');
    expect(await visitor.findBarriers()).toEqual([]);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await press(dialog(), 'Add and test');
    expect((await sent).postDataJSON()).toEqual({
      name: 'cloud',
      kind: 'cloud',
      base_url: null,
      settings: { region: 'x', door: 'runtime' },
      credentials: { access_key_id: 'AKIDEXAMPLE', key_file: '{\n  "type": "service_account"\n}' },
      models: [],
    });
    await dialog().getByText('Found x, expected a region').waitFor();
    await dialog().getByText('Found no JSON').waitFor();
    expect(await dialog().getByRole('alert').count()).toBe(0);
    expect(visitor.faults(400)).toEqual([]);
    await page.unroute(PROVIDERS);
  });

  test('proposes a name by its kind, until another is entered', async () => {
    await openForm('gemini');
    expect(await field('Name').inputValue()).toBe('gemini');
    await field('Name').fill('north');
    await field('Type').selectOption('azure');
    expect(await field('Name').inputValue()).toBe('north');
  });

  test('of every kind has a field for each setting and secret', async () => {
    const { kinds } = (await api.ask('GET /accounts/default/providers')).json as { readonly kinds: readonly Kind[] };
    expect(kinds.filter(({ settings }) => settings.length > 0).length).toBeGreaterThan(1);
    await openForm('openai');
    for (const { kind, settings, secrets } of kinds) {
      await field('Type').selectOption(kind);
      for (const { title } of [...settings, ...secrets]) await field(title).waitFor();
    }
    await field('Type').selectOption('azure');
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('of Vertex AI has its project, location and credentials, each with its error', async () => {
    await openForm('vertex');
    await field('Project').fill('my-project-1');
    await field('Location').fill('evil.com/#');
    await press(dialog(), 'Add and test');
    await dialog().getByText("Found 'evil.com/#', expected a location such as global").waitFor();
    await field('Location').fill('eu');
    await field('Credentials (JSON)').fill('{ "type": "no account" }');
    await press(dialog(), 'Add and test');
    await field('Credentials (JSON)').and(page.locator('[aria-invalid="true"]')).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('adds a provider, tests it, and says what the provider answered', async () => {
    fake?.script('models', { status: 401, json: { error: { message: 'no such key' } } });
    await openForm('openai-compatible');
    await field('Name').fill('lab');
    await field('API key').fill('canary-0123456789');
    await field('Base URL').fill(`${fake?.url}/v1`);
    await field('Models').fill('lab-small = ok');
    await press(dialog(), 'Add and test');
    await page.getByText('Added lab. It answered 401: no such key. Enter its credential again.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'lab' }).getByText('Test failed').first().waitFor();
    await choose(page, 'Actions for lab', 'Credentials…');
    const pool = dialog('Credentials of lab');
    await choose(pool, 'Actions for default', 'Test');
    await pool.getByText('Test failed: It answered 401: no such key.').waitFor();
    expect(await page.content()).not.toContain('canary');
  });

  test('lists the models that the provider offers, marks those that are served, and adds another', async () => {
    const offered = ['ok', 'lab-small', 'tool'].map((id) => ({ id }));
    fake?.script('models', { json: { data: offered } });
    await openPage(page, `${gateway.url}/app/providers`);
    await choose(page, 'Actions for lab', 'Models…');
    const models = dialog('Models of lab');
    const row = (name: string) => models.getByRole('listitem').filter({ has: page.getByTitle(name, { exact: true }) });
    await models.getByText('It has 3 models.').waitFor();
    await row('ok').getByText('Served as lab-small').waitFor();
    await row('lab-small').getByText('Name served by lab').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await models.getByRole('button', { name: 'Add tool', exact: true }).click();
    await row('tool').getByText('Served', { exact: true }).waitFor();
    expect(await models.getByRole('button', { name: /^Add/ }).count()).toBe(0);
    const { json } = await api.ask('GET /accounts/default/models');
    const served = json.models.find(({ name }: { name: string }) => name === 'tool');
    expect(served).toMatchObject({ targets: [{ provider: 'lab', model: 'tool' }], source: 'console' });
    await models.getByText('Close', { exact: true }).click();
    await models.waitFor({ state: 'detached' });
  });

  test('replaces the models of a provider', async () => {
    await choose(page, 'Actions for lab', 'Replace models…');
    const models = dialog('Replace models of lab');
    const lines = models.getByRole('textbox', { name: 'Models' });
    expect(await lines.inputValue()).toBe('lab-small = ok');
    await lines.fill('lab-small = ok\nlab-large = ok');
    expect(await visitor.findBarriers()).toEqual([]);
    // Another tab saves first.
    const other = (...names: string[]) => ({ models: names.map((name) => ({ name, upstream: 'ok' })) });
    await must(api.ask('PATCH /accounts/default/providers/lab', { body: other('lab-small', 'lab-tiny') }));
    await press(models, 'Replace models');
    await models.getByText('Another user changed the models of lab meanwhile (added lab-tiny)').waitFor();
    expect(await lines.inputValue()).toBe('lab-small = ok\nlab-large = ok');
    await must(api.ask('PATCH /accounts/default/providers/lab', { body: other('lab-small') }));
    await press(models, 'Replace models');
    await models.waitFor({ state: 'detached' });
    const { json } = await api.ask('GET /accounts/default/models');
    expect(json.models.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['lab-small', 'lab-large']),
    );
  });

  test('changes the settings and the address, and tests them before they are saved', async () => {
    await openPage(page, `${gateway.url}/app/providers`);
    await choose(page, 'Actions for lab', 'Edit…');
    const edit = dialog('Edit lab');
    const address = edit.getByLabel('Base URL', { exact: true });
    const key = edit.getByLabel('API key', { exact: true });
    expect([await address.inputValue(), await key.inputValue()]).toEqual([`${fake?.url}/v1`, '']);
    await address.fill(`${fake?.url}`);
    await press(edit, 'Test');
    await edit.getByText('and are not sent to another address; enter them again').waitFor();
    await key.and(page.locator(':focus[aria-invalid="true"]')).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await key.fill('canary-9876543210');
    fake?.script('models', { status: 401, json: { error: { message: 'no such key' } } });
    await press(edit, 'Test');
    await edit.getByRole('status').getByText('Test failed: It answered 401: no such key.').waitFor();
    fake?.script('models', { json: { data: [{ id: 'ok' }] } });
    await press(edit, 'Test');
    await edit.getByRole('status').getByText('Test passed: It has one model.').waitFor();
    // The result is that of the fields as they were.
    await key.fill('canary-0000003210');
    await edit.getByText('Test passed').waitFor({ state: 'detached' });
    await key.press('Enter');
    await page.getByText('Changed lab. Applies from the next request.').waitFor();
    await edit.waitFor({ state: 'detached' });
    const { json } = await api.ask('GET /accounts/default/providers');
    expect(json.providers.find(({ name }: { name: string }) => name === 'lab')).toMatchObject({
      base_url: fake?.url,
      last4: '3210',
    });
    expect(await page.content()).not.toContain('canary');
  });

  test('is not offered for a provider of the file', async () => {
    await page.getByText('Configuration file, read-only').waitFor();
    await press(page, 'Actions for filed');
    await page.getByRole('menuitem', { name: 'Credentials…' }).waitFor();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Credentials…', 'Models…']);
    await page.keyboard.press('Escape');
  });
});
