/**
 * Manipulates a gateway from inside its process: offsets its clocks, ends its worker threads, keeps new ones from
 * living, measures its memory. Preloaded (`BUN_OPTIONS=--preload=…`); reads the file named by `TOLLGATE_TEST_STEERING` at each SIGUSR2.
 */
import { heapStats } from 'bun:jsc';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Order, OrderReport } from './steer.ts';

const orders = process.env.TOLLGATE_TEST_STEERING;
const trueNow = Date.now;
const trueSteady = performance.now.bind(performance);
const Thread = globalThis.Worker;
const threads: Worker[] = [];
let offsetMs = 0;
let steadyOffsetMs = 0;
let stillborn = false;

if (orders !== undefined) {
  Date.now = () => trueNow() + offsetMs;
  performance.now = () => trueSteady() + steadyOffsetMs;
  globalThis.Worker = class extends Thread {
    constructor(...[program, settings]: ConstructorParameters<typeof Worker>) {
      super(stillborn ? URL.createObjectURL(new Blob(['process.exit(1)'])) : program, settings);
      threads.push(this);
    }
  };
  process.on('SIGUSR2', () => obey(orders));
}

/** Writes the report to a second file once the order has been carried out. */
function obey(file: string): void {
  const order = JSON.parse(readFileSync(file, 'utf8')) as Order & { readonly number: number };
  offsetMs = order.offsetMs ?? offsetMs;
  steadyOffsetMs = order.steadyOffsetMs ?? steadyOffsetMs;
  stillborn = order.stillborn ?? stillborn;
  if (order.endThreads === true) for (const thread of threads.splice(0)) thread.terminate();
  Bun.gc(true);
  const memory = { retainedBytes: heapStats().heapSize, residentBytes: process.memoryUsage.rss() };
  const report: OrderReport = { number: order.number, ...memory };
  // In one step: a reader never finds half a report.
  writeFileSync(`${file}.new`, JSON.stringify(report));
  renameSync(`${file}.new`, `${file}.done`);
}
