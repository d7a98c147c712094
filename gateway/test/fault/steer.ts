/** Sends orders to a gateway that was started with `steered-process.ts`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

export interface Order {
  /** Offset of the calendar clock; the monotonic clock is not changed. */
  readonly offsetMs?: number;
  /** Offset of the monotonic clock, by which deadlines are due. */
  readonly steadyOffsetMs?: number;
  /** Ends every thread except the main one, as a fault in it would. */
  readonly endThreads?: boolean;
  /** True: every thread started from now on ends at once. False: new threads run again. */
  readonly stillborn?: boolean;
}

/** Memory of the main thread right after a full collection, in bytes: what it retains, and all that is resident. */
export interface CollectedMemory {
  readonly retainedBytes: number;
  readonly residentBytes: number;
}

/** Written by the process when it has carried out an order. */
export interface OrderReport extends CollectedMemory {
  readonly number: number;
}

export interface Steering {
  /** Environment to start the gateway with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once the order has been carried out, and then memory was collected. */
  order(gateway: RunningGateway, order: Order): Promise<CollectedMemory>;
  forget(): void;
}

/** Creates the file for the orders. */
export function prepareSteering(): Steering {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-steering-'));
  const file = join(folder, 'order');
  let number = 0;
  return {
    environment: {
      BUN_OPTIONS: `--preload=${join(import.meta.dir, 'steered-process.ts')}`,
      TOLLGATE_TEST_STEERING: file,
    },
    async order(gateway, order) {
      number += 1;
      writeFileSync(file, JSON.stringify({ number, ...order }));
      gateway.signal('SIGUSR2');
      const done = `${file}.done`;
      return await eventually('an order to be carried out', () => {
        const report = existsSync(done) ? (JSON.parse(readFileSync(done, 'utf8')) as OrderReport) : null;
        return report?.number === number ? report : null;
      });
    },
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}
