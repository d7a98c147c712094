/**
 * Kills a gateway with -9 while streams are open, each in its last attempt, and judges how its next start ends them:
 * charged once, by a checkpoint of the target that was answering, and never sent again.
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
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { attemptsConfig } from './failing-targets.ts';

const STREAMS = 24;
const EVENTS_MAX = 9_000;
/** Output tokens between two checkpoints; our count rounds up. */
const INTERVAL_TOKENS = 2_001;

export interface KilledStreams {
  readonly streams: number;
  readonly byCheckpoint: number;
  /** The most output tokens by which a charge differs from the output received. */
  readonly farthest: number;
}

/** The target that answers, and how many events of its streams come before the first word. Those before it fail. */
const ANSWERING = { first: 1, second: 3 } as const;
type Answering = keyof typeof ANSWERING;

/** Throws the violations, one per line. */
export async function killStreams(fake: FakeUpstream, seed: number, answering: Answering): Promise<KilledStreams> {
  fake.reset();
  const chances = startChances(seed);
  const answers = Array.from({ length: STREAMS }, () => ({
    answer: `long:${EVENTS_MAX + 9}`,
    stallAfterEvent: chances.whole(30, EVENTS_MAX),
    chunking: { sizes: [8_192] },
  }));
  if (answering === 'second') fake.script('first-stream', { status: 500, errorBodyBytes: 90 });
  fake.script(`${answering}-stream`, answers);
  const home = mkdtempSync(join(tmpdir(), 'tollgate-attempts-'));
  const dataDir = join(home, 'data');
  const config = attemptsConfig(fake.url);
  try {
    const { served, key } = await openAndKill(fake, config, dataDir, answering);
    const gateway = await startGateway({ config, dataDir });
    try {
      const problems = await repeat(gateway.url, key);
      return judge(await readBooks(dataDir), { before: served, after: fake.served(), problems, answering });
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

async function openAndKill(fake: FakeUpstream, config: object, dataDir: string, answering: Answering): Promise<Killed> {
  const gateway = await startGateway({ config: withPatience(config), dataDir });
  const lastWords = new Map<string, number>();
  const calls = sendAll(gateway.url, gateway.key, lastWords);
  await fake.until(() => fake.served().filter(({ finished }) => finished === 'stalled').length === STREAMS, 20_000);
  const served = fake.served();
  const sent = served.filter(({ finished }) => finished === 'stalled');
  const hasCome = ({ requestBody, eventsSent }: ServedCall) =>
    (lastWords.get(findLabel(requestBody) ?? '') ?? 0) >= eventsSent - ANSWERING[answering];
  await eventually('all words to reach their clients', () => sent.every(hasCome) || null, 20_000);
  // A checkpoint is not waited for: it is written within 5 ms.
  await Bun.sleep(100);
  await killGateway(gateway);
  await Promise.all(calls);
  return { served, key: gateway.key };
}

/** All streams have an idempotency key. `lastWords`: by label, of the answer so far. Null: not even a head came back. */
function sendAll(url: string, key: string, lastWords = new Map<string, number>()): Promise<Received | null>[] {
  const role = { payer: 'default', model: 'stream', stream: true, max_tokens: 60_000, isNamed: true } as const;
  return Array.from({ length: STREAMS }, (_, nth) => {
    const endpoint = PROTOCOLS[nth % PROTOCOLS.length] ?? 'chat';
    const label = `stream-${nth}`;
    const onText = (text: string) => {
      const [, number] = [...text.slice(-2_000).matchAll(/"w(\d+) "/g)].at(-1) ?? [];
      if (number !== undefined) lastWords.set(label, Number(number));
    };
    return sendCall(url, key, { ...role, endpoint }, label, onText).catch(() => null);
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

interface Observed {
  /** What the fake upstream had served at the kill, and after all runs were requested again. */
  readonly before: readonly ServedCall[];
  readonly after: readonly ServedCall[];
  readonly problems: readonly string[];
  readonly answering: Answering;
}

function judge(
  { records, balances, disproof }: Awaited<ReturnType<typeof readBooks>>,
  { before, after, problems: found, answering }: Observed,
): KilledStreams {
  const problems = [...found, ...(disproof === null ? [] : [`verify: ${disproof}`])];
  const cut = records.filter(({ error }) => error === 'gateway_crashed');
  if (after.length !== before.length) problems.push(`${after.length - before.length} requests were sent again`);
  if (cut.length !== STREAMS) problems.push(`${STREAMS} streams were open, ${cut.length} have a record`);
  const others = records.length - cut.length;
  if (others !== STREAMS) problems.push(`${STREAMS} runs were requested again, ${others} other records exist`);
  if (balances[0]?.held !== 0n) problems.push(`${balances[0]?.held} nano-USD are still held`);
  const came = new Map(
    before
      .filter(({ finished }) => finished === 'stalled')
      .map(({ requestBody, eventsSent }) => [findLabel(requestBody), eventsSent - ANSWERING[answering]]),
  );
  let farthest = 0;
  let byCheckpoint = 0;
  for (const record of cut) {
    const tokens = tokensOfWords(came.get(record.end_user) ?? 0);
    const difference = Math.abs(tokens - record.usage.output);
    farthest = Math.max(farthest, difference);
    if (record.usage_source === 'checkpoint') byCheckpoint += 1;
    if (difference > INTERVAL_TOKENS)
      problems.push(`${record.end_user}: charged ${record.usage.output} tokens of ${tokens}`);
    const problem = problemOf(record, answering);
    if (problem !== null) problems.push(`${record.end_user}: ${problem}`);
  }
  if (problems.length > 0) throw new Error(`${problems.length} violations:\n${problems.join('\n')}`);
  return { streams: cut.length, byCheckpoint, farthest };
}

function problemOf({ usage_source, provider, cost_nano_usd }: CallRecord, answering: Answering): string | null {
  if (usage_source === 'void') return cost_nano_usd === '0' ? null : `is void and costs ${cost_nano_usd}`;
  if (usage_source !== 'checkpoint') return `is charged by ${usage_source}`;
  return provider === answering ? null : `is charged at ${provider}, ${answering} was answering`;
}

/** Our count of that many numbered words. */
function tokensOfWords(words: number): number {
  let bytes = 0;
  for (let word = 1; word <= words; word += 1) bytes += `w${word} `.length;
  return Math.ceil(bytes / 4);
}
