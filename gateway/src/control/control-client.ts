/**
 * Sends a command to a running server, and finds the place of its socket. Does not run the command itself if there is
 * no server.
 */

import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { ControlAnswer } from './command.ts';

const REPLY_TIMEOUT_MS = 30_000;

const reply = z.union([
  z.object({ ok: z.literal(true), result: z.json() }),
  z.object({ ok: z.literal(false), kind: z.enum(['usage', 'failed', 'unknown']), message: z.string() }),
]);

/**
 * Has the server of a data folder run a command; `no-server` if none listens.
 *
 * @throws Error if a server exists that cannot be reached, or does not answer.
 */
export async function callControl(
  dataDir: string,
  name: string,
  rawArguments: unknown,
): Promise<ControlAnswer | 'no-server'> {
  const path = findSocketPath(dataDir);
  if (path === null) return 'no-server';
  let text: string;
  try {
    const response = await fetch(`http://tollgate/commands/${name}`, {
      unix: path,
      method: 'POST',
      body: JSON.stringify(rawArguments),
      signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (fault) {
    if (isNobodyThere(fault)) return 'no-server';
    throw new Error(
      `The server of ${dataDir} could not be reached through ${path}: ${fault instanceof Error ? fault.message : String(fault)}. Run the command as the user that runs the server.`,
    );
  }
  return parseReply(text, path);
}

function parseReply(text: string, path: string): ControlAnswer {
  try {
    return reply.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `The program listening on ${path} is not a Tollgate server of this version. Restart the server with the version of this command.`,
    );
  }
}

function isNobodyThere(fault: unknown): boolean {
  const code = fault instanceof Error && 'code' in fault ? fault.code : null;
  return code === 'ENOENT' || code === 'ECONNREFUSED';
}

/** sun_path holds 108 bytes on Linux and 104 on macOS, the closing zero included: unix(7), read 2026-11-20. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

interface SocketPlace {
  readonly path: string;
  /** A sentence for the operator if the socket is not in the data folder, else null. */
  readonly notice: string | null;
}

/**
 * Prepares the place for a new socket, and removes what a killed server left behind. The caller must hold the data
 * lock.
 */
export function prepareSocketPlace(dataDir: string): SocketPlace {
  clearSocketPlace(dataDir);
  const path = join(dataDir, 'tollgate.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, notice: null };
  const elsewhere = join(mkdtempSync(join(tmpdir(), 'tollgate-')), 'tollgate.sock');
  if (Buffer.byteLength(elsewhere) > SOCKET_PATH_BYTES_MAX) {
    throw new Error(
      `No path for the control socket: ${path} and ${elsewhere} are both longer than ${SOCKET_PATH_BYTES_MAX} bytes. Set TMPDIR or TOLLGATE_DATA_DIR to a shorter path.`,
    );
  }
  writeFileSync(pointerPath(dataDir), elsewhere, { mode: 0o600 });
  return {
    path: elsewhere,
    notice: `The path of ${path} is too long for a socket (more than ${SOCKET_PATH_BYTES_MAX} bytes); the control socket is ${elsewhere}.`,
  };
}

/** Removes the socket, wherever it is. */
export function clearSocketPlace(dataDir: string): void {
  rmSync(join(dataDir, 'tollgate.sock'), { force: true });
  const elsewhere = readPointer(dataDir);
  if (elsewhere === null) return;
  if (isOurs(dirname(elsewhere))) rmSync(dirname(elsewhere), { recursive: true, force: true });
  rmSync(pointerPath(dataDir), { force: true });
}

/** The path of a running server's socket, or null if no socket can be trusted. */
function findSocketPath(dataDir: string): string | null {
  const elsewhere = readPointer(dataDir);
  if (elsewhere === null) return join(dataDir, 'tollgate.sock');
  return isOurs(dirname(elsewhere)) ? elsewhere : null;
}

function pointerPath(dataDir: string): string {
  return join(dataDir, 'tollgate.sock.path');
}

function readPointer(dataDir: string): string | null {
  try {
    const path = readFileSync(pointerPath(dataDir), 'utf8').trim();
    return /^tollgate-[^/]+\/tollgate\.sock$/.test(path.split('/').slice(-2).join('/')) ? path : null;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  }
}

/** Anyone may write to the temporary folder: once our folder is removed, another user could take its name. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}
