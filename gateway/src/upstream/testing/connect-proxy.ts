/** Provides an HTTP proxy for tests that only tunnels (CONNECT), to one port of this machine whatever host it is asked for. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** The heads of all requests, in order. */
  readonly asked: readonly string[];
  stop(): void;
}

/** Starts a proxy. `answer`: the bytes that it sends for a request instead of opening the tunnel; null: it opens it. */
export async function startConnectProxy(
  targetPort: number,
  answer: (head: string) => string | null = () => null,
): Promise<ConnectProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let head = '';
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', function read(bytes) {
      head += bytes.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      asked.push(head);
      const refusal = answer(head);
      if (refusal !== null) {
        socket.end(refusal);
        return;
      }
      socket.off('data', read);
      socket.pause();
      const up = connect(targetPort, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\nproxy-agent: test\r\n\r\n');
        socket.pipe(up).pipe(socket);
      });
      up.on('error', () => socket.destroy());
      socket.on('close', () => up.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
