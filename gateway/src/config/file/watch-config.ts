/** Detects that the configuration file has new content. Does not load it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

const LOOK_EVERY_MS = 200;

export interface ConfigWatch {
  stop(): void;
}

/**
 * Calls back each time the file's content changes, once it has been stable for one check. Touching the file changes
 * nothing; a missing or unreadable file is not new content, because an editor may be about to put it back. A check is
 * one `stat`: unlike kernel notifications it also works for a file behind symbolic links, on a network share, or
 * mounted alone into a container. The watch keeps no process alive.
 */
export function watchConfig(file: string, onChange: () => void, lookEveryMs = LOOK_EVERY_MS): ConfigWatch {
  let stopped = false;
  let timer = setTimeout(look, lookEveryMs).unref();
  let seen = hashNow(file);
  let stamp: string | null = null;
  let quiet = false;

  async function look(): Promise<void> {
    const stampNow = await readStamp(file);
    if (stampNow !== stamp) {
      stamp = stampNow;
      quiet = false;
    } else if (!quiet && stamp !== null) {
      const hash = await hashLater(file);
      // What cannot be read now, as while no file descriptor is free, is read at the next check.
      quiet = hash !== null;
      if (!stopped && hash !== null && hash !== seen) {
        seen = hash;
        onChange();
      }
    }
    if (!stopped) timer = setTimeout(look, lookEveryMs).unref();
  }

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Differs whenever the file was written, replaced or swapped; null: there is no file. */
async function readStamp(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return null;
  }
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Runs at once, so that nothing written after the watch began counts as old. */
function hashNow(file: string): string | null {
  try {
    return hash(readFileSync(file));
  } catch {
    return null;
  }
}

async function hashLater(file: string): Promise<string | null> {
  try {
    return hash(await readFile(file));
  } catch {
    return null;
  }
}
