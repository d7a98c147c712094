/**
 * Registers the hooks of a suite that uses the console. Before the tests they start a gateway and share the browser,
 * and open a visitor who is signed in as the owner, unless the suite signs in itself; after the tests they close the
 * visitors and stop the gateway. Without a browser they do nothing.
 */
import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Person, setUpOwner } from '../console-api/api-visitor.ts';
import { type GatewayPlan, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { type SeededGateway, shareSeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { closeVisitors, newVisitor, shareBrowser, type Visitor } from './visitor.ts';

interface Owned {
  readonly gateway: RunningGateway;
  readonly owner: Person;
}

interface Opened {
  readonly browser: Browser;
  /** Signed in as the owner. */
  readonly visitor: Visitor;
  readonly page: Page;
}

type Prepare<Home> = (opened: Home & Opened) => Promise<void> | void;

/** On what `start` starts, with no user signed in. `prepare` receives it and the browser before the first test. */
export function openConsole<Home extends { stop(): Promise<unknown> }>(
  start: () => Promise<Home>,
  prepare: (opened: { readonly home: Home; readonly browser: Browser }) => Promise<void> | void,
): void {
  let browser: Browser | undefined;
  let home: Home | undefined;
  setDefaultTimeout(120_000);
  beforeAll(async () => {
    if (!HAS_BROWSER) return;
    const launching = shareBrowser();
    home = await start();
    browser = await launching;
    await prepare({ home, browser });
  });
  afterAll(async () => {
    await closeVisitors(browser);
    await home?.stop();
  });
}

/** On an empty gateway of the suite's own. */
export function openOwnConsole(
  prepare: Prepare<Owned>,
  plan: () => Promise<GatewayPlan> = () => Promise.resolve({}),
): void {
  openConsole(
    async () => startGateway(await plan()),
    async ({ home: gateway, browser }) =>
      prepare(await openOwner({ gateway, owner: await setUpOwner(gateway) }, browser)),
  );
}

/** On the gateway with data that all suites of the process share. */
export function openSeededConsole(
  prepare: Prepare<{ readonly seeded: Omit<SeededGateway, 'stop'> }>,
  options: BrowserContextOptions = {},
): void {
  openConsole(
    async () => ({ seeded: await shareSeededGateway(), stop: () => Promise.resolve() }),
    async ({ home: { seeded }, browser }) => {
      const { gateway, owner } = seeded;
      await prepare(await openOwner({ seeded, gateway, owner }, browser, options));
    },
  );
}

async function openOwner<Home extends Owned>(
  home: Home,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Home & Opened> {
  const storageState = signedInState(home.gateway.url, home.owner);
  const visitor = await newVisitor(browser, { ...options, storageState });
  return { ...home, browser, visitor, page: visitor.page };
}
