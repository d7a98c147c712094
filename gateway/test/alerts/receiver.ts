/** Plays receivers of webhooks: one that answers, and one that accepts connections and never says anything. */

export interface Receiver {
  readonly url: string;
  /** How often each delivery arrived, by its id, with its text. */
  readonly seen: ReadonlyMap<string, { readonly text: string; readonly times: number }>;
  /** Calls back at the given arrival from now on, which is not answered. */
  onArrival(number: number, act: () => void): void;
  stop(): void;
}

/** Answers each delivery at once, but one in `refusesEach`, which it answers with 503. */
export function startReceiver(refusesEach: number): Receiver {
  const seen = new Map<string, { text: string; times: number }>();
  let arrivals = 0;
  let awaited: { readonly at: number; readonly act: () => void } | null = null;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { id, text } = (await request.json()) as { readonly id: string; readonly text: string };
      if (request.headers.get('tollgate-delivery') !== id) return new Response(null, { status: 400 });
      arrivals += 1;
      if (arrivals % refusesEach === 0) return new Response(null, { status: 503 });
      seen.set(id, { text, times: (seen.get(id)?.times ?? 0) + 1 });
      if (awaited !== null && arrivals >= awaited.at) {
        const { act } = awaited;
        awaited = null;
        act();
        return new Promise<Response>(() => undefined);
      }
      return new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    onArrival(number, act) {
      awaited = { at: arrivals + number, act };
    },
    stop: () => void server.stop(true),
  };
}

/** Accepts connections, reads, and answers nothing. */
export function startDeadReceiver(): { readonly url: string; connections(): number; stop(): void } {
  let connections = 0;
  const listener = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: {
      open() {
        connections += 1;
      },
      data() {},
    },
  });
  return { url: `http://127.0.0.1:${listener.port}`, connections: () => connections, stop: () => listener.stop(true) };
}
