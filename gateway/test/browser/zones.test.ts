/** The clock of the pages: of an account in New York, for somebody whose computer is in Tokyo. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { windowAt } from '../../src/admission/window.ts';
import { must, OWNER } from '../console-api/api-visitor.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { type SeededGateway, startSeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { launchBrowser, newVisitor, type Visitor } from './visitor.ts';

setDefaultTimeout(120_000);

const ZONE = 'America/New_York';

let browser: Browser;
let seeded: SeededGateway;
let visitor: Visitor;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  [browser, seeded] = await Promise.all([launchBrowser(), startSeededGateway()]);
  await must(seeded.owner.ask('PATCH /accounts/default/settings', { body: { time_zone: ZONE } }));
  const storageState = await signedInState(browser, seeded.gateway.url, OWNER);
  visitor = await newVisitor(browser, { timezoneId: 'Asia/Tokyo', storageState });
});
afterAll(async () => {
  await browser?.close();
  await seeded?.stop();
});

const open = (path: string) => openPage(visitor.page, `${seeded.gateway.url}${path}`);

describe.skipIf(!HAS_BROWSER)('the zone of the account (needs Chromium for Linux on x64)', () => {
  test.each([
    ['/app/billing', 'Statement CSV'],
    ['/app/audit', 'Audit CSV'],
  ])('on %s, “This month” of %s is the account’s month, and the dialog says so', async (path, name) => {
    await open(path);
    await visitor.page.getByRole('button', { name }).click();
    const dialog = visitor.page.getByRole('dialog', { name });
    expect(await dialog.innerText()).toContain(`Days begin at midnight in ${ZONE}.`);
    const href = await dialog.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
    const asked = new URL(href ?? '', seeded.gateway.url).searchParams;
    const month = windowAt('month', ZONE, Date.now());
    expect([asked.get('from'), asked.get('to')]).toEqual(
      [month.startMs, month.endMs].map((ms) => new Date(ms ?? 0).toISOString()),
    );
  });
});
