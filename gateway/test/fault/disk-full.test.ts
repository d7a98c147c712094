/**
 * Tests a disk that takes nothing: calls are refused with a server error until there is room again, and open streams end
 * in-band. Where only the database cannot be written, calls go on and are charged, even across a kill.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Answer, ask, endsInError, hasTerminal, PROTOCOLS, recordsById } from './calls.ts';

/** The kernel's file size limit simulates a full disk: it can be set and lifted while the process runs. */
const canBound = Bun.which('prlimit') !== null;
if (!canBound) console.log('disk full: skipped, there is no prlimit on this machine');

let pair: Pair;
beforeEach(async () => {
  pair = await startPair((url) =>
    pointAt(url, { chat: ['chat-now', 'chat-long'], messages: ['messages-now', 'messages-long'] }),
  );
});
afterEach(() => pair.stop());

function boundFiles(soft: string): void {
  const { exitCode, stderr } = Bun.spawnSync([
    'prlimit',
    '--pid',
    String(pair.gateway.pid),
    `--fsize=${soft}:unlimited`,
  ]);
  if (exitCode !== 0) throw new Error(`prlimit: ${stderr}`);
}

/** Files may not be longer: enough for what the journal appends, and less than the database's next write. */
const JOURNAL_BYTES = 1_048_576;
const LOG_BYTES = 2 * JOURNAL_BYTES;

/** Makes the database's log so long that everything the gateway appends exceeds the limit. */
function lengthenLog(): void {
  const database = new Database(join(pair.gateway.dataDir, 'tollgate.db'));
  database.run('PRAGMA busy_timeout = 5000');
  database.run('PRAGMA wal_autocheckpoint = 0');
  database.run('CREATE TABLE filler (bytes BLOB)');
  database.run(`INSERT INTO filler VALUES (zeroblob(${LOG_BYTES}))`);
  database.run('DROP TABLE filler');
  database.close();
}

/** Runs two streams while the disk fills and returns their whole answers. */
async function streamIntoFullDisk(): Promise<Answer[]> {
  const { fake, gateway } = pair;
  for (const protocol of PROTOCOLS) fake.script(`${protocol}-long`, { answer: 'long:60', delayBetweenEventsMs: 30 });
  const streams = PROTOCOLS.map((protocol) => ask(gateway, { protocol, model: `${protocol}-long`, stream: true }));
  await fake.waitFor((call) => call.eventsSent >= 3, { count: streams.length });
  lengthenLog();
  boundFiles(String(JOURNAL_BYTES));
  return Promise.all(streams);
}

async function expectBilledOnce(answers: readonly Answer[]): Promise<void> {
  const records = await recordsById(pair.gateway);
  for (const [index, { status, text, requestId }] of answers.entries()) {
    const protocol = PROTOCOLS[index] ?? 'chat';
    expect([status, endsInError(protocol, text), hasTerminal(protocol, text)]).toEqual([200, false, true]);
    expect(records.get(requestId)).toMatchObject({ status: 200, error: null, usage_source: 'upstream' });
  }
  expect(await pair.gateway.run('verify')).toMatchObject({ status: 0 });
}

const readyStatus = async () => (await fetch(`${pair.gateway.url}/readyz`)).status;

test.skipIf(!canBound)(
  `${canBound ? '' : 'skipped, no prlimit: '}a full disk is 503 store_unavailable on both protocols, in-band on open streams, and mends itself`,
  async () => {
    const { fake, gateway } = pair;
    for (const protocol of PROTOCOLS) fake.script(`${protocol}-now`, {});
    for (const protocol of PROTOCOLS) fake.script(`${protocol}-long`, { answer: 'long:60', delayBetweenEventsMs: 30 });
    const streams = PROTOCOLS.map((protocol) => ask(gateway, { protocol, model: `${protocol}-long`, stream: true }));
    await fake.waitFor((call) => call.eventsSent >= 3, { count: streams.length });
    boundFiles('1');
    const first = await ask(gateway, { protocol: 'chat', model: 'chat-now', stream: false });
    expect([first.status, JSON.parse(first.text).error.code]).toEqual([503, 'internal_error']);
    expect(first.text).toContain('recorded');
    const second = await ask(gateway, { protocol: 'messages', model: 'messages-now', stream: false });
    expect([second.status, JSON.parse(second.text).error.type]).toEqual([503, 'api_error']);
    expect(second.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await readyStatus()).toBe(503);
    for (const [index, answer] of (await Promise.all(streams)).entries()) {
      const protocol = PROTOCOLS[index] ?? 'chat';
      expect([answer.status, endsInError(protocol, answer.text), hasTerminal(protocol, answer.text)]).toEqual([
        200,
        true,
        false,
      ]);
    }
    boundFiles('unlimited');
    await eventually(
      'the gateway to be ready again',
      async () => ((await readyStatus()) === 200 ? true : null),
      15_000,
    );
    const after = await ask(gateway, { protocol: 'chat', model: 'chat-now', stream: false });
    expect(after.status).toBe(200);
    expect((await recordsById(gateway)).get(after.requestId)?.error).toBe(null);
  },
);

test.skipIf(!canBound)(
  `${canBound ? '' : 'skipped, no prlimit: '}while the database cannot be written, calls go on and are charged, and changes are refused`,
  async () => {
    const answers = await streamIntoFullDisk();
    const { gateway, fake } = pair;
    fake.script('chat-now', {});
    expect((await ask(gateway, { protocol: 'chat', model: 'chat-now', stream: false })).status).toBe(200);
    expect(await readyStatus()).toBe(200);
    expect((await gateway.run('workspaces', 'create', 'refused')).status).toBe(1);
    await expectBilledOnce(answers);
    boundFiles('unlimited');
    await eventually(
      'changes to be stored again',
      async () => ((await gateway.run('workspaces', 'create', 'kept')).status === 0 ? true : null),
      15_000,
    );
    await expectBilledOnce(answers);
  },
);

test.skipIf(!canBound)(
  `${canBound ? '' : 'skipped, no prlimit: '}a kill meanwhile loses no such stream, and bills none twice`,
  async () => {
    const answers = await streamIntoFullDisk();
    const { gateway, fake } = pair;
    gateway.signal('SIGKILL');
    await gateway.exited;
    const next = await startGateway({
      config: pointAt(fake.url, { chat: ['chat-now'], messages: ['messages-now'] }),
      dataDir: gateway.dataDir,
    });
    try {
      pair = { ...pair, gateway: next };
      await expectBilledOnce(answers);
    } finally {
      pair = {
        ...pair,
        async stop() {
          await next.stop();
          await fake.stop();
        },
      };
    }
  },
);
