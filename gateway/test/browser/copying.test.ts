/** Tests copying where the browser refuses the clipboard, and that its message is visible over a dialog. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import { press } from './press.ts';
import type { Visitor } from './visitor.ts';

let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole((opened) => {
  ({ gateway, visitor, page } = opened);
});

describe.skipIf(!HAS_BROWSER)('copying where the clipboard is refused (needs Chromium for Linux on x64)', () => {
  const REFUSE = "navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))";
  const RECORD =
    "document.execCommand = () => { document.title = document.activeElement.value + ' ' + document.activeElement.parentElement.tagName; return GIVEN; }";

  async function openKey(copies: boolean): Promise<void> {
    const { id } = await createKey(gateway, { name: `copied ${copies}` });
    await openPage(page, `${gateway.url}/app/keys/${id}`);
    await page.evaluate(`${REFUSE}; ${RECORD.replace('GIVEN', String(copies))}; undefined`);
  }

  test('copies the text by a selection and keeps the focus', async () => {
    await openKey(true);
    const button = page.getByRole('button', { name: 'Copy key ID' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.title()).toMatch(/^key_\w+ BODY$/);
    expect(await page.locator(':focus').getAttribute('title')).toBe('Copied');
  });

  test('says over an open dialog that nothing was copied', async () => {
    await openKey(false);
    await press(page, 'Rotate');
    await press(page.getByRole('dialog'), 'Rotate key');
    const dialog = page.getByRole('dialog', { name: /^New secret/ });
    await press(dialog, 'Copy API key');
    const secret = await dialog.locator('code').first().innerText();
    expect(await page.title()).toBe(`${secret} DIALOG`);
    const note = page.getByText('The browser blocked copying.');
    await note.waitFor();
    // In the top layer, above the dialog that opened before.
    const isOnTop = `document.querySelector('[aria-label="Notifications"]').matches(':popover-open')`;
    expect(await page.evaluate(isOnTop)).toBe(true);
    expect(visitor.faults()).toEqual([]);
  });
});
