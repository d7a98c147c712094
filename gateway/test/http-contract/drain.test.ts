/**
 * Tests a server's graceful shutdown: SIGTERM, a second signal, SIGINT. Reliability design, “When something is broken”.
 */
import { describe, expect, test } from 'bun:test';
import { connectRaw } from '../fake-upstream/raw-client.ts';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, PATHS, post } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { expectRefusalBody } from './expect-refusal.ts';
import { goodLines, head, nextAnswer } from './wire.ts';

/** Starts a pair whose model `paced` streams 30 events in `streamMs`. */
async function startDraining(limits: object, streamMs: number): Promise<Pair> {
  const models = { paced: { targets: [{ provider: 'lab' }], price: 'free' } };
  const pair = await startPair((url) => contractConfig(url, { limits, models }));
  scriptContractModels(pair.fake);
  pair.fake.script('paced', { answer: 'long:30', delayBetweenEventsMs: Math.ceil(streamMs / 30) });
  return pair;
}

/** Starts a stream and resolves with its first bytes; `rest` is the whole stream once it has ended. */
async function beginStream(
  { gateway }: Pair,
  model: string,
): Promise<{ readonly id: string; readonly rest: Promise<string> }> {
  const response = await post(gateway, 'chat', goodBody('chat', { model, stream: true }));
  expect(response.status).toBe(200);
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  const first = await reader.read();
  const rest = (async () => {
    let text = decoder.decode(first.value, { stream: true });
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += decoder.decode(next.value, { stream: true });
    }
    return text;
  })();
  return { id: response.headers.get('x-request-id') ?? '', rest };
}

const readyStatus = async ({ gateway }: Pair) => (await fetch(`${gateway.url}/readyz`)).status;

const untilNotReady = (pair: Pair) =>
  eventually('readyz to be 503', async () => ((await readyStatus(pair)) === 503 ? true : null), 2_000);

const untilRefused = ({ gateway }: Pair) =>
  eventually(
    'new connections to be refused',
    () =>
      fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } }).then(
        () => null,
        () => true,
      ),
    20_000,
  );

/** Returns the records of a stopped server, read by a command on its folder. */
async function recordsAfter({ gateway }: Pair): Promise<CallLine[]> {
  return gateway.calls();
}

async function stopAll(pair: Pair): Promise<void> {
  await pair.fake.stop();
  await pair.gateway.stop();
}

describe('SIGTERM', () => {
  test.concurrent('several signals within one second count as one: not ready at once, then no new calls, streams finish', async () => {
    const pair = await startDraining({ drain: '2s' }, 3_000);
    try {
      const stream = await beginStream(pair, 'paced');
      for (const name of ['SIGTERM', 'SIGTERM'] as const) pair.gateway.signal(name);
      await untilNotReady(pair);
      pair.gateway.signal('SIGINT');
      expect((await fetch(`${pair.gateway.url}/healthz`)).status).toBe(200);
      const late = await post(pair.gateway, 'chat', goodBody('chat'));
      expect(late.status).toBe(200);
      await untilRefused(pair);
      const text = await stream.rest;
      expect(text).toContain('w30 ');
      expect(text).toEndWith('data: [DONE]\n\n');
      expect(await pair.gateway.exited).toBe(0);
      const records = await recordsAfter(pair);
      for (const id of [stream.id, late.headers.get('x-request-id')]) {
        expect(records.find(({ request_id }) => request_id === id)).toMatchObject({ status: 200, error: null });
      }
    } finally {
      await stopAll(pair);
    }
  });

  test.concurrent('a second signal after a second hurries: the stream gets an in-band error without [DONE], exit 0', async () => {
    const pair = await startDraining({ drain: '30s' }, 60_000);
    try {
      const stream = await beginStream(pair, 'paced');
      const startMs = performance.now();
      pair.gateway.signal('SIGTERM');
      await untilNotReady(pair);
      const again = setInterval(() => pair.gateway.signal('SIGTERM'), 100);
      const status = await pair.gateway.exited.finally(() => clearInterval(again));
      const tookMs = performance.now() - startMs;
      expect(status).toBe(0);
      expect(tookMs).toBeWithin(1_000, 20_000);
      const text = await stream.rest;
      expect(text).not.toContain('[DONE]');
      const last = text.trimEnd().split('\n\n').at(-1) ?? '';
      const error = {
        message: expect.stringContaining(stream.id),
        type: 'api_error',
        param: null,
        code: 'internal_error',
      };
      expect(JSON.parse(last.replace(/^data: /, ''))).toEqual({ error });
      const records = await recordsAfter(pair);
      expect(records.find(({ request_id }) => request_id === stream.id)).toMatchObject({
        status: 200,
        error: 'draining',
      });
    } finally {
      await stopAll(pair);
    }
  });

  test.concurrent('streams finish within a short time too', async () => {
    const pair = await startDraining({ drain: '0s', drain_streams: '10s' }, 1_000);
    try {
      const stream = await beginStream(pair, 'paced');
      pair.gateway.signal('SIGTERM');
      expect(await stream.rest).toEndWith('data: [DONE]\n\n');
      expect(await pair.gateway.exited).toBe(0);
    } finally {
      await stopAll(pair);
    }
  });

  test.concurrent('streams that do not finish in time get an in-band error, exit 0', async () => {
    const pair = await startDraining({ drain: '0s', drain_streams: '1s' }, 60_000);
    try {
      const [chat, other] = await Promise.all([beginStream(pair, 'paced'), beginStream(pair, 'paced')]);
      pair.gateway.signal('SIGTERM');
      expect(await pair.gateway.exited).toBe(0);
      for (const text of [await chat.rest, await other.rest]) {
        expect(text).not.toContain('[DONE]');
        expect(text.trimEnd().split('\n\n').at(-1)).toStartWith('data: {"error":{');
      }
    } finally {
      await stopAll(pair);
    }
  });
});

describe('SIGINT', () => {
  test.concurrent('skips the time for load balancers: new calls are refused, on open connections too, and the stream finishes', async () => {
    const pair = await startDraining({ drain: '24h' }, 1_500);
    try {
      const { gateway } = pair;
      const stream = await beginStream(pair, 'paced');
      const client = await connectRaw(gateway.url);
      client.send(head('GET /healthz HTTP/1.1', ['host: a']));
      const first = await nextAnswer(client);
      gateway.signal('SIGINT');
      await untilRefused(pair);
      const body = JSON.stringify(goodBody('chat'));
      if (client.ended() === 'open') {
        client.send(
          head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(gateway.key), `content-length: ${body.length}`]) + body,
        );
      }
      const answer = await nextAnswer(client, first?.next ?? 0);
      if (answer !== null) {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 61);
        const refusal = { status: 503, type: 'api_error', code: 'internal_error', says: 'shutting down' };
        expectRefusalBody(answer.headers, answer.text, 'chat', refusal);
      }
      expect(pair.fake.served('ok').length).toBe(0);
      expect(await stream.rest).toEndWith('data: [DONE]\n\n');
      expect(await gateway.exited).toBe(0);
    } finally {
      await stopAll(pair);
    }
  });

  test.concurrent('an idle server ends at once, its folder can be used again', async () => {
    const pair = await startDraining({ drain: '24h' }, 1_000);
    try {
      const { gateway } = pair;
      expect((await post(gateway, 'chat', goodBody('chat'))).status).toBe(200);
      const startMs = performance.now();
      gateway.signal('SIGINT');
      expect(await gateway.exited).toBe(0);
      expect(performance.now() - startMs).toBeLessThan(20_000);
      const again = await startGateway({ dataDir: gateway.dataDir, config: contractConfig(pair.fake.url) });
      expect((await post({ url: again.url, key: gateway.key }, 'chat', goodBody('chat'))).status).toBe(200);
      expect((await again.calls()).length).toBe(2);
      await again.stop();
    } finally {
      await stopAll(pair);
    }
  });
});
