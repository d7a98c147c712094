/** Tests what the choice reads of a request: its needs, its conversation and the tags that it requires. */
import { describe, expect, test } from 'bun:test';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { CONTEXT, outlineOf } from '../../protocols/testing/outline-of.ts';
import { describeRequest, type RoutedRequest } from './routed-request.ts';
import { makeRoute, NO_MARKS, NO_NEEDS } from './testing/routes.ts';

const TWO = [{ name: 'a' }, { name: 'b' }];

function described(
  protocol: ClientProtocol,
  body: object,
  given: { session?: string; workspaceId?: string; tokens?: number; route?: ReturnType<typeof makeRoute> } = {},
): RoutedRequest {
  const outline = outlineOf({ model: 'm', ...body });
  const facts = protocol.checkRequest(outline, CONTEXT);
  return describeRequest(given.route ?? makeRoute(TWO), {
    protocol,
    outline,
    facts,
    session: given.session ?? null,
    workspaceId: given.workspaceId ?? 'w',
    keyId: 'k',
    tags: [],
    inputTokens: given.tokens ?? 2_000,
    mustBePriced: false,
    atMs: 0,
  });
}

const { chat, messages, embeddings, completions } = CLIENT_PROTOCOLS;
const USER = { role: 'user', content: 'hello' };

function parts(...content: object[]) {
  return { messages: [{ role: 'user', content }] };
}

describe('needs of a chat request', () => {
  test.each([
    [{}, {}],
    [{ tools: [] }, {}],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, { tools: true }],
    [{ functions: [{ name: 'f' }] }, { tools: true }],
    [{ tools: [{ type: 'web_search' }] }, { tools: true, ownFormat: 'tools.0' }],
    [{ web_search_options: {} }, { serverTool: 'web_search_options' }],
    [parts({ type: 'image_url', image_url: { url: 'https://x/a.png' } }), { image: true }],
    [parts({ type: 'input_audio', input_audio: { data: '', format: 'mp3' } }), { audio: true }],
    [parts({ type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }), { pdf: true }],
    [parts({ type: 'file', file: { file_id: 'file-1' } }), { pdf: true, storedItem: 'messages.0.content' }],
    [parts({ type: 'text', text: 'image_url' }), {}],
    [{ logprobs: true }, { logprobs: true }],
    [{ n: 1, logprobs: false }, {}],
    [{ n: 2 }, { ownFormat: 'n' }],
    [{ reasoning_effort: 'high' }, { reasoning: true }],
    [{ reasoning_effort: 'none' }, {}],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, { schema: true }],
    [{ response_format: { type: 'json_object' } }, {}],
  ])('%j', (body, needs) => {
    expect(described(chat, { messages: [USER], ...body }).needs).toEqual({ ...NO_NEEDS, ...needs });
  });
});

describe('needs of a messages request', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(2_000) } };
  test.each([
    [{}, {}],
    [{ tools: [{ name: 'f', input_schema: {} }] }, { tools: true }],
    [{ tools: [{ type: 'custom', name: 'f', input_schema: {} }] }, { tools: true }],
    [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, { tools: true, ownFormat: 'tools.0' }],
    [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { tools: true, ownFormat: 'tools.0', serverTool: 'tools.0' },
    ],
    [{ mcp_servers: [{ url: 'https://x' }] }, { serverTool: 'mcp_servers', ownFormat: 'mcp_servers' }],
    [{ container: 'c' }, { serverTool: 'container', storedItem: 'container', ownFormat: 'container' }],
    [parts(image), { image: true }],
    [parts({ type: 'document', source: { type: 'url', url: 'https://x/a.pdf' } }), { pdf: true }],
    [parts({ type: 'document', source: { type: 'text', data: 'words' } }), {}],
    [
      parts({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      { pdf: true, storedItem: 'messages.0.content' },
    ],
    [parts({ type: 'tool_result', tool_use_id: 't', content: [image] }), { image: true }],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, { reasoning: true }],
    [{ thinking: { type: 'disabled' } }, {}],
    [{ output_config: { format: { type: 'json_schema', schema: {} } } }, { schema: true }],
  ])('%j', (body, needs) => {
    expect(described(messages, { max_tokens: 1, messages: [USER], ...body }).needs).toEqual({ ...NO_NEEDS, ...needs });
  });
});

test('a route with one target does not read needs', () => {
  expect(described(chat, { messages: [USER] }, { route: makeRoute([{ name: 'a' }]) }).needs).toBeNull();
});

describe('marks of caches and signatures', () => {
  const marksOf = (...turns: object[]) => {
    const { signed, marksCache, longCache } = described(messages, { max_tokens: 1, messages: turns }).marks;
    return { signed, marksCache, longCache };
  };
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };

  test('are found anywhere, but not in a text', () => {
    const marked = { role: 'user', content: [{ type: 'text', text: 'hello', ...mark }] };
    expect(marksOf(marked)).toEqual({ signed: false, marksCache: true, longCache: true });
    expect(marksOf({ role: 'user', content: JSON.stringify({ ...mark, signature: 'x' }) })).toEqual(NO_MARKS);
    const signed = { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'abc' }] };
    expect(marksOf(USER, signed, USER)).toEqual({ ...NO_MARKS, signed: true });
  });

  test('a chat request names how long its cache lives', () => {
    const isLong = (retention: string) =>
      described(chat, { messages: [USER], prompt_cache_retention: retention }).marks.longCache;
    expect([isLong('24h'), isLong('in_memory')]).toEqual([true, false]);
  });
});

describe('the conversation', () => {
  const chatBody = { messages: [{ role: 'system', content: 'be brief' }, USER] };
  const keyOf = (body: object, given: Parameters<typeof described>[2] = {}) =>
    described(chat, { ...chatBody, ...body }, given).conversation;

  test('a header, the cache key and the session of a user id name it, in this order', () => {
    const named = keyOf({}, { session: 's1' });
    expect(keyOf({ messages: [USER], prompt_cache_key: 's2' }, { session: 's1' })).toBe(named);
    expect(keyOf({ prompt_cache_key: 's1' })).toBe(named);
    expect(keyOf({ metadata: { user_id: 'user_1_account_2_session_s1' } })).toBe(named);
    expect(keyOf({ metadata: { user_id: '{"device_id":"d","session_id":"s1"}' } })).toBe(named);
    expect(keyOf({ prompt_cache_key: 's1', metadata: { user_id: 'user_1_session_s2' } })).toBe(named);
    expect(keyOf({ metadata: { user_id: '{"session_id":7' } })).toBe(keyOf({}));
  });

  test('workspaces and routes do not share conversations', () => {
    const keys = [
      keyOf({}, { session: 's1' }),
      keyOf({}, { session: 's1', workspaceId: 'other' }),
      keyOf({}, { session: 's1', route: { ...makeRoute(TWO), model: 'other' } }),
      keyOf({}),
    ];
    expect(new Set(keys).size).toBe(4);
  });

  test('without a name, the beginning of a long prompt is the key, without its cache marks', () => {
    const first = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
    const marked = first({ type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } });
    const body = { max_tokens: 1, system: 'be brief', tools: [{ name: 'f', input_schema: {} }] };
    const key = (turns: object, more: object = {}) => described(messages, { ...body, ...turns, ...more }).conversation;
    const plain = key(first({ type: 'text', text: 'hello' }));
    expect(plain).not.toBeNull();
    expect(key(marked)).toBe(plain);
    const later = [...marked.messages, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'more' }];
    expect(key({ messages: later })).toBe(plain);
    expect(key(first({ type: 'text', text: 'hello!' }))).not.toBe(plain);
    expect(key(marked, { system: 'be long' })).not.toBe(plain);
    expect(key(marked, { tools: [] })).not.toBe(plain);
  });

  test('different prompts of any format are different conversations, or none', () => {
    const turns = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });
    const { path } = { path: { model: 'm' } };
    const gemini = (body: object) => {
      const outline = outlineOf(body);
      const facts = CLIENT_PROTOCOLS.gemini.checkRequest(outline, { ...CONTEXT, path: { ...path, stream: false } });
      const request = {
        protocol: CLIENT_PROTOCOLS.gemini,
        outline,
        facts,
        session: null,
        workspaceId: 'w',
        keyId: 'k',
      };
      return describeRequest(makeRoute(TWO), { ...request, tags: [], inputTokens: 2_000, mustBePriced: false, atMs: 0 })
        .conversation;
    };
    expect(gemini(turns('hello'))).not.toBeNull();
    expect(gemini(turns('hello!'))).not.toBe(gemini(turns('hello')));
    expect(gemini({ ...turns('hello'), systemInstruction: { parts: [{ text: 'be brief' }] } })).not.toBe(
      gemini(turns('hello')),
    );
    const later = [...turns('hello').contents, { role: 'model', parts: [{ text: 'hi' }] }, ...turns('more').contents];
    expect(gemini({ contents: later })).toBe(gemini(turns('hello')));
    expect(described(embeddings, { input: ['hello', 'there'] }).conversation).toBeNull();
    expect(described(completions, { prompt: 'hello' }).conversation).toBeNull();
  });

  test('a short prompt without a name has none, and affinity off never has one', () => {
    expect(keyOf({}, { tokens: 1_023 })).toBeNull();
    expect(keyOf({}, { tokens: 1_024 })).not.toBeNull();
    expect(keyOf({}, { session: 's1', route: makeRoute(TWO, { affinity: 'off' }) })).toBeNull();
    expect(keyOf({}, { session: 's1', route: makeRoute(TWO, { affinity: 'prefix' }) })).toBe(keyOf({}));
  });
});
