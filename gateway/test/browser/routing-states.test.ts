/**
 * Tests how operators see routing: the preview of a request, live states and their remedy, and the attempts of a
 * request. Pauses are played into the reply of the API, because they end by themselves; what operators do is real.
 */
import { describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { inviteMember, must } from '../console-api/api-visitor.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

type States = Reply<'GET /accounts/{account}/routing/states'>;

const NARROW = { width: 360, height: 740 };
const TARGET = {
  provider: 'lab',
  until: null,
  why: null,
  faults: 0,
  outcomes: 100,
  trips: 0,
  share: 1,
  open_calls: 4,
  overdue_calls: 0,
  retries_left: 10,
  latency_ms: 420,
} as const;
/** `routed` is limping; a credential is rejected, another rate-limited. */
const STATES: States = {
  at: new Date().toISOString(),
  providers: [],
  targets: [
    { ...TARGET, model: 'gpt-5', target: 'lab/gpt-5', upstream_model: 'gpt-5', state: 'closed' },
    {
      ...TARGET,
      model: 'routed',
      target: 'first',
      upstream_model: 'gpt-5-mini',
      state: 'open',
      until: new Date(Date.now() + 20_000).toISOString(),
      why: 'overloaded',
      faults: 20,
      overdue_calls: 2,
    },
    {
      ...TARGET,
      model: 'routed',
      target: 'second',
      provider: 'backup-lab',
      upstream_model: 'small',
      state: 'benched',
      why: 'config',
    },
  ],
  credentials: [
    {
      provider: 'backup-lab',
      name: 'default',
      state: 'benched',
      why: 'credential',
      until: null,
      open_calls: 0,
      cooling: [],
      headroom: [],
    },
    {
      provider: 'lab',
      name: 'default',
      state: 'cooling',
      why: 'rate',
      until: new Date(Date.now() + 23_000).toISOString(),
      open_calls: 3,
      cooling: [{ upstream_model: 'gpt-5-mini', until: new Date(Date.now() + 23_000).toISOString(), is_guess: false }],
      headroom: [
        { upstream_model: 'gpt-5', share: 0.62 },
        { upstream_model: 'gpt-5-mini', share: 0 },
      ],
    },
  ],
  limping: [{ model: 'routed', since: new Date(Date.now() - 60_000).toISOString() }],
};

let browser: Browser;
let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;
let page: Page;

openSeededConsole((opened) => {
  ({ browser, seeded, visitor, page } = opened);
});

const open = (path: string) => openPage(page, `${seeded.gateway.url}${path}`);
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();

/** The sheet of `routed`: what the preview says of a target. */
const previewed = (name: string) =>
  page.getByRole('list', { name: 'Targets in the order of trial' }).getByRole('listitem').filter({ hasText: name });

async function expectSound(): Promise<void> {
  expect(await visitor.findBarriers()).toEqual([]);
  expect(await visitor.overhangPx()).toBeLessThanOrEqual(0);
  expect(visitor.faults()).toEqual([]);
}

describe.skipIf(!HAS_BROWSER)('the routing preview (needs Chromium for Linux on x64)', () => {
  test('names each target with its verdict and reason, and sends nothing', async () => {
    const before = seeded.fake.served().length;
    await open('/app/models?model=routed');
    await previewed('lab: gpt-5-mini').getByText('First in order that can take the request.').waitFor();
    await previewed('backup-lab: small').getByText('Tried if the targets above fail.').waitFor();
    await previewed('backup-lab: large').getByText('Removed from rotation.').waitFor();
    expect(await previewed('backup-lab: large').getByText('Skipped', { exact: true }).count()).toBe(1);
    await seen(/^Targets in order · \d+ input tokens$/);
    await page.getByLabel('Tools', { exact: true }).check();
    await page.getByLabel('Prompt', { exact: true }).selectOption('2000');
    await seen(/ · \d,\d{3} input tokens · Needs tools$/);
    expect(seeded.fake.served()).toHaveLength(before);
    await expectSound();
  });

  test('reads a pasted request, and says what is wrong with it', async () => {
    await open('/app/models?model=routed');
    await page.getByText('Paste JSON').click();
    const body = page.getByLabel('Request body');
    await body.fill('{"messages":');
    await seen(/This isn’t valid JSON/);
    await body.fill('{"messages": 5}');
    await seen('The request would be rejected:');
    await body.fill('{"messages": [{"role": "user", "content": "Hello"}], "tools": []}');
    await previewed('lab: gpt-5-mini').getByText('Chosen', { exact: true }).waitFor();
    await expectSound();
  });

  test('follows the tags that a key requires', async () => {
    const { id } = await createKey(seeded.gateway, { name: 'only eu', required_tags: ['eu'] });
    await open('/app/models?model=routed');
    await page.getByRole('combobox', { name: /^API key/ }).selectOption(id);
    await previewed('lab: gpt-5-mini').getByText('It lacks a required tag.').waitFor();
    await previewed('backup-lab: small').getByText('Chosen', { exact: true }).waitFor();
    await seen(/Requires tags eu/);
  });

  test('shows other members the order of the targets, without states and costs', async () => {
    const member = await inviteMember(seeded.gateway.url, seeded.owner, {
      account: 'default',
      role: 'viewer',
      workspaces: ['default'],
    });
    const viewer = await newVisitor(browser, { storageState: signedInState(seeded.gateway.url, member) });
    await openPage(viewer.page, `${seeded.gateway.url}/app/models?model=routed`);
    await viewer.page.getByText('lab as gpt-5-mini: the first of 2 targets').waitFor();
    expect(await viewer.page.getByText('Paste JSON').count()).toBe(0);
    expect(await viewer.page.getByText('Resume now').count()).toBe(0);
    expect(viewer.faults()).toEqual([]);
    await viewer.leave();
  });
});

describe.skipIf(!HAS_BROWSER)('live states (needs Chromium for Linux on x64)', () => {
  const played = '**/app/api/accounts/default/routing/states';

  test('lead from a pause to its remedy, on the pages of providers and of the status', async () => {
    await page.route(played, (route) => route.fulfill({ json: STATES }));
    for (const size of [{ width: 1440, height: 900 }, NARROW]) {
      await page.setViewportSize(size);
      for (const path of ['/app/providers', '/status']) {
        await open(path);
        await seen(/has been healthy since \d\d:\d\d:\d\d/);
        await seen(
          /^No requests until \d\d:\d\d:\d\d, then one request probes it. Last failure: provider overloaded.$/,
        );
        await seen('20 of the last 100 failed · 4 open requests, 2 overdue · First token about 420 ms');
        await seen('2 of 3 targets not fully in use');
        await expectSound();
      }
    }
    expect(await page.getByRole('button', { name: /^Resume now/ }).count()).toBe(0);
    await open('/app/providers');
    const sent = page.waitForRequest((request) => request.url().endsWith('/routes/routed/close'));
    await press('Resume now first');
    expect((await sent).postDataJSON()).toEqual({ target: 'first' });
    await seen('first gets requests again.');
    await page.unroute(played);
  });

  test('of credentials lead to their pool, with what is left of their limits', async () => {
    await page.setViewportSize(NARROW);
    await page.route(played, (route) => route.fulfill({ json: STATES }));
    await open('/app/providers');
    await seen('The provider rejects it.');
    await page.getByRole('button', { name: 'Show credential default' }).first().click();
    await page.getByRole('dialog', { name: 'Credentials of lab' }).waitFor();
    await page.getByRole('meter', { name: 'Headroom of default for gpt-5-mini' }).waitFor();
    await seen('62% left');
    await seen('3 open requests');
    const sent = page.waitForRequest((request) => request.url().endsWith('/routes/routed/close'));
    await press('Resume now default');
    expect((await sent).postDataJSON()).toEqual({ target: 'first' });
    await seen('default gets requests again.');
    await expectSound();
    await page.unroute(played);
  });

  test('are not asked for where the status page is read without a sign-in', async () => {
    const stranger = await newVisitor(browser);
    const asked: string[] = [];
    stranger.page.on('request', (request) => asked.push(request.url()));
    await openPage(stranger.page, `${seeded.gateway.url}/status`);
    expect(asked.filter((url) => url.includes('routing/states'))).toEqual([]);
    expect(stranger.faults()).toEqual([]);
    await stranger.leave();
  });

  test('a target put back into rotation is healthy on the page of its model', async () => {
    await page.setViewportSize(NARROW);
    await open('/app/providers');
    await press('Return to rotation third');
    await seen('Returned third to rotation.');
    const { json } = await seeded.owner.ask('GET /accounts/default/routes/routed');
    expect(json.targets).toMatchObject([{}, {}, { name: 'third', out_of_rotation_since: null }]);
    const body = { target: 'third', in_rotation: false };
    await must(seeded.owner.ask('POST /accounts/default/routes/routed/rotation', { body }));
  });
});

describe.skipIf(!HAS_BROWSER)('the attempts of a request (needs Chromium for Linux on x64)', () => {
  test('say why each was made, how it ended, and what it cost', async () => {
    await page.setViewportSize(NARROW);
    await open(`/app/logs/${seeded.names.retried}`);
    const sheet = page.getByRole('dialog');
    for (const text of [
      'Provider overloaded',
      'Probe of a target that failed before',
      'Paused 670 ms before',
      '$0.0003, maybe billed by the provider',
      'Credential spare',
      'Target second',
      'Paused before attempts 670 ms',
    ]) {
      await sheet.getByText(text).first().waitFor();
    }
    expect(await sheet.getByText('Provider’s request ID').count()).toBe(2);
    await expectSound();
  });

  test('are one bar without reasons where nothing went wrong', async () => {
    const { json } = await seeded.owner.ask('GET /accounts/default/logs?status=200&limit=50');
    const plain = (
      json.calls as { request_id: string; attempts: { error: string | null; start_ms?: number }[] }[]
    ).find(
      ({ attempts }) => attempts.length === 1 && attempts[0]?.error === null && attempts[0].start_ms !== undefined,
    );
    await open(`/app/logs/${plain?.request_id}`);
    const attempts = page.locator('section', { has: page.getByRole('heading', { name: 'Attempts' }) }).last();
    await attempts.getByText('Total').waitFor();
    expect(await attempts.innerText()).not.toMatch(/First byte|Fallback|Paused/);
  });
});
