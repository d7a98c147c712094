/**
 * Tests that the console's logs print a record as `tollgate requests --json` does, whatever its content, and as the
 * contract says.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { runProgram } from '../cli/testing/run-program.ts';
import { ZERO_USAGE } from '../generation/usage.ts';
import { requestIdFloor } from '../lib/request-id.ts';
import type { CallRecord } from '../store/ports/records.ts';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { CONSOLE_ROUTES, type Reply } from './contract/contract.ts';
import { NOW_MS, openUsageRig } from './testing/usage-rig.ts';

const USAGE = { input: 900, cache_read: 30, cache_write_5m: 2, cache_write_1h: 1, output: 45, reasoning: 10 };
const SOUND = {
  audio_input: 12,
  audio_cache_read: 3,
  audio_output: 4,
  image_input: 5,
  image_output: 6,
  cache_write_30m: 1,
};
const REFUSED = { usage: ZERO_USAGE, usage_source: 'void', finish_reason: null, ttfb_ms: null } as const;
const price_version = 'config@1_1_1_1_1_1;web_search=10/1000';

const SHAPES: Readonly<Record<string, Partial<CallRecord>>> = {
  plain: {},
  cancelled: { status: 499, error: 'client_left', usage_source: 'partial', finish_reason: null },
  flagged: { usage_flags: ['sum', 'far_output'] },
  'sound and images': { usage: { ...USAGE, extras: SOUND } },
  'tools of the provider': { usage: { ...USAGE, extras: { server_tools: { web_search: 2 } } }, price_version },
  'a tool without a fee': {
    usage: { ...USAGE, extras: { audio_input: 1, server_tools: { web_search: 2, tool_search: 1 } } },
    price_version,
  },
  'a tool under a price whose text has no numbers': {
    usage: { ...USAGE, extras: { server_tools: { web_search: 2 } } },
    price_version: 'catalogue 2026',
  },
  unpriced: { price_version: null, cost_nano_usd: null },
  refused: { ...REFUSED, status: 402, error: 'quota_exceeded', cost_nano_usd: '0', provider: null, attempts: [] },
  replayed: { usage_source: 'cache', cost_nano_usd: '0', attempts: [] },
};

const newFolder = temporaryFolders();
const dataDir = newFolder();
const iso = (atMs: number) => new Date(atMs).toISOString();
const idOf = (shape: string) => requestIdFloor(NOW_MS - 60_000) + Buffer.from(shape).toString('hex').padStart(48, '0');
let rig: Awaited<ReturnType<typeof openUsageRig>>;
beforeAll(async () => {
  rig = await openUsageRig(dataDir, 0);
  for (const [shape, changes] of Object.entries(SHAPES)) {
    await rig.store.recorder.append(
      sampleRecord(idOf(shape), {
        at_ms: NOW_MS - 60_000,
        usage: USAGE,
        price_version: 'config@1_1_1_1_1_1',
        ...changes,
      }),
    );
  }
});
afterAll(() => rig.store.close());

test.each(Object.keys(SHAPES))('%s', async (shape) => {
  const id = idOf(shape);
  const { stdout } = await runProgram(dataDir, 'calls', '--json', '--request-id', id);
  const route = CONSOLE_ROUTES['GET /accounts/{account}/logs/{request}'];
  const one = (await (await rig.get(`/accounts/default/logs/${id}`)).json()) as { readonly call: object };
  expect(`${JSON.stringify(one.call)}\n`).toBe(stdout);
  expect(route.reply.parse(one).call).toEqual(one.call as never);
  const range = `from=${iso(NOW_MS - 3_600_000)}&to=${iso(NOW_MS)}`;
  const list = (await (
    await rig.get(`/accounts/default/logs?${range}&q=${id}`)
  ).json()) as Reply<'GET /accounts/{account}/logs'>;
  expect(list.calls.map((call) => `${JSON.stringify(call)}\n`)).toEqual([stdout]);
});
