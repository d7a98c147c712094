/**
 * Tests the full path in a real browser: the setup link of the first start, a key, the SDKs' calls, usage and logs,
 * rotation, revocation, roles, limits.
 */
import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import OpenAI from 'openai';
import type { Browser, Page } from 'playwright-core';
import { OWNER, PASSWORD, setupLinkOf } from '../console-api/api-visitor.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { askFromPage } from './ask-from-page.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openConsole } from './open-console.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const BINDS_MS_MAX = 2_000;
const SECRET = /tg_[0-9A-Za-z]{49}/;
const ANSWER = 'Good day to you.';
/** 11 input tokens at 1 USD and 5 output tokens at 5 USD per million. */
const CALL_USD = '$0.000036';
const CALL_NANO_USD = 36_000n;
/** The record's word for each format of the playground. */
const RECORDED: Readonly<Record<string, string>> = {
  'Chat completions': 'chat',
  Messages: 'messages',
  Responses: 'responses',
};

let pair: Pair;
let browser: Browser;
let owner: Visitor;
let page: Page;
/** Secrets of the first key, the newest last. */
const secrets: string[] = [];
let keyName = '';

openConsole(
  () => startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok'] })),
  async (opened) => {
    ({ home: pair, browser } = opened);
    owner = await newVisitor(browser);
    page = owner.page;
  },
);

const at = (path: string) => `${pair.gateway.url}${path}`;
const question = { model: 'ok', messages: [{ role: 'user' as const, content: 'Good day.' }] };

async function statusOf(apiKey: string): Promise<number> {
  const client = new OpenAI({ baseURL: at('/v1'), apiKey, maxRetries: 0 });
  try {
    await client.chat.completions.create(question);
    return 200;
  } catch (error) {
    if (error instanceof OpenAI.APIError && error.status !== undefined) return error.status;
    throw error;
  }
}

/**
 * Selects the client on the page and runs its program exactly as shown, with the SDK installed here; returns its
 * output.
 */
async function runSnippet(client: string, apiKey: string): Promise<string> {
  await page.getByText(client, { exact: true }).click();
  const program = await page.locator('pre', { hasText: `from '` }).innerText();
  const run = Bun.spawn([process.execPath, '-e', program], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', TOLLGATE_KEY: apiKey },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  if ((await run.exited) !== 0) throw new Error(`${client}: ${stderr}`);
  return stdout.trim();
}

/** Opens the menu of a key's row and selects an item. */
async function chooseOfKey(act: string): Promise<void> {
  await page.goto(at('/app/keys'));
  await page.getByRole('button', { name: `Actions for ${keyName}`, exact: true }).click();
  await page.getByRole('menuitem', { name: act }).click();
}

describe.skipIf(!HAS_BROWSER)('the full path (needs Chromium for Linux on x64)', () => {
  test('the setup link creates the owner, a workspace that stores prompts, and a key with a test request', async () => {
    await page.goto(setupLinkOf(pair.gateway));
    await page.getByLabel('Name').fill(OWNER.name);
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    const create = page.getByRole('button', { name: 'Create key and test ok' });
    await create.waitFor();
    const policy = await askFromPage(page, 'PATCH /accounts/default/workspaces/default', { bodies: 'all' });
    expect(policy).toMatchObject({ status: 200, json: { bodies: 'all' } });
    await create.click();
    await page.getByText(ANSWER).waitFor();
    await page.getByText('Waiting for your first request.').waitFor();
    expect(owner.faults()).toEqual([]);
  });

  test('the snippets’ SDK requests succeed, and the page reports the first one', async () => {
    const shown = await page.locator('pre', { hasText: SECRET }).first().innerText();
    const apiKey = SECRET.exec(shown)?.[0] ?? '';
    secrets.push(apiKey);
    expect(await runSnippet('OpenAI TypeScript', apiKey)).toBe(ANSWER);
    await page.getByText('First request received.').waitFor();
    expect(await runSnippet('Anthropic TypeScript', apiKey)).toBe(ANSWER);
    expect(owner.faults()).toEqual([]);
  });

  test('usage and logs show the requests with the right cost', async () => {
    const calls = await eventually('every record', async () => {
      const found = await pair.gateway.calls();
      return found.length < 3 ? null : found;
    });
    const costs = calls.map(({ cost_nano_usd }) => BigInt(cost_nano_usd ?? -1));
    expect(costs).toEqual([CALL_NANO_USD, CALL_NANO_USD, CALL_NANO_USD]);
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.goto(at('/app/usage'));
    await page.locator('main').getByText('$0.0001').first().waitFor();
    await page.goto(at('/app/logs'));
    const rows = page.getByRole('table').getByRole('row', { name: /\bok\b/ });
    await rows.nth(2).waitFor();
    expect(await rows.count()).toBe(3);
    await rows.first().click();
    await page.waitForURL(/\/app\/logs\/req_/);
    await page.getByText(`charged ${CALL_USD}`).waitFor();
    await page.getByText(ANSWER).first().waitFor();
    expect(owner.faults()).toEqual([]);
  });

  test('the playground streams an answer over every format', async () => {
    await page.goto(at('/app/playground'));
    await page.getByText('Use another API key').click();
    await page.getByRole('textbox', { name: 'API key' }).fill(secrets[0] ?? '');
    await page.getByRole('textbox', { name: 'User' }).fill('Good day.');
    for (const format of ['Chat completions', 'Messages', 'Responses']) {
      await page.getByRole('radio', { name: format }).check({ force: true });
      await page.getByRole('button', { name: 'Send' }).click();
      const record = await eventually('the record', async () => {
        const [newest] = await pair.gateway.calls('--limit', '1');
        return newest !== undefined && newest.protocol === RECORDED[format] ? newest : null;
      });
      expect(record).toMatchObject({ status: 200, stream: true, cost_nano_usd: String(CALL_NANO_USD) });
      await page.getByText('Charged').waitFor();
      await page.getByRole('region', { name: 'Response from ok' }).getByText(ANSWER).waitFor();
      await page.getByText(CALL_USD).waitFor();
    }
    expect(owner.faults()).toEqual([]);
  });

  test('both secrets work during a rotation’s grace period', async () => {
    const { json } = await askFromPage(page, 'GET /accounts/default/keys');
    const [old = ''] = secrets;
    keyName = json.keys.find(({ last4 }: { last4: string }) => old.endsWith(last4)).name;
    await chooseOfKey('Rotate…');
    await page.getByText('1 hour', { exact: true }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const shown = await page.getByRole('dialog').locator('code').first().innerText();
    secrets.push(SECRET.exec(shown)?.[0] ?? '');
    expect(secrets[1]).not.toBe(old);
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('dialog').getByText('Succeeded').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await Promise.all(secrets.map(statusOf))).toEqual([200, 200]);
    expect(owner.faults()).toEqual([]);
  });

  test('limits set in the console apply from the next request', async () => {
    await page.goto(at('/app/limits'));
    await page.getByRole('row', { name: new RegExp(`^${keyName} `) }).click();
    await page.getByRole('textbox', { name: 'Requests/min' }).fill('1');
    await page.getByRole('button', { name: 'Save limits' }).click();
    const newest = secrets.at(-1) ?? '';
    await page.getByText('Applies from the next request.').waitFor();
    await statusOf(newest);
    await eventually(
      'a call over the limit',
      async () => ((await statusOf(newest)) === 429 ? true : null),
      BINDS_MS_MAX,
    );
    expect(owner.faults()).toEqual([]);
  });

  test('both secrets of a revoked key are rejected', async () => {
    await chooseOfKey('Revoke…');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText(`Revoked ${keyName}.`).waitFor();
    await eventually(
      'the refusals',
      async () => {
        const statuses = await Promise.all(secrets.map(statusOf));
        return statuses.every((status) => status === 401) ? true : null;
      },
      BINDS_MS_MAX,
    );
    expect(owner.faults()).toEqual([]);
  });

  test('a viewer sees no content and can’t change anything, in the console or through the API', async () => {
    const guest = { email: 'viewer@example.com', role: 'viewer', workspaces: null };
    const { json: invited } = await askFromPage(page, 'POST /accounts/default/invitations', guest);
    const viewer = await newVisitor(browser);
    const { page: viewerPage } = viewer;
    await viewerPage.goto(invited.link);
    await viewerPage.getByLabel('Name').fill('Grace Hopper');
    await viewerPage.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await viewerPage.keyboard.press('Enter');
    await viewerPage.waitForURL(/\/app(\?|$)/);

    await viewerPage.goto(at('/app/logs'));
    await viewerPage
      .getByRole('table')
      .getByRole('row', { name: /\bok\b/ })
      .last()
      .click();
    await viewerPage.getByText(`charged ${CALL_USD}`).waitFor();
    expect(await viewerPage.getByText(ANSWER).count()).toBe(0);
    const [call] = await pair.gateway.calls('--limit', '1');
    const detail = await askFromPage(viewerPage, `GET /accounts/default/logs/${call?.request_id}`);
    expect(JSON.stringify(detail.json)).not.toContain(ANSWER);

    await openPage(viewerPage, at('/app/keys?status=all'));
    await viewerPage.getByRole('table').getByText(keyName, { exact: true }).waitFor();
    expect(await viewerPage.getByRole('button', { name: /Create key|Actions for/ }).count()).toBe(0);
    await viewerPage.goto(at('/app/limits'));
    await viewerPage
      .getByRole('row', { name: /default/ })
      .first()
      .click();
    await viewerPage.getByText('You can view these limits but not change them.').waitFor();
    expect(await viewerPage.getByRole('button', { name: 'Save limits' }).count()).toBe(0);
    await viewerPage.goto(at('/app/workspaces'));
    await viewerPage.getByRole('table').waitFor();
    expect(await viewerPage.getByRole('button', { name: /^(Create|Save)\b/ }).count()).toBe(0);
    const pages = await viewerPage.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
    expect(pages).not.toContain('Members');
    expect(pages).not.toContain('Billing');
    expect(viewer.faults()).toEqual([]);

    const { json: keys } = await askFromPage(viewerPage, 'GET /accounts/default/keys');
    const key = keys.keys[0];
    for (const [route, body] of [
      ['POST /accounts/default/keys', { ...key }],
      [`PATCH /accounts/default/keys/${key.id}`, { name: 'mine now' }],
      [`POST /accounts/default/keys/${key.id}/revoke`, {}],
      ['PATCH /accounts/default/workspaces/default', { bodies: 'off' }],
      [`PUT /accounts/default/limits/key/${key.id}`, { caps: key.caps }],
      ['POST /accounts/default/invitations', { ...guest, role: 'owner' }],
      ['PATCH /accounts/default/settings', { time_zone: 'UTC' }],
    ] as const) {
      const { status, json } = await askFromPage(viewerPage, route, body);
      expect({ route, status, code: json.error?.code }).toEqual({ route, status: 403, code: 'forbidden' });
    }
    await viewer.leave();
  });

  test('signing out ends the session, and only the right password signs in again', async () => {
    await page.goto(at('/app/audit'));
    await page.getByRole('button', { name: OWNER.name, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await askFromPage(page, 'GET /accounts/default/keys')).status).toBe(401);
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByLabel('Password', { exact: true }).fill(`${PASSWORD}!`);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect((await askFromPage(page, 'GET /session')).json.state).toBe('signed_out');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    expect(owner.faults(401)).toEqual([]);
  });
});
