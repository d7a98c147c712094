/**
 * Tests the pages of an admin restricted to one workspace: pages without access say so before any request, and no
 * request is refused.
 */
import { expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { type ApiVisitor, inviteMember, must } from '../../console-api/api-visitor.ts';
import type { RunningGateway } from '../../harness/start-gateway.ts';
import { control, createKey } from '../../http-contract/make-key.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { CONSOLE_PAGES, openPage } from '../console-pages.ts';
import { openOwnConsole } from '../open-console.ts';
import { signedInState } from '../sign-in.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

const on = test.skipIf(!HAS_BROWSER);
const PAGES = CONSOLE_PAGES.filter(({ needsData, isPublic }) => !needsData && !isPublic);
const ACCOUNT_WIDE = [
  '/app/alerts',
  '/app/billing',
  '/app/billing/statement',
  '/app/providers',
  '/app/reconciliation',
  '/app/settings',
];

let browser: Browser;
let gateway: RunningGateway;
let owner: ApiVisitor;
let visitor: Visitor;

openOwnConsole(async (opened) => {
  ({ browser, gateway, owner } = opened);
  await control(gateway, 'workspaces.create', { id: 'research', account: 'default' });
  const given = { account: 'default', role: 'admin', workspaces: ['research'] } as const;
  const admin = await inviteMember(gateway.url, owner, given);
  visitor = await newVisitor(browser, {
    viewport: { width: 360, height: 740 },
    storageState: signedInState(gateway.url, admin),
  });
});

on.each(PAGES)('$route (needs Linux on x64 for the browser)', async ({ route }) => {
  await openPage(visitor.page, `${gateway.url}${route}`);
  const reason = visitor.page.getByText('your membership is restricted to research');
  expect(await reason.count()).toBe(ACCOUNT_WIDE.includes(route) ? 1 : 0);
  expect(visitor.faults()).toEqual([]);
  expect(await visitor.findBarriers()).toEqual([]);
  expect(await visitor.overhangPx()).toBe(0);
});

on(
  'a developer sees in advance which changes only an admin can make (needs Linux on x64 for the browser)',
  async () => {
    const member = await inviteMember(gateway.url, owner, { account: 'default', role: 'developer' });
    const { id } = await createKey(gateway, { name: 'nightly', rpm: 60, created_by: member.person });
    await must(owner.ask(`POST /accounts/default/keys/${id}/disable`, { body: {} }));
    const developer = await newVisitor(browser, {
      viewport: { width: 1440, height: 900 },
      storageState: signedInState(gateway.url, member),
    });
    const { page } = developer;
    await openPage(page, `${gateway.url}/app/keys/${id}`);
    await page.locator('p', { hasText: 'Disabled by Ada Lovelace. Only an owner or admin can enable it.' }).waitFor();
    await page.getByRole('button', { name: 'Actions for nightly' }).click();
    expect(await page.getByRole('menuitem', { name: 'Enable' }).isDisabled()).toBe(true);
    expect(await developer.findBarriers()).toEqual([]);
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    await page.getByText('only an owner or admin can raise or remove them').waitFor();
    await page.getByRole('textbox', { name: 'Requests/min' }).fill('');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('found no limit instead of 60').waitFor();
    expect(developer.faults(403)).toEqual([]);
    await developer.leave();
  },
);
