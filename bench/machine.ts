/** Reads the facts about the machine and its programs that accompany every result. */
import { arch, cpus, platform, release, totalmem } from 'node:os';

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
