/** Tests idempotency keys: one upstream call, one charge, the same answer for 24 hours. Contract, 5 and 8. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type HeaderChanges, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';
import { createKey } from './make-key.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const REJECTS: Scenario = { status: 422, json: { error: { type: 'odd', message: 'not like this' } } };
const SCENARIOS: Readonly<Record<string, Scenario | readonly Scenario[]>> = {
  good: { answer: 'ok' },
  held: { answer: 'ok', delayBeforeFirstByteMs: 400 },
  // The first request is sent again twice.
  'fails-once': [...Array(3).fill({ status: 500, errorBodyBytes: 100 }), { answer: 'ok' }],
  'limits-once': [
    ...Array(3).fill({ status: 429, errorBodyBytes: 100, headers: { 'retry-after': '0' } }),
    { answer: 'ok' },
  ],
  rejects: REJECTS,
  'rejects-once': [REJECTS, { answer: 'ok' }],
  'lacks-once': [{ status: 404, json: { error: { type: 'odd', message: 'no such model' } } }, { answer: 'ok' }],
  dies: { answer: 'long:40', cut: { at: 3_000, how: 'fin' } },
  paced: { answer: 'long:400', delayBetweenEventsMs: 50 },
  large: { say: { text: 'x'.repeat(1024 * 1024) } },
  'huge-stream': { answer: 'long:75000', chunking: 'all' },
  huge: { say: { text: 'x'.repeat(9 * 1024 * 1024) } },
};

let pair: Pair;
let names = 0;
let bodies = 0;

beforeAll(async () => {
  const target = (side: Side) => ({
    targets: [{ provider: side === 'chat' ? 'lab' : 'lab-messages' }],
    price: { input: 1, output: 5 },
  });
  const models = Object.fromEntries(
    SIDES.flatMap((side) => Object.keys(SCENARIOS).map((name) => [`${side}-${name}`, target(side)])),
  );
  pair = await startPair((url) => contractConfig(url, { models }));
  scriptContractModels(pair.fake);
  for (const side of SIDES) {
    for (const [name, scenario] of Object.entries(SCENARIOS)) pair.fake.script(`${side}-${name}`, scenario);
  }
});
afterAll(() => pair.stop());

/** Returns a body that no other test sends; `sent` counts how often the fake upstream got it. */
function bodyOf(model: string, stream = false): { readonly body: object; sent(): number } {
  bodies += 1;
  const mark = `question ${bodies}.`;
  const body = { model, max_tokens: 64, messages: [{ role: 'user', content: mark }], stream };
  return {
    body,
    sent: () => pair.fake.served().filter(({ requestBody }) => Buffer.from(requestBody).includes(mark)).length,
  };
}

const newName = () => `name-${++names}`;
const ask = (side: Side, name: string, body: object, headers: HeaderChanges = {}) =>
  post(pair.gateway, side, body, { 'idempotency-key': name, ...headers });

async function recordOf(response: Response): Promise<CallLine> {
  const [record] = await pair.gateway.calls('--request-id', response.headers.get('x-request-id') ?? '');
  if (record === undefined) throw new Error('there is no record of the call');
  return record;
}

const NONE = { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: 0 };
const DELIVERY = ['x-request-id', 'request-id', 'date', 'content-length', 'transfer-encoding', 'x-tollgate-cost-usd'];
const headersOf = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !DELIVERY.includes(name) && !name.startsWith('x-tollgate-replayed')),
  );

for (const side of SIDES) {
  const other: Side = side === 'chat' ? 'messages' : 'chat';

  describe(`over ${side}, the same key and body again`, () => {
    for (const stream of [false, true]) {
      for (const upstream of [side, other]) {
        const kind = `${stream ? 'a stream' : 'one piece'}${upstream === side ? '' : ', translated'}`;
        test(`get the stored answer (${kind}), cost nothing and reach no upstream`, async () => {
          const [name, { body, sent }] = [newName(), bodyOf(`${upstream}-good`, stream)];
          const first = await ask(side, name, body);
          const text = await first.text();
          expect(first.status).toBe(200);
          expect(first.headers.get('x-tollgate-replayed')).toBeNull();
          const again = await ask(side, name, body);
          expect([again.status, await again.text()]).toEqual([200, text]);
          expect(headersOf(again)).toEqual(headersOf(first));
          expect(again.headers.get('x-tollgate-replayed')).toBe('true');
          expect(again.headers.get('x-tollgate-replayed-request-id')).toBe(first.headers.get('x-request-id'));
          expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
          expect(again.headers.get('x-tollgate-cost-usd')).toBe(stream ? null : '0');
          expect(sent()).toBe(1);
          const [billed, replayed] = [await recordOf(first), await recordOf(again)];
          expect(billed).toMatchObject({ usage_source: 'upstream', cost_nano_usd: String(11 * 1_000 + 5 * 5_000) });
          expect(replayed).toMatchObject({
            status: 200,
            error: null,
            stream,
            model: `${upstream}-good`,
            usage: NONE,
            usage_source: 'cache',
            cost_nano_usd: '0',
            attempts: [],
            finish_reason: billed.finish_reason,
            served_model: billed.served_model,
          });
        });
      }
    }

    test('requests at the same time run once; the others get 409 or the answer', async () => {
      const [name, { body, sent }] = [newName(), bodyOf(`${side}-good`)];
      const answers = await Promise.all(Array.from({ length: 30 }, () => ask(side, name, body)));
      const ran = answers.filter(
        ({ status, headers }) => status === 200 && headers.get('x-tollgate-replayed') === null,
      );
      expect(ran).toHaveLength(1);
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
      expect(sent()).toBe(1);
    });

    test('requests while it runs get 409, and the answer afterwards', async () => {
      const [name, { body, sent }] = [newName(), bodyOf(`${side}-held`)];
      const first = ask(side, name, body);
      await eventually('the call at the upstream', () => (sent() === 1 ? true : null));
      const early = await ask(side, name, body);
      expect(early.headers.get('retry-after')).toBe('1');
      const refused = invalid(side, 'is still running', undefined, 409);
      await expectRefusal(early, side, { ...refused, shouldRetry: null });
      const text = await (await first).text();
      expect(await (await ask(side, name, body)).text()).toBe(text);
      expect(sent()).toBe(1);
    });

    test('run again where the first time cost nothing', async () => {
      for (const [model, status, requests] of [
        ['fails-once', 500, 3],
        ['limits-once', 429, 3],
        ['rejects-once', 422, 1],
        ['lacks-once', 500, 1],
      ] as const) {
        const [name, { body, sent }] = [newName(), bodyOf(`${side}-${model}`)];
        expect((await ask(side, name, body)).status).toBe(status);
        const again = await ask(side, name, body);
        expect([again.status, again.headers.get('x-tollgate-replayed')]).toEqual([200, null]);
        expect(sent()).toBe(requests + 1);
      }
    });

    test('are not sent again where the answer broke off and was charged', async () => {
      const [name, { body, sent }] = [newName(), bodyOf(`${side}-dies`, true)];
      const first = await ask(side, name, body);
      expect(await first.text()).toContain('w1 ');
      const again = await ask(side, name, body);
      await expectRefusal(again, side, {
        ...invalid(side, 'broke off before its answer was complete', undefined, 409),
        shouldRetry: 'false',
      });
      expect(sent()).toBe(1);
      expect(Number((await recordOf(first)).cost_nano_usd)).toBeGreaterThan(0);
      expect((await recordOf(again)).cost_nano_usd).toBe('0');
    });

    test('are not sent again where the client left in the middle', async () => {
      const [name, { body, sent }] = [newName(), bodyOf(`${side}-paced`, true)];
      const leaving = new AbortController();
      const first = await fetch(`${pair.gateway.url}/v1/${side === 'chat' ? 'chat/completions' : 'messages'}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${pair.gateway.key}`,
          'content-type': 'application/json',
          'idempotency-key': name,
        },
        body: JSON.stringify(body),
        signal: leaving.signal,
      });
      const reader = first.body?.getReader();
      let text = '';
      while (!text.includes('w1 ')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
      leaving.abort();
      const again = await eventually('the end of the call', async () => {
        const answer = await ask(side, name, body);
        return (await answer.clone().text()).includes('still running') ? null : answer;
      });
      await expectRefusal(again, side, invalid(side, 'broke off', undefined, 409));
      expect(sent()).toBe(1);
    });

    test('a replayed answer of a megabyte is complete', async () => {
      const [name, { body, sent }] = [newName(), bodyOf(`${side}-large`)];
      const text = await (await ask(side, name, body)).text();
      expect(text.length).toBeGreaterThan(1_000_000);
      const again = await ask(side, name, body);
      expect((await again.text()) === text).toBe(true);
      expect([again.headers.get('x-tollgate-replayed'), sent()]).toEqual(['true', 1]);
    });

    test('requests for an answer too large to store get that reason', async () => {
      // Each reads 9 MB: a sample is plain over one format and streamed over the other.
      for (const [model, stream] of [
        ['huge', false],
        ['huge-stream', true],
      ] as const) {
        if (!EXHAUSTIVE && stream !== (side === 'chat')) continue;
        const [name, { body, sent }] = [newName(), bodyOf(`${side}-${model}`, stream)];
        const first = await ask(side, name, body);
        expect((await first.text()).length).toBeGreaterThan(8 * 1024 * 1024);
        expect(first.status).toBe(200);
        const again = await ask(side, name, body);
        await expectRefusal(again, side, invalid(side, 'too large to be kept', undefined, 409));
        expect(sent()).toBe(1);
      }
    });
  });

  test(`over ${side}, a key used again with another body is refused, also where the answer broke off`, async () => {
    for (const model of ['good', 'dies']) {
      const [name, first, second] = [newName(), bodyOf(`${side}-${model}`, true), bodyOf(`${side}-good`)];
      await (await ask(side, name, first.body)).text();
      const refused = invalid(side, 'was used with another body', 'idempotency-key');
      await expectRefusal(await ask(side, name, second.body), side, refused);
      expect(second.sent()).toBe(0);
    }
  });

  test(`over ${side}, a key whose call was refused for its content accepts a corrected body`, async () => {
    for (const upstream of [side, other]) {
      const [name, first, mended] = [newName(), bodyOf(`${upstream}-rejects`), bodyOf(`${upstream}-good`)];
      expect((await ask(side, name, first.body)).status).toBe(422);
      const answer = await ask(side, name, mended.body);
      expect([answer.status, answer.headers.get('x-tollgate-replayed'), mended.sent()]).toEqual([200, null, 1]);
    }
  });

  test(`over ${side}, an invalid key is refused with the expected form`, async () => {
    const { body, sent } = bodyOf(`${side}-good`);
    for (const name of ['x'.repeat(256), 'caf\u00e9']) {
      const refused = invalid(side, 'expected 1 to 255 printable ASCII characters', 'idempotency-key');
      await expectRefusal(await ask(side, name, body), side, refused);
    }
    expect((await ask(side, `${side}${'x'.repeat(255 - side.length)}`, body)).status).toBe(200);
    expect(sent()).toBe(1);
  });
}

test('the same body at the other endpoint is another request', async () => {
  const [name, { body, sent }] = [newName(), bodyOf('chat-good')];
  expect((await ask('chat', name, body)).status).toBe(200);
  await expectRefusal(await ask('messages', name, body), 'messages', invalid('messages', 'at another endpoint'));
  expect(sent()).toBe(1);
});

test('an idempotency key belongs to its API key', async () => {
  const [name, { body, sent }] = [newName(), bodyOf('chat-good')];
  const stranger = { ...pair.gateway, key: (await createKey(pair.gateway)).key };
  expect((await ask('chat', name, body)).status).toBe(200);
  const otherReply = await post(stranger, 'chat', body, { 'idempotency-key': name });
  expect([otherReply.status, otherReply.headers.get('x-tollgate-replayed')]).toEqual([200, null]);
  expect(sent()).toBe(2);
});

test('counting tokens takes no notice of an idempotency key', async () => {
  const { body } = bodyOf('m-ok');
  const count = () => post(pair.gateway, '/v1/messages/count_tokens', body, { 'idempotency-key': 'x'.repeat(300) });
  for (const answer of [await count(), await count()]) {
    expect([answer.status, answer.headers.get('x-tollgate-replayed')]).toEqual([200, null]);
  }
});

describe('the death of the process', () => {
  const secretName = 'a-name-that-is-nowhere';
  const target = { targets: [{ provider: 'lab' }], price: { input: 1, output: 5 } };
  const config = () => contractConfig(pair.fake.url, { models: { silent: target } });

  test('a restart keeps stored answers encrypted, and never sends a cut call again', async () => {
    const dying = await startGateway({ config: config() });
    const { key, dataDir } = dying;
    const kept = bodyOf('ok');
    const first = await post(dying, 'chat', kept.body, { 'idempotency-key': secretName });
    const text = await first.text();
    const cut = bodyOf('silent');
    pair.fake.script('silent', { answer: 'ok', delayBeforeFirstByteMs: 60_000 });
    const open = post(dying, 'chat', cut.body, { 'idempotency-key': 'cut' }).catch(() => null);
    await eventually('the call at the upstream', () => (cut.sent() === 1 ? true : null));
    dying.signal('SIGKILL');
    await dying.exited;
    expect(await open).toBeNull();

    const files = readdirSync(dataDir).filter((file) => file.startsWith('tollgate.db'));
    const written = Buffer.concat(files.map((file) => readFileSync(join(dataDir, file))));
    expect(written.includes('Good day')).toBe(false);
    expect(written.includes(secretName)).toBe(false);

    const risen = await startGateway({ config: config(), dataDir });
    try {
      const address = { url: risen.url, key };
      const again = await post(address, 'chat', kept.body, { 'idempotency-key': secretName });
      expect([again.status, await again.text()]).toEqual([200, text]);
      for (let tries = 0; tries < 2; tries++) {
        const refused = await post(address, 'chat', cut.body, { 'idempotency-key': 'cut' });
        await expectRefusal(refused, 'chat', {
          ...invalid('chat', 'cut off by a fault of this gateway', undefined, 409),
          shouldRetry: 'false',
        });
      }
      expect([kept.sent(), cut.sent()]).toEqual([1, 1]);
    } finally {
      await risen.stop();
    }
  });
});
