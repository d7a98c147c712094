/** Lists the console's pages for the tests, and waits until a page shows its content. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';
import { AGENT_RUN } from './seed-session.ts';

/** Values of the names in page addresses. */
export interface PageNames {
  readonly key: string;
  readonly request: string;
  /** A request of several attempts. Default: `request`. */
  readonly retried?: string;
  /** A session. Default: that of the seeded run of an agent. */
  readonly session?: string;
  /** Tokens of one-time links. Default: links that no longer work; one address may try ten. */
  readonly invitation?: string;
  readonly reset?: string;
}

export interface ConsolePage {
  /** As in the router. */
  readonly route: string;
  /** Needs data that an empty gateway does not have. */
  readonly needsData?: true;
  /** Opened by a visitor who is not signed in. */
  readonly isPublic?: true;
  path(names: PageNames): string;
}

const DEAD_TOKEN = 'x'.repeat(43);

const plain = (route: string): ConsolePage => ({ route, path: () => route });

export const CONSOLE_PAGES: readonly ConsolePage[] = [
  plain('/app'),
  plain('/app/usage'),
  plain('/app/logs'),
  { route: '/app/logs/{-$request}', needsData: true, path: ({ request }) => `/app/logs/${request}` },
  plain('/app/sessions'),
  {
    route: '/app/sessions/$session',
    needsData: true,
    path: ({ session = AGENT_RUN }) => `/app/sessions/${encodeURIComponent(session)}`,
  },
  plain('/app/keys'),
  { route: '/app/keys/$key', needsData: true, path: ({ key }) => `/app/keys/${key}` },
  plain('/app/limits'),
  plain('/app/models'),
  { route: '/app/models/$model', needsData: true, path: () => '/app/models/gpt-5-mini?with=gpt-5&range=30d' },
  plain('/app/playground'),
  plain('/app/providers'),
  plain('/app/workspaces'),
  plain('/app/members'),
  plain('/app/billing'),
  plain('/app/billing/statement'),
  plain('/app/reconciliation'),
  plain('/app/guardrails'),
  plain('/app/alerts'),
  plain('/app/audit'),
  plain('/app/settings'),
  plain('/app/me'),
  plain('/status'),
  { ...plain('/app/sign-in'), isPublic: true },
  { route: '/app/setup', isPublic: true, path: () => `/app/setup?token=${DEAD_TOKEN}` },
  {
    route: '/app/invitations/$token',
    isPublic: true,
    path: ({ invitation = DEAD_TOKEN }) => `/app/invitations/${invitation}`,
  },
  {
    route: '/app/reset/$token',
    isPublic: true,
    path: ({ reset = DEAD_TOKEN }) => `/app/reset/${reset}`,
  },
];

/** Returns the addresses in the console's own router. */
export function routedPaths(): string[] {
  const router = readFileSync(join(import.meta.dir, '../../../console/src/router.tsx'), 'utf8');
  const paths = [...router.matchAll(/^ {2}'(\/[^']*)': \(\) => import/gm)].map(([, path = '']) => path);
  // The call list and the call detail are one page there, with two entries here.
  return paths.flatMap((path) => (path === '/app/logs/{-$request}' ? ['/app/logs', path] : [path]));
}

const SETTLES_WITHIN_MS = 15_000;
/**
 * Waits for a frame, and then a task after all pending work of the page. Not `requestIdleCallback`: a page that draws
 * nothing gets its idle time only 300 ms later.
 */
const IDLE = "new Promise((done) => requestAnimationFrame(() => scheduler.postTask(done, { priority: 'background' })))";

/** Opens the page and waits for its title and all of its content. */
export async function openPage(page: Page, url: string): Promise<void> {
  await untilSettled(page, async () => {
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  });
}

/**
 * Acts, and waits until the page has finished all requests since then and shows their replies: faster than waiting for
 * half a second without requests.
 */
export async function untilSettled(page: Page, act: () => Promise<void>): Promise<void> {
  const requests = new Set<Request>();
  const loading = page.locator('[aria-label="Loading"]');
  const begin = (request: Request) => void requests.add(request);
  const end = (request: Request) => void requests.delete(request);
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
  try {
    await act();
    const isSettled = async () => {
      if (requests.size > 0) return null;
      for (let turn = 0; turn < 2; turn += 1) await page.evaluate(IDLE);
      return requests.size === 0 && (await loading.count()) === 0 ? true : null;
    };
    await eventually('the replies to what the page asked', isSettled, SETTLES_WITHIN_MS);
  } finally {
    page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
  }
}
