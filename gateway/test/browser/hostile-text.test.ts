/**
 * Tests that text from others (names, ids, answers, arguments, errors) stays text on every page and in every file: no
 * script in it runs.
 */
import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { must, type Person, setUpOwner } from '../console-api/api-visitor.ts';
import { everyOrAll } from '../harness/exhaustive.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { CONSOLE_PAGES, openPage } from './console-pages.ts';
import { openConsole } from './open-console.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const ROOT = resolve(import.meta.dir, '../../..');

/** Each reports itself if it runs. */
const PAYLOADS = [
  '<img src=x onerror="window.__ran=1">',
  '"><script>window.__ran=1</script>',
  '</script><svg onload=window.__ran=1>',
  'javascript:window.__ran=1',
  '{{constructor.constructor("window.__ran=1")()}}',
];
const FORMULA = '=HYPERLINK("javascript:window.__ran=1","x")';
const FORMULAS = [FORMULA, '+1+cmd|"/c calc"!A0', '-1+1', '@SUM(1+1)', '\t=1+1'];
/** At the beginning of a cell, or after its opening quote. */
const LIVE_CELL = /(?:^|[,\n])"?[=+@\t]/;

const HAS_RUN = "'__ran' in window";
/** Elements that hostile text would have created. */
const LIVE_PARTS = `document.querySelectorAll('[onerror],[onload],a[href^="javascript:" i]').length`;
/** Each page takes half a second. The sample is every second page, every ninth with a query, and that of every ninth call. */
const EVERY_NTH = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 1 : 9;

let pair: Pair;
let browser: Browser;
let visitor: Visitor;
let owner: Person;
const names = { key: '', request: '', session: '<img src=x onerror=window.__ran=1>' };

const start = () => startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok', 'tool', ...PAYLOADS], messages: ['m-ok'] }));
openConsole(start, async (opened) => {
  ({ home: pair, browser } = opened);
  const { gateway, fake } = pair;
  owner = await setUpOwner(gateway);
  await must(owner.ask('PATCH /me', { body: { name: PAYLOADS[0] } }));
  await must(owner.ask('PATCH /accounts/default/workspaces/default', { body: { bodies: 'all' } }));
  for (const text of [...PAYLOADS, ...FORMULAS]) {
    const { id, key } = await createKey(gateway, { name: text.trim() });
    names.key = id;
    fake.script('ok', { say: { text, calls: [{ id: 'call_1', name: 'look', input: { text } }] } });
    names.request = await call(key, {
      model: 'ok',
      user: text.slice(0, 64),
      messages: [{ role: 'user', content: text }],
    });
    await call(key, { model: text, messages: [{ role: 'user', content: text }] });
    const answered = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: JSON.stringify({ text }) } }],
    };
    const result = { role: 'tool', tool_call_id: 'c', content: text };
    await call(key, { model: 'tool', messages: [{ role: 'user', content: 'Look.' }, answered, result] });
  }
  fake.script('tool', {
    status: 400,
    json: { error: { message: PAYLOADS.join(' '), type: PAYLOADS[0], code: PAYLOADS[1] } },
  });
  const { key } = await createKey(gateway, { name: 'last' });
  const metadata = { session_id: names.session };
  names.request = await call(key, {
    model: 'tool',
    metadata,
    messages: [{ role: 'user', content: PAYLOADS.join('\n') }],
  });
  const caps = { rpm: 10, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
  for (const text of PAYLOADS) {
    await must(
      owner.ask(`PUT /accounts/default/limits/end_user/${encodeURIComponent(text.slice(0, 64))}`, { body: { caps } }),
    );
  }
  const note = `${PAYLOADS[0]} ${FORMULA}`;
  for (const text of [note, FORMULA]) {
    await must(owner.ask('POST /accounts/default/topup', { body: { id: crypto.randomUUID(), usd: '1', note: text } }));
  }
  visitor = await newVisitor(browser, { storageState: signedInState(gateway.url, owner) });
});

/** Returns the call's id, whatever the answer. */
async function call(key: string, body: object): Promise<string> {
  const reply = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

/** The stored body of a request. */
async function requestBody(id: string): Promise<object> {
  const { raw } = await must(owner.ask(`GET /accounts/default/logs/${id}`));
  return JSON.parse(raw.request);
}

describe.skipIf(!HAS_BROWSER)('hostile text (needs Chromium for Linux on x64)', () => {
  const pages = CONSOLE_PAGES.filter(({ isPublic }) => isPublic !== true);
  const queries = [
    '',
    '?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.__ran%3D1%3E&model=%22%3E%3Cscript%3Ewindow.__ran%3D1%3C/script%3E',
  ];
  test.each(
    everyOrAll(
      2,
      pages.map((page, nth) => [page.route, page, nth] as const),
    ),
  )('%s shows it as text', async (_, one, nth) => {
    const { page } = visitor;
    for (const query of nth % EVERY_NTH === 0 ? queries : queries.slice(0, 1)) {
      await openPage(page, `${pair.gateway.url}${one.path(names)}${query}`);
      expect(await page.evaluate(HAS_RUN)).toBe(false);
      expect(await page.evaluate(LIVE_PARTS)).toBe(0);
    }
    expect(visitor.faults(400)).toEqual([]);
  });

  test('request details show prompts, responses, arguments and errors as text', async () => {
    const { page } = visitor;
    const { calls } = await must(owner.ask('GET /accounts/default/logs?limit=200'));
    expect(calls.length).toBeGreaterThan(PAYLOADS.length);
    let shown = 0;
    for (const { request_id } of calls.filter((_: unknown, nth: number) => nth % EVERY_NTH === 0)) {
      await openPage(page, `${pair.gateway.url}/app/logs/${request_id}`);
      await page.getByRole('dialog').getByText('Attempts').waitFor();
      expect(await page.evaluate(HAS_RUN)).toBe(false);
      shown += await page.getByText('window.__ran=1').count();
    }
    expect(shown).toBeGreaterThan(0);
    // The page before has an address with a query that the language does not know.
    expect(visitor.faults(400)).toEqual([]);
  });

  test('a request as code, run as shown, sends the same request again', async () => {
    const { page } = visitor;
    await openPage(page, `${pair.gateway.url}/app/logs/${names.request}`);
    await page.getByRole('button', { name: 'View code' }).click();
    const dialog = page.getByRole('dialog', { name: 'Request as code' });
    await dialog.getByText('TypeScript').click();
    const program = await dialog.locator('pre', { hasText: "from 'openai'" }).innerText();
    const { id, key } = await createKey(pair.gateway, { name: 'repeats' });
    const env = { PATH: process.env.PATH ?? '', TOLLGATE_KEY: key };
    await Bun.spawn([process.execPath, '-e', program], { cwd: ROOT, env, stderr: 'ignore' }).exited;
    const { calls } = await must(owner.ask(`GET /accounts/default/logs?key=${id}`));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(await requestBody(calls[0].request_id)).toEqual(await requestBody(names.request));
    expect(await page.evaluate(HAS_RUN)).toBe(false);
    expect(visitor.faults(400)).toEqual([]);
  });

  test('files contain no formula that a spreadsheet would run', async () => {
    const range = new URLSearchParams({
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
    });
    for (const path of [
      'logs.csv',
      `usage.csv?${range}&by=key,end_user`,
      `billing.csv?${range}`,
      `audit.csv?${range}`,
    ]) {
      const { status, text, headers } = await owner.ask(`GET /accounts/default/${path}`);
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/csv; charset=utf-8']);
      expect([path, LIVE_CELL.exec(text)?.[0]]).toEqual([path, undefined]);
      expect([path, /HYPERLINK/.test(text)]).toEqual([path, true]);
    }
  });
});
