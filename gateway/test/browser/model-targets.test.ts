/** Tests the targets of a model in the console: adding one, its options, and its rotation. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { addProvider, must, type Person } from '../console-api/api-visitor.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import { press } from './press.ts';
import type { Visitor } from './visitor.ts';

let api: Person;
let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole(async (opened) => {
  ({ owner: api, gateway, visitor, page } = opened);
  for (const name of ['one', 'two']) await addProvider(api, name, { model: `${name}-model` });
});

const dialog = () => page.getByRole('dialog', { name: 'Targets of one-model' });
const second = () => dialog().getByRole('group', { name: 'Target 2' });
const model = () => page.getByRole('dialog', { name: 'one-model', exact: true });

describe.skipIf(!HAS_BROWSER)('the targets of a model (needs Chromium for Linux on x64)', () => {
  test('get a second one with options, which is removed from rotation and returned', async () => {
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    await press(model(), 'Edit targets');
    await press(dialog(), 'Add target');
    await second().getByLabel('Provider', { exact: true }).selectOption('two');
    await second().getByLabel('Provider’s model').fill('large');
    await second().getByLabel('Weight').fill('1.5');
    await second().getByText('Enter a whole number from 0 to 1000.').waitFor();
    await second().getByLabel('Weight').fill('0');
    await second().getByLabel('Tags').fill('eu');
    await press(dialog(), 'Save targets');
    await dialog().waitFor({ state: 'detached' });
    await page.getByText('two: large').first().waitFor();
    const { json } = await api.ask('GET /accounts/default/routes/one-model');
    expect(json).toMatchObject({
      source: 'console',
      routing: { strategy: 'weight' },
      targets: [
        { name: 'one/small', weight: null },
        { name: 'two/large', weight: 0, tags: ['eu'], out_of_rotation_since: null },
      ],
    });

    await press(model(), 'Remove from rotation two/large');
    await page.getByText('Out of rotation', { exact: true }).waitFor();
    await press(model(), 'Return to rotation two/large');
    await page.getByText('Out of rotation', { exact: true }).waitFor({ state: 'detached' });
    expect(visitor.faults()).toEqual([]);
  });

  test('show an error of the gateway in the field of its target', async () => {
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    await press(model(), 'Edit targets');
    await second().getByLabel('Tags').fill('eu UPPER');
    await press(dialog(), 'Save targets');
    await second().getByText("Found 'UPPER', expected a tag").waitFor();
    await second().getByLabel('Tags').and(page.locator(':focus[aria-invalid="true"]')).waitFor();
    expect(await dialog().getByText('argets.1').count()).toBe(0);
    await second().getByLabel('Tags').fill('eu');
    await second().getByLabel('Provider', { exact: true }).selectOption('one');
    await second().getByLabel('Provider’s model').fill('small');
    await press(dialog(), 'Save targets');
    await dialog().getByText("Found 'small' at one twice").waitFor();
    expect(visitor.faults(400)).toEqual([]);
  });

  test('keep what the form does not show, and change their strategy', async () => {
    const targets = [
      { provider: 'one', model: 'small', timeouts: { connect: '1s' } },
      { provider: 'two', model: 'large' },
    ];
    await must(
      api.ask('PATCH /accounts/default/routes/one-model', { body: { targets, routing: { affinity: 'prefix' } } }),
    );
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    await press(model(), 'Edit targets');
    await dialog().getByLabel('Strategy').selectOption('latency');
    await press(dialog(), 'Remove target 2');
    await press(dialog(), 'Save targets');
    await dialog().waitFor({ state: 'detached' });
    const { json } = await api.ask('GET /accounts/default/routes/one-model');
    expect(json.definition).toEqual({
      targets: [{ provider: 'one', model: 'small', timeouts: { connect: '1s' } }],
      routing: { affinity: 'prefix', strategy: 'latency' },
    });
  });

  test('are not overwritten where another user changed them meanwhile', async () => {
    const targets = [{ provider: 'one', model: 'small' }];
    await must(api.ask('PATCH /accounts/default/routes/one-model', { body: { targets, routing: null } }));
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    await press(model(), 'Edit targets');
    await press(dialog(), 'Add target');
    const others = [...targets, { provider: 'two', model: 'large' }];
    await must(api.ask('PATCH /accounts/default/routes/one-model', { body: { targets: others } }));
    await press(dialog(), 'Save targets');
    await dialog().getByText('changed the targets of one-model meanwhile (added two/large)').waitFor();
    await press(dialog(), 'Remove target 2');
    await dialog().getByLabel('Strategy').selectOption('latency');
    await press(dialog(), 'Save targets');
    await dialog().waitFor({ state: 'detached' });
    const { json } = await api.ask('GET /accounts/default/routes/one-model');
    expect(json.definition).toEqual({ targets: others, routing: { strategy: 'latency' } });
    expect(visitor.faults(400, 409)).toEqual([]);
  });

  test('say why none can be added where the providers cannot be read', async () => {
    const fault = { error: { code: 'store_unavailable', message: 'the store cannot be read' } };
    await page.route('**/accounts/default/providers', (route) => route.fulfill({ status: 503, json: fault }));
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    await press(model(), 'Edit targets');
    await dialog().getByText('The store cannot be read').waitFor();
    await page.unroute('**/accounts/default/providers');
    expect(visitor.faults(400, 409, 503)).toEqual([]);
  });

  test('say that their states cannot be read, until they can', async () => {
    const fault = { error: { code: 'store_unavailable', message: 'the store cannot be read' } };
    await page.route('**/routing/states', (route) => route.fulfill({ status: 503, json: fault }));
    await openPage(page, `${gateway.url}/app/models?model=one-model`);
    const note = model().getByText('The store cannot be read');
    await note.waitFor();
    await page.unroute('**/routing/states');
    await press(model(), 'Retry');
    await note.waitFor({ state: 'detached' });
    expect(visitor.faults(400, 409, 503)).toEqual([]);
  });
});
