/**
 * Compares the two scans of JSON texts for some seconds: `fuzz-scanner.ts SECONDS SEED`. Prints the number of texts each
 * minute and at the end; exits with 1 at the first text on which verdict, tape or problem differ. The text is printed.
 */
import { type Comparison, compareScans } from '../src/wire/testing/compare-scans.ts';
import { JsonTexts } from '../src/wire/testing/json-texts.ts';
import { recordedBodies } from '../src/wire/testing/recorded-bodies.ts';

const TEXTS_PER_LOOK = 10_000;
const REPORT_MS = 60_000;

const [seconds, seed] = process.argv.slice(2).map(Number);
if (seconds === undefined || seed === undefined || !(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: fuzz-scanner.ts SECONDS SEED\n');
  process.exit(2);
}

const bodies = recordedBodies();
const texts = new JsonTexts(seed, bodies);
const counts: Record<Comparison, number> = { accepted: 0, left: 0, invalid: 0 };
const startMs = performance.now();
let reportMs = startMs + REPORT_MS;
let bytes = 0;

function report(): void {
  const { accepted, left, invalid } = counts;
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  process.stdout.write(
    `${accepted + left + invalid} texts of ${Math.round(bytes / 1e6)} MB in ${minutes} min, ${bodies.length} bodies: ` +
      `${accepted} accepted at once, ${left} valid but left to the steps, ${invalid} invalid; no difference\n`,
  );
}

while (performance.now() - startMs < seconds * 1_000) {
  for (let count = 0; count < TEXTS_PER_LOOK; count++) {
    const text = texts.next();
    bytes += text.bytes.length;
    counts[compareScans(text)]++;
  }
  if (performance.now() >= reportMs) {
    report();
    reportMs += REPORT_MS;
  }
}
report();
