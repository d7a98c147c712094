/** Owns signing in at the console's own page. */
import type { Page } from 'playwright-core';

export async function signIn(
  page: Page,
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${url}/app/me`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
}
