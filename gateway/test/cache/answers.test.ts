/** Tests which requests are answered from the cache, and that their answers are those of the provider byte for byte. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { CallLine } from '../harness/start-gateway.ts';
import type { Pair } from '../harness/start-pair.ts';
import type { HeaderChanges } from '../http-contract/calls.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { ask, askUntilHit, FORMATS, type Format, newTenant, startCachePair, type Tenant } from './cache-rig.ts';

let pair: Pair;
let tenant: Tenant;
let texts = 0;

beforeAll(async () => {
  pair = await startCachePair();
  tenant = await newTenant(pair.gateway);
});
afterAll(() => pair.stop());

const newText = () => `question ${++texts}`;
const sentOf = (text: string) =>
  pair.fake.served().filter(({ requestBody }) => Buffer.from(requestBody).includes(`${text}"`)).length;

async function recordOf(requestId: string): Promise<CallLine & { readonly cached_from?: string }> {
  const [record] = await pair.gateway.calls('--request-id', requestId);
  if (record === undefined) throw new Error('there is no record of the call');
  return record;
}

const NONE = { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: 0 };
const WAYS = (['chat', 'messages', 'responses'] as const).flatMap((format) =>
  (['c', 'm', 'r'] as const).flatMap((side) => [false, true].map((stream) => [format, side, stream] as const)),
);

describe('the same request again', () => {
  for (const [format, side, stream] of WAYS) {
    for (const answer of ['ok', 'tool', 'think']) {
      const name = `${stream ? 'a stream' : 'one piece'} of ${format} from ${side}-${answer}`;
      test(`gets the same bytes from the cache, without a provider: ${name}`, async () => {
        const { path, body } = FORMATS[format];
        const text = newText();
        const request = { ...body(`${side}-${answer}`, text), stream };
        const { first, hit } = await askUntilHit(tenant, path, request);
        expect([first.status, first.cache]).toEqual([200, 'miss']);
        const before = sentOf(text);
        const again = await ask(tenant, path, request);
        expect([again.status, again.cache, sentOf(text)]).toEqual([200, 'hit', before]);
        for (const one of [hit, again]) {
          expect(one.headers.get('content-type')).toBe(first.headers.get('content-type'));
          expect(one.headers.get('x-tollgate-cost-usd')).toBe(stream ? null : '0');
          expect(Number(one.headers.get('age'))).toBeGreaterThanOrEqual(0);
          expect(one.headers.get('x-tollgate-attempts')).toBeNull();
        }
        // A request that arrived before the first answer was stored may have replaced it.
        const origin = again.headers.get('x-tollgate-cached-request-id') ?? '';
        if (origin === first.requestId) expect(again.text).toBe(first.text);
        expect(again.text).toBe(hit.text);
        const [record, source] = [await recordOf(again.requestId), await recordOf(origin)];
        expect(record).toMatchObject({
          status: 200,
          error: null,
          stream,
          usage: NONE,
          usage_source: 'cache',
          cost_nano_usd: '0',
          attempts: [],
          cached_from: origin,
          finish_reason: source.finish_reason,
          served_model: source.served_model,
        });
        expect(source.cost_nano_usd).not.toBe('0');
      });
    }
  }

  test('gets it over Gemini’s format too', async () => {
    const google = { contents: [{ role: 'user', parts: [{ text: newText() }] }] };
    for (const path of [
      '/v1beta/models/c-ok:generateContent',
      '/v1beta/models/c-ok:streamGenerateContent?alt=sse',
    ] as const) {
      const { first, hit } = await askUntilHit(tenant, path, google);
      expect([first.status, hit.text]).toEqual([200, first.text]);
    }
  });

  test('gets a large answer whole, streamed and in one piece', async () => {
    for (const stream of [false, true]) {
      const request = { ...FORMATS.chat.body('c-large', newText()), stream };
      const { first, hit } = await askUntilHit(tenant, FORMATS.chat.path, request);
      expect(hit.text.length).toBe(first.text.length);
      expect(hit.text).toBe(first.text);
    }
  });
});

describe('a request that differs is another request', () => {
  const base = { model: 'c-ok', max_tokens: 64, messages: [{ role: 'user', content: 'the base' }] };
  const differing: Readonly<Record<string, [body: unknown, headers?: HeaderChanges]>> = {
    'another temperature': [{ ...base, temperature: 0.5 }],
    'another order of members': [{ messages: base.messages, model: base.model, max_tokens: 64 }],
    'another space': [`${JSON.stringify(base).slice(0, -1)} }`],
    'a stream': [{ ...base, stream: true }],
    'another model': [{ ...base, model: 'm-ok' }],
    'another user': [{ ...base, user: 'somebody' }],
    'a tag for its target': [base, { 'x-tollgate-anything': 'else' }],
    'a header of OpenAI': [base, { 'openai-beta': 'x=1' }],
    'a header of Anthropic': [base, { 'anthropic-beta': 'x-2025-01-01' }],
  };
  for (const [name, [body, headers]] of Object.entries(differing)) {
    test(name, async () => {
      await askUntilHit(tenant, FORMATS.chat.path, base);
      expect((await ask(tenant, FORMATS.chat.path, body, headers)).cache).toBe('miss');
    });
  }

  test('the same text at another endpoint', async () => {
    await askUntilHit(tenant, FORMATS.chat.path, base);
    expect((await ask(tenant, FORMATS.messages.path, base)).cache).toBe('miss');
  });

  test('but not what cannot change the answer', async () => {
    await askUntilHit(tenant, FORMATS.chat.path, base);
    const headers = {
      'user-agent': 'other/1',
      'x-session-id': 's',
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    };
    expect((await ask(tenant, FORMATS.chat.path, base, headers)).cache).toBe('hit');
    const other = await createKey(pair.gateway, { workspace: tenant.workspace });
    expect((await ask({ ...tenant, key: other.key }, FORMATS.chat.path, base)).cache).toBe('hit');
  });
});

describe('the header', () => {
  const request = (text = newText()) => FORMATS.chat.body('c-ok', text);

  test('off: neither takes an answer nor stores one', async () => {
    const body = request();
    for (let times = 0; times < 3; times++) {
      expect((await ask(tenant, FORMATS.chat.path, body, { 'x-tollgate-cache': 'off' })).cache).toBe(
        'bypass; reason=off',
      );
    }
    expect((await ask(tenant, FORMATS.chat.path, body)).cache).toBe('miss');
  });

  test('refresh: takes no answer, and stores the new one', async () => {
    const body = request();
    const { hit } = await askUntilHit(tenant, FORMATS.chat.path, body);
    const fresh = await ask(tenant, FORMATS.chat.path, body, { 'x-tollgate-cache': 'refresh' });
    expect(fresh.cache).toBe('refresh');
    const deadlineMs = performance.now() + 10_000;
    let origin: string | null = null;
    while (origin !== fresh.requestId && performance.now() < deadlineMs) {
      origin = (await ask(tenant, FORMATS.chat.path, body)).headers.get('x-tollgate-cached-request-id');
    }
    expect([origin, hit.cache]).toEqual([fresh.requestId, 'hit']);
  });

  test('another value is refused, with what is expected', async () => {
    const got = await ask(tenant, FORMATS.chat.path, request(), { 'x-tollgate-cache': 'yes please' });
    expect(got.status).toBe(400);
    expect(got.text).toContain('x-tollgate-cache: found \\"yes please\\", expected on, off, refresh');
  });

  test('on: asks for the cache where the workspace leaves it to requests', async () => {
    const choosing = await newTenant(pair.gateway, { cache: 'request' });
    const body = request();
    for (let times = 0; times < 3; times++) expect((await ask(choosing, FORMATS.chat.path, body)).cache).toBeNull();
    const { hit } = await askUntilHit(choosing, FORMATS.chat.path, body, { 'x-tollgate-cache': 'on' });
    expect(hit.cache).toBe('hit');
    expect((await ask(choosing, FORMATS.chat.path, body)).cache).toBeNull();
  });

  test('on: does nothing where the workspace has no cache', async () => {
    const without = await newTenant(pair.gateway, {});
    const body = request();
    for (let times = 0; times < 3; times++) {
      expect((await ask(without, FORMATS.chat.path, body, { 'x-tollgate-cache': 'on' })).cache).toBeNull();
    }
  });
});

describe('never cached are', () => {
  /** Sends it three times, and expects that none of the answers comes from the cache. */
  async function expectNever(
    format: Format,
    body: object,
    note: string | null,
    status = 200,
    headers: HeaderChanges = {},
  ) {
    const { path } = FORMATS[format];
    for (let times = 0; times < 3; times++) {
      const got = await ask(tenant, path, body, headers);
      expect([got.status, got.cache]).toEqual([status, note]);
      await Bun.sleep(30);
    }
  }
  const chat = (members: object = {}, model = 'c-ok') => ({ ...FORMATS.chat.body(model, newText()), ...members });

  test('errors of the provider', () => expectNever('chat', chat({}, 'c-failing'), null, 500));
  test('streams that break off', async () => {
    for (const format of ['chat', 'messages', 'responses'] as const) {
      for (const side of ['c', 'm', 'r']) {
        const request = { ...FORMATS[format].body(`${side}-cut`, newText()), stream: true };
        await expectNever(format, request, 'miss');
      }
    }
  });
  test('answers of another target than the first', () => expectNever('chat', chat({}, 'rescue'), 'miss'));
  test('responses that are stored at the provider', async () => {
    const { store: _, ...stored } = FORMATS.responses.body('r-ok', newText());
    await expectNever('responses', stored, 'bypass; reason=stored');
    await expectNever('chat', chat({ store: true }), 'bypass; reason=stored');
  });
  test('responses in the background', async () => {
    const got = await ask(tenant, '/v1/responses', { model: 'r-ok', input: newText(), background: true, store: true });
    expect(got.cache === null || got.cache === 'bypass; reason=background').toBe(true);
  });
  test.each([
    ['messages', 'm-ok', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['responses', 'r-ok', { tools: [{ type: 'web_search' }] }],
    ['chat', 'c-ok', { web_search_options: {} }],
  ] as const)('requests with tools that the provider runs: %s', async (format, model, members) => {
    await expectNever(format, { ...FORMATS[format].body(model, newText()), ...members }, 'bypass; reason=server_tools');
  });
});

describe('a workspace', () => {
  test('that keeps no bodies of successful requests cannot have a cache', async () => {
    for (const bodies of ['off', 'errors']) {
      const id = `bodies-${bodies}`;
      const refused = control(pair.gateway, 'workspaces.create', { id, bodies, cache: 'all' });
      expect(await refused.catch((fault: Error) => fault.message)).toContain('expected bodies: all, or cache: off');
    }
    const { workspace } = await newTenant(pair.gateway);
    const refused = control(pair.gateway, 'workspaces.set', { id: workspace, bodies: 'off' });
    expect(await refused.catch((fault: Error) => fault.message)).toContain('expected bodies: all, or cache: off');
    await control(pair.gateway, 'workspaces.set', { id: workspace, bodies: 'off', cache: 'off' });
  });

  test('whose cache is cleared, or turned off and on, gets new answers', async () => {
    const own = await newTenant(pair.gateway);
    for (const changes of [[{ clear_cache: true }], [{ cache: 'off' }, { cache: 'all' }]]) {
      const body = FORMATS.chat.body('c-ok', 'kept');
      await askUntilHit(own, FORMATS.chat.path, body);
      for (const change of changes) await control(pair.gateway, 'workspaces.set', { id: own.workspace, ...change });
      expect((await ask(own, FORMATS.chat.path, body)).cache).toBe('miss');
    }
  });

  test('whose policy changes gets new answers; a limit or the time to live changes nothing', async () => {
    const own = await newTenant(pair.gateway);
    const body = FORMATS.chat.body('c-ok', 'under a policy');
    await askUntilHit(own, FORMATS.chat.path, body);
    await control(pair.gateway, 'workspaces.set', { id: own.workspace, rpm: 10_000, cache_seconds: 600 });
    expect((await ask(own, FORMATS.chat.path, body)).cache).toBe('hit');
    await control(pair.gateway, 'workspaces.set', { id: own.workspace, models: ['c-*'] });
    expect((await ask(own, FORMATS.chat.path, body)).cache).toBe('miss');
  });

  test('uses an answer for as long as it says', async () => {
    const own = await newTenant(pair.gateway, { cache: 'all', cache_seconds: 1 });
    const body = FORMATS.chat.body('c-ok', 'short');
    const { hit } = await askUntilHit(own, FORMATS.chat.path, body);
    expect(Number(hit.headers.get('age'))).toBeLessThanOrEqual(1);
    const deadlineMs = performance.now() + 20_000;
    let misses = 0;
    while (misses === 0 && performance.now() < deadlineMs) {
      const got = await ask(own, FORMATS.chat.path, body);
      if (got.cache === 'miss') misses += 1;
      else await Bun.sleep(50);
    }
    expect(misses).toBe(1);
  });
});
