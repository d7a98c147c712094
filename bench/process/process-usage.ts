/** Reads CPU time and memory of a process and its descendants (Linux). */
import { dlopen, ptr } from 'bun:ffi';
import { readdirSync, readFileSync } from 'node:fs';

/** One process at one moment. */
export interface ProcessSample {
  readonly pid: number;
  readonly name: string;
  /** Of children that ended and were waited for. */
  readonly endedTicks: number;
  /** True for a zombie: it has no memory, and its CPU time is not yet included in its parent's. */
  readonly ended: boolean;
}

/** Resident memory of one process in bytes: now, and the peak since start or the last `resetPeakMemory`. */
export interface MemorySample {
  readonly pid: number;
  readonly name: string;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

interface Stat extends ProcessSample {
  readonly parent: number;
  readonly group: number;
}

/** CPU ticks per second, as reported by `getconf CLK_TCK`; 100 on Linux. */
const TICKS_PER_SECOND: number = readTicksPerSecond();

function readTicksPerSecond(): number {
  const { stdout } = Bun.spawnSync(['getconf', 'CLK_TCK']);
  const ticks = Number(stdout.toString().trim());
  if (!(ticks > 0)) throw new Error(`getconf CLK_TCK: found "${stdout}", expected a number above 0; is this Linux?`);
  return ticks;
}

/** A file of /proc, or null when its process is gone. */
function readProcFile(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

/** Fields of proc_pid_stat(5); the name is in parentheses and may itself contain some. */
function parseStat(text: string): Stat {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text
    .slice(close + 2)
    .split(' ')
    .map(Number);
  const field = (number: number) => fields[number - 3] ?? 0;
  return {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    ended: text.charAt(close + 2) === 'Z',
    parent: field(4),
    group: field(5),
    endedTicks: field(16) + field(17),
  };
}

/** The process `rootPid`, its descendants, and the rest of the process group that it leads. Empty when all are gone. */
export function readProcessTree(rootPid: number): ProcessSample[] {
  const waiting: Stat[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const text = readProcFile(`/proc/${entry}/stat`);
    if (text !== null) waiting.push(parseStat(text));
  }
  const members = new Map<number, Stat>();
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const stat of waiting) {
      if (stat.pid === rootPid || stat.group === rootPid || members.has(stat.parent)) members.set(stat.pid, stat);
    }
  }
  return [...members.values()];
}

/** Opened at the first use: tools that read only memory run without it. */
let readClock: ((clock: number, time: BigInt64Array) => number) | null = null;

function openClock(): (clock: number, time: BigInt64Array) => number {
  const { symbols } = dlopen('libc.so.6', { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } });
  return (clock, time) => symbols.clock_gettime(clock, ptr(time));
}

/** Seconds and nanoseconds. */
const time = new BigInt64Array(2);

/**
 * CPU time of one process with its threads, also those that ended; 0 if it is gone. Its clock has no steps: /proc counts
 * in ticks of 10 ms, as much as ours uses in a tenth of a second of low load. The clock's number is that of
 * clock_getcpuclockid(3).
 */
function readClockMs(pid: number): number {
  readClock ??= openClock();
  return readClock((~pid << 3) | 2, time) === 0 ? Number(time[0]) * 1_000 + Number(time[1]) / 1e6 : 0;
}

/** CPU time used so far by the tree of `rootPid`, user and system, in milliseconds. */
export function readCpuMs(rootPid: number): number {
  let cpuMs = 0;
  for (const { pid, ended, endedTicks } of readProcessTree(rootPid)) {
    cpuMs += (ended ? 0 : readClockMs(pid)) + (endedTicks * 1_000) / TICKS_PER_SECOND;
  }
  return cpuMs;
}

function kilobytes(status: string, member: string): number {
  return Number(new RegExp(`^${member}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}

/** Memory of each process in the tree of `rootPid`. */
export function readMemory(rootPid: number): MemorySample[] {
  return readProcessTree(rootPid).flatMap(({ pid, name, ended }) => {
    const status = ended ? null : readProcFile(`/proc/${pid}/status`);
    if (status === null) return [];
    return [
      {
        pid,
        name,
        residentBytes: kilobytes(status, 'VmRSS') * 1024,
        peakBytes: kilobytes(status, 'VmHWM') * 1024,
      },
    ];
  });
}

/** Resident memory of the whole tree of `rootPid`, in bytes. */
export function readResidentBytes(rootPid: number): number {
  return readMemory(rootPid).reduce((sum, sample) => sum + sample.residentBytes, 0);
}
