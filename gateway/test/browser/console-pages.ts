/** Owns the list of the console's pages as a test opens them, and waiting until one shows what it has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';

/** What the names in the addresses of pages stand for. */
export interface PageNames {
  readonly key: string;
  readonly request: string;
  /** What one-time links carry; left out: links that work no more, of which an address may try ten. */
  readonly invitation?: string;
  readonly reset?: string;
}

export interface ConsolePage {
  /** As the router has it. */
  readonly route: string;
  /** Needs something that an empty gateway does not have. */
  readonly needsData?: true;
  /** Opened by somebody who is not signed in. */
  readonly isForStrangers?: true;
  path(names: PageNames): string;
}

const DEAD_TOKEN = 'x'.repeat(43);

const plain = (route: string): ConsolePage => ({ route, path: () => route });

export const CONSOLE_PAGES: readonly ConsolePage[] = [
  plain('/app'),
  plain('/app/usage'),
  plain('/app/logs'),
  { route: '/app/logs/{-$request}', needsData: true, path: ({ request }) => `/app/logs/${request}` },
  plain('/app/keys'),
  { route: '/app/keys/$key', needsData: true, path: ({ key }) => `/app/keys/${key}` },
  plain('/app/limits'),
  plain('/app/models'),
  plain('/app/playground'),
  plain('/app/providers'),
  plain('/app/workspaces'),
  plain('/app/members'),
  plain('/app/billing'),
  plain('/app/audit'),
  plain('/app/settings'),
  plain('/app/me'),
  plain('/status'),
  { ...plain('/app/sign-in'), isForStrangers: true },
  { route: '/app/setup', isForStrangers: true, path: () => `/app/setup?token=${DEAD_TOKEN}` },
  {
    route: '/app/invitations/$token',
    isForStrangers: true,
    path: ({ invitation = DEAD_TOKEN }) => `/app/invitations/${invitation}`,
  },
  {
    route: '/app/reset/$token',
    isForStrangers: true,
    path: ({ reset = DEAD_TOKEN }) => `/app/reset/${reset}`,
  },
];

/** The addresses in the console's own router. */
export function routedPaths(): string[] {
  const router = readFileSync(join(import.meta.dir, '../../../console/src/router.tsx'), 'utf8');
  const paths = [...router.matchAll(/^ {2}'(\/[^']*)': \(\) => import/gm)].map(([, path = '']) => path);
  // The list of calls and one of them whole are one page there, of two lines here.
  return paths.flatMap((path) => (path === '/app/logs/{-$request}' ? ['/app/logs', path] : [path]));
}

const SETTLES_WITHIN_MS = 15_000;
/**
 * A frame, and then a task behind all that the page has to do. Not `requestIdleCallback`: a page that draws nothing gets its idle
 * time only 300 ms later.
 */
const IDLE = "new Promise((done) => requestAnimationFrame(() => scheduler.postTask(done, { priority: 'background' })))";

/** Opens the page and waits for its title, until nothing of it is on its way any more. */
export async function openPage(page: Page, url: string): Promise<void> {
  await untilSettled(page, async () => {
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' });
  });
}

/** Acts, and waits until the page has all that it asked for since and has done with it: sooner than half a second of no request. */
export async function untilSettled(page: Page, act: () => Promise<void>): Promise<void> {
  const asked = new Set<Request>();
  const begin = (request: Request) => void asked.add(request);
  const end = (request: Request) => void asked.delete(request);
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
  try {
    await act();
    do {
      await eventually('the replies to what the page asked', () => asked.size === 0 || null, SETTLES_WITHIN_MS);
      for (let turn = 0; turn < 2; turn += 1) await page.evaluate(IDLE);
    } while (asked.size > 0);
  } finally {
    page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
  }
}
