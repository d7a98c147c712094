/** Sends orders to a gateway that was started with `steered-process.ts`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

export interface Order {
  /** Offset of the calendar clock; the monotonic clock is not changed. */
  readonly offsetMs?: number;
  /** Ends every thread except the main one, as a fault in it would. */
  readonly endThreads?: boolean;
  /** True: every thread started from now on ends at once. False: new threads run again. */
  readonly stillborn?: boolean;
}

export interface Steering {
  /** Environment to start the gateway with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once the order has been carried out. */
  order(gateway: RunningGateway, order: Order): Promise<void>;
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
      const mine = String(number);
      writeFileSync(file, JSON.stringify({ number, ...order }));
      gateway.signal('SIGUSR2');
      const done = `${file}.done`;
      await eventually('an order to be carried out', () =>
        existsSync(done) && readFileSync(done, 'utf8') === mine ? true : null,
      );
    },
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}
