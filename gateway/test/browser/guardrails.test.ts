/**
 * Tests the guardrails page: a rule that blocks a term, from the empty page to the refused request and the reason in Logs;
 * a rule that masks; hooks, switches and deletion.
 */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';

let gateway: RunningGateway;
let page: Page;
let key: string;

openOwnConsole(async (opened) => {
  ({ gateway, page } = opened);
  ({ key } = await createKey(gateway, { name: 'app' }));
});

const dialog = () => page.getByRole('dialog');
const row = (name: string) =>
  page.getByRole('table', { name: 'Guardrails' }).getByRole('row').filter({ hasText: name });

/** The status of a request with a text. */
async function send(text: string): Promise<{ readonly status: number; readonly body: string }> {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: text }] }),
  });
  return { status: reply.status, body: await reply.text() };
}

/** Resolves after the changes that a key made for the next frame. */
async function afterFrame(): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
}

async function openGuardrails(): Promise<void> {
  await openPage(page, `${gateway.url}/app/guardrails`);
}

async function create(fill: () => Promise<void>): Promise<void> {
  await page.getByRole('button', { name: 'Create guardrail' }).click();
  await fill();
  await dialog().getByRole('button', { name: 'Create guardrail' }).click();
}

async function tryText(text: string): Promise<string> {
  await page.getByLabel('Text', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Try' }).click();
  const status = page.getByRole('form', { name: 'Try' }).locator('xpath=following-sibling::*[@role="status"]');
  await status.waitFor();
  return status.innerText();
}

describe.skipIf(!HAS_BROWSER)('guardrails (needs Chromium for Linux on x64)', () => {
  test('a rule blocks a term, and Logs says why and shows the rule', async () => {
    await openGuardrails();
    await page.getByText('No guardrails yet').waitFor();
    await create(async () => {
      await dialog().getByLabel('Check', { exact: true }).selectOption('terms');
      await dialog().getByRole('button', { name: 'Create guardrail' }).click();
      await dialog().getByText('Enter at least one word or phrase.').waitFor();
      await dialog().getByLabel('Terms').fill('Project Falcon\nunreleased');
    });
    await row('Block terms').getByText('Terms: 2').waitFor();
    expect(await tryText('Tell me about project falcon.')).toContain('The request would be blocked.');

    expect((await send('Good day.')).status).toBe(200);
    const refused = await send('Tell me about project falcon.');
    expect(refused.status).toBe(400);
    expect(refused.body).toContain('Block terms');
    expect(refused.body).not.toContain('Project Falcon');

    await openPage(page, `${gateway.url}/app/logs?range=24h`);
    const rows = page.getByRole('table', { name: 'Requests, newest first' }).locator('tbody tr[data-row]');
    await rows.filter({ hasText: '400' }).click({ position: { x: 8, y: 8 } });
    await dialog().getByText('"Block terms" blocks this request').waitFor();
    await page.getByRole('link', { name: 'Show rule' }).click();
    await page.getByRole('heading', { name: 'Edit Block terms' }).waitFor();
  });

  test('a rule is disabled, and its requests pass; it is deleted', async () => {
    await openGuardrails();
    await row('Block terms').getByRole('checkbox').click();
    await page.getByText('Disabled Block terms.').waitFor();
    expect((await send('Tell me about project falcon.')).status).toBe(200);
    await row('Block terms').getByRole('button', { name: 'Actions for Block terms' }).click();
    // The keys are the menu's, not the table's.
    await page.keyboard.press('ArrowDown');
    await afterFrame();
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe('menuitem');
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog().getByRole('button', { name: 'Delete guardrail' }).click();
    await page.getByText('No guardrails yet').waitFor();
  });

  test('a rule masks what is found; some detectors are left out', async () => {
    await openGuardrails();
    await create(async () => {
      await dialog().getByLabel('Check', { exact: true }).selectOption('personal_data');
      await dialog().getByLabel('Phone numbers').uncheck();
    });
    await row('Mask personal data').getByText('Personal data: 5 of 6').waitFor();
    const shown = await tryText('Write to ada@example.com or +1 415 555 0132.');
    expect(shown).toContain('The request would pass, masked.');
    expect(shown).toContain('E-mail addresses');
    expect(shown).toMatch(/Write to \[EMAIL_[0-9a-f]{8}\] or \+1 415 555 0132\./);

    expect((await send('Write to ada@example.com.')).status).toBe(200);
    await openPage(page, `${gateway.url}/app/logs?range=24h`);
    await page.getByRole('table', { name: 'Requests, newest first' }).locator('tbody tr[data-row="0"]').press('Enter');
    await dialog().getByText('Masked by guardrails').waitFor();
    await dialog().getByText('1 time', { exact: true }).waitFor();
  });

  test('a hook shows its signing secret once, and keeps its address', async () => {
    await openGuardrails();
    await create(async () => {
      await dialog().getByLabel('Check', { exact: true }).selectOption('hook');
      await dialog().getByLabel('Address').fill('https://10.0.0.1/');
      await dialog().getByRole('button', { name: 'Create guardrail' }).click();
      await dialog().getByText('expected a public host').waitFor();
      await dialog().getByLabel('Address').fill('https://guard.example.com/check');
    });
    await dialog()
      .getByText(/^whsec_[0-9a-f]{64}$/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await row('guard.example.com').getByRole('checkbox').click();
    await page.getByText('Disabled Hook.').waitFor();
    await row('guard.example.com').click({ position: { x: 8, y: 8 } });
    await dialog().getByText('Leave blank to keep the address at https://guard.example.com.').waitFor();
    await dialog().getByLabel('Name').fill('Our service');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('Our service').waitFor();
    expect(await dialog().count()).toBe(0);
  });
});
