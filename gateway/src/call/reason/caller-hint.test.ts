/** Tests that a hint tells the caller numbers and names of the own key only, and strangers none at all. */
import { expect, test } from 'bun:test';
import { CallFailure } from '../../errors/call-failure.ts';
import { REASON_KINDS, type Reason } from '../../errors/reason.ts';
import { arrivedCall } from '../testing/routed-call.ts';
import { publicReason, withHint } from './caller-hint.ts';

const SECRETS = [
  'Secret Name',
  'secret-id',
  '7777',
  '8888',
  '9999',
  'secretprovider',
  'secret words',
  'secret-pattern',
];

const reasonOf = (kind: Reason['kind'], type: NonNullable<Reason['subject']>['type']): Reason => ({
  kind,
  subject: { type, id: 'secret-id', name: 'Secret Name' },
  rule: { id: `${type}:secret-id`, cap: kind === 'balance_empty' ? 'balance' : 'budget', window: 'day' },
  used: '7777',
  limit: '8888',
  needed: '9999',
  resets_at: '2026-11-24T00:00:00.000Z',
  allowed: ['secret-pattern'],
  target: { provider: 'secretprovider', model: 'secretprovider-model' },
  targets: [{ provider: 'secretprovider', model: 'm', state: 'open', until: '2026-11-24T00:00:00.000Z' }],
  upstream: { status: 529, type: 'secret words', message: 'secret words' },
  at_step: 'limits',
});

function hintOf(reason: Reason, userAgent = 'test') {
  const call = arrivedCall({ 'user-agent': userAgent });
  return withHint(call, new CallFailure('quota_exceeded', 'no'), reason).details.hint;
}

test.each(['end_user', 'workspace', 'account', 'model'] as const)('nothing of a limit of %s', (type) => {
  for (const kind of REASON_KINDS) {
    const told = JSON.stringify([hintOf(reasonOf(kind, type)), publicReason(reasonOf(kind, type))]);
    for (const secret of SECRETS) expect({ kind, told }).not.toMatchObject({ told: expect.stringContaining(secret) });
  }
});

test('the numbers of the own key, and nothing of providers', () => {
  expect(hintOf(reasonOf('budget_spent', 'key'))).toEqual({
    kind: 'budget_spent',
    sentence:
      'Daily budget of key Secret Name doesn’t cover this request: $0.000007777 of $0.000008888 is used or reserved; this request could cost $0.000009999. Resets Nov 24, 00:00 UTC.',
    resets_at: '2026-11-24T00:00:00.000Z',
  });
  for (const kind of REASON_KINDS) {
    expect(JSON.stringify(hintOf(reasonOf(kind, 'key')) ?? null)).not.toMatch(/secretprovider|secret words/);
  }
  expect(JSON.stringify(publicReason(reasonOf('budget_spent', 'key')))).not.toMatch(/secret|Secret|7777/);
});

test('no hint where the message says it all, without a record, and for agents that search the body for digits', () => {
  for (const kind of ['invalid_request', 'client_closed', 'ours'] as const) {
    expect(hintOf(reasonOf(kind, 'key'))).toBeUndefined();
  }
  expect(withHint(arrivedCall(), new CallFailure('unauthorized', 'no'), null).details.hint).toBeUndefined();
  expect(hintOf(reasonOf('budget_spent', 'key'), 'opencode/1.18')).toBeUndefined();
});
