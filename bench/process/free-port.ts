/** Finds a free port on loopback, and waits for a server to accept there. */

const RETRY_MS = 20;

/** A port that was free a moment ago. */
export function findFreePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
    socket.terminate();
    return true;
  } catch {
    return false;
  }
}

/** Resolves once 127.0.0.1:port accepts; rejects after `timeoutMs`, or as soon as `gone` settles. */
export async function waitForPort(port: number, timeoutMs: number, gone: Promise<unknown>): Promise<void> {
  let isGone = false;
  const watch = () => {
    isGone = true;
  };
  gone.then(watch, watch);
  const until = performance.now() + timeoutMs;
  while (!(await accepts(port))) {
    if (isGone) throw new Error(`the process ended before it listened on port ${port}`);
    if (performance.now() > until) throw new Error(`nothing listened on port ${port} within ${timeoutMs} ms`);
    await Bun.sleep(RETRY_MS);
  }
}
