/** Starts gateways that die: at a failpoint, or by a kill at a chosen time, before or after they listen. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failpoint } from '../../src/store/sqlite/failpoints.ts';
import { GATEWAY_PROGRAM } from '../harness/start-gateway.ts';

const PRELOAD = new URL('./arm-failpoint.ts', import.meta.url);
/** A start takes a fraction of a second; a failpoint that is not reached by then is never reached. */
const DIES_WITHIN_MS = 15_000;

/** The failpoint at which a process dies, and at which passing of it, from 1. */
export interface ArmedPoint {
  readonly point: Failpoint;
  readonly passing: number;
}

/** Returns the environment that makes a gateway die at the failpoint. */
export function armFailpoint({ point, passing }: ArmedPoint): Readonly<Record<string, string>> {
  return { BUN_OPTIONS: `--preload=${PRELOAD.pathname}`, TOLLGATE_TEST_FAILPOINT: `${point}:${passing}` };
}

/** Starts a gateway and waits for its death. Throws if it did not die as planned. */
export async function startAndDie(
  config: object,
  dataDir: string,
  death: ArmedPoint | { afterMs: number },
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-dying-'));
  const configFile = join(home, 'tollgate.yaml');
  writeFileSync(configFile, JSON.stringify(config));
  const armed = 'point' in death ? armFailpoint(death) : {};
  const started = Bun.spawn([process.execPath, GATEWAY_PROGRAM, 'serve', '--port', '0', '--config', configFile], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home, TOLLGATE_DATA_DIR: dataDir, ...armed },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const kill = setTimeout(() => started.kill('SIGKILL'), 'afterMs' in death ? death.afterMs : DIES_WITHIN_MS);
  const startMs = performance.now();
  await started.exited;
  clearTimeout(kill);
  rmSync(home, { recursive: true });
  if (started.signalCode !== 'SIGKILL') throw new Error(`a start ended with ${started.exitCode}, not by the kill`);
  if ('point' in death && performance.now() - startMs >= DIES_WITHIN_MS) {
    throw new Error(`a start did not come to ${death.point} for the ${death.passing}. time`);
  }
}
