/** Tests the load generator against the bench's own upstream, and against servers that answer wrongly. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CASES } from '../cases.ts';
import { CALL_PATH, type Protocol } from '../protocol.ts';
import { STREAM_EVENTS } from '../upstream/answer-content.ts';
import { startUpstream, type Upstream } from '../upstream/start-upstream.ts';
import type { LoadPlan, LoadResult } from './load-plan.ts';
import { runLoad } from './run-load.ts';
import { FAILURES_MAX } from './tally.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream(0);
});
afterAll(() => upstream.stop());

function planFor(port: number, name: string, protocol: Protocol = 'chat'): LoadPlan {
  const call = CASES.find((one) => one.name === name)?.calls[protocol];
  if (call === undefined) throw new Error(`no ${protocol} call in case ${name}`);
  return {
    port,
    path: CALL_PATH[protocol],
    headers: {},
    body: call.renderBody(),
    expect: call.expect,
    connections: 3,
    callsPerSecond: null,
    rehearsalPort: null,
    warmupMs: 20,
    windowMs: 80,
    watch: { subject: process.pid },
  };
}

/** Runs a load on a server that writes `reply` to each connection's first bytes and then closes it or not. */
async function loadOn(reply: string, close: boolean): Promise<LoadResult> {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write(reply);
        if (close) socket.end();
      },
    },
  });
  try {
    return await runLoad(planFor(listener.port, 'plain'));
  } finally {
    listener.stop(true);
  }
}

const JSON_BODY = JSON.stringify({ choices: [{ finish_reason: 'stop' }], usage: { total_tokens: 123 } });

describe('a load run', () => {
  test.each([
    ['plain', 'chat'],
    ['burst', 'chat'],
    ['agent', 'chat'],
    ['plain', 'messages'],
    ['burst', 'messages'],
  ] as const)('%s, %s: every call is answered, counted and timed', async (name, protocol) => {
    const result = await runLoad(planFor(upstream.port, name, protocol));
    expect(result.firstFailure).toBeNull();
    expect(result.calls).toBeGreaterThan(3);
    expect(result.reconnects).toBe(0);
    expect(result.events).toBeGreaterThanOrEqual(name === 'burst' ? (result.calls - 3) * STREAM_EVENTS[protocol] : 0);
    expect(result.callMs.p50).toBeGreaterThan(0);
    expect(result.callMs.p99).toBeGreaterThanOrEqual(result.firstMs.p50 ?? 0);
    expect(Object.keys(result.cpuMs).sort()).toEqual(['load', 'subject']);
  });

  test('paced streams give events while they run, near one per 10 ms and connection', async () => {
    const plans = (['chat', 'messages'] as const).map((protocol) => planFor(upstream.port, 'paced', protocol));
    const results = await Promise.all(plans.map((plan) => runLoad({ ...plan, warmupMs: 50, windowMs: 300 })));
    for (const { firstFailure, events } of results) {
      expect(firstFailure).toBeNull();
      expect(events).toBeGreaterThan(40);
      expect(events).toBeLessThan(110);
    }
  });

  test('paced calls come at their pace', async () => {
    const plan = { ...planFor(upstream.port, 'plain'), callsPerSecond: 100 };
    const { firstFailure, calls, callMs } = await runLoad({ ...plan, windowMs: 300 });
    expect(firstFailure).toBeNull();
    expect(calls).toBeGreaterThan(15);
    expect(calls).toBeLessThan(60);
    expect(callMs.p50).toBeGreaterThan(0);
    expect(callMs.longest).toBeGreaterThanOrEqual(callMs.p99 ?? 0);
  });

  test('a rehearsal calls another server first, without the credential, and counts nothing', async () => {
    const credentials: (string | null)[] = [];
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        credentials.push(request.headers.get('authorization'));
        return new Response('no', { status: 500 });
      },
    });
    const plan = { ...planFor(upstream.port, 'plain'), headers: { authorization: 'Bearer secret' } };
    const { calls, failures } = await runLoad({ ...plan, rehearsalPort: other.port ?? 0 });
    await other.stop(true);
    expect(calls).toBeGreaterThan(3);
    expect(failures).toBe(0);
    expect(credentials.length).toBeGreaterThanOrEqual(FAILURES_MAX);
    expect(new Set(credentials)).toEqual(new Set([null]));
  });

  test('a server that stands still makes every call late that came meanwhile, not one for each connection', async () => {
    let stood = false;
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${JSON_BODY.length}\r\n\r\n${JSON_BODY}`;
    const held: Bun.Socket[] = [];
    let stillMs = 0;
    let answered = 0;
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          // The first calls end the warm-up, so that the pause is in the window.
          if (stood || answered++ < 10) socket.write(answer);
          else if (held.push(socket) === 1) {
            const startedAt = performance.now();
            setTimeout(() => {
              stood = true;
              stillMs = performance.now() - startedAt;
              for (const one of held) one.write(answer);
            }, 300);
          }
        },
      },
    });
    const plan = { ...planFor(listener.port, 'plain'), callsPerSecond: 200, warmupMs: 20, windowMs: 420 };
    const { failures, callMs } = await runLoad(plan);
    listener.stop(true);
    expect(failures).toBe(0);
    // 3 calls were open; about 60 arrived meanwhile, more than before and after it: half of all calls waited long.
    expect(callMs.p50).toBeGreaterThan(stillMs / 20);
    expect(callMs.p99).toBeGreaterThan(stillMs / 2);
  });

  test('a failing server is counted, named, and not hammered', async () => {
    const { calls, failures, firstFailure } = await loadOn('HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno', false);
    expect(calls).toBe(0);
    expect(failures).toBeGreaterThanOrEqual(FAILURES_MAX);
    expect(failures).toBeLessThan(FAILURES_MAX + 4);
    expect(firstFailure).toBe('status: found 500, expected 200; no');
  });

  test('an answer that is cut is a failure', async () => {
    const { firstFailure } = await loadOn('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a"', true);
    expect(firstFailure).toBe('the connection closed in the middle of an answer');
  });

  test('a server that closes before any answer is a failure', async () => {
    expect((await loadOn('', true)).firstFailure).toContain('before any answer');
  });

  test('a refused connection is a failure', async () => {
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { port } = listener;
    listener.stop(true);
    expect((await runLoad(planFor(port, 'plain'))).firstFailure).toContain(`connect to 127.0.0.1:${port}`);
  });

  test('a connection that the server closes after each answer is opened again', async () => {
    const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${JSON_BODY.length}\r\n\r\n`;
    const { calls, failures } = await loadOn(`${head}${JSON_BODY}`, true);
    expect(calls).toBeGreaterThan(3);
    expect(failures).toBe(0);
  });
});
