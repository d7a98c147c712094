/** Tests the list of reasons: its groups as their reader may see them, its range and filters. */
import { expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import type { ReasonsAnswer, ReasonsQuestion } from '../../store/ports/usage.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { tenancyOf } from '../kernel/actor.ts';
import { person } from '../testing/policy-rig.ts';
import { reasonHandlers } from './reasons.ts';

const ROUTE = 'GET /accounts/{account}/reasons';
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const BALANCE: Reason = {
  kind: 'balance_empty',
  subject: { type: 'account', id: 'team', name: 'Team' },
  rule: { id: 'account:team', cap: 'balance' },
  limit: '9000000000',
  needed: '12000000000',
  at_step: 'limits',
};

async function ask(actor: Parameters<typeof tenancyOf>[0], query: Record<string, string>) {
  const asked: ReasonsQuestion[] = [];
  const answer: ReasonsAnswer = {
    groups: [
      {
        group: '["balance_empty","quota_exceeded","account","team","balance",null,null]',
        requests: 7,
        newest: sampleRecord('req_7', { account: 'team', at_ms: NOW_MS, error: 'quota_exceeded', reason: BALANCE }),
        oldestMs: NOW_MS - 5_000,
      },
    ],
    requests: 9,
    otherGroups: 1,
    countedFromMs: NOW_MS - 60_000,
  };
  const handlers = reasonHandlers({
    usage: {
      readReasons: async (question) => {
        asked.push(question);
        return answer;
      },
    },
    labelsOf: async () => {
      throw new Error('no filter needs labels');
    },
    nowMs: () => NOW_MS,
    timeZoneOf: () => 'UTC',
  });
  const tenancy = tenancyOf(actor, 'team');
  const call = { tenancy, query, path: { account: 'team' } } as unknown as Parameters<
    (typeof handlers)[typeof ROUTE]
  >[0];
  return { reply: await handlers[ROUTE](call), asked };
}

test('groups have their number, range, newest request and explanation', async () => {
  const { reply, asked } = await ask(person('per_1', 'team', 'owner'), { reason: 'balance_empty', model: 'm' });
  expect(reply).toEqual({
    groups: [
      {
        group: '["balance_empty","quota_exceeded","account","team","balance",null,null]',
        kind: 'balance_empty',
        error: 'quota_exceeded',
        subject: { type: 'account', id: 'team', name: 'Team' },
        rule: { id: 'account:team', cap: 'balance' },
        requests: 7,
        first_at: '2026-11-22T11:59:55.000Z',
        last_at: '2026-11-22T12:00:00.000Z',
        newest_request_id: 'req_7',
        explanation: {
          sentence: 'Account Team has $9.00 left; this request could cost $12.00.',
          remedy: null,
        },
      },
    ],
    requests: 9,
    other_groups: 1,
    counted_from: '2026-11-22T11:59:00.000Z',
    filter_labels: [],
  });
  expect(asked).toMatchObject([
    {
      tenant: { account: 'team', workspaces: null },
      reason: 'balance_empty',
      condition: { model: 'm' },
      fromMs: NOW_MS - 86_400_000,
      toMs: NOW_MS + 1,
    },
  ]);
});

test('a member of some workspaces reads their requests only, and no balance', async () => {
  const { reply, asked } = await ask(person('per_2', 'team', 'viewer', ['research']), {});
  expect(asked[0]?.tenant).toEqual({ account: 'team', workspaces: ['research'] });
  expect(reply.groups[0]?.explanation.sentence).toBe('The balance of account Team doesn’t cover this request.');
});

test('a range that ends before it begins is refused', () => {
  const query = { from: '2026-11-22T12:00:00.000Z', to: '2026-11-22T11:00:00.000Z' };
  expect(ask(person('per_3', 'team', 'owner'), query)).rejects.toThrow('is not after');
});
