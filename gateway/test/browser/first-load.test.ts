/** Measures what each page makes a browser fetch on its first visit until its content is visible, in gzipped bytes. */
import { describe, expect, test } from 'bun:test';
import type { Browser, Request } from 'playwright-core';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { CONSOLE_PAGES, openPage } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor } from './visitor.ts';

const FIRST_LOAD_BYTES_MAX = 150 * 1024;
/** Less than the interval of any poll of the console. */
const POLLS_AFTER_MS = 2_000;
/** The sample is every fourth page, among them those that fetch most. */
const PAGES = CONSOLE_PAGES.filter((_, nth) => EXHAUSTIVE || nth % 4 === 1);

let browser: Browser;
let seeded: Omit<SeededGateway, 'stop'>;

openSeededConsole((opened) => {
  ({ browser, seeded } = opened);
});

/** Bytes of the bodies as transferred, by address, largest first. */
async function fetchedBy(
  path: string,
  isPublic: boolean,
): Promise<readonly (readonly [path: string, bytes: number])[]> {
  const { page, leave } = await newVisitor(browser, {
    extraHTTPHeaders: { 'accept-encoding': 'gzip' },
    ...(isPublic ? {} : { storageState: signedInState(seeded.gateway.url, seeded.owner) }),
  });
  const finished: Request[] = [];
  page.on('requestfinished', (request) => finished.push(request));
  await openPage(page, `${seeded.gateway.url}${path}`);
  const begun = new Map<string, number>();
  /** A page that opens slowly polls before it is open. */
  const isPoll = (request: Request) => {
    const { startTime } = request.timing();
    const first = begun.get(request.url()) ?? startTime;
    begun.set(request.url(), first);
    return startTime - first > POLLS_AFTER_MS;
  };
  const sized = await Promise.all(
    finished
      .filter((request) => !isPoll(request))
      .map(async (request) => {
        const { pathname, search } = new URL(request.url());
        return [`${pathname}${search}`, (await request.sizes()).responseBodySize] as const;
      }),
  );
  await leave();
  return sized.sort(([, one], [, other]) => other - one);
}

/** Addresses in the document. */
async function namedIn(path: string): Promise<readonly string[]> {
  const document = await (await fetch(`${seeded.gateway.url}${path}`)).text();
  return [...document.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
}

describe.skipIf(!HAS_BROWSER)('the first load (needs Chromium for Linux on x64)', () => {
  test.each(PAGES.map((one) => [one.route, one] as const))('%s', async (route, { path, isPublic }) => {
    const fetched = await fetchedBy(path(seeded.names), isPublic === true);
    const bytes = fetched.reduce((sum, [, size]) => sum + size, 0);
    const largest = fetched.slice(0, 5).map(([name, size]) => `${size} ${name}`);
    expect(bytes, `${bytes} bytes, of them\n${largest.join('\n')}\n`).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
    const named = await namedIn(path(seeded.names));
    const scripts = fetched.map(([name]) => name).filter((name) => name.endsWith('.js'));
    expect(new Set(scripts).size).toBe(scripts.length);
    // The sign-in form can appear at any address: a script learns from the session whether it is shown.
    if (route !== '/app/sign-in') expect(scripts.filter((name) => !named.includes(name))).toEqual([]);
  });
});
