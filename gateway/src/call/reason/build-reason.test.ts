/** Tests what the reason of a failed call contains: the rule, the provider's message, and never text of the request. */
import { describe, expect, test } from 'bun:test';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import type { Reason } from '../../errors/reason.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { type Arrived, type Identified, setFacts } from '../call.ts';
import { arrivedCall, routedCall } from '../testing/routed-call.ts';
import { buildReason } from './build-reason.ts';
import { publicReason } from './caller-hint.ts';
import { explainReason } from './explain-reason.ts';

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

  test('keeps no text that is a key of an object', () => {
    const path = 'metadata["my diagnosis is"].a';
    expect(reasonOf(invalidRequest(`${path}: found 3; expected a text`, path))).toMatchObject({
      param: 'metadata[[…]].a',
      message: 'metadata[[…]].a: found 3; expected a text',
    });
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

describe('every kind of failure, at every step of a call', () => {
  const SECRET = 'Canary-Prompt-7731';
  const upstream = { status: 418, type: 'odd', message: `no ${SECRET} here: ${'long '.repeat(200)}` };
  const STEPS: Readonly<Record<Reason['at_step'], () => Arrived>> = {
    read: () => arrivedCall(),
    route: () => {
      const call = arrivedCall();
      const { outline, facts } = routedCall({});
      setFacts(call as Identified, outline, facts);
      return call;
    },
    limits: () => routedCall({ body: `{"model":"m","messages":["${SECRET}"]}` }),
    provider: () => Object.assign(routedCall({ body: `{"model":"m","messages":["${SECRET}"]}` }), { attempted: true }),
    answer: () => Object.assign(routedCall({ body: `{"model":"m","messages":["${SECRET}"]}` }), { attempted: true }),
  };

  test.each(Object.entries(STEPS))('%s', (step, open) => {
    for (const kind of Object.keys(FAILURE_KINDS) as FailureKind[]) {
      for (const details of [{}, { upstream }, { param: 'messages.0', tokens: { prompt: 9, output: 1, max: 8 } }]) {
        const call = open();
        call.failure = new CallFailure(kind, `members: found "${SECRET}"; expected another text`, details);
        const reason = buildReason(call, kind, step === 'answer');
        expect({ kind, step: reason.at_step }).toEqual({ kind, step: step as Reason['at_step'] });
        // The body is not at hand before it was read.
        if (step !== 'read' && step !== 'route') expect(JSON.stringify(reason)).not.toContain(SECRET);
        expect(JSON.stringify(reason).length).toBeLessThan(1_000);
        expect((reason.upstream?.message ?? '').length).toBeLessThanOrEqual(300);
        const record = { ...sampleRecord('req_1', { error: kind, reason }), attempts: [] };
        for (const told of [reason, publicReason(reason)]) {
          const { sentence } = explainReason(told, record, 'UTC');
          expect(sentence).toMatch(/^\S.*[^.]\.$/);
          expect(sentence).not.toMatch(/undefined|null|NaN| {2}/);
        }
      }
    }
  });
});

test('every kind of failure has a reason even without details', () => {
  const call = arrivedCall();
  for (const kind of Object.keys(FAILURE_KINDS) as FailureKind[]) {
    expect(Object.keys(buildReason(call, kind, false)).sort()).toEqual(['at_step', 'kind']);
  }
});
