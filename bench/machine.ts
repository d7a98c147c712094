/** Reads the facts about the machine and its programs that accompany every result, and waits until it is quiet. */
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

export interface MachineFacts {
  readonly at: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** Versions by program; a missing program is absent. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Output of a version flag, on either stream; null when the program is not installed. */
function askVersion(command: string, flag: string): string | null {
  if (Bun.which(command) === null) return null;
  const { stdout, stderr } = Bun.spawnSync([command, flag], { stdout: 'pipe', stderr: 'pipe' });
  return /\d+\.\d+\.\d+/.exec(`${stdout}${stderr}`)?.[0] ?? null;
}

export function readMachineFacts(): MachineFacts {
  const processors = cpus();
  const versions: Record<string, string> = { bun: Bun.version };
  for (const [program, flag] of [
    ['node', '--version'],
    ['nginx', '-v'],
    ['python3', '--version'],
  ] as const) {
    const version = askVersion(program, flag);
    if (version !== null) versions[program] = version;
  }
  return {
    at: new Date().toISOString(),
    system: `${platform()} ${release()} ${arch()}`,
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    versions,
  };
}

/** The share of the processors that other programs may use. */
const BUSY_MAX = 0.15;
const LOOK_MS = 2_000;
/** Subjects may still be busy with their start. */
const LOOKS_MAX = 15;

/** Resolves once the machine has been quiet for two seconds. Throws if it is not within half a minute. */
export async function requireQuietMachine(): Promise<void> {
  let busy = 1;
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const before = readBusyTicks();
    const start = performance.now();
    await Bun.sleep(LOOK_MS);
    const seconds = (performance.now() - start) / 1_000;
    busy = (readBusyTicks() - before) / (seconds * TICKS_PER_SECOND * availableParallelism());
    if (busy <= BUSY_MAX) return;
  }
  throw new Error(
    `other programs use ${(busy * 100).toFixed(0)} % of the processors; expected at most ${BUSY_MAX * 100} %. Stop them and measure again`,
  );
}

/** https://man7.org/linux/man-pages/man5/proc_stat.5.html (read 2026-11-22): USER_HZ, 100 on every Linux of today. */
const TICKS_PER_SECOND = 100;

/** Ticks that all processors have worked: user, nice, system, and interrupts. */
function readBusyTicks(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return user + nice + system + irq + softirq;
}
