/**
 * Manipulates a gateway from inside its process: offsets its clock, ends its worker threads, keeps new ones from
 * living. Preloaded (`BUN_OPTIONS=--preload=…`); reads the file named by `TOLLGATE_TEST_STEERING` at each SIGUSR2.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Order } from './steer.ts';

const orders = process.env.TOLLGATE_TEST_STEERING;
const trueNow = Date.now;
const Thread = globalThis.Worker;
const threads: Worker[] = [];
let offsetMs = 0;
let stillborn = false;

if (orders !== undefined) {
  Date.now = () => trueNow() + offsetMs;
  globalThis.Worker = class extends Thread {
    constructor(...[program, settings]: ConstructorParameters<typeof Worker>) {
      super(stillborn ? URL.createObjectURL(new Blob(['process.exit(1)'])) : program, settings);
      threads.push(this);
    }
  };
  process.on('SIGUSR2', () => obey(orders));
}

/** Writes the order's number to a second file once the order has been carried out. */
function obey(file: string): void {
  const order = JSON.parse(readFileSync(file, 'utf8')) as Order & { readonly number: number };
  offsetMs = order.offsetMs ?? offsetMs;
  stillborn = order.stillborn ?? stillborn;
  if (order.endThreads === true) for (const thread of threads.splice(0)) thread.terminate();
  writeFileSync(`${file}.done`, String(order.number));
}
