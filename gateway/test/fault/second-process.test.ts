/** Tests other processes on a server's data folder: a second server is refused; commands work and lose nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, EXHAUSTIVE, isComplete, recordsById } from './calls.ts';

const COMMANDS = EXHAUSTIVE ? 20 : 6;
const CALLERS = 8;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => pointAt(url, { chat: ['ok'] }));
});
afterAll(() => pair.stop());

test('a second server on the same data folder refuses with a clear word, and the first serves on', async () => {
  const { gateway } = pair;
  const second = await gateway.runProcess('serve', '--port', '0', '--config', gateway.configFile);
  expect(second.status).toBe(1);
  expect(second.stderr).toContain(`another Tollgate server uses the data folder ${gateway.dataDir}`);
  expect((await ask(gateway, { protocol: 'chat', model: 'ok', stream: false })).status).toBe(200);
});

test('a start on a taken port ends with a word, and the first key is still to be had', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-taken-'));
  const dataDir = join(folder, 'data');
  const refused = await startGateway({ dataDir, port: Number(new URL(pair.gateway.url).port) }).catch(String);
  expect(refused).toContain('cannot listen on 127.0.0.1:');
  expect(refused).toContain('Choose another address with --host and --port, or HOST and PORT');
  const started = await startGateway({ dataDir });
  expect(started.key).toStartWith('tg_');
  await started.stop();
  rmSync(folder, { recursive: true });
});

test(`${COMMANDS} parallel commands beside a server under load lose nothing: all keys work, every call has its record`, async () => {
  const { gateway } = pair;
  const complete: string[] = [];
  let over = false;
  const load = Array.from({ length: CALLERS }, async (_, caller) => {
    const asking = { protocol: 'chat', model: 'ok', stream: caller % 2 === 0 } as const;
    while (!over) {
      const answer = await ask(gateway, asking);
      if (isComplete(asking, answer)) complete.push(answer.requestId);
      else throw new Error(`a call failed: ${answer.status} ${answer.text}`);
    }
  });
  const made = await Promise.all(
    Array.from({ length: COMMANDS }, (_, index) =>
      gateway.runProcess('keys', 'create', '--name', `made ${index}`, '--json'),
    ),
  );
  over = true;
  await Promise.all(load);
  expect(made.map(({ status, stderr }) => `${status}${stderr}`)).toEqual(made.map(() => '0'));
  const keys = made.map(({ stdout }) => (JSON.parse(stdout) as { readonly key: string }).key);
  expect(new Set(keys).size).toBe(COMMANDS);
  const used = await Promise.all(
    keys.map((key) => ask(gateway, { protocol: 'chat', model: 'ok', stream: false, key })),
  );
  expect(used.map(({ status }) => status)).toEqual(keys.map(() => 200));
  const listed = (await gateway.runProcess('keys', 'list', '--json')).stdout;
  for (let index = 0; index < COMMANDS; index += 1) expect(listed).toContain(`"made ${index}"`);
  const records = await recordsById(gateway);
  expect(complete.length).toBeGreaterThan(CALLERS);
  expect([...complete, ...used.map(({ requestId }) => requestId)].filter((id) => !records.has(id))).toEqual([]);
});
