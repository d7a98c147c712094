/** Owns counting the file descriptors of this process against their limit. Closes none. */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const NOTHING = '/dev/null';
const OPEN_FILES = '/dev/fd';

/** How many descriptors the process may have; null where the system has no such limit or does not tell. */
export function openFilesMax(): number | null {
  const told = readLimits() ?? askShell();
  const most = Number(told);
  return told !== null && Number.isInteger(most) && most > 0 ? most : null;
}

/** Linux: the soft limit. */
function readLimits(): string | null {
  try {
    return /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Elsewhere: a child has the limits of its parent. */
function askShell(): string | null {
  if (process.platform === 'win32') return null;
  const asked = Bun.spawnSync(['sh', '-c', 'ulimit -n']);
  return asked.success ? asked.stdout.toString().trim() : null;
}

/**
 * The lowest descriptor that is free, which the next file or socket gets; null where there is none. All below it are in use.
 * Costs about a microsecond, where a count costs one for every descriptor.
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

const spares: number[] = [];

/** Keeps so many descriptors back, for what must be opened when none is left; as many as there are. */
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

/** Frees one that was kept back; false: there is none. It is only sure to be had by what is opened in the same turn. */
export function freeSpareDescriptor(): boolean {
  const spare = spares.pop();
  if (spare === undefined) return false;
  closeSync(spare);
  return true;
}

/** How many descriptors are in use; null where none is left for the count, or the system does not tell. */
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
