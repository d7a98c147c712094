/** Tests where a session's name is read, its limit, and values that are no names. */
import { describe, expect, test } from 'bun:test';
import { readBodySession, readHeaderSession, SESSION_CHARS_MAX } from './named-session.ts';
import { outlineOf } from './testing/outline-of.ts';

const inBody = (body: unknown) => readBodySession(outlineOf(body).root);
const inHeaders = (headers: Record<string, string>) => readHeaderSession(new Headers(headers));

describe('a header', () => {
  test('names the session; the first that is not empty counts', () => {
    expect(inHeaders({ 'x-claude-code-session-id': 'a', 'x-session-id': 'b', 'session-id': 'c' })).toBe('a');
    expect(inHeaders({ 'x-claude-code-session-id': '', 'x-session-id': ' b ', 'session-id': 'c' })).toBe('b');
    expect(inHeaders({ 'session-id': 'c' })).toBe('c');
    expect(inHeaders({ session_id: 'd', 'x-session-affinity': 'e' })).toBe('d');
    expect(inHeaders({ 'x-session-affinity': 'e' })).toBe('e');
    expect(inHeaders({ 'x-session-id': ' ', other: 'd' })).toBeNull();
  });

  test('of more than 256 characters becomes a digest, different for different names', () => {
    const long = 's'.repeat(SESSION_CHARS_MAX);
    expect(inHeaders({ 'x-session-id': long })).toBe(long);
    const one = inHeaders({ 'x-session-id': `${long}1` });
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(inHeaders({ 'x-session-id': `${long}2` })).not.toBe(one);
    expect(inBody({ metadata: { session_id: `${long}1` } })).toBe(one);
  });
});

describe('a body', () => {
  test.each<[string, unknown]>([
    ['metadata of chat, messages and responses', { metadata: { session_id: 's1' }, conversation: 'conv_2' }],
    ['the conversation of a response, by its id', { conversation: 's1', metadata: { topic: 'x' } }],
    ['the conversation of a response, as an object', { conversation: { id: 's1' } }],
    ['the user id of Claude Code', { metadata: { user_id: 'user_1_account_2_session_s1' } }],
    ['the user id of Claude Code as JSON', { metadata: { user_id: '{"device_id":"d","session_id":"s1"}' } }],
  ])('%s names it', (_, body) => {
    expect(inBody(body)).toBe('s1');
  });

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['a list', []],
    ['other types', { metadata: { session_id: 7, user_id: ['_session_x'] }, conversation: { id: null } }],
    ['metadata that is no object', { metadata: 'session_id', conversation: false }],
    ['empty names', { metadata: { session_id: ' ', user_id: 'user_1_session_' }, conversation: '' }],
    ['a user id that only looks like JSON', { metadata: { user_id: '{"session_id":"s1"' } }],
    ['a user id with another type in it', { metadata: { user_id: '{"session_id":{"toString":1}}' } }],
    ['a cache key, which may be the same for all requests', { prompt_cache_key: 's1' }],
    ['the previous response, which is a turn and not a session', { previous_response_id: 'resp_1' }],
  ])('%s names none', (_, body) => {
    expect(inBody(body)).toBeNull();
  });

  test('keeps characters that only look dangerous', () => {
    for (const name of ["'; DROP TABLE call_record; --", '<img src=x>', '../../etc', 'a\u0000b', '會話\u{1f600}']) {
      expect(inBody({ metadata: { session_id: name } })).toBe(name);
    }
  });
});
