/** Owns a real browser for tests of the console's pages, and what it held against them: faults, broken policy, accessibility. */
import chromium from '@sparticuz/chromium';
import axe from 'axe-core';
import { type Browser, chromium as driver, type Page } from 'playwright-core';

/** The browser comes from npm for this system alone. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64';

const WAIT_MS = 15_000;

export interface Visitor {
  readonly page: Page;
  /** What no page may do: throw, or break the content security policy. */
  readonly faults: readonly string[];
  /** Rules of accessibility that the page as it stands breaks, with where. */
  findBarriers(): Promise<readonly string[]>;
}

export async function launchBrowser(): Promise<Browser> {
  const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
  return driver.launch({ executablePath: await chromium.executablePath(), args });
}

/** Somebody with cookies of his own. */
export async function newVisitor(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/content security policy|trusted ?type/i.test(message.text())) faults.push(message.text());
  });
  const devTools = await context.newCDPSession(page);
  // Over the developer tools, since the page's own policy lets no foreign script in.
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
    faults,
    async findBarriers() {
      await evaluate(`${axe.source};0`);
      const found = await evaluate(
        "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target)))",
      );
      return found as readonly string[];
    },
  };
}
