/** Owns the file of the master key, from which every other key of the service is derived. Does not derive them. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../lib/secret.ts';

export interface MasterKey {
  /** 64 hex characters. */
  readonly key: Secret;
  /** Sentences for the operator, each with how to mend it. */
  readonly warnings: readonly string[];
}

/**
 * The data folder's master key: 32 random bytes in hex, in `master.key` (mode 0600). Made where it is missing, in one
 * step, so that two starters agree on one; never replaced, for with it every API key would be lost.
 *
 * @throws Error for a file that is not a master key.
 */
export function loadMasterKey(dataDir: string): MasterKey {
  const path = join(dataDir, 'master.key');
  const text = (readIfThere(path) ?? createKeyFile(path)).trim();
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(
      `${path} is not a master key: found ${text.length} characters, expected 64 hex digits. Restore it from a backup; without it no API key works.`,
    );
  }
  const mode = statSync(path).mode & 0o777;
  const warnings =
    (mode & 0o077) === 0
      ? []
      : [`Other users can read ${path} (mode ${mode.toString(8)}). Close it to them: chmod 600 ${path}`];
  return { key: new Secret(text), warnings };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (fault) {
    if (isCode(fault, 'ENOENT')) return null;
    throw fault;
  }
}

/** A complete file appears under the final name or none does; who comes second takes what is there. */
function createKeyFile(path: string): string {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
  } catch (fault) {
    if (!isCode(fault, 'EEXIST')) throw fault;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

function isCode(fault: unknown, code: string): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === code;
}
