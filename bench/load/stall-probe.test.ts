/**
 * Tests that the probe measures how long a thread is blocked, even until its end, and reports when it cannot measure.
 */
import { describe, expect, test } from 'bun:test';
import { findFreePort } from '../process/free-port.ts';
import { startStallProbe } from './stall-probe.ts';

const ANSWER = 'HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno';

/** A server that answers its n-th request with `reply`; runs `probing` with its port. */
async function serving<Result>(
  reply: (socket: Bun.Socket, question: number) => void,
  probing: (port: number) => Promise<Result>,
): Promise<Result> {
  let questions = 0;
  const data = (socket: Bun.Socket) => {
    questions += 1;
    reply(socket, questions);
  };
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data } });
  try {
    return await probing(listener.port);
  } finally {
    listener.stop(true);
  }
}

describe('the stall probe', () => {
  test('tells the longest wait, whatever the status of the answers', async () => {
    const enough = Promise.withResolvers<void>();
    const stall = await serving(
      (socket, question) => {
        if (question === 3) setTimeout(() => socket.write(ANSWER), 60);
        else socket.write(ANSWER);
        if (question === 6) enough.resolve();
      },
      async (port) => {
        const probe = startStallProbe(port, '/healthz', (reason) => enough.reject(new Error(reason)));
        await enough.promise;
        return probe.stop();
      },
    );
    expect(stall.longestMs).toBeGreaterThanOrEqual(59);
    expect(stall.probes).toBeGreaterThanOrEqual(5);
    expect(stall.ownLateMs).toBeGreaterThanOrEqual(0);
  });

  test('counts a wait that has not ended when it is stopped', async () => {
    const asked = Promise.withResolvers<void>();
    const stall = await serving(
      () => asked.resolve(),
      async (port) => {
        const probe = startStallProbe(port, '/healthz', (reason) => asked.reject(new Error(reason)));
        await asked.promise;
        const until = performance.now() + 20;
        while (performance.now() < until) await new Promise(setImmediate);
        return probe.stop();
      },
    );
    expect(stall).toMatchObject({ probes: 0 });
    expect(stall.longestMs).toBeGreaterThanOrEqual(20);
  });

  test.each([
    ['closes', (socket: Bun.Socket) => socket.end(), 'the stall probe: the connection closed'],
    ['sends nonsense', (socket: Bun.Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 'neither content-length nor'],
  ])('fails once where the server %s', async (_, reply, words) => {
    const reasons: string[] = [];
    const failed = Promise.withResolvers<void>();
    await serving(reply, async (port) => {
      const probe = startStallProbe(port, '/healthz', (reason) => {
        reasons.push(reason);
        failed.resolve();
      });
      await failed.promise;
      probe.stop();
    });
    expect(reasons).toEqual([expect.stringContaining(words)]);
  });

  test('fails where nobody listens', async () => {
    const failed = Promise.withResolvers<string>();
    const probe = startStallProbe(findFreePort(), '/healthz', failed.resolve);
    expect(await failed.promise).toContain('the stall probe: connect to 127.0.0.1');
    expect(probe.stop()).toMatchObject({ probes: 0, longestMs: null });
  });
});
