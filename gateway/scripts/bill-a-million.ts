/** Bills a million random calls and compares each, and their sum, with exact fractions. Run as `bun gateway/scripts/bill-a-million.ts [calls] [seed]`. */
import { billRandomCalls } from '../src/billing/testing/random-bills.ts';

const [calls = '1000000', seed = '20261120'] = process.argv.slice(2);
const { faults, ties, tiered, markedUp, extras, drift, driftMax } = billRandomCalls(Number(calls), Number(seed));
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(
  `${calls} calls, ${tiered} in a tier, ${markedUp} with a mark-up, ${extras} with audio, images or tools, ${ties} ties; sum of charges − exact sum: ` +
    `${drift} × 10⁻¹⁸ USD, at most ${driftMax}\n`,
);
process.exitCode = faults.length === 0 && (drift < 0n ? -drift : drift) <= driftMax ? 0 : 1;
