import { mkdirSync } from 'node:fs';
import { startSeededGateway } from '../test/browser/seeded-gateway.ts';
import { openPage } from '../test/browser/console-pages.ts';
import { signIn } from '../test/browser/sign-in.ts';
import { launchBrowser, newVisitor } from '../test/browser/visitor.ts';
import { OWNER } from '../test/console-api/api-visitor.ts';
mkdirSync('/tmp/rshots', { recursive: true });
const full = await startSeededGateway();
const browser = await launchBrowser();
const only = process.argv[2];
try {
  for (const theme of ['light', 'dark'] as const)
    for (const viewport of [{ width: 1440, height: 900 }, { width: 360, height: 740 }]) {
      const name = `${theme}-${viewport.width}`;
      if (only !== undefined && !name.includes(only)) continue;
      const member = await newVisitor(browser, { colorScheme: theme, viewport });
      const { page } = member;
      page.setDefaultTimeout(60000);
      for (let t = 0; ; t += 1) { try { await signIn(page, full.gateway.url, OWNER); break; } catch (e) { if (t > 3) throw e; } }
      const shot = async (what: string, fullPage = true) => { await Bun.sleep(300); await page.screenshot({ path: `/tmp/rshots/${what}-${name}.png`, fullPage }); };
      const url = `${full.gateway.url}/app/guardrails`;
      await openPage(page, url);
      await shot('page');
      await page.getByLabel('Text', { exact: true }).fill('Write to ada@example.com. The key is ' + 'sk-' + 'proj-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY and that is it.');
      await page.getByRole('button', { name: 'Try' }).click();
      await Bun.sleep(1500);
      await shot('try');
      await openPage(page, `${url}?add=1`);
      await shot('create', false);
      await page.getByLabel('Check', { exact: true }).selectOption('personal_data');
      await page.getByText('Workspace, name, failures').click();
      await shot('personal', false);
      await page.getByLabel('Check', { exact: true }).selectOption('terms');
      await shot('terms', false);
      await page.getByLabel('Check', { exact: true }).selectOption('hook');
      await shot('hook', false);
      await openPage(page, `${url}?rule=grl_terms`);
      await shot('edit', false);
      await member.leave();
    }
} finally {
  await browser.close();
  await full.stop();
}
