/**
 * A program for the proof `crowd`: serves an upstream whose streams are silent and prints its address; reads the gateway's
 * address and key and the number of streams from its input, opens them, prints `open`, and `ended` for each that ends. In
 * a process of its own, so that its work does not count as latency.
 */
import { ask } from '../ask.ts';
import { SILENT_MODEL, startEnduranceUpstream } from '../upstream.ts';

const PAUSE_EVERY = 200;
const upstream = startEnduranceUpstream();
process.stdout.write(`${upstream.url}\n`);
for await (const line of console) {
  const { url, key, streams } = JSON.parse(line);
  for (let index = 0; index < streams; index++) {
    void ask({ url, key }, SILENT_MODEL).then((fate) => process.stdout.write(`ended ${fate}\n`));
    if (index % PAUSE_EVERY === PAUSE_EVERY - 1) await Bun.sleep(50);
  }
  while (upstream.counts.requests < streams) await Bun.sleep(20);
  process.stdout.write('open\n');
}
// The proof has ended, however it did.
process.exit(0);
