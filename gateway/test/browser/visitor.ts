/**
 * Opens a visitor in a real browser and collects violations on the pages: faults, content security policy,
 * accessibility.
 */
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { atEndOfRun } from '../../scripts/test-runner/end-of-run.ts';
import { unpackBrowser } from './browser-files.ts';

const WAIT_MS = 15_000;
const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** The browser's own console message for a response with an error status. */
const REFUSED = /^Failed to load resource: the server responded with a status of (\d{3})/;

export interface Visitor {
  readonly page: Page;
  /**
   * What no page may do: throw, write an error to the console, break the content security policy, send a request that
   * is refused. `expected`: statuses of refusals that the visitor provoked.
   */
  faults(...expected: readonly number[]): readonly string[];
  /** Accessibility rules that the current page breaks, with the elements. */
  findBarriers(): Promise<readonly string[]>;
  /** Pixels by which the page is wider than its window. */
  overhangPx(): Promise<number>;
  leave(): Promise<void>;
}

/** Launches a browser with a new profile. */
export async function launchBrowser(): Promise<Browser> {
  const { executable, environment } = unpackBrowser();
  return chromium.launch({ executablePath: executable, args: FLAGS, env: { ...process.env, ...environment } });
}

let shared: Promise<Browser> | null = null;

/** Launches one browser for all suites of the process. Each of them closes its visitors with `closeVisitors`. */
export function shareBrowser(): Promise<Browser> {
  if (shared === null) {
    const launched = launchBrowser();
    shared = launched;
    atEndOfRun(async () => (await launched).close());
  }
  return shared;
}

export async function closeVisitors(browser: Browser | undefined): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}

/** Opens a visitor with their own cookies. */
export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  // The language is set explicitly: without a system language this browser reports an invalid tag (`en-US@posix`).
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-US', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const faults: { readonly text: string; readonly status: number | null }[] = [];
  page.on('pageerror', (error) => faults.push({ text: `thrown: ${error.stack ?? error.message}`, status: null }));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() !== 'error' && !/content security policy|trusted ?type/i.test(text)) return;
    const status = REFUSED.exec(text)?.[1];
    faults.push({ text: `${text} (${message.location().url})`, status: status === undefined ? null : Number(status) });
  });
  const devTools = await context.newCDPSession(page);
  // Through the developer tools, because the page's own policy allows no foreign script.
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await devTools.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'it threw');
    return result.value;
  };
  return {
    page,
    faults: (...expected) =>
      faults.filter(({ status }) => status === null || !expected.includes(status)).map(({ text }) => text),
    async findBarriers() {
      await evaluate(`${axe.source};0`);
      const found = await evaluate(
        "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => id + ': ' + target + ' ' + html.slice(0, 200))))",
      );
      return found as readonly string[];
    },
    overhangPx: async () => Number(await evaluate('document.documentElement.scrollWidth - innerWidth')),
    leave: () => context.close(),
  };
}
