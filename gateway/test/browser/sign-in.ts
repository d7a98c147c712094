/** Signs in at the console's own page. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newVisitor } from './visitor.ts';

export async function signIn(
  page: Page,
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${url}/app/me`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
}

/** Returns the cookies of a signed-in user for visitors with other views: a password check is slow. */
export async function signedInState(
  browser: Browser,
  url: string,
  person: Parameters<typeof signIn>[2],
): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const { page, leave } = await newVisitor(browser);
  await signIn(page, url, person);
  const state = await page.context().storageState();
  await leave();
  return state;
}
