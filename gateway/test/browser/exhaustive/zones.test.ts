/** Tests the time zone of the pages: an account in New York, used on a computer in Tokyo. */
import { afterAll, describe, expect, test } from 'bun:test';
import { windowAt } from '../../../src/admission/window.ts';
import { must } from '../../console-api/api-visitor.ts';
import { exhaustiveTest, firstOrAll } from '../../harness/exhaustive.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openSeededConsole } from '../open-console.ts';
import type { SeededGateway } from '../seeded-gateway.ts';
import type { Visitor } from '../visitor.ts';

const ZONE = 'America/New_York';
const CLOCK = new Intl.DateTimeFormat('en-US', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
  timeZone: ZONE,
});

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

const setZone = (time_zone: string) =>
  must(seeded.owner.ask('PATCH /accounts/default/settings', { body: { time_zone } }));

openSeededConsole(
  async (opened) => {
    ({ seeded, visitor } = opened);
    await setZone(ZONE);
  },
  { timezoneId: 'Asia/Tokyo' },
);
afterAll(async () => {
  // The gateway is shared.
  if (seeded !== undefined) await setZone('UTC');
});

const open = (path: string) => openPage(visitor.page, `${seeded.gateway.url}${path}`);

describe.skipIf(!HAS_BROWSER)('the account’s time zone (needs Chromium for Linux on x64)', () => {
  test.each(
    firstOrAll([
      ['/app/billing', 'Statement CSV'],
      ['/app/audit', 'Audit log CSV'],
    ]),
  )('on %s, “This month” of %s is the account’s month, and the dialog names the zone', async (path, name) => {
    await open(path);
    await visitor.page.getByRole('button', { name }).click();
    const dialog = visitor.page.getByRole('dialog', { name });
    expect(await dialog.innerText()).toContain(`Days start at midnight in ${ZONE}.`);
    const href = await dialog.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
    const query = new URL(href ?? '', seeded.gateway.url).searchParams;
    const month = windowAt('month', ZONE, Date.now());
    expect([query.get('from'), query.get('to')]).toEqual(
      [month.startMs, month.endMs].map((ms) => new Date(ms ?? 0).toISOString()),
    );
  });

  test.each(firstOrAll(['/app', '/app/usage', '/app/logs', '/app/billing', '/app/audit', 'key']))(
    '%s names its time zone',
    async (path) => {
      await open(path === 'key' ? `/app/keys/${seeded.names.key}` : path);
      expect(await visitor.page.getByText(`Times in ${ZONE}.`).count()).toBe(1);
    },
  );

  test('a request has the same time in its list, sheet and title, in the account’s zone', async () => {
    const { page } = visitor;
    await open(`/app/logs/${seeded.names.request}`);
    const sheet = page.getByRole('dialog');
    const at = await sheet.getByRole('time').first().getAttribute('datetime');
    const shown = CLOCK.format(new Date(at ?? ''));
    expect(await sheet.getByRole('time').first().innerText()).toBe(shown);
    expect(await sheet.getByRole('heading', { level: 2 }).first().innerText()).toContain(shown);
    expect(await page.getByRole('table').locator(`time[datetime="${at}"]`).first().getAttribute('title')).toStartWith(
      `${shown} (${ZONE})\n`,
    );
  });

  test('a user’s own zone is that of times, also in a tooltip; ranges keep the account’s', async () => {
    const { page } = visitor;
    await open('/app/me');
    await page.getByLabel('Show times in').selectOption({ label: 'Browser’s time zone (Asia/Tokyo)' });
    await page.getByRole('button', { name: 'Save time zone' }).click();
    await page.getByText('Saved. Times are now shown in Asia/Tokyo.').waitFor();
    await open(`/app/logs/${seeded.names.request}`);
    const time = page.getByRole('dialog').getByRole('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const inZone = (timeZone: string) =>
      at.toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23', timeZone });
    expect(await time.innerText()).toBe(inZone('Asia/Tokyo'));
    expect(await time.getAttribute('title')).toBe(`${inZone('Asia/Tokyo')} (Asia/Tokyo)\n${inZone('UTC')} (UTC)`);
    await open('/app/billing');
    expect(await page.getByText(`Times in Asia/Tokyo. Days start at midnight in ${ZONE}.`).count()).toBe(1);
    await must(seeded.owner.ask('PATCH /me', { body: { time_zone: null } }));
  });

  exhaustiveTest('a custom range is entered and shown in the account’s zone', async () => {
    const { page } = visitor;
    await open('/app/usage?from=2026-11-01T03:30:00.000Z&to=2026-11-01T12:00:00.000Z');
    await page.getByRole('button', { name: 'Oct 31, 23:30 – Nov 1, 07:00' }).click();
    const dialog = page.getByRole('dialog', { name: 'Time range' });
    expect(await dialog.innerText()).toContain(`Times in ${ZONE}.`);
    expect(await dialog.getByLabel('From').inputValue()).toBe('2026-10-31T23:30');
    await dialog.getByLabel('To').fill('2026-11-02T00:00');
    await dialog.getByRole('button', { name: 'Apply range' }).click();
    await page.waitForURL((url) => url.searchParams.get('to') === '2026-11-02T05:00:00.000Z');
  });
});
