/** Counts the file descriptors of this process against their limit, and keeps spare ones in reserve. */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const NOTHING = '/dev/null';
const OPEN_FILES = '/dev/fd';

/** The maximum number of descriptors; null if the system has no such limit or does not report it. */
export function openFilesMax(): number | null {
  const limits = readLimits() ?? askShell();
  const most = Number(limits);
  return limits !== null && Number.isInteger(most) && most > 0 ? most : null;
}

/** Linux: the soft limit. */
function readLimits(): string | null {
  try {
    return /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** On other systems: a child has the limits of its parent. */
function askShell(): string | null {
  if (process.platform === 'win32') return null;
  const limits = Bun.spawnSync(['sh', '-c', 'ulimit -n']);
  return limits.success ? limits.stdout.toString().trim() : null;
}

/**
 * The lowest free descriptor, which the next file or socket gets; null if none is free. All below it are in use.
 * Costs about a microsecond, while a count costs one per descriptor.
 */
export function lowestFreeDescriptor(): number | null {
  try {
    const descriptor = openSync(NOTHING, 'r');
    closeSync(descriptor);
    return descriptor;
  } catch (error) {
    if (isOutOfDescriptors(error)) return null;
    throw error;
  }
}

/** Whether at least this many descriptors are free. Costs about a microsecond for each. */
export function hasFreeDescriptors(count: number): boolean {
  const free: number[] = [];
  try {
    while (free.length < count) free.push(openSync(NOTHING, 'r'));
    return true;
  } catch (error) {
    if (isOutOfDescriptors(error)) return false;
    throw error;
  } finally {
    for (const descriptor of free) closeSync(descriptor);
  }
}

const spares: number[] = [];

/** Reserves this many descriptors, or as many as there are, for files that must be opened when none is left. */
export function keepSpareDescriptors(count: number): void {
  while (spares.length < count) {
    try {
      spares.push(openSync(NOTHING, 'r'));
    } catch (error) {
      if (isOutOfDescriptors(error)) return;
      throw error;
    }
  }
}

/** Frees up to this many reserved descriptors; false: none is reserved. Only files opened in the same turn are sure to get them. */
function freeSpareDescriptors(count: number): boolean {
  const freed = spares.splice(0, count);
  for (const spare of freed) closeSync(spare);
  return freed.length > 0;
}

/** Opens something, with a reserved descriptor if no other is free. Throws what `open` throws. */
export function withSpareDescriptor<Opened>(open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!isOutOfDescriptors(error) || !freeSpareDescriptors(1)) throw error;
    return open();
  }
}

const WAIT_MS = 10;

/**
 * Opens something; waits up to so long for a free descriptor, and blocks its thread meanwhile. Throws what `open` throws.
 */
export function waitForDescriptor<Opened>(open: () => Opened, waitMs: number): Opened {
  for (const endMs = performance.now() + waitMs; ; Bun.sleepSync(WAIT_MS)) {
    try {
      return open();
    } catch (error) {
      if (!isOutOfDescriptors(error) || performance.now() >= endMs) throw error;
    }
  }
}

export class OutOfDescriptors extends Error {
  override readonly name = 'OutOfDescriptors';

  constructor() {
    super('no file descriptor is left');
  }
}

/**
 * Does work that takes up to `count` descriptors, and once more if it failed while fewer were free and reserved ones could
 * be freed. Rejects with OutOfDescriptors where it lacked some: the runtime's error may say that the connection was refused (1.4.5).
 */
export async function withDescriptors<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await work();
    } catch (error) {
      if (hasFreeDescriptors(count)) throw error;
      if (isAgain || !freeSpareDescriptors(count)) throw new OutOfDescriptors();
    }
  }
}

/** The number of descriptors in use; null if none is left for the count, or the system does not report it. */
export function countDescriptors(): number | null {
  try {
    return readdirSync(OPEN_FILES).length - 1;
  } catch {
    return null;
  }
}

function isOutOfDescriptors(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EMFILE' || code === 'ENFILE';
}
