/** Opens many slow clients from several loopback addresses and counts their outcomes. */
import { createConnection, type Socket } from 'node:net';
import { goodLines, head } from '../http-contract/wire.ts';

/** What a slow client sends before it goes silent. */
export type Slowness =
  | 'no byte'
  | 'half a head'
  | 'a body without end'
  | 'a sign-in without end'
  | 'one request, then none';

/** The server closes these as soon as it runs short of file descriptors. */
export const CLOSED_AT_ONCE: readonly Slowness[] = [
  'a body without end',
  'a sign-in without end',
  'one request, then none',
];
/** The runtime has no hook for these: they live for 8 to 12 s. */
export const CLOSED_IN_TIME: readonly Slowness[] = ['no byte', 'half a head'];

export interface SlowClients {
  /** Connections accepted by the kernel, even if not yet by the server. */
  connected(): number;
  leave(): void;
}

/**
 * Opens `count` slow clients, alternating addresses and kinds. Each closed one reconnects after a second, as an
 * attacker would.
 */
export function openSlowClients(url: string, key: string, count: number, kinds: readonly Slowness[]): SlowClients {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let left = false;
  const open = (index: number) => {
    if (left) return;
    const localAddress = `127.0.0.${2 + (index % 8)}`;
    const socket = createConnection({ host: hostname, port: Number(port), localAddress });
    const slowness = kinds[Math.floor(index / 8) % kinds.length] ?? 'no byte';
    sockets.add(socket);
    socket.on('connect', () => socket.write(bytesOf(slowness, key)));
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(() => open(index), 1_000);
    });
  };
  for (let index = 0; index < count; index += 1) open(index);
  return {
    connected: () => [...sockets].filter((socket) => !socket.connecting).length,
    leave() {
      left = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

function bytesOf(slowness: Slowness, key: string): string {
  const local = ['host: 127.0.0.1', 'origin: http://127.0.0.1', 'sec-fetch-site: same-origin'];
  const unfinished = ['content-type: application/json', 'content-length: 1000'];
  switch (slowness) {
    case 'no byte':
      return '';
    case 'half a head':
      return 'POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ';
    case 'a body without end':
      return `${head('POST /v1/chat/completions HTTP/1.1', [...goodLines(key), 'content-length: 1000'])}{"model"`;
    case 'a sign-in without end':
      return `${head('POST /app/api/sign-in HTTP/1.1', [...local, ...unfinished])}{"email"`;
    case 'one request, then none':
      return head('GET /healthz HTTP/1.1', ['host: 127.0.0.1']);
  }
}
