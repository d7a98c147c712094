/** Tests a call's record before the call has ended, and that it contains no API key of ours. */
import { expect, test } from 'bun:test';
import { generateKeyText } from '../../identity/key-format.ts';
import { setPrincipal } from '../call.ts';
import { arrivedCall, routedCall } from '../testing/routed-call.ts';
import { draftRecord, redactKeys } from './settle.ts';

test('a draft states the caller, the model and the price', () => {
  const call = routedCall({
    facts: { model: 'asked', endUser: 'ann', stream: true },
    headers: { 'x-session-id': 's1', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' },
  });
  expect(draftRecord(call, 'config@1')).toEqual({
    request_id: call.requestId,
    at_ms: call.atMs,
    account: 'default',
    workspace: 'default',
    key_id: 'key_1',
    key_name: 'first',
    end_user: 'ann',
    session: 's1',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    protocol: 'chat',
    model: 'asked',
    served_model: 'm-upstream',
    provider: 'lab',
    stream: true,
    price_version: 'config@1',
  });
});

test.each(['x-claude-code-session-id', 'x-session-id', 'session-id'])('%s names the session', (name) => {
  expect(draftRecord(routedCall({ headers: { [name]: 's1' } }), null).session).toBe('s1');
});

test('the body names the session where no header does', () => {
  const body = '{"model":"m","metadata":{"session_id":"s2"}}';
  expect(draftRecord(routedCall({ body }), null).session).toBe('s2');
  expect(draftRecord(routedCall({ body, headers: { 'x-session-id': 's1' } }), null).session).toBe('s1');
});

test('a call that ended before its body was read has null members', () => {
  const call = arrivedCall();
  setPrincipal(call, routedCall({}).principal);
  const nothing = {
    model: null,
    end_user: null,
    trace_id: null,
    served_model: null,
    provider: null,
    stream: false,
    price_version: null,
  };
  expect(draftRecord(call, null)).toMatchObject(nothing);
});

test('a misplaced API key is not recorded', () => {
  const key = generateKeyText();
  const call = routedCall({ facts: { model: key, endUser: `a ${key}` }, headers: { 'x-session-id': key } });
  const draft = draftRecord(call, null);
  expect([draft.model, draft.end_user, draft.session]).toEqual(['[key]', 'a [key]', '[key]']);
  expect([redactKeys(null), redactKeys(undefined), redactKeys('plain')]).toEqual([null, null, 'plain']);
});
