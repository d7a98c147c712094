/**
 * Tests the checks of a chat request: members limited by founding specification 2.1 are refused by name, everything
 * else passes.
 */
import { describe, expect, test } from 'bun:test';
import { CONTEXT, outlineOf, refusalOf } from '../../testing/outline-of.ts';
import { checkRequest } from './client-protocol.ts';

const messages = [{ role: 'user', content: 'hi' }];
const body = (members: object) => ({ model: 'm', messages, ...members });
const refusal = (given: unknown) => refusalOf(checkRequest, given);

describe('a chat body passes', () => {
  test.each([
    [body({})],
    [body({ temperature: 0, top_p: 0 })],
    [body({ temperature: 2, top_p: 1, max_tokens: 1, max_completion_tokens: 1 })],
    [
      body({
        temperature: null,
        top_p: null,
        max_tokens: null,
        stream: null,
        stream_options: null,
        tools: null,
        user: null,
      }),
    ],
    [body({ tool_choice: 'auto', response_format: { type: 'json_object' }, user: 'u'.repeat(256) })],
    [body({ tool_choice: { type: 'function' }, unknown: [{}], seed: 'odd', n: 1 })],
    [body({ n: 128 })],
    [body({ n: null })],
    [body({ messages: ['developer', 'system', 'user', 'assistant', 'tool', 'function'].map((role) => ({ role })) })],
    [
      body({
        messages: [
          { role: 'assistant', content: null, reasoning_content: 'r' },
          { role: 'user', content: ['plain'] },
        ],
      }),
    ],
    [body({ metadata: { ['k'.repeat(64)]: 'v'.repeat(512), n: 5 } })],
  ])('%j', (given) => {
    expect(refusal(given)).toBeNull();
  });
});

describe('a chat body is refused', () => {
  test.each([
    ['temperature', body({ temperature: 2.0001 })],
    ['temperature', body({ temperature: '1' })],
    ['temperature', '{"model":"m","messages":[{"role":"user"}],"temperature":1e999}'],
    ['top_p', body({ top_p: -0.1 })],
    ['top_p', body({ top_p: 1.1 })],
    ['stream', body({ stream: 'true' })],
    ['stream_options', body({ stream_options: [] })],
    ['stream_options.include_usage', body({ stream_options: { include_usage: 1 } })],
    ['max_tokens', body({ max_tokens: 0 })],
    ['max_tokens', body({ max_tokens: 1.5 })],
    ['max_completion_tokens', body({ max_completion_tokens: '5' })],
    ['n', body({ n: 0 })],
    ['n', body({ n: -4 })],
    ['n', body({ n: 129 })],
    ['n', body({ n: 1e9 })],
    ['n', body({ n: 1.5 })],
    ['n', body({ n: '2' })],
    ['n', body({ n: [1] })],
    ['tools', body({ tools: {} })],
    ['tools.1', body({ tools: [{}, 'x'] })],
    ['tool_choice', body({ tool_choice: 1 })],
    ['response_format', body({ response_format: 'json' })],
    ['user', body({ user: 7 })],
    ['user', body({ user: 'u'.repeat(257) })],
    ['user', body({ user: 'a\u0007' })],
    ['metadata', body({ metadata: { ['k'.repeat(65)]: 'v' } })],
    ['metadata.k', body({ metadata: { k: 'v'.repeat(513) } })],
    ['model', { messages }],
    ['model', body({ model: '' })],
    ['model', body({ model: 'm'.repeat(257) })],
    ['model', body({ model: 'a\nb' })],
    ['messages', { model: 'm' }],
    ['messages', body({ messages: [] })],
    ['messages', body({ messages: 'hi' })],
    ['messages.0', body({ messages: ['hi'] })],
    ['messages.0.role', body({ messages: [{ content: 'x' }] })],
    ['messages.1.role', body({ messages: [messages[0], { role: 'robot' }] })],
    ['messages.0.content', body({ messages: [{ role: 'user', content: { text: 'x' } }] })],
    ['messages.0.content.1', body({ messages: [{ role: 'user', content: [{ type: 'text' }, 5] }] })],
    ['messages.0.content', body({ messages: [{ role: 'user', content: Array(1001).fill({ type: 'text' }) }] })],
  ])('refuses an error at %s, with the found and the expected value', (param, given) => {
    const found = refusal(given);
    expect(found).toMatchObject({ kind: 'invalid_request', param });
    expect(found?.message).toMatch(/: found .+; expected .+/s);
  });

  test.each([['[]'], ['"x"'], ['null']])('as a whole where it is %s', (given) => {
    expect(refusal(given)).toMatchObject({ kind: 'invalid_request', param: undefined });
  });

  test('the first member at fault is the one that is named', () => {
    expect(refusal(body({ top_p: 9, temperature: 9 }))?.param).toBe('top_p');
  });
});

describe('the facts of a chat body', () => {
  test('returns the facts that the call pipeline needs', () => {
    const given = body({ stream: true, stream_options: { include_usage: true }, user: 'ann' });
    expect(checkRequest(outlineOf(given), CONTEXT)).toMatchObject({
      model: 'm',
      stream: true,
      wantsUsage: true,
      endUser: 'ann',
      inputBytes: JSON.stringify(given).length,
    });
  });

  test('count no bytes of images, audio and files', () => {
    const media = [
      { type: 'image_url', image_url: { url: 'data:'.padEnd(5_000, 'x') } },
      { type: 'input_audio', input_audio: { data: 'y'.repeat(4_000) } },
      { type: 'file', file: { file_data: 'z'.repeat(3_000) } },
    ];
    const given = body({ messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, ...media] }] });
    const mediaBytes = media.reduce((sum, part) => sum + JSON.stringify(part).length, 0);
    expect(checkRequest(outlineOf(given), CONTEXT).inputBytes).toBe(JSON.stringify(given).length - mediaBytes);
  });

  test('say whether sound or images come, or may come', () => {
    const extrasOf = (members: object) => checkRequest(outlineOf(body(members)), CONTEXT).extras;
    const audioParts = [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'y' } }] }];
    expect(extrasOf({ messages: audioParts })).toMatchObject({ mediaInput: true, mediaOutput: false });
    expect(extrasOf({ modalities: ['text', 'audio'] })).toMatchObject({ mediaInput: true, mediaOutput: true });
    for (const modalities of [undefined, null, ['text'], 'audio']) expect(extrasOf({ modalities })).toBeUndefined();
  });

  test('returns no end user if the request has none', () => {
    expect(checkRequest(outlineOf(body({ user: '' })), CONTEXT).endUser).toBeNull();
    expect(checkRequest(outlineOf(body({})), CONTEXT)).toMatchObject({
      endUser: null,
      stream: false,
      wantsUsage: false,
    });
  });
});

test('a body of the Responses API is led to its endpoint', () => {
  expect(refusal({ model: 'm', input: [] })?.message).toContain('send it to POST /v1/responses');
  expect(refusal({ model: 'm' })?.message).not.toContain('/v1/responses');
});
