/**
 * Tests who sees how much of a reason and of attempts: only the operator sees a model's rule, a credential and the costs
 * of failed attempts, the whole account sees a balance.
 */
import { expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import { type MemberRights, memberMay } from '../../people/roles.ts';
import { lostAttempt } from '../../store/testing/sample-call.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import type { Tenancy } from '../kernel/actor.ts';
import { explainCall, showCall } from './show-call.ts';

function tenancyOf(account: string, rights: MemberRights): Tenancy {
  return { account, workspaces: rights.workspaces, may: (permission) => memberMay(rights, permission, account) };
}

const OPERATOR = tenancyOf('default', { role: 'admin', workspaces: null });
const OWNER = tenancyOf('acme', { role: 'owner', workspaces: null });
const VIEWER = tenancyOf('acme', { role: 'viewer', workspaces: ['red'] });

const numbers = { used: '7', limit: '9', needed: '3' };
const model: Reason = {
  kind: 'budget_spent',
  subject: { type: 'model', id: 'm', name: 'm' },
  rule: { id: 'model:m', cap: 'budget', window: 'day' },
  ...numbers,
  at_step: 'limits',
};
const balance: Reason = {
  kind: 'balance_empty',
  subject: { type: 'account', id: 'acme', name: 'acme' },
  rule: { id: 'account:acme', cap: 'balance' },
  limit: '9',
  needed: '3',
  at_step: 'limits',
};
const credential: Reason = {
  kind: 'provider_credential',
  target: { provider: 'lab', model: 'm' },
  upstream: { status: 400, type: null, message: 'your credit balance is too low' },
  at_step: 'provider',
};
const ownKey: Reason = {
  kind: 'rate_limited',
  subject: { type: 'key', id: 'key_1', name: 'first' },
  rule: { id: 'key:key_1', cap: 'requests_per_minute' },
  used: 2,
  limit: 2,
  needed: 1,
  at_step: 'limits',
};

const shown = (tenancy: Tenancy, reason: Reason) => showCall(tenancy, sampleRecord('req_1', { reason })).reason;

test('operators see everything', () => {
  for (const reason of [model, balance, credential, ownKey]) expect(shown(OPERATOR, reason)).toEqual(reason);
});

test('the operator’s rule and account are named to others, without numbers and words', () => {
  for (const tenancy of [OWNER, VIEWER]) {
    expect(shown(tenancy, model)).toEqual({
      kind: 'budget_spent',
      subject: { type: 'model', id: 'm', name: 'm' },
      rule: { id: 'model:m', cap: 'budget', window: 'day' },
      at_step: 'limits',
    });
    expect(shown(tenancy, credential)).toEqual({
      kind: 'provider_credential',
      target: { provider: 'lab', model: 'm' },
      at_step: 'provider',
    });
  }
});

test('only members of the whole account see the account’s balance', () => {
  expect(shown(OWNER, balance)).toEqual(balance);
  expect(JSON.stringify(shown(VIEWER, balance))).not.toContain('9');
});

test('everyone who sees a key’s requests sees its limits', () => {
  for (const tenancy of [OWNER, VIEWER]) expect(shown(tenancy, ownKey)).toEqual(ownKey);
});

test('the sentence reveals no hidden member, and only usable remedies are offered', () => {
  const shownTo = (tenancy: Tenancy, reason: Reason) =>
    explainCall(tenancy, sampleRecord('req_1', { reason, status: 429, error: 'quota_exceeded' }), 'UTC');
  expect(shownTo(OPERATOR, balance)).toEqual({
    sentence: 'Account acme has $0.000000009 left; this request could cost $0.000000003.',
    remedy: { label: 'Top up', page: '/app/billing' },
  });
  expect(shownTo(VIEWER, balance)).toEqual({
    sentence: 'The balance of account acme doesn’t cover this request.',
    remedy: null,
  });
  expect(shownTo(OWNER, ownKey)?.remedy).toEqual({ label: 'Edit limits', page: '/app/keys/key_1' });
  expect(shownTo(VIEWER, ownKey)?.remedy).toBeNull();
});

test('only operators read what a provider said of their credential, also where another one failed last', () => {
  const refused = { ...lostAttempt('yes', 7), provider: 'lab', status: 401, error: 'upstream_credential' };
  const attempts = [{ ...refused, class: 'credential', message: 'the key sk… of org' }];
  const reason: Reason = {
    kind: 'provider_error',
    target: { provider: 'second', model: 'm' },
    upstream: { status: 500, type: null, message: 'odd' },
    at_step: 'provider',
  };
  const record = sampleRecord('req_1', { reason, status: 500, error: 'upstream_failed', attempts });
  expect(explainCall(OPERATOR, record, 'UTC')?.sentence).toContain('the key sk…');
  for (const tenancy of [OWNER, VIEWER]) {
    expect(explainCall(tenancy, record, 'UTC')?.sentence).toBe('second answered 500: “odd”; lab answered 401.');
  }
});

test('a record without a reason has no explanation', () => {
  expect(explainCall(OPERATOR, sampleRecord('req_1'), 'UTC')).toBeNull();
});

test('only operators see what failed attempts cost them, and by which credential', () => {
  const known = { target: 'second', class: 'fault', door: 'runtime', region: 'eu-central-1' };
  const attempt = { ...lostAttempt('maybe', 7), credential: 'spare', ...known };
  const record = sampleRecord('req_1', { attempts: [attempt] });
  expect(showCall(OPERATOR, record).attempts).toEqual([attempt]);
  const { provider, model: name, status, error, duration_ms } = attempt;
  const seen = { provider, model: name, status, error, duration_ms, ...known };
  for (const tenancy of [OWNER, VIEWER]) expect(showCall(tenancy, record).attempts).toEqual([seen]);
});
