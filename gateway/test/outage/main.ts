/**
 * Runs `npm run prove -- outage [--rate N] [--dead SECONDS]`: primaries die in every way under load, with a healthy
 * second of the other format; then both die. Prints figures; exits with status 1 if a client saw a failure, a request
 * has not exactly one bill, or the upstreams met more load than 1.06 × the requests.
 */
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { expectOneBillEach, expectWhole, lastFailureAfter } from './judge-outage.ts';
import { type SentRequest, startLoad } from './steady-load.ts';
import { BOTH, DEATHS, DYING, heal, kill, PLAIN, startTwoTargets } from './two-targets.ts';

/** An overdue first byte is known after a hundred answers. */
const ANSWERS_MIN = 150;
const AFTER_S = 3;
const BACK_MS_MAX = 35_000;
const LOAD_MAX = 1.06;
/** Retries of the first seconds, until most of the last hundred answers are faults. */
const FIRST_RETRIES_S = 1.5;

const { values } = parseArgs({
  options: { rate: { type: 'string' }, dead: { type: 'string' }, seed: { type: 'string' } },
});
const rate = wholeNumber('rate', values.rate ?? '300');
const deadS = wholeNumber('dead', values.dead ?? '60');

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  process.stderr.write(`--${name}: found ${JSON.stringify(text)}, expected a whole number, such as 30\n`);
  process.exit(2);
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** The primaries die, each model's in another way. */
async function loseThePrimary(): Promise<readonly SentRequest[]> {
  const load = startLoad(rig.gateway, rate, DYING, PLAIN);
  await Bun.sleep((1_000 * ANSWERS_MIN * DYING.length) / rate);
  const before = rig.primary.served().length;
  for (const death of DYING) kill(rig.primary, death, DEATHS[death]);
  await Bun.sleep(deadS * 1_000);
  const reached = rig.primary.served().length - before;
  for (const death of DYING) heal(rig.primary, death);
  await Bun.sleep(AFTER_S * 1_000);
  const requests = await load.stop();
  expectWhole(requests);
  const slowest = Math.max(...requests.map(({ sentMs, endMs }) => endMs - sentMs));
  process.stdout.write(
    `primary dead for ${deadS} s in ${DYING.length} ways at ${rate} requests/s: ${requests.length} requests, 0 failures, ` +
      `${reached} requests reached a dead primary, slowest answer ${seconds(slowest)}\n`,
  );
  return requests;
}

async function loseBoth(): Promise<readonly SentRequest[]> {
  const load = startLoad(rig.gateway, rate, [BOTH], PLAIN);
  await Bun.sleep((1_000 * ANSWERS_MIN) / rate + 2_000);
  const both = [rig.primary, rig.second];
  const count = () => both.reduce((sum, fake) => sum + fake.served(BOTH).length, 0);
  for (const fake of both) kill(fake, BOTH, DEATHS.status);
  const fromMs = performance.now();
  const before = count();
  await Bun.sleep(deadS * 1_000);
  const reached = count() - before;
  for (const fake of both) heal(fake, BOTH);
  const healedMs = performance.now();
  await Bun.sleep(AFTER_S * 1_000);
  const requests = await load.stop();
  const sent = requests.filter(({ sentMs }) => sentMs >= fromMs && sentMs < healedMs).length;
  const load1 = reached / sent;
  const backMs = lastFailureAfter(requests, healedMs);
  const most = LOAD_MAX + (deadS < 60 ? FIRST_RETRIES_S / deadS : 0);
  process.stdout.write(
    `both dead for ${deadS} s: ${sent} requests, upstream load ${load1.toFixed(3)} ×, last failure ${seconds(backMs)} after they were back\n`,
  );
  if (load1 > most)
    throw new Error(`the upstream load was ${load1.toFixed(3)} ×, at most ${most.toFixed(3)} × is allowed`);
  if (backMs > BACK_MS_MAX) throw new Error(`service was not back within ${seconds(BACK_MS_MAX)}`);
  const served = requests.filter(({ sentMs }) => sentMs >= healedMs + backMs);
  if (served.length === 0 || backMs > (AFTER_S - 1) * 1_000)
    throw new Error('service was not back when the load ended');
  return requests;
}

await buildConsole();
const rig = await startTwoTargets();
try {
  const requests = [...(await loseThePrimary()), ...(await loseBoth())];
  await expectOneBillEach(rig.gateway, requests);
  process.stdout.write(`${requests.length} requests have one record each, every answer one charge; verify clean\n`);
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  await rig.stop();
}
