/** Tests the sentence and the remedy of every kind of reason. */
import { expect, test } from 'bun:test';
import { REASON_KINDS, type Reason } from '../../errors/reason.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { type ExplainedRecord, explainFallback, explainReason } from './explain-reason.ts';

const ATTEMPT = { provider: 'anthropic', model: 'm', status: 529, error: 'upstream_overloaded' } as const;
const AT_MS = Date.parse('2026-11-22T18:00:00Z');
const RECORD: ExplainedRecord = {
  request_id: 'req_1',
  at_ms: AT_MS,
  model: 'gpt-5',
  error: 'x',
  usage: { ...ZERO_USAGE, output: 2_048 },
  duration_ms: 3_200,
  attempts: [ATTEMPT],
};
const KEY = { type: 'key', id: 'key_1', name: 'prod web' } as const;
const TEAM = { type: 'workspace', id: 'team-a', name: 'team-a' } as const;
const ACME = { type: 'account', id: 'acme', name: 'acme' } as const;
const MIDNIGHT = '2026-11-23T00:00:00.000Z';
const budget = { id: 'key:key_1', cap: 'budget', window: 'day' } as const;
const target = { provider: 'anthropic', model: 'm' };

type Row = readonly [
  reason: Omit<Reason, 'at_step'>,
  sentence: string,
  remedy: string | null,
  record?: Partial<ExplainedRecord>,
];

const ROWS: readonly Row[] = [
  [
    {
      kind: 'budget_spent',
      subject: KEY,
      rule: budget,
      used: '20000000000',
      limit: '20000000000',
      resets_at: MIDNIGHT,
    },
    'Daily budget of key prod web is used up: $20.00 of $20.00. Resets Nov 23, 00:00 UTC.',
    'Raise budget /app/keys/key_1',
  ],
  [
    {
      kind: 'budget_spent',
      subject: TEAM,
      rule: { ...budget, window: 'total' },
      used: '19970000000',
      limit: '20000000000',
      needed: '60000000',
    },
    'Budget of workspace team-a doesn’t cover this request: $19.97 of $20.00 is used or reserved; this request could cost $0.06.',
    'Raise budget /app/limits?open=workspace%20team-a',
  ],
  [
    {
      kind: 'balance_empty',
      subject: ACME,
      rule: { id: 'account:acme', cap: 'balance' },
      limit: '4000000',
      needed: '60000000',
    },
    'Account acme has $0.004 left; this request could cost $0.06.',
    'Top up /app/billing',
  ],
  [
    {
      kind: 'guardrail',
      subject: ACME,
      rule: { id: 'guardrail:grl_1', cap: 'guardrail' },
      message: 'the guardrail "Code names" blocks this request: a term of its list',
    },
    'The guardrail "Code names" blocks this request: a term of its list.',
    'Show rule /app/guardrails?rule=grl_1',
  ],
  [
    { kind: 'balance_empty', subject: ACME },
    'The balance of account acme doesn’t cover this request.',
    'Top up /app/billing',
  ],
  [
    {
      kind: 'rate_limited',
      subject: KEY,
      rule: { id: 'r', cap: 'requests_per_minute' },
      used: 60,
      limit: 60,
      needed: 1,
      resets_at: '2026-11-22T18:00:07.000Z',
    },
    'Key prod web: 60 of 60 requests per minute are used. Free again after 7 s.',
    'Edit limits /app/keys/key_1',
  ],
  [
    {
      kind: 'rate_limited',
      subject: KEY,
      rule: { id: 'r', cap: 'tokens_per_minute' },
      used: 4_000,
      limit: 10_000,
      needed: 7_000,
      resets_at: '2026-11-22T18:00:30.000Z',
    },
    'Key prod web: 4,000 of 10,000 tokens per minute are used, and this request needs 7,000. Free again after 30 s.',
    'Edit limits /app/keys/key_1',
  ],
  [
    {
      kind: 'rate_limited',
      subject: KEY,
      rule: { id: 'r', cap: 'tokens_per_minute' },
      used: 0,
      limit: 10_000,
      needed: 20_000,
    },
    'Key prod web: this request needs 20,000 tokens, and the limit is 10,000 per minute.',
    'Edit limits /app/keys/key_1',
  ],
  [
    { kind: 'concurrency', subject: TEAM, used: 8, limit: 8 },
    '8 of 8 concurrent requests of workspace team-a are in use.',
    'Edit limits /app/limits?open=workspace%20team-a',
  ],
  [
    { kind: 'model_not_allowed', subject: TEAM, allowed: ['claude-*'] },
    'Workspace team-a allows claude-*; gpt-5 isn’t included.',
    'Edit allowed models /app/workspaces?open=team-a',
  ],
  [{ kind: 'model_not_allowed' }, 'No model named gpt-5 is available here.', 'Show models /app/models'],
  [
    { kind: 'key_restricted', subject: KEY, rule: { id: 'k', cap: 'addresses' } },
    'Key prod web isn’t allowed from the address of this request.',
    'Edit key /app/keys/key_1',
  ],
  [
    { kind: 'unpriced', subject: { type: 'model', id: 'm', name: 'm' } },
    'The model m has no price, and a balance or a budget pays for this request.',
    'Set price /app/models?model=m',
  ],
  [
    { kind: 'invalid_request', param: 'temperature', message: 'temperature: found 3; expected a number from 0 to 2' },
    'Temperature: found 3; expected a number from 0 to 2.',
    null,
  ],
  [
    { kind: 'invalid_request', target, upstream: { status: 400, type: null, message: 'max_tokens is too large' } },
    'anthropic rejected the request (400): “max_tokens is too large”.',
    null,
  ],
  [
    { kind: 'provider_error', target, upstream: { status: 529, type: 'overloaded_error', message: 'Overloaded' } },
    'anthropic answered 529: “Overloaded” on both attempts.',
    'Show providers /app/providers?provider=anthropic',
    { attempts: [ATTEMPT, ATTEMPT] },
  ],
  [
    {
      kind: 'provider_error',
      target,
      upstream: { status: null, type: 'first_byte_timeout', message: 'no answer within 120000 ms' },
    },
    'anthropic failed: “no answer within 120000 ms”.',
    'Show providers /app/providers?provider=anthropic',
  ],
  [
    {
      kind: 'provider_error',
      target,
      targets: [{ provider: 'bedrock', model: 'm', state: 'open', until: '2026-11-22T11:02:00.000Z' }],
      upstream: { status: 529, type: null, message: 'Overloaded' },
    },
    'anthropic answered 529: “Overloaded”; bedrock was open until 11:02 UTC.',
    'Show providers /app/providers?provider=anthropic',
  ],
  [
    { kind: 'provider_error', target, upstream: { status: 529, type: null, message: 'Overloaded' } },
    'anthropic answered 529: “Overloaded”; lab failed: “no route”.',
    'Show providers /app/providers?provider=anthropic',
    {
      attempts: [
        {
          provider: 'lab',
          model: 'm',
          status: null,
          error: 'upstream_failed',
          class: 'unreached',
          message: 'no route',
        },
        ATTEMPT,
      ],
    },
  ],
  [
    {
      kind: 'no_target',
      subject: { type: 'model', id: 'gpt-5', name: 'gpt-5' },
      targets: [
        { provider: 'openai', model: 'm', state: 'cooling', until: '2026-11-22T11:02:00.000Z' },
        { provider: 'azure', model: 'm', state: 'benched' },
        { provider: 'lab', model: 'm', state: 'full' },
      ],
    },
    'All targets of gpt-5 are unavailable: openai was rate-limited until 11:02 UTC; azure was out of use, because it refuses our credential or the model; lab had no capacity left.',
    'Show targets /app/models?model=gpt-5',
  ],
  [
    {
      kind: 'model_not_allowed',
      subject: { type: 'model', id: 'gpt-5', name: 'gpt-5' },
      rule: { id: 'model:gpt-5', cap: 'tags' },
      allowed: ['eu'],
    },
    'No target of gpt-5 has the required data tags: eu.',
    'Show models /app/models?model=gpt-5',
  ],
  [
    { kind: 'invalid_request', limit: 200_000, needed: 210_000, param: 'messages' },
    'The prompt has 210,000 tokens; the context of gpt-5 takes 200,000.',
    null,
    { error: 'context_overflow' },
  ],
  [
    { kind: 'provider_credential', target, upstream: { status: 401, type: null, message: 'invalid x-api-key' } },
    'anthropic refused our credential or account (401).',
    'Replace credential /app/providers?provider=anthropic',
  ],
  [
    { kind: 'cut', target, upstream: { status: null, type: null, message: null } },
    'anthropic ended the answer after 2,048 tokens.',
    'Show providers /app/providers?provider=anthropic',
  ],
  [{ kind: 'client_closed' }, 'The client disconnected after 3.2 s.', null],
  [
    { kind: 'client_closed' },
    'The client stopped reading; the connection was closed after 3.2 s.',
    null,
    { error: 'reader_too_slow' },
  ],
  [
    { kind: 'money_ran_out', subject: KEY, rule: budget, used: '20000000000', limit: '20000000000' },
    'Stopped after 2,048 tokens: the daily budget of key prod web ($20.00 of $20.00 used or reserved) is used up.',
    'Raise budget /app/keys/key_1',
  ],
  [
    { kind: 'money_ran_out', subject: ACME, rule: { id: 'a', cap: 'balance' }, limit: '0' },
    'Stopped after 1 token: the balance of account acme is used up.',
    'Top up /app/billing',
    { usage: { ...ZERO_USAGE, output: 1 } },
  ],
  [{ kind: 'ours' }, 'We failed (ref req_1).', null],
  [
    { kind: 'ours', message: 'the gateway is shutting down; try again' },
    'The gateway is shutting down; try again (ref req_1).',
    null,
  ],
  [
    { kind: 'ours' },
    'The gateway stopped while this request was running (ref req_1).',
    null,
    { error: 'gateway_crashed' },
  ],
];

test.each(ROWS.map(([reason, ...rest]) => [reason.kind, reason, ...rest] as const))(
  '%s',
  (_, reason, sentence, remedy, record = {}) => {
    const explained = explainReason({ ...reason, at_step: 'limits' }, { ...RECORD, ...record }, 'UTC');
    expect(explained.sentence).toBe(sentence);
    expect(explained.remedy === null ? null : `${explained.remedy.label} ${explained.remedy.page}`).toBe(remedy);
  },
);

test('a request that another target answered says which attempts failed before', () => {
  const answered = { provider: 'bedrock', model: 'm', status: 200, error: null };
  const overloaded = { ...ATTEMPT, class: 'overloaded', message: 'Overloaded' };
  const late = { provider: 'lab', model: 'm', status: null, error: 'upstream_timeout', class: 'timeout' };
  expect(explainFallback({ attempts: [overloaded, answered] })).toBe(
    'Answered by bedrock after anthropic answered 529: “Overloaded”.',
  );
  expect(explainFallback({ attempts: [overloaded, late, overloaded, late, answered] })).toBe(
    'Answered by bedrock after anthropic answered 529: “Overloaded”, lab timed out, anthropic answered 529: “Overloaded” and 1 more attempt failed.',
  );
  // Sent once more in another form, slower than another attempt, not answered at all, answered at once.
  expect(explainFallback({ attempts: [{ ...ATTEMPT, status: 400 }, answered] })).toBeNull();
  expect(explainFallback({ attempts: [{ ...ATTEMPT, class: 'beaten' }, answered] })).toBeNull();
  expect(explainFallback({ attempts: [overloaded, late] })).toBeNull();
  expect(explainFallback({ attempts: [answered] })).toBeNull();
});

test('no kind is without a row, and none fails where only its kind is known', () => {
  expect([...new Set(ROWS.map(([{ kind }]) => kind))].sort()).toEqual([...REASON_KINDS].sort());
  for (const kind of REASON_KINDS) {
    expect(explainReason({ kind, at_step: 'read' }, { ...RECORD, model: null }, 'UTC').sentence).toMatch(/^\S.*\.$/);
  }
});
