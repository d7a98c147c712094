/** Tests `tollgate requests`: what it finds, and the published form of a record. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { renderCallRecord } from '../../billing/render-call-record.ts';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { Store } from '../../store/ports/store.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { NOW_MS, runProgram } from '../testing/run-program.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const newFolder = temporaryFolders();
let dataDir: string;
let store: Store;

beforeAll(async () => {
  dataDir = newFolder();
  store = await openStore({ dataDir });
  await store.recorder.append(sampleRecord(idOf('old', 7_200_000), { at_ms: NOW_MS - 7_200_000 }));
  await store.recorder.append(
    sampleRecord(idOf('new', 1_000), { at_ms: NOW_MS - 1_000, key_id: 'key_2', cost_nano_usd: '-9007199254740993' }),
  );
  await store.recorder.append(
    sampleRecord(idOf('unpriced', 2_000), {
      at_ms: NOW_MS - 2_000,
      cost_nano_usd: null,
      model: 'x\u001b[2J',
      trace_id: TRACE_ID,
    }),
  );
});

/** The id of a call that arrived this long before now, with a recognizable word in it. */
function idOf(word: string, agoMs: number): string {
  return `${requestIdFloor(NOW_MS - agoMs)}-${word}`;
}

async function idsOf(...flags: string[]): Promise<string[]> {
  const { stdout } = await runProgram(dataDir, 'requests', '--json', ...flags);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).request_id.split('-')[1]);
}

describe('requests', () => {
  test('has its former name as an alias', async () => {
    const [now, former] = await Promise.all(['requests', 'calls'].map((name) => runProgram(dataDir, name, '--json')));
    expect(former).toEqual(now);
  });

  test('prints a record in the published format, while a writer runs', async () => {
    const { stdout } = await runProgram(dataDir, 'calls', '--json', '--request-id', idOf('new', 1_000));
    expect(stdout).toBe(
      `${JSON.stringify({
        request_id: idOf('new', 1_000),
        at: '2026-11-20T11:59:59.000Z',
        account: 'default',
        workspace: 'default',
        key_id: 'key_2',
        key_name: 'first',
        end_user: 'user-7',
        session: null,
        protocol: 'chat',
        model: 'gpt-5-mini',
        served_model: 'gpt-5-mini-2026-01-01',
        provider: 'openai',
        stream: true,
        status: 200,
        error: null,
        finish_reason: 'stop',
        usage: { input: 120, cache_read: 30, cache_write_5m: 2, cache_write_1h: 1, output: 45, reasoning: 10 },
        usage_source: 'upstream',
        price_version: 'catalogue 2026-11-01',
        cost_nano_usd: '-9007199254740993',
        ttfb_ms: 210,
        duration_ms: 1_830.5,
        attempts: [
          { provider: 'lab', model: 'gpt-5-mini', status: 503, error: 'upstream_failed', duration_ms: 12 },
          { provider: 'openai', model: 'gpt-5-mini', status: 200, error: null, duration_ms: 1_800 },
        ],
      })}\n`,
    );
  });

  test('prints a trace id only if there is one', async () => {
    const traced = JSON.parse((await runProgram(dataDir, 'calls', '--json', '--trace-id', TRACE_ID)).stdout);
    expect(traced.trace_id).toBe(TRACE_ID);
  });

  test('prints usage anomalies only if there are any', () => {
    const json = JSON.stringify(renderCallRecord(sampleRecord('req_1', { usage_flags: ['sum', 'far_output'] })));
    expect(json).toContain('"usage_source":"upstream","usage_flags":["sum","far_output"],"price_version"');
  });

  test('prints sound, images and tools where there are any, and names tools that the price has no fee for', async () => {
    const extras = { audio_input: 12, server_tools: { web_search: 2, tool_search: 1 } };
    const price_version = 'config@1_1_1_1_1_1,audio_input=40;web_search=10/1000';
    const id = idOf('apart', 9_000_000);
    const { usage } = sampleRecord(id);
    const record = sampleRecord(id, { at_ms: NOW_MS - 9_000_000, usage: { ...usage, extras }, price_version });
    const other = newFolder();
    const otherStore = await openStore({ dataDir: other });
    await otherStore.recorder.append(record);
    const printed = JSON.parse((await runProgram(other, 'calls', '--json')).stdout);
    expect(printed.usage).toEqual({ ...usage, ...extras });
    expect(printed.unpriced_server_tools).toEqual(['tool_search']);
    expect((await runProgram(other, 'calls')).stdout).toContain('0.000123450 (tool_search unpriced)');
    await otherStore.close();
  });

  test('finds by time, by key, by request, by trace and up to a limit, newest first', async () => {
    expect(await idsOf()).toEqual(['new', 'unpriced', 'old']);
    expect(await idsOf('--since', '1h')).toEqual(['new', 'unpriced']);
    expect(await idsOf('--limit', '1')).toEqual(['new']);
    expect(await idsOf('--key', 'key_2')).toEqual(['new']);
    expect(await idsOf('--request-id', 'gone')).toEqual([]);
    expect(await idsOf('--trace-id', TRACE_ID)).toEqual(['unpriced']);
    expect(await idsOf('--trace-id', '0'.repeat(32))).toEqual([]);
  });

  test('prints a table for people, with money to the nano-dollar and nothing that acts on the terminal', async () => {
    const { stdout } = await runProgram(dataDir, 'calls');
    expect(stdout).toContain('-9007199.254740993');
    expect(stdout).toContain('0.000123450');
    expect(stdout).toContain('unpriced');
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n')[0]).toStartWith('AT ');
  });

  test.each([
    ['--limit', '0'],
    ['--limit', '1e3'],
    ['--limit', '100001'],
    ['--since', 'yesterday'],
    ['--account', 'a'],
  ])('refuses %s %s', async (flag, value) => {
    expect(await runProgram(dataDir, 'calls', flag, value)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

test('an unknown key differs from one without requests', async () => {
  const { exitCode, stderr } = await runProgram(dataDir, 'calls', '--key', 'key_typo');
  expect([exitCode, stderr]).toEqual([1, 'There is no key with the id "key_typo". List them: tollgate keys list']);
});
