/**
 * Tests that a response in the background is settled once and never free, whatever becomes of the process that began it:
 * kill -9 and a deploy, plain and streamed. Its hold counts again after a restart. Contract, 10.13.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type BackgroundUpstream, startBackgroundUpstream } from '../http-contract/background-upstream.ts';
import { control } from '../http-contract/make-key.ts';

let upstream: BackgroundUpstream;
let home: string;
beforeAll(() => {
  upstream = startBackgroundUpstream();
  home = mkdtempSync(join(tmpdir(), 'tollgate-background-'));
});
afterAll(() => {
  upstream.stop();
  rmSync(home, { recursive: true, force: true });
});

function start(dataDir: string): Promise<RunningGateway> {
  const providers = { host: { kind: 'openai', base_url: upstream.url, api_key: 'credential' } };
  const models = { m: { targets: [{ provider: 'host' }], price: { input: 1, output: 5 } } };
  // A stream that its client still reads is not what is tested: it would be waited for.
  return startGateway({ dataDir, config: { limits: { drain_streams: '500ms' }, providers, models } });
}

/** Asks for a response in the background and waits until its id is known to the client. */
async function begin({ url }: RunningGateway, key: string, stream: boolean) {
  const response = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', input: 'hi', background: true, max_output_tokens: 1_000, stream }),
  });
  const requestId = response.headers.get('x-request-id') ?? '';
  if (response.status !== 200) return { status: response.status, requestId, id: '' };
  const id = upstream.ids.at(-1) ?? '';
  const reader = response.body?.getReader();
  let text = '';
  const decoder = new TextDecoder();
  while (!text.includes(`"${id}"`)) text += decoder.decode((await reader?.read())?.value, { stream: true });
  return { status: 200, requestId, id };
}

/** Waits until the response can be fetched: the id of a stream passes before its detachment is durable. */
async function untilKept({ url }: RunningGateway, key: string, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const fetchIt = async () => (await fetch(`${url}/v1/responses/${id}`, { headers })).status === 200 || null;
  await eventually('the response', fetchIt, 5_000);
}

/** Waits for the first record of a request, and returns all of it. */
async function settledIn(gateway: RunningGateway, requestId: string) {
  const read = async () => (await gateway.calls()).filter(({ request_id }) => request_id === requestId);
  return eventually('the settlement', async () => ((await read()).length > 0 ? read() : null), 15_000);
}

describe.each([
  ['plain', false],
  ['streamed', true],
] as const)('a %s response in the background', (form, stream) => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'is settled once after a restart by %s',
    async (signal) => {
      const dataDir = join(home, `${form}-${signal}`);
      const first = await start(dataDir);
      const { key } = first;
      const { id, requestId } = await begin(first, key, stream);
      await untilKept(first, key, id);
      if (signal === 'SIGKILL') {
        first.signal(signal);
        await first.exited;
      } else await first.stop(true);
      // It is not settled, and a second process takes it over while it goes on.
      const second = await start(dataDir);
      expect((await second.calls()).map(({ request_id }) => request_id)).not.toContain(requestId);
      second.signal('SIGKILL');
      await second.exited;
      upstream.become(id, 'completed');
      const third = await start(dataDir);
      expect(await settledIn(third, requestId)).toMatchObject([
        { stream, usage: { input: 11, output: 3 }, usage_source: 'upstream', cost_nano_usd: '26000', error: null },
      ]);
      await third.stop(true);
      const last = await start(dataDir);
      expect(await settledIn(last, requestId)).toHaveLength(1);
      expect((await last.run('verify')).status).toBe(0);
      await last.stop();
    },
    60_000,
  );
});

test('after a restart its hold counts in its budget until it is settled, and then its cost', async () => {
  const dataDir = join(home, 'budget');
  const first = await start(dataDir);
  const { key } = first;
  // Covers the maximum cost of one such response, and not of two.
  await control(first, 'limits.set', { account: 'default', budget_usd: '1' });
  const { id, requestId } = await begin(first, key, false);
  expect((await begin(first, key, false)).status).toBe(429);
  first.signal('SIGKILL');
  await first.exited;
  const second = await start(dataDir);
  expect((await begin(second, key, false)).status).toBe(429);
  upstream.become(id, 'completed');
  await fetch(`${second.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${key}` } });
  await settledIn(second, requestId);
  // The record is on the disk, where another process reads it, a moment before the server hears of that.
  await eventually('room in the budget', async () => (await begin(second, key, false)).status === 200 || null, 5_000);
  await second.stop();
}, 60_000);
