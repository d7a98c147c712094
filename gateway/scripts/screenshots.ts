/**
 * Takes screenshots of every page of the console, with two weeks of calls and without data, in both themes, wide and
 * narrow, into `screenshots/` (not in the repository). Run as `bun gateway/scripts/screenshots.ts [part of a page's
 * address]`.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { CONSOLE_PAGES, openPage, type PageNames } from '../test/browser/console-pages.ts';
import { startSeededGateway } from '../test/browser/seeded-gateway.ts';
import { signIn } from '../test/browser/sign-in.ts';
import { launchBrowser, newVisitor } from '../test/browser/visitor.ts';
import { OWNER, setUpOwner } from '../test/console-api/api-visitor.ts';
import { startGateway } from '../test/harness/start-gateway.ts';

const FOLDER = resolve(import.meta.dir, '../../screenshots');
const VIEWPORTS = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];
const part = process.argv[2] ?? '';

mkdirSync(FOLDER, { recursive: true });
const [browser, full, empty] = await Promise.all([launchBrowser(), startSeededGateway(), startGateway()]);
try {
  await setUpOwner(empty);
  await takeAll(browser, 'full', full.gateway.url, full.names);
  await takeAll(browser, 'empty', empty.url, null);
} finally {
  await browser.close();
  await full.stop();
  await empty.stop();
}

/** `names`: null if there is nothing that has its own page. */
async function takeAll(browser: Browser, state: string, url: string, names: PageNames | null): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    for (const viewport of VIEWPORTS) {
      const member = await newVisitor(browser, { colorScheme: theme, viewport });
      const stranger = await newVisitor(browser, { colorScheme: theme, viewport });
      await signIn(member.page, url, OWNER);
      for (const { route, needsData, isPublic, path } of CONSOLE_PAGES) {
        if (!route.includes(part) || (needsData === true && names === null)) continue;
        const { page } = isPublic === true ? stranger : member;
        await openPage(page, `${url}${path(names ?? { key: '', request: '' })}`);
        const name = route
          .slice(1)
          .replaceAll(/[^a-z]+/g, '-')
          .replace(/-$/, '');
        const file = join(FOLDER, `${name}-${state}-${theme}-${viewport.width}.png`);
        await page.screenshot({ path: file, fullPage: true });
        process.stdout.write(`${file}\n`);
      }
      await member.leave();
      await stranger.leave();
    }
  }
}
