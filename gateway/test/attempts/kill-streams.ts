/**
 * Kills a gateway with -9 while streams are open, each in its second attempt, and judges what its next start makes of
 * them: charged once, by a checkpoint of the target that was answering, and never sent again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { killGateway } from '../crash/crash-folder.ts';
import { readBooks } from '../crash/read-books.ts';
import { findLabel, type Received, sendCall } from '../crash/send-call.ts';
import { startChances } from '../crash/start-chances.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { PROTOCOLS } from '../fault/calls.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { attemptsConfig } from './failing-targets.ts';

const STREAMS = 24;
const EVENTS_MAX = 9_000;
/** Output tokens between two checkpoints; our count rounds up. */
const INTERVAL_TOKENS = 2_001;

export interface KilledStreams {
  readonly streams: number;
  readonly byCheckpoint: number;
  /** The most output tokens by which a charge differs from what had come. */
  readonly farthest: number;
}

/** Throws the violations, one per line. */
export async function killStreams(fake: FakeUpstream, seed: number): Promise<KilledStreams> {
  fake.reset();
  const chances = startChances(seed);
  const stalls = Array.from({ length: STREAMS }, () => chances.whole(30, EVENTS_MAX));
  fake.script('first-stream', { status: 500, errorBodyBytes: 90 });
  fake.script(
    'second-stream',
    stalls.map((stallAfterEvent) => ({
      answer: `long:${EVENTS_MAX + 9}`,
      stallAfterEvent,
      chunking: { sizes: [8_192] },
    })),
  );
  const home = mkdtempSync(join(tmpdir(), 'tollgate-attempts-'));
  const dataDir = join(home, 'data');
  const config = attemptsConfig(fake.url);
  try {
    const { served, key } = await openAndKill(fake, config, dataDir);
    const gateway = await startGateway({ config, dataDir });
    try {
      const problems = await repeat(gateway.url, key);
      return judge(await readBooks(dataDir), served, fake.served(), problems);
    } finally {
      await gateway.stop();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Killed {
  /** What the fake upstream had served when the gateway was killed. */
  readonly served: readonly ServedCall[];
  /** The API key. */
  readonly key: string;
}

async function openAndKill(fake: FakeUpstream, config: object, dataDir: string): Promise<Killed> {
  const gateway = await startGateway({ config: withPatience(config), dataDir });
  const calls = sendAll(gateway.url, gateway.key);
  await fake.until(
    () => fake.served('second-stream').filter(({ finished }) => finished === 'stalled').length === STREAMS,
    20_000,
  );
  // What was handed to the kernel also has to arrive, and a checkpoint that is not waited for to be written.
  await Bun.sleep(300);
  const served = fake.served();
  await killGateway(gateway);
  await Promise.all(calls);
  return { served, key: gateway.key };
}

/** All streams have an idempotency key. Null: not even a head came back. */
function sendAll(url: string, key: string): Promise<Received | null>[] {
  const role = { payer: 'default', model: 'stream', stream: true, max_tokens: 60_000, isNamed: true } as const;
  return Array.from({ length: STREAMS }, (_, nth) => {
    const endpoint = PROTOCOLS[nth % PROTOCOLS.length] ?? 'chat';
    return sendCall(url, key, { ...role, endpoint }, `stream-${nth}`).catch(() => null);
  });
}

/** Requests the runs again, which the kill has cut; none may be answered. */
async function repeat(url: string, key: string): Promise<string[]> {
  const received = await Promise.all(sendAll(url, key));
  return received.flatMap((one, nth) =>
    one?.status === 409 ? [] : [`stream-${nth}: its run was requested again, and answered with ${one?.status}`],
  );
}

/** The streams are silent until the kill. */
function withPatience(config: object): object {
  return JSON.parse(JSON.stringify(config).replaceAll('"idle":"1s"', '"idle":"60s"')) as object;
}

function judge(
  { records, balances, disproof }: Awaited<ReturnType<typeof readBooks>>,
  before: readonly ServedCall[],
  after: readonly ServedCall[],
  repeated: readonly string[],
): KilledStreams {
  const problems = [...repeated, ...(disproof === null ? [] : [`verify: ${disproof}`])];
  const cut = records.filter(({ error }) => error === 'gateway_crashed');
  if (after.length !== before.length) problems.push(`${after.length - before.length} requests were sent again`);
  if (cut.length !== STREAMS) problems.push(`${STREAMS} streams were open, ${cut.length} have a record`);
  const others = records.length - cut.length;
  if (others !== STREAMS) problems.push(`${STREAMS} runs were requested again, ${others} other records exist`);
  if (balances[0]?.held !== 0n) problems.push(`${balances[0]?.held} nano-USD are still held`);
  const came = new Map(
    before
      .filter(({ model }) => model === 'second-stream')
      .map((call) => [findLabel(call.requestBody), call.eventsSent]),
  );
  let farthest = 0;
  let byCheckpoint = 0;
  for (const record of cut) {
    const tokens = tokensOfEvents(came.get(record.end_user) ?? 0);
    const difference = Math.abs(tokens - record.usage.output);
    farthest = Math.max(farthest, difference);
    if (record.usage_source === 'checkpoint') byCheckpoint += 1;
    if (difference > INTERVAL_TOKENS)
      problems.push(`${record.end_user}: charged ${record.usage.output} tokens of ${tokens}`);
    const problem = problemOf(record);
    if (problem !== null) problems.push(`${record.end_user}: ${problem}`);
  }
  if (problems.length > 0) throw new Error(`${problems.length} violations:\n${problems.join('\n')}`);
  return { streams: cut.length, byCheckpoint, farthest };
}

function problemOf({ usage_source, provider, cost_nano_usd }: CallRecord): string | null {
  if (usage_source === 'void') return cost_nano_usd === '0' ? null : `is void and costs ${cost_nano_usd}`;
  if (usage_source !== 'checkpoint') return `is charged by ${usage_source}`;
  return provider === 'second' ? null : `is charged at ${provider}, second was answering`;
}

/** Our count of the numbered words of a message, three of whose events come before its words. */
function tokensOfEvents(events: number): number {
  let bytes = 0;
  for (let word = 1; word <= events - 3; word += 1) bytes += `w${word} `.length;
  return Math.ceil(bytes / 4);
}
