/**
 * Manages the folder of a checkout's development gateway: its path, its configuration, its one key. Kept between runs,
 * so that the key stays the same. Starts no server.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { renderDevConfig } from './dev-config.ts';

/** A folder that is ready for a gateway. */
export interface Scratch {
  readonly folder: string;
  readonly dataDir: string;
  readonly configFile: string;
  /** Valid only for the gateway of this folder. */
  readonly key: string;
}

export const LAUNCHER = join(import.meta.dir, '../../bin/tollgate');

/** The folder of a checkout, below the system's temporary one. */
export function scratchFolder(root: string): string {
  const checkout = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return join(tmpdir(), `tollgate-dev-${userInfo().uid}-${checkout}`);
}

/** Deletes the folder, with its key and records. */
export function forgetScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Creates what is missing. @throws Error if another user can access the folder, or the key cannot be created. */
export async function openScratch(folder: string): Promise<Scratch> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  refuseForeign(folder);
  const dataDir = join(folder, 'data');
  const configFile = join(folder, 'tollgate.yaml');
  writeFileSync(configFile, renderDevConfig());
  return { folder, dataDir, configFile, key: await seedKey(dataDir, join(folder, 'key')) };
}

/** The temporary folder is shared: a folder that another user created must not receive a key. */
function refuseForeign(folder: string): void {
  const found = lstatSync(folder);
  const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
  if (!found.isDirectory() || !isOurs) {
    throw new Error(`${folder} is not owned by you alone (mode 700). Remove it, or set TMPDIR to another place`);
  }
}

async function seedKey(dataDir: string, keyFile: string): Promise<string> {
  if (existsSync(keyFile) && existsSync(dataDir)) return readFileSync(keyFile, 'utf8').trim();
  const command = Bun.spawn([process.execPath, LAUNCHER, 'keys', 'create', '--name', 'dev', '--json'], {
    env: { ...process.env, TOLLGATE_DATA_DIR: dataDir },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [made, complaint, status] = await Promise.all([
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
    command.exited,
  ]);
  if (status !== 0) throw new Error(`the key could not be created in ${dataDir}: ${complaint.trim()}`);
  const { key } = JSON.parse(made) as { readonly key: string };
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  return key;
}
