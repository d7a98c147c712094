/** Tests how a stored request is sent again to another model, without a pasted key, and how a conversation goes on. */
import { afterAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { must } from '../console-api/api-visitor.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import type { Visitor } from './visitor.ts';

const ANSWER = 'Good day to you.';
const TOOLS = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];

let fake: FakeUpstream | undefined;
let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole(
  async (opened) => {
    ({ gateway, visitor, page } = opened);
    await must(opened.owner.ask('PATCH /accounts/default/workspaces/default', { body: { bodies: 'all' } }));
    const { key } = await createKey(gateway, { name: 'agent' });
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'ok',
        max_tokens: 77,
        tools: TOOLS,
        messages: [{ role: 'user', content: 'A question from an agent.' }],
      }),
    });
    expect(response.status).toBe(200);
    await response.text();
  },
  async () => {
    const started = await startFakeUpstream();
    fake = started;
    return { config: pointAt(started.url, { chat: ['ok', 'think'] }) };
  },
);

afterAll(async () => void (await fake?.stop()));

const newest = () =>
  eventually('the newest record', async () => {
    const [call] = await gateway.calls('--limit', '1');
    return call ?? null;
  });

describe.skipIf(!HAS_BROWSER)('replay (needs Chromium for Linux on x64)', () => {
  test('a stored request runs on another model in four interactions, beside the original', async () => {
    await openPage(page, `${gateway.url}/app/logs`);
    const original = await newest();
    await page
      .getByRole('table')
      .getByRole('row', { name: /\bok\b/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'Open in playground' }).click();
    await page.getByText('Messages · 1 message · 1 tool').waitFor();
    await page.getByLabel('Model', { exact: true }).selectOption('think');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('region', { name: 'Original response' }).getByText(ANSWER).waitFor();
    await page.getByRole('region', { name: 'Response from think' }).getByText(/\w/).first().waitFor();
    await page.getByTitle('Compared with the original request').first().waitFor();
    const replayed = await eventually('the record of the replay', async () => {
      const call = await newest();
      return call.request_id === original.request_id ? null : call;
    });
    expect(replayed).toMatchObject({ status: 200, model: 'think', protocol: 'messages', key_name: 'Playground' });
    expect(await visitor.findBarriers()).toEqual([]);
    expect(visitor.faults()).toEqual([]);
  });

  test('a request that is sent before the page knows its workspaces waits for them', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/accounts/default/workspaces', async (route) => {
      await held.promise;
      await route.continue();
    });
    const before = await newest();
    await page.goto(`${gateway.url}/app/playground?request=${before.request_id}`);
    await page.getByText('Messages · 1 message').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Waiting for first token…').waitFor();
    held.resolve();
    await page.getByText('Charged').waitFor();
    await page.unroute('**/accounts/default/workspaces');
    expect(visitor.faults()).toEqual([]);
  });

  test('the cost of the listed requests on another model takes two interactions', async () => {
    await openPage(page, `${gateway.url}/app/logs?q=model:ok`);
    await page.getByRole('button', { name: 'Compare cost' }).click();
    const sheet = page.getByRole('dialog', { name: 'Cost on another model' });
    await sheet.getByLabel('Model', { exact: true }).selectOption('think');
    await sheet
      .getByRole('table', { name: 'Cost by API key' })
      .getByRole('row', { name: /agent 1/ })
      .waitFor();
    await sheet.getByRole('definition').filter({ hasText: '±$0.00 (±0%)' }).waitFor();
    await sheet.getByRole('link', { name: 'ok', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('other_model')).toBe('think');
    expect(await visitor.findBarriers()).toEqual([]);
    expect(visitor.faults()).toEqual([]);
  });

  test('a comparison in which no request has a price says so', async () => {
    await page.route('**/what-if?*', async (route) => {
      const json = await (await route.fetch()).json();
      const none = { requests: 0, now_nano_usd: '0', then_nano_usd: '0', by_model: [], by_key: [] };
      await route.fulfill({ json: { ...json, ...none, unpriced: 3 } });
    });
    await openPage(page, `${gateway.url}/app/logs?q=model:ok&other_model=think`);
    await page.getByText('Not included: 3 requests without a price.').waitFor();
    await page.unroute('**/what-if?*');
    expect(visitor.faults()).toEqual([]);
  });

  test('a conversation goes on, and survives leaving the page and a reload', async () => {
    await openPage(page, `${gateway.url}/app/playground`);
    const remove = page.getByRole('button', { name: 'Remove stored request' });
    if ((await remove.count()) > 0) await remove.click();
    await page.getByRole('textbox', { name: 'User' }).fill('Good day.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Continue conversation' }).click();
    await page.getByRole('textbox', { name: 'Next message' }).fill('And then?');
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.goBack();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Next message' }).inputValue()).toBe('And then?');
    await page.getByRole('region', { name: 'Conversation' }).getByText('Good day.').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Charged').waitFor();
    const sent = JSON.parse(new TextDecoder().decode(fake?.served().at(-1)?.requestBody));
    expect(sent.messages).toEqual([
      { role: 'user', content: 'Good day.' },
      { role: 'assistant', content: ANSWER },
      { role: 'user', content: 'And then?' },
    ]);
    expect(await visitor.findBarriers()).toEqual([]);
    expect(visitor.faults()).toEqual([]);
  });
});
