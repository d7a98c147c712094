/**
 * Tests each page in both themes, wide and narrow, with and without data, and everything that opens over it: no faults,
 * accessible, no wider than the window.
 */
import { describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { must } from '../console-api/api-visitor.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { everyOrAll } from '../harness/exhaustive.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { CONSOLE_PAGES, type ConsolePage, openPage, routedPaths, untilSettled } from './console-pages.ts';
import { LAYERS } from './layers.ts';
import { openOwnConsole } from './open-console.ts';
import { type SeededGateway, shareSeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 360, height: 740 } } as const;
const VIEWS = (['light', 'dark'] as const).flatMap((theme) =>
  (['wide', 'narrow'] as const).map((size) => ({ theme, size })),
);
type View = (typeof VIEWS)[number];
type State = 'full' | 'empty';

let browser: Browser;
let full: Omit<SeededGateway, 'stop'>;
let empty: RunningGateway;
/** The token of a pending invitation at the empty gateway. */
let invitation = '';
const visitors = new Map<string, Visitor>();
let signedIn: Record<State, ReturnType<typeof signedInState>>;

openOwnConsole(async ({ owner, ...opened }) => {
  ({ browser, gateway: empty } = opened);
  full = await shareSeededGateway();
  const body = { email: 'linus@example.com', role: 'developer', workspaces: null };
  const invited = await must(owner.ask('POST /accounts/default/invitations', { body }));
  invitation = String(invited.link).split('/').at(-1) ?? '';
  signedIn = {
    full: signedInState(urlOf('full'), full.owner),
    empty: signedInState(urlOf('empty'), owner),
  };
});

/** Returns the visitor of this state with this view. One for all views: a new one loads and compiles everything again. */
async function visitorOf(state: State, { theme, size }: View, isPublic: boolean): Promise<Visitor> {
  const name = `${state} ${isPublic}`;
  const visitor = visitors.get(name) ?? (await newVisitor(browser, isPublic ? {} : { storageState: signedIn[state] }));
  visitors.set(name, visitor);
  await visitor.page.setViewportSize(SIZES[size]);
  await visitor.page.emulateMedia({ colorScheme: theme });
  return visitor;
}

const urlOf = (state: State) => (state === 'full' ? full.gateway.url : empty.url);

/** All views, or for each page one with data and for every eighth one without, a different one each time. */
function viewsOf(nth: number, state: State): readonly View[] {
  if (EXHAUSTIVE) return VIEWS;
  if (state === 'empty' && nth % 8 !== 0) return [];
  const view = VIEWS[(nth + (state === 'full' ? 0 : 2)) % VIEWS.length];
  return view === undefined ? [] : [view];
}

const NO_NAMES = { key: '…', request: '…' };

const CASES = CONSOLE_PAGES.flatMap((page, nth) =>
  (page.needsData === true ? (['full'] as const) : (['full', 'empty'] as const)).flatMap((state) =>
    viewsOf(nth, state).map((view) => ({
      page,
      state,
      view,
      name: `${page.route} ${state}, ${view.theme}, ${view.size}`,
    })),
  ),
);

test('all pages of the router are covered', () => {
  expect(CONSOLE_PAGES.map(({ route }: ConsolePage) => route).sort()).toEqual(routedPaths().sort());
});

describe.skipIf(!HAS_BROWSER)('a page (needs Chromium for Linux on x64)', () => {
  test.each(CASES.map((one) => [one.name, one] as const))('%s', async (_, { page, state, view }) => {
    const visitor = await visitorOf(state, view, page.isPublic === true);
    const names = state === 'full' ? full.names : { ...NO_NAMES, invitation };
    await openPage(visitor.page, `${urlOf(state)}${page.path(names)}`);
    const isAsked = await visitor.page.getByRole('heading', { name: 'Sign in' }).count();
    expect(isAsked).toBe(page.route === '/app/sign-in' ? 1 : 0);
    expect(await visitor.findBarriers()).toEqual([]);
    expect(await visitor.overhangPx()).toBeLessThanOrEqual(0);
    expect(visitor.faults()).toEqual([]);
  });
});

const OPENED = everyOrAll(12, LAYERS).flatMap((layer, nth) =>
  viewsOf(nth, 'full').map((view) => ({
    layer,
    view,
    title: `${layer.role} ${layer.name} over ${layer.path(NO_NAMES)}, ${view.theme}, ${view.size}`,
  })),
);

describe.skipIf(!HAS_BROWSER)('over a page (needs Chromium for Linux on x64)', () => {
  test.each(OPENED.map((one) => [one.title, one] as const))('%s', async (_, { layer, view }) => {
    const { page, findBarriers, overhangPx, faults } = await visitorOf('full', view, false);
    await openPage(page, `${urlOf('full')}${layer.path(full.names)}`);
    await untilSettled(page, async () => {
      await layer.open(page, view.size === 'narrow');
      await page.getByRole(layer.role, { name: layer.name }).waitFor();
    });
    expect(await findBarriers()).toEqual([]);
    expect(await overhangPx()).toBeLessThanOrEqual(0);
    expect(faults()).toEqual([]);
  });
});

test.skipIf(!HAS_BROWSER)(
  'a button keeps the focus while busy and when disabled (needs Chromium for Linux on x64)',
  async () => {
    const { page, faults } = await visitorOf('empty', { theme: 'light', size: 'wide' }, false);
    await openPage(page, `${urlOf('empty')}/app/me`);
    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    const save = page.getByRole('button', { name: 'Save name' });
    await save.focus();
    await untilSettled(page, () => page.keyboard.press('Enter'));
    await page.getByText('Saved your name.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    expect(await page.locator(':focus').innerText()).toBe('Save name');
    expect(faults()).toEqual([]);
  },
);
