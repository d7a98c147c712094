/** Tests that operators see a real outage in the console, from the paused target to its recovery. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { setUpOwner } from '../console-api/api-visitor.ts';
import { createKey } from '../http-contract/make-key.ts';
import { DEATHS, heal, kill, startTwoTargets, type TwoTargets } from '../outage/two-targets.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openConsole } from './open-console.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

/** Ten faults among the first calls open the breaker, for at least five seconds; then the next call probes. */
const CALLS = 12;
const MODEL = 'status';

let pair: TwoTargets;
let visitor: Visitor;
let page: Page;
let secret: string;
/** The ids of the calls during the outage. */
const requests: string[] = [];

openConsole(startTwoTargets, async ({ home, browser }) => {
  pair = home;
  const owner = await setUpOwner(pair.gateway);
  secret = (await createKey(pair.gateway)).key;
  kill(pair.primary, MODEL, DEATHS.status);
  for (let nth = 0; nth < CALLS; nth += 1) requests.push(await call());
  visitor = await newVisitor(browser, { storageState: signedInState(pair.gateway.url, owner) });
  page = visitor.page;
});

/** Returns the id of a call, which is answered in any case. */
async function call(): Promise<string> {
  const reply = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(reply.status).toBe(200);
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

const open = (path: string) => openPage(page, `${pair.gateway.url}${path}`);

describe.skipIf(!HAS_BROWSER)('an outage (needs Chromium for Linux on x64)', () => {
  test('shows in the attempts of a request', async () => {
    await open(`/app/logs/${requests[0]}`);
    const sheet = page.getByRole('dialog');
    await sheet.getByText('Provider error').waitFor();
    await sheet.getByText('Fallback', { exact: true }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('pauses the target until the operator resumes it', async () => {
    await open('/app/providers');
    const row = page.getByRole('listitem').filter({ hasText: `primary: ${MODEL}` });
    await row.getByText(/^(Paused after failures|Next request probes)$/).waitFor();
    await row.getByText(/Last failure: provider error\./).waitFor();
    await row.getByText(/^1\d of the last 1\d failed/).waitFor();
    await open(`/app/models?model=${MODEL}`);
    const preview = page.getByRole('list', { name: 'Targets in the order of trial' }).getByRole('listitem');
    const primary = preview.filter({ hasText: `primary: ${MODEL}` });
    await primary.getByText(/^Paused after failures until|this request probes/).waitFor();
    heal(pair.primary, MODEL);
    await page.getByRole('button', { name: `Resume now primary/${MODEL}` }).click();
    await primary.getByText('First in order that can take the request.').waitFor();
    await call();
    expect(visitor.faults()).toEqual([]);
  });
});
