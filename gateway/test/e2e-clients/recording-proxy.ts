/**
 * Runs a proxy between a client and the gateway that forwards every call unchanged and records the bytes that the
 * client sent.
 */

interface SentCall {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly body: Uint8Array;
  /** The gateway's status. */
  readonly status: number;
}

export interface RecordingProxy {
  readonly url: string;
  /** Answered calls, in the order of their answers. */
  readonly calls: readonly SentCall[];
  stop(): Promise<void>;
}

/** Starts a proxy for the gateway on a free port. */
export function startRecordingProxy(gatewayUrl: string): RecordingProxy {
  const calls: SentCall[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const path = pathname + search;
      const body = await request.bytes();
      const headers = new Headers(request.headers);
      headers.delete('host');
      const bodyless = request.method === 'GET' || request.method === 'HEAD';
      const answer = await fetch(gatewayUrl + path, {
        method: request.method,
        headers,
        redirect: 'manual',
        decompress: false,
        ...(bodyless ? {} : { body }),
      });
      calls.push({ method: request.method, path, body, status: answer.status });
      return answer;
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, calls, stop: () => server.stop(true) };
}
