/** Tests that no complete answer is lost or recorded twice when the server is killed with -9 under load. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { type Asking, ask, EXHAUSTIVE, isComplete, PROTOCOLS, recordsById } from './calls.ts';

const ROUNDS = EXHAUSTIVE ? 15 : 1;
const CALLERS = 200;
const COMPLETE_BEFORE_KILL = 300;

let fake: FakeUpstream;
let home: string;
beforeAll(async () => {
  fake = await startFakeUpstream();
  home = mkdtempSync(join(tmpdir(), 'tollgate-crash-'));
});
afterAll(async () => {
  await fake.stop();
  rmSync(home, { recursive: true, force: true });
});

const ASKINGS: readonly Asking[] = PROTOCOLS.flatMap((protocol) =>
  [true, false].map((stream) => ({ protocol, model: `${protocol}-load`, stream })),
);

test(`kill -9 under ${CALLERS} concurrent calls, ${ROUNDS} times: every complete answer has one record, no id is there twice`, async () => {
  for (const protocol of PROTOCOLS) fake.script(`${protocol}-load`, { answer: 'long:8' });
  // A busy machine may accept connections slowly; the test is about the kill.
  const limits = { connect_timeout: '60s' };
  const config = pointAt(fake.url, { chat: ['chat-load'], messages: ['messages-load'], limits });
  const dataDir = join(home, 'data');
  const complete: string[] = [];
  let key = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await startGateway({ config, dataDir });
    if (round === 0) key = gateway.key;
    const target = complete.length + COMPLETE_BEFORE_KILL;
    let killed = false;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      const asking = ASKINGS[caller % ASKINGS.length];
      if (asking === undefined) return;
      while (!killed) {
        const answer = await ask({ url: gateway.url, key }, asking).catch(() => null);
        if (answer !== null && isComplete(asking, answer)) complete.push(answer.requestId);
        else if (!killed)
          throw new Error(`a call failed before the kill: ${answer?.status} ${answer?.text.slice(0, 200)}`);
      }
    });
    await eventually('complete answers under load', () => (complete.length >= target ? true : null), 20_000);
    killed = true;
    gateway.signal('SIGKILL');
    await gateway.exited;
    await Promise.all(callers);
  }
  const gateway = await startGateway({ config, dataDir });
  const records = await recordsById(gateway);
  await gateway.stop();
  console.log(`crash: ${ROUNDS} rounds, ${complete.length} complete answers, ${records.size} records`);
  expect(new Set(complete).size).toBe(complete.length);
  expect(complete.filter((id) => records.get(id)?.error !== null)).toEqual([]);
});
