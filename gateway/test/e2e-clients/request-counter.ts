/** Runs a TCP relay between a client and the gateway that lists the HTTP requests on it, whatever follows an upgrade. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

interface CountedRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Null: no answer yet. */
  readonly status: number | null;
}

export interface RequestCounter {
  readonly url: string;
  /** In order of their connections. */
  requests(): CountedRequest[];
  stop(): void;
}

/** JSON escapes line ends, so these lines are never part of a body. */
const REQUEST_LINE = /\b(GET|HEAD|POST|DELETE) (\S+) HTTP\/1\.1\r\n/g;
const STATUS_LINE = /HTTP\/1\.1 ([2-5]\d\d|101)[^\r\n]*\r\n/g;

/** Starts a relay to the gateway on a free port. */
export async function startRequestCounter(gatewayUrl: string): Promise<RequestCounter> {
  const { hostname, port } = new URL(gatewayUrl);
  const connections: { asked: string; answered: string }[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((client) => {
    const seen = { asked: '', answered: '' };
    connections.push(seen);
    const upstream = connect(Number(port), hostname);
    client.on('data', (bytes) => {
      seen.asked += bytes.toString('latin1');
    });
    upstream.on('data', (bytes) => {
      seen.answered += bytes.toString('latin1');
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () =>
      connections.flatMap(({ asked, answered }) => {
        const statuses = [...answered.matchAll(STATUS_LINE)].map(([, status]) => Number(status));
        return [...asked.matchAll(REQUEST_LINE)].map(([, method = '', path = ''], at) => ({
          method,
          path,
          status: statuses[at] ?? null,
        }));
      }),
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
