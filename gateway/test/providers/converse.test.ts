/**
 * Tests models at Bedrock through Converse, at a fake that refuses illegal requests and missing or altered signatures: tool
 * loops with thinking from both client formats, streams that fail, settings, usage.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { encodeException } from '../../src/framing/testing/encode-frame.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { loopOverChat, loopOverMessages, loopOverResponses } from './tool-loop.ts';

/** Names no vendor, so that it goes over Converse, as Claude may there. */
const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';
const NOVA = 'us.amazon.nova-2-lite-v1:0';
const OTHER = 'harbor-small';
/** A throttled target rests, so each test has its own. */
const THROTTLED = ['us.amazon.nova-lite-v1:0', 'us.amazon.nova-pro-v1:0', 'us.amazon.nova-premier-v1:0'] as const;
const TURNS = 10;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((base_url) => {
    const bedrock = { kind: 'bedrock', region: 'us-east-1', base_url, api_key: 'bedrock-key-0123456789' };
    const price = { input: 1, output: 5, cache_read: 0.1 };
    const guardrail = { guardrail_id: 'abc123', guardrail_version: '7', service_tier: 'flex', latency: 'optimized' };
    return {
      defaults: { routing: { max_extra_attempts: 1 } },
      providers: {
        aws: bedrock,
        guarded: { ...bedrock, ...guardrail },
        other: { kind: 'openai-compatible', base_url, api_key: 'other-key-0123456789' },
      },
      models: {
        claude: { targets: [{ provider: 'aws', model: PROFILE }], price },
        nova: { targets: [{ provider: 'aws', model: NOVA }], price },
        guarded: { targets: [{ provider: 'guarded', model: NOVA }], price },
        'throttled-0': { targets: [{ provider: 'aws', model: THROTTLED[0] }], price },
        'throttled-1': { targets: [{ provider: 'aws', model: THROTTLED[1] }], price },
        routed: {
          targets: [
            { provider: 'aws', model: THROTTLED[2] },
            { provider: 'other', model: OTHER },
          ],
          price,
        },
      },
    };
  });
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

async function send(path: '/v1/chat/completions' | '/v1/messages', body: object) {
  const headers = { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' };
  const asked = { messages: [{ role: 'user', content: 'When?' }], max_tokens: 100, ...body };
  const response = await fetch(`${pair.gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(asked) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const sent = (model: string) =>
  pair.fake.served(model).map(({ requestBody }) => JSON.parse(Buffer.from(requestBody).toString()));

describe.each([
  ['messages', loopOverMessages],
  ['chat', loopOverChat],
  ['responses', loopOverResponses],
] as const)('a tool loop of ten turns with thinking from %s', (_, run) => {
  test.each([false, true])('is never refused, stream %p', async (stream) => {
    const turns = Array.from({ length: TURNS }, (_, turn): Scenario => {
      const calls = ['a', 'b'].map((place) => ({ id: `call_${turn}_${place}`, name: 'look', input: { place, turn } }));
      return { say: { reasoning: `Turn ${turn} \u{1f914}`, ...(turn % 3 === 0 ? { text: 'I look.' } : {}), calls } };
    });
    pair.fake.script(PROFILE, [...turns, { say: { reasoning: 'Done.', text: 'All looked at.' } }]);
    const told = await run({ gateway: pair.gateway, model: 'claude', stream });
    expect([told.length, told.at(-1)?.text]).toEqual([TURNS + 1, 'All looked at.']);
    const served = pair.fake.served(PROFILE);
    expect(served.map(({ status }) => status)).toEqual(Array.from({ length: TURNS + 1 }, () => 200));
    const last = sent(PROFILE).at(-1);
    const signed = last.messages.filter(
      ({ content }: { content: object[] }) => 'reasoningContent' in (content[0] ?? {}),
    );
    expect(signed.length).toBe(TURNS);
  });
});

test('the fake refuses what is missing, altered or illegal', async () => {
  const call = { toolUse: { toolUseId: 'c', name: 'look', input: {} } };
  const thought = (signature: string) => ({ reasoningContent: { reasoningText: { text: 'so', signature } } });
  const body = (content: readonly object[], more: object = {}) => ({
    messages: [
      { role: 'user', content: [{ text: 'a' }] },
      { role: 'assistant', content },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ text: 'b' }] } }] },
    ],
    toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }] },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    ...more,
  });
  const refusal = async (asked: object) => {
    const url = `${pair.fake.url}/model/${encodeURIComponent(PROFILE)}/converse`;
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) });
    return `${response.status} ${response.headers.get('x-amzn-errortype')} ${await response.text()}`;
  };
  const refused = '400 ValidationException:http://internal.invalid/coral/';
  expect(await refusal(body([call]))).toStartWith(
    `${refused} {"message":"The model returned the following errors: messages.1.content.0.type: Expected`,
  );
  expect(await refusal(body([thought('YWx0ZXJlZA=='), call]))).toContain(
    'messages.1.content.0: Invalid `signature` in `thinking` block',
  );
  expect(await refusal(body([call], { toolConfig: undefined }))).toContain('no toolConfig');
  expect(await refusal({ ...body([call]), model: 'm' })).toContain('.model is unknown');
});

test('an altered signature is left out after the refusal', async () => {
  const content = [
    { type: 'thinking', thinking: 'so', signature: 'YWx0ZXJlZA==' },
    { type: 'text', text: 'b' },
  ];
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content },
    { role: 'user', content: 'c' },
  ];
  pair.fake.script(PROFILE, { answer: 'ok' });
  const { status } = await send('/v1/messages', { model: 'claude', messages });
  expect([status, pair.fake.served(PROFILE).map((call) => call.status)]).toEqual([200, [400, 200]]);
});

describe('an answer', () => {
  test.each([false, true])('has exact usage and cost, stream %p', async (stream) => {
    pair.fake.script(NOVA, { say: { text: 'At noon today.', cacheReadTokens: 1_000 } });
    const { status, text } = await send('/v1/chat/completions', { model: 'nova', stream });
    expect([status, text.includes('At noon') || text.includes('At noo')]).toEqual([200, true]);
    const [record] = await pair.gateway.calls('--limit', '1');
    expect(record).toMatchObject({
      usage: { input: 11, cache_read: 1_000, output: 2 },
      usage_source: 'upstream',
      cost_nano_usd: String(11_000 + 100_000 + 10_000),
    });
    const [served] = pair.fake.served(NOVA);
    const path = `/model/us.amazon.nova-2-lite-v1%3A0/converse${stream ? '-stream' : ''}`;
    expect(served?.requestLine).toBe(`POST ${path} HTTP/1.1`);
    expect(served?.headers.find(([name]) => name === 'authorization')?.[1]).toBe('Bearer bedrock-key-0123456789');
  });

  test('without usage is counted', async () => {
    pair.fake.script(NOVA, { say: { text: 'At noon today.' }, omitUsage: true });
    const { text } = await send('/v1/messages', { model: 'nova', stream: true });
    expect(text).toContain('event: message_stop');
    expect((await pair.gateway.calls('--limit', '1'))[0]).toMatchObject({ usage_source: 'counted' });
  });

  test('is asked for with the operator’s guardrail, tier and latency', async () => {
    await send('/v1/chat/completions', { model: 'guarded' });
    expect(sent(NOVA)[0]).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'abc123', guardrailVersion: '7' },
      serviceTier: { type: 'flex' },
      performanceConfig: { latency: 'optimized' },
    });
  });

  test('without a signature is thinking with the gateway’s mark for messages', async () => {
    const content = [{ reasoningContent: { reasoningText: { text: 'so' } } }, { text: 'b' }];
    const json = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
    pair.fake.script(NOVA, { json });
    const { text } = await send('/v1/messages', { model: 'nova' });
    expect(JSON.parse(text).content).toEqual([
      { type: 'thinking', thinking: 'so', signature: expect.stringMatching(/^gw1\./) },
      { type: 'text', text: 'b' },
    ]);
  });

  test('with an image names it as lost', async () => {
    const content = [{ text: 'b' }, { image: { format: 'png', source: { bytes: 'aGk=' } } }];
    const json = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
    pair.fake.script(NOVA, { json });
    const { headers } = await send('/v1/chat/completions', { model: 'nova' });
    expect(headers.get('x-tollgate-dropped')).toBe('image');
  });
});

describe('vector 36: an exception as the first frame of a 200', () => {
  const scenario = {
    bodyBase64: encodeException('throttlingException', 'Too many tokens, please wait before trying again.').toString(
      'base64',
    ),
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  };

  test.each(['/v1/chat/completions', '/v1/messages'] as const)('is a 429 at %s', async (path) => {
    const turn = path === '/v1/messages' ? 1 : 0;
    pair.fake.script(THROTTLED[turn], scenario);
    expect((await send(path, { model: `throttled-${turn}`, stream: true })).status).toBe(429);
  });

  test('leads to the next target', async () => {
    pair.fake.script(THROTTLED[2], scenario);
    pair.fake.script(OTHER, { answer: 'ok' });
    const { status, text } = await send('/v1/chat/completions', { model: 'routed', stream: true });
    expect([status, text.includes('Good'), text.includes('[DONE]')]).toEqual([200, true, true]);
    expect([pair.fake.served(THROTTLED[2]).length, pair.fake.served(OTHER).length]).toEqual([1, 1]);
  });
});

describe('a stream', () => {
  test.each<readonly [string, Scenario, string]>([
    ['with an exception after text', { answer: 'ok', errorEvent: 4 }, 'upstream_overloaded'],
    ['with a damaged frame', { answer: 'ok', malformedEvent: 4 }, 'upstream_malformed'],
    ['that ends before messageStop', { answer: 'ok', omitEnd: true }, 'upstream_truncated'],
  ])('%s ends in an error and no terminal event', async (_, scenario, error) => {
    for (const path of ['/v1/chat/completions', '/v1/messages'] as const) {
      pair.fake.script(NOVA, scenario);
      const { status, text } = await send(path, { model: 'nova', stream: true });
      expect([status, text.includes('Good'), /\[DONE\]|message_stop/.test(text), text.includes('"error"')]).toEqual([
        200,
        true,
        false,
        true,
      ]);
      expect((await pair.gateway.calls('--limit', '1'))[0]?.error).toBe(error);
    }
  });

  test('is the same however its bytes arrive', async () => {
    const texts = new Set<string>();
    for (const chunking of ['record', 'all', 'bytes', { sizes: [7, 1, 64] }] as const) {
      pair.fake.script(NOVA, { answer: 'tool', chunking });
      const { text } = await send('/v1/messages', { model: 'nova', stream: true });
      texts.add(text.replaceAll(/msg_[0-9A-Za-z]+/g, 'msg'));
    }
    expect([texts.size, [...texts][0]?.includes('get_weather')]).toEqual([1, true]);
  });
});
