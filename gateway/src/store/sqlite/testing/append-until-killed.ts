/**
 * Appends records to the data folder given as its first argument, in a separate process, and prints each id once it is
 * acknowledged. For tests.
 */

import { sampleRecord } from '../../testing/sample-record.ts';
import { openStore } from '../open-store.ts';

const [dataDir = '', round = ''] = process.argv.slice(2);
const store = await openStore({ dataDir });
let count = 0;

async function appendForEver(): Promise<never> {
  for (;;) {
    const id = `round-${round}-${count++}`;
    await store.recorder.append(sampleRecord(id));
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, appendForEver));
