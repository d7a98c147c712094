/** Tests what the reason of a failed call contains: the rule, the provider's message, and never text of the request. */
import { describe, expect, test } from 'bun:test';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import { arrivedCall } from '../testing/routed-call.ts';
import { buildReason } from './build-reason.ts';

function reasonOf(failure: CallFailure, begun = false) {
  const call = arrivedCall();
  call.failure = failure;
  return buildReason(call, failure.kind, begun);
}

describe('a request that is refused here', () => {
  test('keeps the member, the numbers and the expectation', () => {
    const failure = invalidRequest('temperature: found 3; expected a number from 0 to 2', 'temperature');
    expect(reasonOf(failure)).toEqual({
      kind: 'invalid_request',
      param: 'temperature',
      message: 'temperature: found 3; expected a number from 0 to 2',
      at_step: 'read',
    });
  });

  test('keeps no text of the request', () => {
    for (const text of ['my diagnosis', 'a \\"quoted\\" word', '', 'found \\"x']) {
      const message = `messages.0.content: found "${text}"; expected an array`;
      expect(reasonOf(invalidRequest(message)).message).toBe('messages.0.content: found a string; expected an array');
    }
  });

  test('keeps no API key that was sent in a wrong place', () => {
    const key = `tg_${'a'.repeat(49)}`;
    expect(JSON.stringify(reasonOf(invalidRequest(`${key}: an unknown member`, key)))).not.toContain(key);
  });
});

describe('the text of the provider', () => {
  const upstream = { status: 529, type: 'overloaded_error', message: 'Overloaded' };

  test('text is truncated to 300 characters', () => {
    const failure = new CallFailure('upstream_overloaded', 'the model provider is overloaded', { upstream });
    expect(reasonOf(failure)).toEqual({ kind: 'provider_error', upstream, at_step: 'read' });
    const long = new CallFailure('upstream_failed', 'failed', {
      upstream: { ...upstream, message: `${'x'.repeat(299)}😀` },
    });
    const { message } = reasonOf(long).upstream ?? { message: '' };
    expect([message?.length, message?.isWellFormed()]).toEqual([300, true]);
  });

  test('after the answer began is a cut', () => {
    expect(reasonOf(new CallFailure('upstream_failed', 'failed', { upstream }), true).kind).toBe('cut');
    expect(reasonOf(new CallFailure('upstream_credential', 'refused', { upstream }), true).kind).toBe(
      'provider_credential',
    );
  });
});

test('a gateway fault reveals no internal cause', () => {
  const failure = new CallFailure('gateway_fault', 'undefined is not a function', { cause: new Error('secret') });
  expect(reasonOf(failure)).toEqual({ kind: 'ours', at_step: 'read' });
});

test('every kind of failure has a reason even without details', () => {
  const call = arrivedCall();
  for (const kind of Object.keys(FAILURE_KINDS) as FailureKind[]) {
    expect(Object.keys(buildReason(call, kind, false)).sort()).toEqual(['at_step', 'kind']);
  }
});
