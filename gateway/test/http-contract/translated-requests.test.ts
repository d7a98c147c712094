/**
 * Tests how requests are translated, refused or reduced: headers, strict keys, capabilities, aliases, requests of
 * Claude Code. Wire C.0 to C.2.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { PNG } from '../e2e/translated-rig.ts';
import type { Pair } from '../harness/start-pair.ts';
import { sentTexts } from '../harness/start-pair.ts';
import { get, post, type Side } from './calls.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';
import { createKey, type MadeKey } from './make-key.ts';
import {
  bodyFor,
  FAR_MODELS,
  lastHeaders,
  lastSent,
  MODELS,
  postTranslated,
  startTranslatedPair,
} from './translated-rig.ts';

let pair: Pair;
let strict: MadeKey;
beforeAll(async () => {
  pair = await startTranslatedPair();
  strict = await createKey(pair.gateway, { strict: true });
});
beforeEach(() => {
  pair.fake.reset();
  for (const model of Object.values(MODELS)) pair.fake.script(model, { answer: 'ok' });
});
afterAll(() => pair.stop());

const SIDES: readonly Side[] = ['chat', 'messages'];
const strictly = () => ({ url: pair.gateway.url, key: strict.key });
const droppedOf = (response: Response) => response.headers.get('x-tollgate-dropped');

async function expectUnsent(response: Response, side: Side, says: string | RegExp, param: string): Promise<string> {
  const id = await expectRefusal(response, side, invalid(side, says, param));
  expect(pair.fake.served()).toEqual([]);
  return id;
}

test('a part of the body with more than a million values is refused', async () => {
  const junk = new Array(1_048_600).fill(1);
  const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, junk } }];
  const response = await postTranslated(pair.gateway, 'chat', {
    model: MODELS.sonnet46,
    messages: [{ role: 'user', content }],
  });
  await expectRefusal(response, 'chat', invalid('chat', 'the body cannot be checked: more than 1048576 values', null));
  expect(pair.fake.served()).toEqual([]);
});

describe('members that cannot be carried', () => {
  interface Loss {
    readonly side: Side;
    readonly model: string;
    readonly members: Readonly<Record<string, unknown>>;
    readonly dropped: string;
  }
  const losses: readonly Loss[] = [
    { side: 'chat', model: MODELS.sonnet46, members: { seed: 7 }, dropped: 'seed' },
    {
      side: 'chat',
      model: MODELS.sonnet46,
      members: { logit_bias: {}, store: true, prompt_cache_key: 'k', frequency_penalty: 0.5 },
      dropped: 'store,prompt_cache_key,frequency_penalty',
    },
    { side: 'chat', model: MODELS.sonnet46, members: { temperature: 1.5 }, dropped: 'temperature' },
    { side: 'chat', model: MODELS.sonnet45, members: { temperature: 0.2, top_p: 0.5 }, dropped: 'top_p' },
    { side: 'chat', model: MODELS.opus55, members: { temperature: 0.2, top_p: 0.5 }, dropped: 'temperature,top_p' },
    { side: 'chat', model: MODELS.sonnet46, members: { 'ganz neu ü': 1 }, dropped: 'ganz%20neu%20%C3%BC' },
    {
      side: 'chat',
      model: MODELS.sonnet46,
      members: {
        messages: [
          { role: 'user', content: 'Count.' },
          { role: 'assistant', content: 'One, two, ' },
        ],
      },
      dropped: 'messages[].content',
    },
    {
      side: 'messages',
      model: MODELS.own,
      members: { tools: [{ name: 'look', input_schema: { type: 'object' }, strict: true }] },
      dropped: 'tools.0.strict',
    },
    { side: 'messages', model: MODELS.own, members: { inference_geo: 'eu' }, dropped: 'inference_geo' },
    {
      side: 'messages',
      model: MODELS.own,
      members: { system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
      dropped: 'cache_control',
    },
    { side: 'messages', model: MODELS.openAi, members: { top_k: 5, temperature: 0.5 }, dropped: 'temperature,top_k' },
    { side: 'messages', model: MODELS.own, members: { metadata: { user_id: 'u' } }, dropped: 'metadata.user_id' },
  ];

  test.each(losses)('$side to $model: $dropped is named, on plain answers and on streams', async (loss) => {
    for (const stream of [false, true]) {
      const response = await post(pair.gateway, loss.side, bodyFor(loss.side, loss.model, { ...loss.members, stream }));
      expect([response.status, droppedOf(response)]).toEqual([200, loss.dropped]);
      await response.text();
    }
  });

  test.each(losses)('$side to $model: a strict key is refused for $dropped, and nothing is sent', async (loss) => {
    const [first = ''] = loss.dropped.split(',');
    const name = decodeURIComponent(first);
    const refused = await post(strictly(), loss.side, bodyFor(loss.side, loss.model, loss.members));
    await expectUnsent(refused, loss.side, /this API key is strict/, name);
  });

  test('a strict key loses nothing on a native route, and a good call passes it on a translated one', async () => {
    const native = await post(strictly(), 'chat', bodyFor('chat', MODELS.own, { seed: 7, anything: 1 }));
    expect([native.status, droppedOf(native)]).toEqual([200, null]);
    for (const side of SIDES) {
      const far = await postTranslated(strictly(), side);
      expect([side, far.status, droppedOf(far)]).toEqual([side, 200, null]);
    }
  });

  test('the command makes strict keys', async () => {
    const { stdout, status } = await pair.gateway.run('keys', 'create', '--name', 'stern', '--strict', '--json');
    expect(status).toBe(0);
    const { key } = JSON.parse(stdout) as MadeKey;
    await expectUnsent(
      await postTranslated({ url: pair.gateway.url, key }, 'chat', { seed: 7 }),
      'chat',
      'seed',
      'seed',
    );
  });
});

describe('reasoning requested by an extension of a chat body reaches Claude', () => {
  test.each([
    [MODELS.sonnet46, { reasoning: { effort: 'high' } }, { type: 'adaptive' }, { effort: 'high' }],
    [MODELS.sonnet46, { reasoning: { max_tokens: 2000 } }, { type: 'enabled', budget_tokens: 2000 }, undefined],
    [MODELS.sonnet45, { reasoning: { enabled: true } }, { type: 'enabled', budget_tokens: 8192 }, undefined],
    [MODELS.sonnet46, { reasoning: { enabled: false } }, { type: 'disabled' }, undefined],
    [
      MODELS.sonnet45,
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      { type: 'enabled', budget_tokens: 4000 },
      undefined,
    ],
    [MODELS.sonnet46, { thinking: { type: 'disabled' } }, { type: 'disabled' }, undefined],
  ] as const)('%s: %j', async (model, members, thinking, output_config) => {
    for (const stream of [false, true]) {
      const response = await post(
        strictly(),
        'chat',
        bodyFor('chat', model, { ...members, max_tokens: 20_000, stream }),
      );
      expect([response.status, droppedOf(response)]).toEqual([200, null]);
      await response.text();
      const sent = lastSent(pair, model);
      expect([sent.thinking, sent.output_config]).toEqual([thinking, output_config]);
    }
  });
});

describe('refusals in the caller’s terms, before anything is sent', () => {
  const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
  const rows: ReadonlyArray<readonly [string, Side, string, Readonly<Record<string, unknown>>, string, RegExp]> = [
    ['vector 51: n: 2', 'chat', MODELS.sonnet46, { n: 2 }, 'n', /one answer/],
    ['logprobs', 'chat', MODELS.sonnet46, { logprobs: true }, 'logprobs', /probabilities/],
    [
      'vector 45: a forced tool where the model cannot be forced',
      'chat',
      MODELS.sonnet55,
      { tools: [tool], tool_choice: 'required' },
      'tool_choice',
      /claude-sonnet-5-5 cannot be made to call a tool; ask for "auto"/,
    ],
    [
      'a tool message without its call',
      'chat',
      MODELS.sonnet46,
      { messages: [{ role: 'tool', tool_call_id: 'call_x', content: '1' }] },
      'messages.0',
      /"call_x"/,
    ],
    [
      'arguments that are no JSON',
      'chat',
      MODELS.sonnet46,
      {
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: '1' },
        ],
      },
      'messages.1',
      /JSON/,
    ],
    [
      'an image to a model of texts',
      'messages',
      MODELS.textOnly,
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
          },
        ],
      },
      'messages.0',
      /deepseek-v4-pro/,
    ],
    [
      'a server tool',
      'messages',
      MODELS.own,
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'tools',
      /"web_search_20250305"/,
    ],
    ['safeguards', 'messages', MODELS.own, { safeguards: { enabled: true } }, 'safeguards', /safeguards/],
    [
      'a beginning of the answer at a host that takes none',
      'messages',
      MODELS.openAi,
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'The' },
        ],
      },
      'messages.1',
      /gpt-5-mini/,
    ],
  ];
  test.each(rows)('%s', async (_, side, model, members, param, says) => {
    for (const stream of [false, true]) {
      const refused = await post(pair.gateway, side, bodyFor(side, model, { ...members, stream }));
      const text = await refused.text();
      expect(refused.status).toBe(400);
      const { error } = JSON.parse(text) as { error: { message: string; param?: string } };
      expect(error.message).toMatch(says);
      expect(error.message).toStartWith(param);
      if (side === 'chat') expect(error.param).toStartWith(param);
      expect(pair.fake.served()).toEqual([]);
    }
  });
});

describe('features that a model accepts', () => {
  test('vector 43: temperature 1 to a model without sampling is omitted without a report', async () => {
    const response = await post(pair.gateway, 'chat', bodyFor('chat', MODELS.opus55, { temperature: 1 }));
    expect([response.status, droppedOf(response)]).toEqual([200, null]);
    expect(lastSent(pair, MODELS.opus55)).not.toHaveProperty('temperature');
  });

  test('without a limit the model’s most is sent, and more than that is lowered', async () => {
    await post(pair.gateway, 'chat', bodyFor('chat', MODELS.opus55));
    expect(lastSent(pair, MODELS.opus55).max_tokens).toBe(128_000);
    const more = await post(pair.gateway, 'chat', bodyFor('chat', MODELS.opus55, { max_completion_tokens: 900_000 }));
    expect([lastSent(pair, MODELS.opus55).max_tokens, droppedOf(more)]).toEqual([128_000, 'max_completion_tokens']);
  });

  test('OpenAI gets its own members, a developer message, and an anonymous user name', async () => {
    const user_id = 'user_0123_account_4567_session_89ab';
    const members = { system: 'Be brief.', metadata: { user_id }, stop_sequences: ['END'], stream: true };
    const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.openAi, members));
    expect([response.status, droppedOf(response)]).toEqual([200, null]);
    const [text = ''] = sentTexts(pair, MODELS.openAi);
    expect(text).not.toContain('account_4567');
    expect(lastSent(pair, MODELS.openAi)).toEqual({
      model: MODELS.openAi,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Good day.' },
      ],
      max_completion_tokens: 64,
      stream: true,
      stream_options: { include_usage: true },
      safety_identifier: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  test('a host that reports usage by itself is not requested to', async () => {
    const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.mistral, { stream: true }));
    expect(await response.text()).toContain('event: message_stop');
    expect(lastSent(pair, MODELS.mistral)).not.toHaveProperty('stream_options');
  });

  test('a host that refuses the usage option gets the request once more without it', async () => {
    const refusal = {
      error: { message: 'Extra inputs are not permitted: stream_options', type: 'invalid_request_error' },
    };
    pair.fake.script(MODELS.own, [{ status: 422, json: refusal }, { answer: 'ok' }]);
    const response = await postTranslated(pair.gateway, 'messages', { stream: true });
    expect([response.status, response.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
    expect(await response.text()).toContain('event: message_stop');
    const withOption = sentTexts(pair, MODELS.own).map((text) => text.includes('stream_options'));
    expect(withOption).toEqual([true, false]);
  });

  test('vector 46: a tool name of 100 characters reaches OpenAI shortened and is restored in the answer', async () => {
    const name = `mcp__${'server'.repeat(15)}__run`;
    const tools = [{ name, input_schema: { type: 'object', properties: {} } }];
    await post(pair.gateway, 'messages', bodyFor('messages', MODELS.openAi, { tools }));
    const sent = lastSent(pair, MODELS.openAi).tools as ReadonlyArray<{ function: { name: string } }>;
    const alias = sent[0]?.function.name ?? '';
    expect(alias).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    pair.fake.script(MODELS.openAi, { say: { calls: [{ id: 'call_1', name: alias, input: {} }] } });
    for (const stream of [false, true]) {
      const answer = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.openAi, { tools, stream }));
      const text = await answer.text();
      expect(text).toContain(`"name":"${name}"`);
      expect(text).not.toContain(alias);
    }
  });
});

describe('names and headers', () => {
  test('an alias for one endpoint: served there, unknown at the other, listed', async () => {
    const served = await post(pair.gateway, 'messages', bodyFor('messages', 'claude-own'));
    expect(served.status).toBe(200);
    expect(served.headers.get('x-tollgate-model')).toBe('own');
    expect(((await served.json()) as { model: string }).model).toBe('own');
    const other = await post(pair.gateway, 'chat', bodyFor('chat', 'claude-own'));
    await expectRefusal(other, 'chat', invalid('chat', 'POST /v1/messages', 'model'));
    const listed = (await (await get(pair.gateway, '/v1/models')).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toContain('claude-own');
  });

  test('a messages upstream gets a version and the operator’s credential, never the caller’s', async () => {
    const response = await postTranslated(
      pair.gateway,
      'chat',
      {},
      { 'anthropic-beta': 'a-beta', 'x-stainless-lang': 'js' },
    );
    expect(response.status).toBe(200);
    const headers = lastHeaders(pair, MODELS.sonnet46);
    expect(headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'x-api-key': 'sk-upstream-0123456789abcdef',
      'content-type': 'application/json',
    });
    expect(headers).not.toHaveProperty('anthropic-beta');
    expect(headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(headers)).not.toContain(pair.gateway.key);
  });

  test('a chat upstream gets no version and no betas', async () => {
    const marks = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
    expect((await postTranslated(pair.gateway, 'messages', {}, marks)).status).toBe(200);
    const headers = lastHeaders(pair, MODELS.own);
    expect(Object.keys(headers).filter((name) => name.startsWith('anthropic-'))).toEqual([]);
    expect(headers.authorization).toBe('Bearer sk-upstream-0123456789abcdef');
    expect(JSON.stringify(headers)).not.toContain(pair.gateway.key);
  });

  test('vector 44: the version without sampling refuses it before translation', async () => {
    const changes = { 'anthropic-version': '2026-10-21' };
    const refused = await postTranslated(pair.gateway, 'messages', { temperature: 1 }, changes);
    await expectUnsent(refused, 'messages', /temperature.*2026-10-21/, 'temperature');
    expect((await postTranslated(pair.gateway, 'messages', { temperature: 1 })).status).toBe(200);
  });

  test.each(SIDES)('%s: the answer names its provider, and has no data of upstream’s account', async (side) => {
    const model = FAR_MODELS[side];
    pair.fake.script(model, {
      answer: 'ok',
      headers: { 'anthropic-organization-id': 'org-1', 'x-ratelimit-limit-requests': '9', 'request-id': 'theirs' },
    });
    const { headers } = await postTranslated(pair.gateway, side);
    expect(headers.get('x-tollgate-provider')).toBe(side === 'chat' ? 'lab-messages' : 'lab');
    expect([headers.get('x-tollgate-model'), headers.get('x-tollgate-attempts')]).toEqual([model, '1']);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect([headers.get('anthropic-organization-id'), headers.get('x-ratelimit-limit-requests')]).toEqual([null, null]);
  });
});

describe('the vectors about HTTP', () => {
  const attribution = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329.abc; cc_entrypoint=cli;' };
  const system = [
    attribution,
    { type: 'text', text: 'You are a coder.' },
    { type: 'text', text: 'Rules.', cache_control: { type: 'ephemeral' } },
  ];

  test('vector 41: Claude Code’s attribution is stripped on the translated route, byte-exact on the native one', async () => {
    await postTranslated(pair.gateway, 'messages', { system });
    const [text = ''] = sentTexts(pair, MODELS.own);
    expect(text).not.toContain('billing');
    expect(lastSent(pair, MODELS.own).messages).toEqual([
      { role: 'system', content: 'You are a coder.\n\nRules.' },
      { role: 'user', content: 'Good day.' },
    ]);
    const native = JSON.stringify(bodyFor('messages', MODELS.sonnet46, { system }), null, 1);
    await post(pair.gateway, 'messages', native);
    expect(sentTexts(pair, MODELS.sonnet46)).toEqual([native]);
  });

  test('vector 53: an unknown beta and an unknown member are forwarded natively, and named where they are translated', async () => {
    const beta = { 'anthropic-beta': 'never-heard-of-2031-01-01' };
    const native = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.sonnet46, { unheard: [1] }), beta);
    expect([native.status, droppedOf(native)]).toEqual([200, null]);
    expect(lastSent(pair, MODELS.sonnet46).unheard).toEqual([1]);
    expect(lastHeaders(pair, MODELS.sonnet46)).toMatchObject(beta);
    const far = await postTranslated(pair.gateway, 'messages', { unheard: [1] }, beta);
    expect([far.status, droppedOf(far)]).toEqual([200, 'unheard']);
  });

  test('vector 54: of two keys, x-api-key counts on messages and the bearer on chat, translated too', async () => {
    const other = await createKey(pair.gateway, { models: ['nothing'] });
    const both = { 'x-api-key': pair.gateway.key, authorization: `Bearer ${other.key}` };
    expect((await postTranslated(pair.gateway, 'messages', {}, both)).status).toBe(200);
    expect((await postTranslated(pair.gateway, 'chat', {}, both)).status).toBe(403);
  });

  test.each(SIDES)('vector 55: a body in gzip is decoded, then translated: %s', async (side) => {
    const body = gzipSync(JSON.stringify(bodyFor(side, FAR_MODELS[side])));
    const response = await post(pair.gateway, side, body, { 'content-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(sentTexts(pair, FAR_MODELS[side]).length).toBe(1);
  });

  test('vector 56: the probes of agents are answered cheaply, and make no record', async () => {
    const before = (await pair.gateway.calls()).length;
    expect((await fetch(`${pair.gateway.url}/api/hello`, { method: 'HEAD' })).status).toBe(200);
    expect((await get(pair.gateway, '/v1/models?limit=1000')).status).toBe(200);
    expect((await pair.gateway.calls()).length).toBe(before);
    expect(pair.fake.served()).toEqual([]);
  });
});

describe('counting tokens', () => {
  const path = '/v1/messages/count_tokens' as const;
  const prompt = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more });

  test('a count for a model of a chat host is made here: one number, larger for longer prompts, no record', async () => {
    const count = async (body: object) => {
      const response = await post(pair.gateway, path, { model: 'claude-own', ...body });
      expect(response.status).toBe(200);
      const answer = (await response.json()) as { input_tokens: number };
      expect(Object.keys(answer)).toEqual(['input_tokens']);
      return answer.input_tokens;
    };
    const before = (await pair.gateway.calls()).length;
    const short = await count(prompt('Good day.'));
    const tools = [{ name: 'look', description: 'Looks. '.repeat(20), input_schema: { type: 'object' } }];
    expect(short).toBeWithin(1, 20);
    expect(await count(prompt('Good day.', { tools }))).toBeGreaterThan(short + 20);
    expect(await count(prompt('Good day. '.repeat(100)))).toBeGreaterThan(150);
    expect(pair.fake.served()).toEqual([]);
    expect((await pair.gateway.calls()).length).toBe(before);
  });

  test('a count of a request that cannot be translated is an estimate', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    const response = await post(pair.gateway, path, { model: MODELS.own, ...prompt('Good day.', { tools }) });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(0);
  });
});
