/**
 * Tests hedging: where a first target is late, a second one gets the request too. The first content wins, the other
 * attempt is aborted, and the call has one record and one charge. Source: routing design, section 9.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, hasTerminal, PROTOCOLS, recordsById } from './calls.ts';

/** So many answers make the usual time of a target known; a twentieth of them may be hedged. */
const USUAL = 160;
const price = { input: 1, output: 5 };

const CASES = PROTOCOLS.flatMap((protocol) =>
  PROTOCOLS.flatMap((second) => [false, true].map((stream) => ({ protocol, second, stream }))),
).map((one, index) => ({ ...one, model: `case-${index}` }));
type Case = (typeof CASES)[number];

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => {
    const provider = (protocol: string) => ({
      kind: protocol === 'chat' ? 'openai-compatible' : 'anthropic',
      base_url: `${url}/v1`,
      api_key: 'none',
    });
    const models = CASES.map(({ model, protocol, second }) => [
      model,
      {
        routing: { hedge: 'on', affinity: 'off' },
        targets: [
          { provider: `first-${protocol}`, model: `${model}-first`, price },
          { provider: `second-${second}`, model: `${model}-second`, price },
        ],
      },
    ]);
    const providers = PROTOCOLS.flatMap((protocol) => [
      [`first-${protocol}`, provider(protocol)],
      [`second-${protocol}`, provider(protocol)],
    ]);
    return { providers: Object.fromEntries(providers), models: Object.fromEntries(models) };
  });
  for (const one of CASES) {
    pair.fake.script(`${one.model}-first`, { answer: 'ok' });
    const asked = Array.from({ length: USUAL }, () => ask(pair.gateway, one));
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  }
});
afterAll(() => pair.stop());

function told({ headers }: Awaited<ReturnType<typeof ask>>): (string | null)[] {
  return ['provider', 'model', 'attempts', 'route'].map((name) => headers.get(`x-tollgate-${name}`));
}

async function askOnce(one: Case) {
  const answer = await ask(pair.gateway, one);
  const record = (await recordsById(pair.gateway)).get(answer.requestId);
  if (record === undefined) throw new Error(`no record of ${answer.requestId}`);
  return { answer, record };
}

/** Asks every case at once and expects the same of each. */
async function askAll(
  script: (one: Case) => void,
  judge: (one: Case, got: Awaited<ReturnType<typeof askOnce>>) => void,
) {
  for (const one of CASES) script(one);
  const got = await Promise.all(CASES.map(askOnce));
  for (const [index, one] of CASES.entries()) if (got[index] !== undefined) judge(one, got[index]);
}

describe('plain and streamed, in every pair of formats', () => {
  test('a late first target loses to the second, and is aborted', async () => {
    const startMs = performance.now();
    await askAll(
      ({ model }) => {
        pair.fake.script(`${model}-first`, { delayBeforeFirstByteMs: 20_000 });
        pair.fake.script(`${model}-second`, { answer: 'ok' });
      },
      ({ protocol, second, stream, model }, { answer, record }) => {
        expect([answer.status, ...told(answer)]).toEqual([200, `second-${second}`, `${model}-second`, '2', 'hedge']);
        if (stream) expect(hasTerminal(protocol, answer.text)).toBe(true);
        expect(record).toMatchObject({
          status: 200,
          error: null,
          provider: `second-${second}`,
          cost_nano_usd: '36000',
        });
        expect(record.attempts).toMatchObject([
          { provider: `first-${protocol}`, status: null, error: null, class: 'beaten', phase: 'sent', billed: 'maybe' },
          { provider: `second-${second}`, status: 200, error: null, why: 'hedge' },
        ]);
        expect(Number(record.attempts[0]?.cost_nano_usd)).toBeGreaterThan(0);
      },
    );
    const slow = () =>
      pair.fake.served().filter(({ model, endedMs }) => /first$/.test(model ?? '') && endedMs === null);
    await pair.fake.until(() => slow().length === 0);
    expect(performance.now() - startMs).toBeLessThan(20_000);
  });

  test('a first target that is faster in the end keeps its answer', async () => {
    await askAll(
      ({ model }) => {
        pair.fake.script(`${model}-first`, { answer: 'ok', delayBeforeFirstByteMs: 1_700 });
        pair.fake.script(`${model}-second`, { delayBeforeFirstByteMs: 20_000 });
      },
      ({ protocol, second, model }, { answer, record }) => {
        expect([answer.status, ...told(answer)]).toEqual([200, `first-${protocol}`, `${model}-first`, '2', 'order']);
        expect(record).toMatchObject({
          status: 200,
          error: null,
          provider: `first-${protocol}`,
          cost_nano_usd: '36000',
        });
        expect(record.attempts).toMatchObject([
          { provider: `second-${second}`, class: 'beaten', why: 'hedge', billed: 'maybe' },
          { provider: `first-${protocol}`, status: 200 },
        ]);
      },
    );
  });

  test('a second target that fails leaves the answer to the first', async () => {
    await askAll(
      ({ model }) => {
        pair.fake.script(`${model}-first`, { answer: 'ok', delayBeforeFirstByteMs: 1_700 });
        pair.fake.script(`${model}-second`, { status: 500, errorBodyBytes: 90 });
      },
      ({ protocol, model }, { answer, record }) => {
        expect([answer.status, ...told(answer)]).toEqual([200, `first-${protocol}`, `${model}-first`, '2', 'order']);
        expect(record.attempts).toMatchObject([{ class: 'fault', status: 500 }, { status: 200 }]);
        expect(record.cost_nano_usd).toBe('36000');
      },
    );
  });

  test('a second target that fails leaves the end of a cut answer to the row of the first', async () => {
    const streamed = CASES.filter(({ stream, protocol, second }) => stream && protocol === second);
    for (const { model } of streamed) {
      const cut = { at: 12_000, how: 'rst' } as const;
      const slow = { delayBeforeFirstByteMs: 1_700, delayBetweenEventsMs: 10 };
      pair.fake.script(`${model}-first`, { answer: 'long:200', ...slow, cut });
      pair.fake.script(`${model}-second`, { status: 500, errorBodyBytes: 90 });
    }
    for (const { record } of await Promise.all(streamed.map(askOnce))) {
      expect(record.error).toBe('upstream_truncated');
      const [hedge, first] = record.attempts;
      expect(hedge).toMatchObject({ status: 500, why: 'hedge', ttft_ms: null });
      expect(first).toMatchObject({ status: 200, error: 'upstream_truncated' });
      expect(first?.ttft_ms).toBeGreaterThanOrEqual(1_600);
      expect(first?.duration_ms).toBeGreaterThan(first?.ttft_ms ?? Number.POSITIVE_INFINITY);
    }
  });

  test('a first target that fails leaves the answer to the second', async () => {
    await askAll(
      ({ model }) => {
        pair.fake.script(`${model}-first`, { status: 500, errorBodyBytes: 90, delayBeforeFirstByteMs: 1_400 });
        pair.fake.script(`${model}-second`, { answer: 'ok', delayBeforeFirstByteMs: 1_200 });
      },
      ({ second, model }, { answer, record }) => {
        expect([answer.status, ...told(answer)]).toEqual([200, `second-${second}`, `${model}-second`, '2', 'hedge']);
        expect(record.attempts).toMatchObject([
          { class: 'fault', status: 500 },
          { status: 200, why: 'hedge' },
        ]);
        expect(record.cost_nano_usd).toBe('36000');
      },
    );
  });
});

test('where both fail, the client hears of it once, and pays for neither', async () => {
  const [one] = CASES;
  if (one === undefined) throw new Error('there is no case');
  pair.fake.script(`${one.model}-first`, { status: 500, errorBodyBytes: 90, delayBeforeFirstByteMs: 1_400 });
  pair.fake.script(`${one.model}-second`, { status: 500, errorBodyBytes: 90, delayBeforeFirstByteMs: 900 });
  const { answer, record } = await askOnce(one);
  expect(answer.status).toBe(500);
  expect(record).toMatchObject({ usage_source: 'void' });
  expect(record.attempts.slice(0, 2)).toMatchObject([
    { class: 'fault', status: 500 },
    { class: 'fault', status: 500, why: 'hedge' },
  ]);
});

test('a client that leaves ends both attempts', async () => {
  const one = CASES.find(({ stream }) => stream);
  if (one === undefined) throw new Error('there is no case');
  for (const name of ['first', 'second']) {
    pair.fake.script(`${one.model}-${name}`, { answer: 'ok', delayBeforeFirstByteMs: 20_000 });
  }
  const before = pair.fake.served().length;
  const leaving = new AbortController();
  const asked = fetch(`${pair.gateway.url}/v1/${one.protocol === 'chat' ? 'chat/completions' : 'messages'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: one.model,
      stream: true,
      max_tokens: 50,
      messages: [{ role: 'user', content: 'hi' }],
    }),
    signal: leaving.signal,
  }).catch((error: Error) => error.name);
  await pair.fake.until(() => pair.fake.served().length === before + 2);
  leaving.abort();
  expect(await asked).toBe('AbortError');
  const both = () => pair.fake.served().slice(before);
  await pair.fake.until(() => both().every(({ finished }) => finished === 'client-left'));
  expect(both().map(({ model }) => model)).toEqual([`${one.model}-first`, `${one.model}-second`]);
});
