/** Tests that a server short of file descriptors survives, refuses with 503, and serves clients that are not slow. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectRaw, type RawClient } from '../fake-upstream/raw-client.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, post } from '../http-contract/calls.ts';
import { contractConfig, scriptContractModels } from '../http-contract/contract-config.ts';
import { goodLines, head } from '../http-contract/wire.ts';
import { EXHAUSTIVE } from './calls.ts';
import { CLOSED_AT_ONCE, CLOSED_IN_TIME, openSlowClients } from './slow-clients.ts';

setDefaultTimeout(60_000);

const OPEN_FILES_MAX = EXHAUSTIVE ? 1_024 : 256;
const STREAMS = EXHAUSTIVE ? 1_100 : 280;
const SLOW_CLIENTS = EXHAUSTIVE ? 3_000 : 600;
const WATCH_MS = EXHAUSTIVE ? 25_000 : 2_000;
/**
 * Kinds that only the runtime closes are limited so that room remains; the sample has none, because a call may have to
 * wait for them.
 */
const KINDS = EXHAUSTIVE
  ? [...CLOSED_AT_ONCE, ...CLOSED_AT_ONCE, ...CLOSED_AT_ONCE, ...CLOSED_IN_TIME]
  : CLOSED_AT_ONCE;
const CALLS_AT_ONCE = 4;
/** Time limit of a call from its first connect: half heads live 8 to 12 s. */
const CALL_MS_MAX = 20_000;

async function startLimited(): Promise<Pair> {
  const models = { paced: { targets: [{ provider: 'lab' }], price: 'free' } };
  const pair = await startPair((url) => contractConfig(url, { models }), { openFilesMax: OPEN_FILES_MAX });
  scriptContractModels(pair.fake);
  pair.fake.script('paced', { answer: 'long:600', delayBetweenEventsMs: 1_000 });
  return pair;
}

describe(`with ${OPEN_FILES_MAX} file descriptors`, () => {
  test(`${STREAMS} streams: as many run as there is room for, the others get 503 with retry-after, the process survives`, async () => {
    const pair = await startLimited();
    try {
      const statuses = await openStreams(pair, STREAMS);
      const counts = { open: statuses.get('200') ?? 0, refused: statuses.get('503 with retry-after') ?? 0 };
      console.log(`descriptors: ${counts.open} streams open at ${OPEN_FILES_MAX}, ${counts.refused} refused with 503`);
      expect([...statuses.keys()].sort()).toEqual(['200', '503 with retry-after']);
      expect(counts.open + counts.refused).toBe(STREAMS);
      expect(counts.open).toBeGreaterThanOrEqual(Math.floor(OPEN_FILES_MAX * 0.35));
      expect(counts.refused).toBeGreaterThan(0);
      leaveStreams();
      expect(await firstGood(pair)).toBe(200);
    } finally {
      leaveStreams();
      await pair.stop();
    }
  });

  test(`${SLOW_CLIENTS} slow clients of eight addresses that come back when closed: calls from another address succeed`, async () => {
    const pair = await startLimited();
    const slow = openSlowClients(pair.gateway.url, pair.gateway.key, SLOW_CLIENTS, KINDS);
    try {
      const endMs = performance.now() + WATCH_MS;
      const tookMs: number[] = [];
      const others: unknown[] = [];
      let most = 0;
      const callOn = async () => {
        while (performance.now() < endMs) {
          const startMs = performance.now();
          const answer = await ask(pair);
          if (answer === 200) tookMs.push(performance.now() - startMs);
          else others.push(answer);
          most = Math.max(most, slow.connected());
          await Bun.sleep(100);
        }
      };
      await Promise.all(Array.from({ length: CALLS_AT_ONCE }, callOn));
      tookMs.sort((one, other) => one - other);
      const at = (part: number) => Math.round(tookMs[Math.floor(tookMs.length * part)] ?? 0);
      console.log(
        `slow clients: ${most} of ${SLOW_CLIENTS} connected at ${OPEN_FILES_MAX}; ${tookMs.length} calls, median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${Math.round(tookMs.at(-1) ?? 0)} ms`,
      );
      expect(others).toEqual([]);
      expect(tookMs.length).toBeGreaterThanOrEqual(CALLS_AT_ONCE);
      // A check that throws judges by old values from then on.
      expect(/^\w*Error: .*/m.exec(pair.gateway.stderr())?.[0]).toBeUndefined();
    } finally {
      slow.leave();
      await pair.stop();
    }
  });
});

const streams: RawClient[] = [];

const LANES = 20;

/** Opens streams on raw connections that stay open; returns the number of answers by status. */
async function openStreams({ gateway }: Pair, count: number): Promise<Map<string, number>> {
  const body = JSON.stringify(goodBody('chat', { model: 'paced', stream: true }));
  const lines = [...goodLines(gateway.key), `content-length: ${body.length}`];
  const bytes = head('POST /v1/chat/completions HTTP/1.1', lines) + body;
  const statuses = new Map<string, number>();
  let left = count;
  const begin = async () => {
    if (left-- <= 0) return;
    const client = await connectRaw(gateway.url);
    streams.push(client);
    client.send(bytes);
    await client.until((one) => one.ended() !== 'open' || one.received().includes('\r\n\r\n'), 10_000);
    client.pause();
    const start = client.received().toString('latin1');
    const status = start.slice(9, 12) + (/^retry-after: [1-9]/im.test(start) ? ' with retry-after' : '');
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await begin();
  };
  await Promise.all(Array.from({ length: LANES }, begin));
  return statuses;
}

function leaveStreams(): void {
  for (const client of streams.splice(0)) client.leave('rst');
}

/** Returns 200 if a call on a new connection succeeds, otherwise its status and body, or the error. */
async function ask({ gateway }: Pair): Promise<unknown> {
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      keepalive: false,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(goodBody('chat')),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    const text = await response.text();
    return response.status === 200 ? 200 : `${response.status} ${text}`;
  } catch (error) {
    return String(error);
  }
}

/** Returns 200 once the streams have released their room. */
async function firstGood(pair: Pair): Promise<unknown> {
  const endMs = performance.now() + 10_000;
  let answer = (await post(pair.gateway, 'chat', goodBody('chat'))).status;
  while (answer !== 200 && performance.now() < endMs) {
    await Bun.sleep(50);
    answer = (await post(pair.gateway, 'chat', goodBody('chat'))).status;
  }
  return answer;
}
