/** Tests the service status for anonymous clients: providers by name only if the operator allows it. */
import { expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import type { Actor } from '../kernel/actor.ts';
import { person } from '../testing/policy-rig.ts';
import { statusHandlers } from './status.ts';

const ROUTE = 'GET /status';

function ask(publicStatus: 'summary' | 'full', actor: Actor, record: CallRecord | null = null) {
  const readHealth = (name: string) => ({ state: name === 'lab' ? 'failing' : 'healthy', calls: 9, errors: 9 });
  const providers = new Map([
    ['lab', {}],
    ['anthropic', {}],
  ]);
  const models = {
    running: () => ({ config: { server: { publicStatus }, providers }, providers: [] }),
    readHealth,
    nowMs: () => 0,
  };
  const parts = {
    models,
    deps: () => ({ ready: true, draining: false, recorder: { writable: () => true } }),
    calls: { readCalls: async () => (record === null ? [] : [record]) },
    version: '1',
    startedAtMs: 0,
    timeZoneOf: () => 'UTC',
  } as unknown as Parameters<typeof statusHandlers>[0];
  const query = record === null ? {} : { request_id: record.request_id };
  const call = { query, actor, address: null } as unknown as Parameters<
    ReturnType<typeof statusHandlers>[typeof ROUTE]
  >[0];
  return statusHandlers(parts)[ROUTE](call);
}

const NAMED = {
  state: 'degraded',
  problems: ['The provider lab is failing.'],
  providers: [
    { name: 'lab', state: 'failing' },
    { name: 'anthropic', state: 'healthy' },
  ],
};

test('strangers hear that a provider is failing, and no name', async () => {
  const summary = await ask('summary', { kind: 'anonymous' });
  expect(summary).toMatchObject({ state: 'degraded', problems: ['A model provider is failing.'], providers: [] });
  expect(JSON.stringify(summary)).not.toContain('lab');
});

test('providers are named with public_status full, and for signed-in users', async () => {
  expect(await ask('full', { kind: 'anonymous' })).toMatchObject(NAMED);
  expect(await ask('summary', person('per_1', 'team', 'viewer'))).toMatchObject(NAMED);
});

test('a looked-up request says why it failed: without names and amounts to strangers, with the remedy to members', async () => {
  const reason: Reason = {
    kind: 'budget_spent',
    subject: { type: 'key', id: 'key_1', name: 'prod web' },
    rule: { id: 'key:key_1', cap: 'budget', window: 'day' },
    used: '20000000000',
    limit: '20000000000',
    at_step: 'limits',
  };
  const record = sampleRecord('req_1', { account: 'team', status: 429, error: 'quota_exceeded', reason });
  const strangers = await ask('summary', { kind: 'anonymous' }, record);
  expect(strangers.call).toMatchObject({
    account: null,
    explanation: { sentence: 'Daily budget of this key doesn’t cover this request.', remedy: null },
  });
  const members = await ask('summary', person('per_1', 'team', 'owner'), record);
  expect(members.call).toMatchObject({
    account: 'team',
    explanation: {
      sentence: 'Daily budget of key prod web is used up: $20.00 of $20.00.',
      remedy: { label: 'Raise budget', page: '/app/keys/key_1' },
    },
  });
  const elsewhere = await ask('summary', person('per_2', 'other', 'owner'), record);
  expect(elsewhere.call).toEqual(strangers.call);
});
