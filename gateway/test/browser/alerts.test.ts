/**
 * Tests the alerts page: an alert on 80% of a budget in four interactions, what it finds in a real gateway, and the
 * actions on a rule.
 */
import { describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage, untilSettled } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import type { Visitor } from './visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

openSeededConsole((opened) => {
  ({ seeded, visitor } = opened);
});

const rules = () => visitor.page.getByRole('table', { name: 'Alert rules' });

describe.skipIf(!HAS_BROWSER)('alerts (needs Chromium for Linux on x64)', () => {
  test('an alert on 80% of a budget takes three interactions, and reports a key in the console', async () => {
    const { page } = visitor;
    const { gateway } = seeded;
    await page.setViewportSize({ width: 1440, height: 900 });
    await openPage(page, `${gateway.url}/app`);
    let interactions = 0;
    const click = async (target: Locator) => {
      interactions += 1;
      await untilSettled(page, () => target.click());
    };
    const create = (within: Page | Locator) => within.getByRole('button', { name: 'Create alert', exact: true });
    const dialog = page.getByRole('dialog', { name: 'Create alert' });
    await click(page.getByRole('link', { name: /^Alerts/ }));
    await click(create(page));
    await click(create(dialog));
    await dialog.waitFor({ state: 'detached' });
    expect(interactions).toBeLessThanOrEqual(4);
    // One was there before.
    await rules().getByRole('button', { name: 'Actions for Budget used: 80%' }).nth(1).waitFor();

    const { key } = await createKey(gateway, { name: 'over budget', budget_usd: '0.002', budget_window: 'day' });
    const ask = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'ok', max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] }),
      });
    // Until the rest of the budget covers no further request.
    const isRefused = async () => ((await ask()).status === 429 ? true : null);
    await eventually('the budget to be used', isRefused, 30_000);
    const seesIt = async () => {
      await openPage(page, `${gateway.url}/app/alerts`);
      return (await page.getByText('Daily budget of key over budget').count()) > 0 ? true : null;
    };
    await eventually('the alert in the console', seesIt, 30_000);
    await page.getByRole('link', { name: 'Edit limits' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor();
  });

  test('the number of new alerts is in the navigation, until the page was opened', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}/app/alerts`);
    await openPage(page, `${seeded.gateway.url}/app/keys`);
    await page.getByRole('link', { name: 'Alerts', exact: true }).waitFor();
  });

  test('a rule is edited, muted, tested and deleted', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}/app/alerts?add=1`);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Low balance').first().waitFor({ state: 'attached' });
    await dialog.getByLabel('Event').selectOption('balance');
    await dialog.getByLabel('Balance below (USD)').fill('2.50');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = () => rules().getByRole('row').filter({ hasText: 'Low balance: below $2.50' });
    const act = async (item: string) => {
      await row()
        .getByRole('button', { name: /^Actions for/ })
        .click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await row().waitFor();
    await act('Edit…');
    await dialog.getByLabel('Balance below (USD)').fill('0');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter an amount in USD').waitFor();
    await dialog.getByLabel('Balance below (USD)').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row().getByText('below $3.00').waitFor();
    await act('Send test');
    await page.getByText('This is a test of the alert Low balance: below $2.50.').waitFor();
    await act('Mute for 1 day');
    await row().getByText('Muted', { exact: true }).waitFor();
    await act('Unmute');
    await row().getByText('Muted', { exact: true }).waitFor({ state: 'detached' });
    await act('Delete…');
    await dialog.getByRole('button', { name: 'Delete alert' }).click();
    await row().waitFor({ state: 'detached' });
    // Its menu, which had the focus, is gone with the row.
    await page.locator('#content:focus').waitFor();
  });
});
