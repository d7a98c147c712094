/**
 * Owns what a test can do to a gateway from inside of its process: set its clock off, end its worker threads. Loaded before
 * the program (`BUN_OPTIONS=--preload=…`); obeys the file that `TOLLGATE_TEST_STEERING` names at each SIGUSR2.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const orders = process.env.TOLLGATE_TEST_STEERING;
const trueNow = Date.now;
const Thread = globalThis.Worker;
const threads: Worker[] = [];
let offsetMs = 0;

if (orders !== undefined) {
  Date.now = () => trueNow() + offsetMs;
  globalThis.Worker = class extends Thread {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      threads.push(this);
    }
  };
  process.on('SIGUSR2', () => obey(orders));
}

/** The order's number goes to the file beside it once it is carried out. */
function obey(file: string): void {
  const order = JSON.parse(readFileSync(file, 'utf8')) as { number: number; offsetMs?: number; endThreads?: boolean };
  offsetMs = order.offsetMs ?? offsetMs;
  if (order.endThreads === true) for (const thread of threads.splice(0)) thread.terminate();
  writeFileSync(`${file}.done`, String(order.number));
}
