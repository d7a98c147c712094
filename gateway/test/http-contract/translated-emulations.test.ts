/**
 * Tests end to end what the gateway emulates when upstream lacks it: stop sequences, JSON mode by instruction,
 * free-text tools, ids, redacted thinking.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Pair } from '../harness/start-pair.ts';
import { post, type Side } from './calls.ts';
import { createKey } from './make-key.ts';
import { bodyFor, lastSent, MODELS, postTranslated, startTranslatedPair } from './translated-rig.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startTranslatedPair();
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

/** Returns the parsed data of a stream's records without `[DONE]`. */
async function eventsOf(response: Response): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Readonly<Record<string, unknown>>);
}

interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A messages answer, plain or streamed. */
interface ReceivedPart {
  readonly content: readonly Block[];
  readonly stop_reason: unknown;
  readonly stop_sequence: unknown;
  readonly usage: Readonly<Record<string, unknown>>;
}

async function messageOf(response: Response, stream: boolean): Promise<ReceivedPart> {
  if (!stream) return (await response.json()) as ReceivedPart;
  const content: Array<Record<string, unknown> & { type: string }> = [];
  let end = {};
  for (const event of await eventsOf(response)) {
    const { index, content_block, delta } = event as {
      readonly index: number;
      readonly content_block: Block;
      readonly delta: Readonly<Record<string, string>>;
    };
    const block = content[index];
    if (event.type === 'content_block_start') content[index] = { ...content_block };
    else if (event.type === 'content_block_delta' && block !== undefined) {
      if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`;
      if (delta.type === 'input_json_delta') block.json = `${block.json ?? ''}${delta.partial_json}`;
    } else if (event.type === 'message_delta') end = { ...(event.delta as object), usage: event.usage };
  }
  return { content, stop_reason: null, stop_sequence: null, usage: {}, ...end };
}

describe('stop texts for a model that takes none', () => {
  test.each([false, true])('cut the answer, are named, and upstream’s counts stay, stream %p', async (stream) => {
    pair.fake.script(MODELS.openAi, { say: { text: 'All is well. STOP HERE, and nothing of this.' } });
    const members = { stop_sequences: ['never', 'STOP HERE'], stream };
    const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.openAi, members));
    expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, null]);
    const answerMessage = await messageOf(response, stream);
    expect(answerMessage).toMatchObject({
      content: [{ type: 'text', text: 'All is well. ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'STOP HERE',
      // Upstream generated all of it and charges for it.
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    expect(lastSent(pair, MODELS.openAi)).not.toHaveProperty('stop');
    const [record] = await pair.gateway.calls('--limit', '1');
    expect(record).toMatchObject({
      finish_reason: 'stop_sequence',
      usage: { input: 11, output: 7 },
      usage_source: 'upstream',
    });
  });

  test('stop texts that do not occur change nothing', async () => {
    pair.fake.script(MODELS.openAi, { say: { text: 'STO is not it, nor is ST' } });
    for (const stream of [false, true]) {
      const members = { stop_sequences: ['STOP'], stream };
      const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.openAi, members));
      expect(await messageOf(response, stream)).toMatchObject({
        content: [{ text: 'STO is not it, nor is ST' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
      });
    }
  });
});

describe('JSON output that only the prompt can request', () => {
  const sentMembers = { response_format: { type: 'json_object' } };

  test('the prompt requests it, and the answer is an object', async () => {
    pair.fake.script(MODELS.sonnet46, { say: { text: '{"a": 1}' } });
    const response = await postTranslated(pair.gateway, 'chat', sentMembers);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as { choices: { message: { content: string } }[] };
    expect(answer.choices[0]?.message.content).toBe('{"a": 1}');
    expect(JSON.stringify(lastSent(pair, MODELS.sonnet46).system)).toContain('JSON object');
  });

  test.each([
    ['a fence', '```json\n{"a": 1}\n```'],
    ['words', 'Here is your JSON: {"a": 1}'],
  ])('is taken out of %s, plain and in a stream', async (_around, said) => {
    pair.fake.script(MODELS.sonnet46, { say: { text: said } });
    const plain = await postTranslated(pair.gateway, 'chat', sentMembers);
    expect([plain.status, plain.headers.get('x-tollgate-dropped')]).toEqual([200, null]);
    expect(await plain.json()).toMatchObject({
      choices: [{ message: { content: '{"a": 1}' }, finish_reason: 'stop' }],
    });
    const events = await eventsOf(await postTranslated(pair.gateway, 'chat', { ...sentMembers, stream: true }));
    const deltas = events as unknown as ReadonlyArray<{ choices: { delta: { content?: string } }[] }>;
    expect(deltas.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('{"a": 1}');
  });

  test('an answer without JSON is delivered and charged, and response_format is reported', async () => {
    pair.fake.script(MODELS.sonnet46, { say: { text: 'I would rather not.' } });
    const plain = await postTranslated(pair.gateway, 'chat', sentMembers);
    expect([plain.status, plain.headers.get('x-tollgate-dropped')]).toEqual([200, 'response_format']);
    expect(await plain.text()).toContain('I would rather not.');
    const streamed = await (await postTranslated(pair.gateway, 'chat', { ...sentMembers, stream: true })).text();
    expect(streamed).toContain('"content":" not."');
    expect(streamed.trimEnd().split('\n\n').at(-1)).toBe('data: [DONE]');
    const records = await pair.gateway.calls('--limit', '2');
    for (const record of records) expect(record).toMatchObject({ status: 200, error: null, usage_source: 'upstream' });
  });

  test('is refused to a strict key', async () => {
    const { key } = await createKey(pair.gateway, { strict: true });
    const refused = await postTranslated({ url: pair.gateway.url, key }, 'chat', sentMembers);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('response_format')]);
    expect(pair.fake.served()).toEqual([]);
  });
});

describe('a schema of the answer', () => {
  const tree = {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    required: ['root'],
    additionalProperties: false,
  };
  const schema = { ...tree, $defs: { node: { type: 'object', properties: { next: { type: 'string' } } } } };
  const askFor = (wanted: object, stream: boolean) => {
    const response_format = { type: 'json_schema', json_schema: { name: 'tree', schema: wanted, strict: true } };
    return postTranslated(pair.gateway, 'chat', { response_format, stream });
  };

  test.each([false, true])('goes to a messages host with its objects closed, stream %p', async (stream) => {
    pair.fake.script(MODELS.sonnet46, { say: { text: '{"root":{}}' } });
    const response = await askFor(schema, stream);
    expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, null]);
    expect(await response.text()).toContain('root');
    const node = { ...schema.$defs.node, additionalProperties: false };
    const sent = { format: { type: 'json_schema', schema: { ...schema, $defs: { node } } } };
    expect(lastSent(pair, MODELS.sonnet46).output_config).toEqual(sent);
  });

  test.each([false, true])(
    'vector 58: goes to a messages host as a tool where it refers to itself, stream %p',
    async (stream) => {
      const input = { root: { next: {} } };
      pair.fake.script(MODELS.sonnet46, { say: { calls: [{ id: 'call_1', name: 'json_output', input }] } });
      const response = await askFor(tree, stream);
      expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, null]);
      const text = await response.text();
      expect(text.replaceAll('\\"', '"')).toContain(stream ? '"next"' : '{"root":{"next":{}}}');
      expect(text).not.toContain('tool_calls');
      const sent = lastSent(pair, MODELS.sonnet46);
      expect(sent.tools).toMatchObject([{ name: 'json_output', input_schema: tree }]);
      expect(sent.output_config).toBeUndefined();
    },
  );

  test.each([false, true])(
    'with keywords that Anthropic refuses is answered, and they are named, stream %p',
    async (stream) => {
      pair.fake.script(MODELS.sonnet46, { say: { text: '{"age":3}' } });
      const properties = { age: { type: 'integer', minimum: 0 } };
      const json_schema = { name: 'a', schema: { type: 'object', properties, required: ['age'] } };
      const members = { response_format: { type: 'json_schema', json_schema }, stream };
      const response = await postTranslated(pair.gateway, 'chat', members);
      const dropped = response.headers.get('x-tollgate-dropped');
      expect([response.status, dropped]).toEqual([200, 'response_format.schema.minimum']);
      await response.text();
      expect(lastSent(pair, MODELS.sonnet46).output_config).toMatchObject({
        format: {
          schema: {
            properties: { age: { type: 'integer', description: '{minimum: 0}' } },
            additionalProperties: false,
          },
        },
      });
    },
  );

  test('goes to a chat host as well', async () => {
    pair.fake.script(MODELS.own, { say: { text: '{"root":{}}' } });
    const output_config = { format: { type: 'json_schema', schema } };
    expect((await postTranslated(pair.gateway, 'messages', { output_config })).status).toBe(200);
    expect(lastSent(pair, MODELS.own).response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema },
    });
  });
});

test.each([false, true])(
  'a free-text tool is a tool of one text upstream, and free text again, stream %p',
  async (stream) => {
    const text = 'SELECT "a"\n  FROM t; -- ü';
    pair.fake.script(MODELS.sonnet46, { say: { calls: [{ id: 'call_1', name: 'sql', input: { input: text } }] } });
    const tools = [{ type: 'custom', custom: { name: 'sql', description: 'Runs it.' } }];
    const response = await postTranslated(pair.gateway, 'chat', { tools, stream });
    const sent = lastSent(pair, MODELS.sonnet46).tools;
    expect(sent).toMatchObject([{ name: 'sql', input_schema: { type: 'object', required: ['input'] } }]);
    const deltas = stream
      ? (await eventsOf(response)).flatMap(
          (event) => (event.choices as { delta: { tool_calls?: object[] } }[])[0]?.delta.tool_calls ?? [],
        )
      : ((await response.json()) as { choices: { message: { tool_calls: object[] } }[] }).choices[0]?.message
          .tool_calls;
    const pieces = (deltas ?? []) as { type?: string; custom?: { name?: string; input?: string } }[];
    expect(pieces[0]).toMatchObject({ id: 'toolu_1', type: 'custom', custom: { name: 'sql' } });
    expect(pieces.map(({ custom }) => custom?.input ?? '').join('')).toBe(text);
  },
);

describe('ids of calls', () => {
  const odd = 'call_AbC:functions.look|fc_0123456789abcdef0123456789abcdef0123';
  const history = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: odd, name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: odd, content: 'seen' }] },
  ];
  interface SentMessage {
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }

  test.each([
    [MODELS.own, (id: string) => expect(id).toBe(odd)],
    [MODELS.openAi, (id: string) => expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/)],
    [MODELS.mistral, (id: string) => expect(id).toMatch(/^[A-Za-z0-9]{9}$/)],
  ])('vector 47: ids sent to %s have a form it accepts, the same in call and result', async (model, check) => {
    pair.fake.script(model, { answer: 'ok' });
    expect((await post(pair.gateway, 'messages', bodyFor('messages', model, { messages: history }))).status).toBe(200);
    const [, call, result] = lastSent(pair, model).messages as readonly SentMessage[];
    const id = call?.tool_calls?.[0]?.id ?? '';
    check(id);
    expect(result?.tool_call_id).toBe(id);
  });

  test('vector 47: to a messages host too', async () => {
    pair.fake.script(MODELS.sonnet46, { answer: 'ok' });
    const messages = [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: odd, type: 'function', function: { name: 'look', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: odd, content: 'seen' },
    ];
    expect((await postTranslated(pair.gateway, 'chat', { messages })).status).toBe(200);
    const [, call, result] = lastSent(pair, MODELS.sonnet46).messages as readonly {
      readonly content: readonly Block[];
    }[];
    expect(call?.content[0]?.id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(call?.content[0]).toMatchObject({ input: {} });
    expect(result?.content[0]?.tool_use_id).toBe(call?.content[0]?.id);
  });
});

describe('vector 22: hidden thinking is stored for a chat client, and restored', () => {
  const hidden: readonly Block[] = [
    { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
    { type: 'thinking', thinking: '', signature: 'c2lnbmVk' },
  ];
  const use = { type: 'tool_use', id: 'toolu_9', name: 'look', input: {} };
  const head = { id: 'm', type: 'message', role: 'assistant', model: MODELS.sonnet46, stop_sequence: null };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const event = (type: string, members: object = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const records = [
    event('message_start', { message: { ...head, content: [], stop_reason: null, usage } }),
    ...block(0, hidden[0] ?? {}),
    ...block(1, { ...hidden[1], signature: '' }, { type: 'signature_delta', signature: 'c2lnbmVk' }),
    ...block(2, use),
    event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } }),
    event('message_stop'),
  ];

  test.each([false, true])('stream %p', async (stream) => {
    const plain = { ...head, content: [...hidden, use], stop_reason: 'tool_use', usage };
    pair.fake.script(MODELS.sonnet46, [stream ? { records } : { json: plain }, { answer: 'ok' }]);
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
    const first = await (await postTranslated(pair.gateway, 'chat', { tools, stream })).text();
    expect(first).toContain('"toolu_9"');
    expect(first).not.toContain('cmVkYWN0ZWQ=');
    const call = { id: 'toolu_9', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      { role: 'user', content: 'Good day.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'toolu_9', content: 'seen' },
    ];
    expect((await postTranslated(pair.gateway, 'chat', { tools, messages })).status).toBe(200);
    const [, sent] = lastSent(pair, MODELS.sonnet46).messages as readonly { readonly content: readonly Block[] }[];
    expect(sent?.content).toEqual([...hidden, use]);
  });
});

test.each(['chat', 'messages'] satisfies Side[])('vector 19: %s: an empty answer is an answer', async (side) => {
  const model = side === 'chat' ? MODELS.sonnet46 : MODELS.own;
  pair.fake.script(model, { say: {} });
  const plain = await (await postTranslated(pair.gateway, side)).json();
  if (side === 'chat') expect(plain).toMatchObject({ choices: [{ message: { content: '' }, finish_reason: 'stop' }] });
  else expect(plain).toMatchObject({ content: [], stop_reason: 'end_turn' });
  const streamed = await (await postTranslated(pair.gateway, side, { stream: true })).text();
  expect(streamed).toContain(side === 'chat' ? 'data: [DONE]' : 'event: message_stop');
});
