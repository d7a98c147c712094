/**
 * Checks whether bytes given to the kernel have reached the peer's kernel. Only Linux reports it; elsewhere it is
 * assumed.
 */
import { existsSync, readFileSync } from 'node:fs';

const TABLE = '/proc/net/tcp';

function portHex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** Bytes of a loopback connection that the peer has not acknowledged; 0 if the system does not report it. */
export function unacknowledgedBytes(localPort: number, remotePort: number): number {
  if (!existsSync(TABLE)) return 0;
  const entry = new RegExp(`:${portHex(localPort)} [0-9A-F]{8}:${portHex(remotePort)} [0-9A-F]{2} ([0-9A-F]{8}):`);
  const queued = entry.exec(readFileSync(TABLE, 'latin1'))?.[1];
  return queued === undefined ? 0 : Number.parseInt(queued, 16);
}
