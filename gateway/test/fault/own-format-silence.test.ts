/**
 * Tests silence on streams that pass through in the client's own format: keep-alives come between records, and all other
 * bytes are the provider's. Contract, 6 and 10.11; specification of the Responses API, E.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';

const QUESTION = { messages: [{ role: 'user', content: 'hi' }], stream: true };

interface Format {
  readonly kind: string;
  readonly path: (model: string) => string;
  readonly body: (model: string) => object;
  /** Matches each keep-alive at its place. */
  readonly keepAlive: RegExp;
  /** How many of these the provider itself sends. */
  readonly own?: number;
}

const FORMATS: Readonly<Record<string, Format>> = {
  chat: {
    kind: 'openai-compatible',
    path: () => '/v1/chat/completions',
    body: (model) => ({ ...QUESTION, model, stream_options: { include_usage: true } }),
    keepAlive: /^: keep-alive\n\n/gm,
  },
  messages: {
    kind: 'anthropic',
    path: () => '/v1/messages',
    body: (model) => ({ ...QUESTION, model, max_tokens: 64 }),
    keepAlive: /^event: ping\ndata: \{"type": ?"ping"\}\n\n/gm,
    own: 1,
  },
  responses: {
    kind: 'openai',
    path: () => '/v1/responses',
    body: (model) => ({ model, input: 'hi', stream: true }),
    // Without a number of its own, so that the provider's have no gap.
    keepAlive: /^event: keepalive\ndata: \{"type":"keepalive"\}\n\n/gm,
  },
  gemini: {
    kind: 'gemini',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
    // An empty line, at the start or behind the one that ends a record.
    keepAlive: /(?<=^(?:\r\n)*|\r\n\r\n)\r\n/g,
  },
};
const NAMES = Object.keys(FORMATS);

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => ({
    limits: { keep_alive: '100ms', commit_after: '200ms' },
    providers: Object.fromEntries(
      Object.entries(FORMATS).map(([name, { kind }]) => [
        name,
        { kind, base_url: kind === 'gemini' ? fakeUrl : `${fakeUrl}/v1`, api_key: 'lab-credential' },
      ]),
    ),
    models: Object.fromEntries(
      NAMES.map((name) => [`${name}-lab`, { targets: [{ provider: name }], price: { input: 1, output: 5 } }]),
    ),
  }));
});
afterAll(() => pair.stop());

async function ask(name: string): Promise<string> {
  const { path, body } = FORMATS[name] as Format;
  const model = `${name}-lab`;
  const reply = await fetch(pair.gateway.url + path(model), {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body(model)),
  });
  expect(reply.status).toBe(200);
  return reply.text();
}

/** The stream without keep-alives, and how many the gateway added. */
function without(name: string, text: string): { readonly rest: string; readonly count: number } {
  const { keepAlive, own = 0 } = FORMATS[name] as Format;
  return { rest: text.replaceAll(keepAlive, ''), count: (text.match(keepAlive)?.length ?? 0) - own };
}

test.each(NAMES)('%s: silence before the first byte, between records and inside them', async (name) => {
  pair.fake.script(`${name}-lab`, [
    { answer: 'ok' },
    { answer: 'ok', delayBeforeFirstByteMs: 900 },
    { answer: 'ok', chunking: { sizes: [250] }, gapMs: 200 },
  ]);
  const unbroken = without(name, await ask(name));
  const [late, slow] = [without(name, await ask(name)), without(name, await ask(name))];
  expect([late.rest, slow.rest]).toEqual([unbroken.rest, unbroken.rest]);
  expect(late.count).toBeGreaterThanOrEqual(2);
  expect(slow.count).toBeGreaterThanOrEqual(2);
});
