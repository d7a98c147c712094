/**
 * Tests the checks of a messages request: founding specification 2.4, the chat-only members, and members that the
 * newer version no longer accepts.
 */
import { describe, expect, test } from 'bun:test';
import { CONTEXT, outlineOf, refusalOf } from '../../testing/outline-of.ts';
import { CHAT_ONLY, checkRequest } from './client-protocol.ts';

const messages = [{ role: 'user', content: 'hi' }];
const body = (members: object) => ({ model: 'm', max_tokens: 5, messages, ...members });
const refusal = (given: unknown) => refusalOf(checkRequest, given);
const newerRefusal = (given: unknown) => refusalOf(checkRequest, given, { ...CONTEXT, version: '2026-10-21' });

describe('a messages body passes', () => {
  test.each([
    [body({})],
    [body({ max_tokens: 0, temperature: 7, top_k: 'odd', thinking: { type: 'adaptive' }, unknown: 1 })],
    [body({ system: 'be brief', stream: null, tools: null, metadata: null })],
    [body({ system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] })],
    [
      body({
        messages: [
          { role: 'system', content: 'mid' },
          { role: 'assistant', content: [] },
        ],
      }),
    ],
    [body({ tools: [{ name: 't', input_schema: {} }], metadata: { user_id: 'u'.repeat(512) } })],
  ])('%j', (given) => {
    expect(refusal(given)).toBeNull();
  });
});

describe('a messages body is refused', () => {
  test.each([
    ['max_tokens', { model: 'm', messages }],
    ['max_tokens', body({ max_tokens: -1 })],
    ['max_tokens', body({ max_tokens: null })],
    ['max_tokens', body({ max_tokens: 1.5 })],
    ['model', { max_tokens: 5, messages }],
    ['messages', { model: 'm', max_tokens: 5 }],
    ['messages', body({ messages: [] })],
    ['messages.0.role', body({ messages: [{ role: 'tool', content: 'x' }] })],
    ['messages.0.content', body({ messages: [{ role: 'user' }] })],
    ['messages.0.content', body({ messages: [{ role: 'user', content: null }] })],
    ['messages.0.content.0', body({ messages: [{ role: 'user', content: ['x'] }] })],
    ['system', body({ system: { text: 'x' } })],
    ['system.0', body({ system: ['x'] })],
    ['stream', body({ stream: 1 })],
    ['tools', body({ tools: 'x' })],
    ['tools.0', body({ tools: [null] })],
    ['metadata.user_id', body({ metadata: { user_id: 'u'.repeat(513) } })],
  ])('refuses an error at %s, with the found and the expected value', (param, given) => {
    const found = refusal(given);
    expect(found).toMatchObject({ kind: 'invalid_request', param });
    expect(found?.message).toMatch(/: found .+; expected .+/s);
  });

  test('for exactly the nineteen chat-only members, each with its equivalent here', () => {
    expect(CHAT_ONLY.size).toBe(19);
    for (const [name, way] of CHAT_ONLY) {
      expect(refusal(body({ [name]: null }))).toMatchObject({ param: name, message: expect.stringContaining(way) });
    }
  });

  test('max_tokens is required only if an answer is requested', () => {
    expect(refusalOf(checkRequest, { model: 'm', messages }, { ...CONTEXT, countOnly: true })).toBeNull();
  });
});

describe('under 2026-10-21 a messages body', () => {
  const document = { type: 'document', source: {} };
  const cited = { type: 'text', text: 'x', citations: [{ type: 'char_location' }] };

  test.each(['temperature', 'top_p', 'top_k'])('vector 44: may not have %s', (name) => {
    expect(newerRefusal(body({ [name]: 1 }))?.param).toBe(name);
    expect(refusal(body({ [name]: 1 }))).toBeNull();
  });

  test('may not have a document directly in an assistant turn', () => {
    const given = body({ messages: [{ role: 'assistant', content: [document] }] });
    expect(newerRefusal(given)?.param).toBe('messages.0.content.0');
    expect(refusal(given)).toBeNull();
    const nested = { type: 'tool_result', tool_use_id: 't', content: [document] };
    expect(newerRefusal(body({ messages: [{ role: 'user', content: [document, nested] }] }))).toBeNull();
  });

  test('may not have citations on user text, empty ones aside', () => {
    const turn = (role: string, block: object) => body({ messages: [{ role, content: [block] }] });
    expect(newerRefusal(turn('user', cited))?.param).toBe('messages.0.content.0.citations');
    expect(newerRefusal(turn('assistant', cited))).toBeNull();
    expect(
      newerRefusal(
        '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","citations":[ ]}]}]}',
      ),
    ).toBeNull();
    expect(newerRefusal(turn('user', { ...cited, citations: null }))).toBeNull();
  });
});

describe('the facts of a messages body', () => {
  test('has the facts that the call needs; usage is always sent', () => {
    const given = body({ stream: true, metadata: { user_id: 'ann' } });
    expect(checkRequest(outlineOf(given), CONTEXT)).toMatchObject({
      model: 'm',
      stream: true,
      wantsUsage: true,
      endUser: 'ann',
    });
  });

  test('count no bytes of images and documents', () => {
    const media = [
      { type: 'image', source: { type: 'base64', data: 'x'.repeat(4_000) } },
      { type: 'document', source: { type: 'base64', data: 'y'.repeat(3_000) } },
    ];
    const given = body({ messages: [{ role: 'user', content: media }] });
    const mediaBytes = media.reduce((sum, block) => sum + JSON.stringify(block).length, 0);
    expect(checkRequest(outlineOf(given), CONTEXT).inputBytes).toBe(JSON.stringify(given).length - mediaBytes);
  });

  test('say which tools may run upstream, and how often', () => {
    const requestsOf = (...tools: unknown[]) =>
      Object.fromEntries(checkRequest(outlineOf(body({ tools })), CONTEXT).extras?.toolRequests ?? []);
    const search = { type: 'web_search_20250305', name: 'web_search' };
    expect(requestsOf({ ...search, max_uses: 3 }, { name: 'mine', input_schema: {} })).toEqual({ web_search: 3 });
    expect(requestsOf(search, { type: 'web_fetch_20250910', max_uses: 0 })).toEqual({ web_search: 10, web_fetch: 0 });
    expect(requestsOf({ ...search, max_uses: 3 }, { ...search, max_uses: 4 })).toEqual({ web_search: 7 });
    for (const max_uses of [-1, 1.5, 'x', null])
      expect(requestsOf({ ...search, max_uses })).toEqual({ web_search: 10 });
    expect(requestsOf({ ...search, max_uses: 1e9 })).toEqual({ web_search: 1000 });
    expect(requestsOf({ type: 'custom', name: 'a' }, { type: 'Web Search_20250305' }, { type: 7 })).toEqual({});
  });

  test('have no extras for a text request', () => {
    expect(checkRequest(outlineOf(body({ tools: [{ name: 'mine' }] })), CONTEXT).extras).toBeUndefined();
  });
});
