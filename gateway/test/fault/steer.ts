/** Owns giving orders to a gateway that was started with `steered-process.ts` in it. Judges nothing. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

export interface Order {
  /** How far the clock of the calendar is set off; what measures spans is not. */
  readonly offsetMs?: number;
  /** Ends every thread but the main one, as a fault in it would. */
  readonly endThreads?: boolean;
  /** From now on every thread that is started ends at once, or, false, lives again. */
  readonly stillborn?: boolean;
}

export interface Steering {
  /** What the gateway is to be started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once the order is carried out. */
  order(gateway: RunningGateway, order: Order): Promise<void>;
  forget(): void;
}

/** A place for orders. */
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
