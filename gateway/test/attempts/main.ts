/**
 * Runs `npm run prove -- attempts [--failures N] [--seed N]`: random failures of three targets, then kills with open
 * streams. Prints the sums; exits with status 1 and the violations if there are any.
 */
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { killStreams } from './kill-streams.ts';
import { playFailures } from './play-failures.ts';

const { values } = parseArgs({
  options: { failures: { type: 'string' }, kills: { type: 'string' }, seed: { type: 'string' } },
});
const failures = wholeNumber('failures', values.failures ?? '10000');
const kills = wholeNumber('kills', values.kills ?? '10');
const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000));

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  process.stderr.write(`--${name}: found ${JSON.stringify(text)}, expected a whole number, such as 30\n`);
  process.exit(2);
}

await buildConsole();
const fake = await startFakeUpstream({ keepCallsMax: 1_000_000 });
try {
  const { calls, attempts, lost, reported, booked, estimated, used } = await playFailures(fake, failures, seed);
  process.stdout.write(
    `${calls} requests, ${attempts} attempts; failed: ${lost.yes} billed, ${lost.maybe} perhaps billed, ${lost.no} not billed\n` +
      `reported by the upstreams ${reported} nano-USD, posted, written off and absorbed for it ${booked}: difference ${reported - booked}\n` +
      `perhaps billed: estimated ${estimated} nano-USD, used by the upstreams ${used}: difference ${estimated - used}\n`,
  );
  for (let kill = 0; kill < kills; kill++) {
    const { streams, byCheckpoint, farthest } = await killStreams(
      fake,
      seed + kill,
      kill % 2 === 0 ? 'second' : 'first',
    );
    process.stdout.write(
      `kill ${kill + 1}: ${streams} open streams, ${byCheckpoint} charged by a checkpoint, at most ${farthest} tokens from what had come\n`,
    );
  }
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  await fake.stop();
}
