/** Sends requests to targets that mostly fail, until enough attempts have failed, and judges the gateway's books. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { readBooks } from '../crash/read-books.ts';
import type { Role } from '../crash/roles.ts';
import { sendCall } from '../crash/send-call.ts';
import { startChances } from '../crash/start-chances.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { PROTOCOLS } from '../fault/calls.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { attemptsConfig, FORMS, scriptTargets } from './failing-targets.ts';
import { type AttemptSums, judgeAttempts } from './judge-attempts.ts';

const CONCURRENCY = 24;
/** Sent between two looks at the books. */
const CALLS_PER_ROUND = 1_000;

/** Every combination of endpoint and form. */
const ROLES: readonly Role[] = PROTOCOLS.flatMap((endpoint) =>
  FORMS.map((form) => ({
    payer: 'default',
    endpoint,
    model: form,
    stream: form === 'stream',
    max_tokens: 200,
    isNamed: false,
  })),
);

/** Resolves once at least `failures` attempts failed. Throws the violations, one per line. */
export async function playFailures(fake: FakeUpstream, failures: number, seed: number): Promise<AttemptSums> {
  fake.reset();
  // Of its answers a third are good; a request takes one attempt at least.
  scriptTargets(fake, startChances(seed), failures * 3);
  const home = mkdtempSync(join(tmpdir(), 'tollgate-attempts-'));
  const dataDir = join(home, 'data');
  const gateway = await startGateway({ config: attemptsConfig(fake.url), dataDir });
  try {
    for (let sent = 0; ; ) {
      const count = Math.min(CALLS_PER_ROUND, failures);
      await sendAll(gateway, sent, count);
      sent += count;
      await fake.until(() => fake.served().every(({ finished }) => finished !== 'open'), 20_000);
      const sums = await judgeNow(dataDir, fake, sent);
      const { no, maybe, yes } = sums.lost;
      if (no + maybe + yes >= failures) return sums;
    }
  } finally {
    await gateway.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function sendAll(gateway: RunningGateway, first: number, count: number): Promise<void> {
  let next = first;
  const sender = async () => {
    while (next < first + count) {
      const nth = next;
      next += 1;
      const role = ROLES[nth % ROLES.length];
      if (role !== undefined) await sendCall(gateway.url, gateway.key, role, `call-${nth}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sender));
}

async function judgeNow(dataDir: string, fake: FakeUpstream, sent: number): Promise<AttemptSums> {
  const { records, balances, disproof } = await readBooks(dataDir);
  const { sums, problems } = judgeAttempts(records, fake.served());
  const all = [...problems, ...judgeBalance(records, balances[0])];
  if (disproof !== null) all.push(`verify: ${disproof}`);
  if (records.length !== sent) all.push(`${sent} requests were sent, ${records.length} have a record`);
  if (fake.dropped() > 0) all.push(`the fake upstream's book lost ${fake.dropped()} requests`);
  if (all.length > 0) throw new Error(`${all.length} violations:\n${all.slice(0, 40).join('\n')}`);
  return sums;
}

type Balance = Awaited<ReturnType<typeof readBooks>>['balances'][number];

/** The sums of the account are those of its records, the cost of attempts apart. */
function judgeBalance(records: readonly CallRecord[], balance: Balance | undefined): string[] {
  const cost = records.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? '0'), 0n);
  const attempts = records
    .flatMap((record) => record.attempts)
    .reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? '0'), 0n);
  const { charged = 0n, writtenOff = 0n, absorbedAttempts = 0n, held = 0n } = balance ?? {};
  const problems: string[] = [];
  if (charged + writtenOff !== cost)
    problems.push(`posted ${charged}, written off ${writtenOff}, records cost ${cost}`);
  if (absorbedAttempts !== attempts) problems.push(`absorbed ${absorbedAttempts} for attempts that cost ${attempts}`);
  if (held !== 0n) problems.push(`${held} nano-USD are still held`);
  return problems;
}
