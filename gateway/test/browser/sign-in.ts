/** Signs in at the console's own page, or takes over a session of the console API. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Person } from '../console-api/api-visitor.ts';

export async function signIn(
  page: Page,
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${url}/app/me`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
}

/** Returns the state of a browser in which the person is signed in already, for suites that do not test signing in. */
export function signedInState(url: string, person: Person): NonNullable<BrowserContextOptions['storageState']> {
  const place = { domain: new URL(url).hostname, path: '/', expires: -1 } as const;
  const cookies = [...person.cookies()].map(([name, value]) => {
    return { ...place, name, value, httpOnly: true, secure: false, sameSite: 'Lax' as const };
  });
  return { cookies, origins: [] };
}
