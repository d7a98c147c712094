/**
 * Registers the hooks of a suite that uses the console as its owner: they start a gateway, open a signed-in visitor
 * before the tests, and close both after them. Without a browser they do nothing.
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

/** On an empty gateway of the suite's own. `prepare` receives what was opened, before the first test. */
export function openOwnConsole(
  prepare: Prepare<Owned>,
  plan: () => Promise<GatewayPlan> = () => Promise.resolve({}),
): void {
  let gateway: RunningGateway | undefined;
  const start = async () => {
    gateway = await startGateway(await plan());
    return { gateway, owner: await setUpOwner(gateway) };
  };
  open(start, prepare);
  afterAll(async () => void (await gateway?.stop()));
}

/** On the gateway with data that all suites of the process share. */
export function openSeededConsole(
  prepare: Prepare<{ readonly seeded: Omit<SeededGateway, 'stop'> }>,
  options: BrowserContextOptions = {},
): void {
  const start = async () => {
    const seeded = await shareSeededGateway();
    return { seeded, gateway: seeded.gateway, owner: seeded.owner };
  };
  open(start, prepare, options);
}

function open<Home extends Owned>(
  start: () => Promise<Home>,
  prepare: Prepare<Home>,
  options: BrowserContextOptions = {},
): void {
  let browser: Browser | undefined;
  setDefaultTimeout(120_000);
  beforeAll(async () => {
    if (!HAS_BROWSER) return;
    const [shared, home] = await Promise.all([shareBrowser(), start()]);
    browser = shared;
    const storageState = signedInState(home.gateway.url, home.owner);
    const visitor = await newVisitor(shared, { ...options, storageState });
    await prepare({ ...home, browser: shared, visitor, page: visitor.page });
  });
  afterAll(() => closeVisitors(browser));
}
