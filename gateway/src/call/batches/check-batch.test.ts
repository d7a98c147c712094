/** Tests the check of a batch's requests: models, members, places of errors, and the sum that is held. */
import { describe, expect, test } from 'bun:test';
import { BodyBytes } from '../../admission/capacity.ts';
import { priceAt } from '../../billing/price-book.ts';
import { chooseHold } from '../../billing/reserve.ts';
import { resolveLimits } from '../../config/resolve-settings.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { compileModelPatterns } from '../../identity/principal.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import { readLines } from '../../wire/json-lines.ts';
import { scanJson } from '../../wire/json-scan.ts';
import type { Identified } from '../call.ts';
import { routedCall } from '../testing/routed-call.ts';
import { BatchCheck } from './check-batch.ts';
import { checkInline, checkLines, countLongest } from './read-requests.ts';

const routed = routedCall({ host: 'acme', outputTokensMax: 900 });

/** A route of the provider, by another public name than the provider's own. */
function routeOf(model: string, changes: Partial<Target> = {}): [string, Route] {
  const { protocols: spoken } = routed.target.upstream;
  const state = { ...routed.target.upstream.state, isKept: true };
  const upstream = { ...routed.target.upstream, model, state, protocols: [...spoken, 'embeddings' as const] };
  const target = { ...routed.target, upstream, ...changes };
  const protocols: ClientProtocolName[] = ['chat', 'responses', 'messages', 'embeddings'];
  return [
    `our-${model}`,
    { ...routed.route, model: `our-${model}`, names: [`our-${model}`], protocols, targets: [target] },
  ];
}

const elsewhere = { ...routed.target.upstream, model: 'far', provider: 'other' };
const unpriced = routeOf('unpriced', { prices: [{ fromMs: Number.NEGATIVE_INFINITY, price: null }] });
const routes = new Map([routeOf('m'), routeOf('secret'), unpriced, routeOf('far', { upstream: elsewhere })]);

const FILE: StoredRow = {
  ...{ account: 'default', workspace: 'default', kind: 'file', id: 'file-1', request_id: 'req_1' },
  ...{ provider: 'acme', model: 'm', credential: 'default', tokens: 0, expires_at_ms: 9e15, object: null },
};

function callOf(rows: readonly StoredRow[] = [], mode: 'prepaid' | 'postpaid' = 'postpaid'): Identified {
  const keyAllows = compileModelPatterns(['our-m', 'our-unpriced', 'our-far']);
  return {
    ...{ atMs: 0, version: '2023-06-01', request: new Request('http://gateway/v1/batches') },
    settings: { config: { limits: resolveLimits({}) }, routes },
    principal: { ...routed.principal, keyAllows, account: { ...routed.principal.account, mode } },
    deps: {
      billing: {
        priced: (price: unknown) => price,
        rules: { bindingCapsOf: () => [] },
        limitProofs: { trustOf: (_: unknown, { tokens }: { tokens: number }) => (tokens < 10 ? 'meter' : 'limit') },
      },
      storedState: { find: async () => rows },
    },
  } as unknown as Identified;
}

async function checkFile(
  lines: readonly unknown[],
  rows: readonly StoredRow[] = [],
  format: 'chat' | 'embeddings' | 'responses' = 'chat',
) {
  const check = new BatchCheck(callOf(rows), CLIENT_PROTOCOLS[format], { provider: 'acme', credential: 'default' });
  async function* chunks() {
    for (const line of lines) yield Buffer.from(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }
  const path = format === 'chat' ? '/v1/chat/completions' : `/v1/${format}`;
  await checkLines(readLines(chunks(), 100_000), path, check);
  return check;
}

const say = (more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: 'two and two' }], ...more });
const lineOf = (body: unknown, changes: object = {}) => ({
  ...{ custom_id: 'request-1', method: 'POST', url: '/v1/chat/completions', body },
  ...changes,
});

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof CallFailure)) throw error;
      return { kind: error.kind, message: error.message, param: error.details.param };
    },
  );

describe('a wrong line is named by its number and custom_id', () => {
  test.each([
    ['vector 18: a model that the key may not use', lineOf(say({ model: 'secret' })), 'this API key may not use it'],
    ['an unknown model', lineOf(say({ model: 'our-m' })), "use the provider's own name of a model"],
    ['a model of another provider', lineOf(say({ model: 'far' })), 'is not served here for batches of this provider'],
    ['an invalid member', lineOf(say({ temperature: 9 })), 'temperature: found 9'],
    ['a body that is no object', lineOf('m'), 'body: found "m"'],
    ['another method', lineOf(say(), { method: 'GET' }), 'method: found "GET"'],
    ['another endpoint', lineOf(say(), { url: '/v1/responses' }), 'url: found "/v1/responses"'],
    ['a stream', lineOf(say({ stream: true })), 'a batch has no streams'],
    ['fallback models', lineOf(say({ models: ['m'] })), 'models.0: a batch does not take it'],
    ['another tier', lineOf(say({ service_tier: 'priority' })), 'service_tier: a batch does not take it'],
    ['a tier without a price', lineOf(say({ inference_geo: 'mars' })), 'the price of the tier'],
    [
      'an unknown file',
      lineOf(say({ file_id: 'file-2' })),
      'file_id: found a file that is not stored for this workspace',
    ],
  ])('%s', async (_, line, words) => {
    const failure = await failureOf(checkFile([lineOf(say()), '', line], [FILE]));
    expect(failure?.kind).toBe('invalid_request');
    expect(failure?.message).toStartWith('line 3 (custom_id "request-1"): ');
    expect(failure?.message).toContain(words);
  });

  test('without an id, by its number', async () => {
    expect((await failureOf(checkFile([lineOf(say(), { custom_id: '' })])))?.message).toStartWith(
      'line 1: custom_id: found nothing',
    );
    expect((await failureOf(checkFile(['[1]'])))?.message).toStartWith('line 1: is no object');
    expect((await failureOf(checkFile(['{"a":1}{"a":2}'])))?.message).toStartWith('line 1: is not JSON');
    expect((await failureOf(checkFile(['{"a":1,"a":2}'])))?.message).toStartWith('line 1: is not JSON');
    const long = failureOf(checkFile([lineOf(say()), `"${'x'.repeat(100_000)}"`]));
    expect((await long)?.message).toStartWith('line 2: is longer');
  });

  test('a model without a price is the operator’s fault', async () => {
    const failure = await failureOf(checkFile([lineOf(say({ model: 'unpriced' }))]));
    expect(failure).toMatchObject({ kind: 'unpriced', message: expect.stringContaining('line 1 (custom_id') });
  });
});

test('a batch needs a request', async () => {
  expect((await failureOf(checkFile(['', ''])))?.message).toBe('the batch has no requests');
});

test('a file of the workspace may be named only where the batch goes', async () => {
  const named = lineOf(say({ file_id: 'file-1' }));
  expect((await checkFile([named], [FILE])).requests).toBe(1);
  for (const changes of [{ provider: 'other' }, { credential: 'second' }]) {
    const failure = await failureOf(checkFile([named], [{ ...FILE, ...changes }]));
    expect(failure?.message).toStartWith('line 1 (custom_id "request-1"): file_id: ');
  }
});

test('the hold is the sum of the maximum costs of all requests', async () => {
  const bodies = [say(), say({ max_tokens: 7 }), say({ max_tokens: 5, n: 3 })];
  const check = await checkFile(bodies.map((body) => lineOf(body)));
  const price = priceAt(routed.target.prices, 0);
  if (price === null) throw new Error('the target has a price');
  const outputs = [900, 7, 15];
  const expected = bodies.map((body, at) => {
    const inputTokens = Math.ceil(JSON.stringify(body).length / 4);
    return { inputTokens, outputTokensMax: outputs[at] ?? 0, price, mode: 'strict', stream: false } as const;
  });
  expect(check.amount).toBe(expected.reduce((sum, one) => sum + chooseHold(one).amount, 0n));
  expect(check.inputTokens).toBe(expected.reduce((sum, { inputTokens }) => sum + inputTokens, 0));
  expect(check.requests).toBe(3);
  expect([...check.models].map(([name, { route }]) => [name, route.model])).toEqual([['m', 'our-m']]);
  expect(check.keptPrices()).toEqual([{ model: 'm', tier: {}, version: price.version }]);
});

test('a balance holds the model’s own maximum where the target is not known to honor a limit', async () => {
  const heldOf = async (mode: 'prepaid' | 'postpaid', max_tokens: number) => {
    const check = new BatchCheck(callOf([], mode), CLIENT_PROTOCOLS.chat, { provider: 'acme', credential: 'default' });
    await check.add(Buffer.from(JSON.stringify(say({ max_tokens }))));
    return check.outputTokens;
  };
  expect(await heldOf('postpaid', 7)).toBe(7);
  expect(await heldOf('prepaid', 7)).toBe(900);
  expect(await heldOf('prepaid', 70)).toBe(70);
});

test('embeddings hold no output', async () => {
  const line = { ...lineOf({ model: 'm', input: 'x'.repeat(400) }), url: '/v1/embeddings' };
  const check = await checkFile([line], [], 'embeddings');
  // 1.15 nano-dollars a token.
  expect(check.amount).toBe((BigInt(check.inputTokens) * 115n + 99n) / 100n);
});

test('a response in the background is refused, because its answer would have no usage', async () => {
  const line = { ...lineOf({ model: 'm', input: 'hi', background: true }), url: '/v1/responses' };
  expect(await failureOf(checkFile([line], [], 'responses'))).toMatchObject({
    kind: 'invalid_request',
    message: expect.stringContaining('background: a batch does not take it'),
    param: 'background',
  });
});

test('a line longer than a step of the scan is checked like any other', async () => {
  const long = say({ messages: [{ role: 'user', content: 'x'.repeat(1_200_000) }] });
  const check = new BatchCheck(callOf(), CLIENT_PROTOCOLS.chat, { provider: 'acme', credential: 'default' });
  async function* chunks() {
    yield Buffer.from(JSON.stringify(lineOf(long)));
  }
  await checkLines(readLines(chunks(), 2_000_000), '/v1/chat/completions', check);
  expect(check.inputTokens).toBeGreaterThan(300_000);
});

test('the longest line counts as part of the body, and is given back with it', async () => {
  const bytes = new BodyBytes({ process: 100, key: 50 });
  const share = bytes.open('key_1');
  async function* chunks() {
    yield Buffer.from(`${'a'.repeat(30)}\n${'b'.repeat(20)}\n${'c'.repeat(40)}\n${'d'.repeat(51)}\n`);
  }
  const held: number[] = [];
  const counted = async () => {
    for await (const _ of countLongest(readLines(chunks(), 100), share, resolveLimits({}))) held.push(bytes.held);
  };
  expect((await failureOf(counted()))?.kind).toBe('rate_limited');
  expect(held).toEqual([30, 30, 40]);
  share.release();
  expect(bytes.held).toBe(0);
});

describe('requests in the body', () => {
  const checkBody = async (requests: unknown) => {
    const outline = scanJson(Buffer.from(JSON.stringify({ requests })));
    if (!outline.ok) throw new Error(outline.message);
    const check = new BatchCheck(callOf(), CLIENT_PROTOCOLS.chat, { provider: 'acme', credential: 'default' });
    await checkInline(outline, check);
    return check;
  };

  test('are counted', async () => {
    const check = await checkBody([
      { custom_id: 'a', params: say() },
      { custom_id: 'b', params: say() },
    ]);
    expect(check.requests).toBe(2);
  });

  test.each([
    [
      [
        { custom_id: 'a', params: say() },
        { custom_id: 'b', params: say({ model: 'secret' }) },
      ],
      'requests.1 (custom_id "b"): ',
    ],
    [[{ custom_id: 'a', params: 5 }], 'requests.0 (custom_id "a"): params: found 5'],
    [[5], 'requests.0: custom_id: found nothing'],
    [[], 'the batch has no requests'],
    ['many', 'requests: found "many"'],
  ])('%j is refused by its place', async (requests, words) => {
    expect((await failureOf(checkBody(requests)))?.message).toStartWith(words);
  });
});
