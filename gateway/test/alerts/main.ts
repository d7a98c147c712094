/**
 * Runs `npm run prove -- alerts [--crossings N] [--kills N] [--seed N]`: budgets cross while the gateway is killed with
 * -9, beside a receiver that never answers. Prints the figures; exits with status 1 at a problem.
 */
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { runCrossings } from './run-crossings.ts';

const { values } = parseArgs({
  options: { crossings: { type: 'string' }, kills: { type: 'string' }, seed: { type: 'string' } },
});

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  process.stderr.write(`--${name}: found ${JSON.stringify(text)}, expected a whole number, such as 30\n`);
  process.exit(2);
}

// A gateway killed during this build would leave it to the next one, and so on.
await buildConsole();
try {
  const tally = await runCrossings({
    crossings: wholeNumber('crossings', values.crossings ?? '1000'),
    kills: wholeNumber('kills', values.kills ?? '50'),
    seed: wholeNumber('seed', values.seed ?? '1'),
  });
  const { crossings, kills, repeated, endedWindows, slowestRequestMs, secondsToDeliver, deadConnections } = tally;
  process.stdout.write(
    `${crossings} crossings through ${kills} kills: each delivered, under one id; ${repeated} repeated under their id, ` +
      `${endedWindows} in windows that ended while the gateway was stopped; the rest delivered in ${secondsToDeliver.toFixed(1)} s; ` +
      `${deadConnections} attempts at the dead receiver; slowest request ${slowestRequestMs.toFixed(0)} ms\n`,
  );
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
}
