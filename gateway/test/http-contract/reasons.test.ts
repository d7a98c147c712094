/**
 * Tests why requests failed, end to end: each kind of failure that a caller can meet has a reason with its members, one
 * sentence, a hint in the error body that tells no more than the key's holder may know, and no content of the request.
 * The other kinds are in `records.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { explainFallback, explainReason } from '../../src/call/reason/explain-reason.ts';
import { FAILURE_KINDS } from '../../src/errors/failure-kinds.ts';
import type { Reason } from '../../src/errors/reason.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, type HeaderChanges, post, type Side } from './calls.ts';
import { control, createKey } from './make-key.ts';

const CANARY = 'Canary-Prompt-7731';
const TOOL_CANARY = 'Canary-Argument-9942';
const PROMPT = `tell nobody of ${CANARY} and of the green house by the sea`;
const ECHO = { error: { type: 'odd_error', message: `Overloaded by "${PROMPT}" and ${TOOL_CANARY}` } };
const PRICE = { input: 1, output: 5 };

/** Providers of their own: a failure of one is none of another. */
const PROVIDERS = ['first', 'second', 'paused', 'slow', 'echoing', 'gone'] as const;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => ({
    providers: {
      ...Object.fromEntries(
        PROVIDERS.map((name) => [name, { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'none' }]),
      ),
      claude: { kind: 'anthropic', base_url: `${url}/v1`, api_key: 'none' },
    },
    models: {
      plain: { price: PRICE, targets: [{ provider: 'second', model: 'answers' }] },
      unpriced: { targets: [{ provider: 'second', model: 'answers' }] },
      falling: {
        price: PRICE,
        targets: [
          { provider: 'echoing', model: 'overloaded' },
          { provider: 'second', model: 'answers' },
        ],
      },
      paused: { price: PRICE, targets: [{ provider: 'paused', model: 'limited' }] },
      slow: { price: PRICE, targets: [{ provider: 'slow', model: 'held' }] },
      rejecting: { price: PRICE, targets: [{ provider: 'echoing', model: 'rejecting' }] },
      tagged: {
        price: PRICE,
        targets: [
          { provider: 'second', model: 'answers', tags: ['eu'] },
          { provider: 'first', model: 'answers', tags: ['eu'] },
        ],
      },
      small: { price: PRICE, targets: [{ provider: 'claude', model: 'small' }] },
      gone: { price: PRICE, targets: [{ provider: 'gone', model: 'gone' }] },
    },
  }));
  pair.fake.script('answers', { answer: 'ok' });
  pair.fake.script('overloaded', { status: 529, json: ECHO });
  pair.fake.script('rejecting', { status: 422, json: ECHO });
  pair.fake.script('limited', { status: 429, headers: { 'retry-after': '600' }, json: ECHO });
  const tooLong = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
  pair.fake.script('small', { status: 400, json: tooLong('prompt is too long: 210000 tokens > 200000 maximum') });
  pair.fake.script('gone', { status: 404, json: { error: { message: 'The model `gone` does not exist' } } });
  pair.fake.script('held', { answer: 'ok', delayBeforeFirstByteMs: 60_000 });
});
afterAll(() => pair.stop());

interface Ended {
  readonly status: number;
  readonly text: string;
  readonly hint: { readonly kind: string; readonly sentence: string; readonly resets_at?: string } | undefined;
  readonly record: CallLine;
}

interface Sent {
  readonly key?: string;
  readonly side?: Side;
  readonly headers?: HeaderChanges;
}

/** Sends a request with the canaries, and waits for its record. */
async function send(
  members: object,
  { key = pair.gateway.key, side = 'chat', headers = {} }: Sent = {},
): Promise<Ended> {
  const body = goodBody(side, {
    messages: [
      { role: 'user', content: PROMPT },
      ...(side === 'chat'
        ? [
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'look', arguments: `{"at":"${TOOL_CANARY}"}` } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
          ]
        : []),
    ],
    ...members,
  });
  const response = await post({ url: pair.gateway.url, key }, side, body, headers);
  const text = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const record = await eventually('the record', async () => (await pair.gateway.calls('--request-id', id))[0] ?? null);
  const hint = text.startsWith('{') ? JSON.parse(text).error?.hint : undefined;
  return { status: response.status, text, hint, record };
}

function sentenceOf(record: CallLine): string {
  if (record.reason === undefined) throw new Error(`${record.request_id} has no reason`);
  return explainReason(record.reason, asRecord(record), 'UTC').sentence;
}

const asRecord = (line: CallLine) =>
  ({ ...line, at_ms: Date.parse((line as unknown as { at: string }).at) }) as unknown as CallRecord;

interface Case {
  readonly error: string;
  readonly reason: Partial<Reason>;
  readonly sentence: RegExp;
  /** Null: the error body has none. */
  readonly hint: RegExp | null;
  readonly end: () => Promise<Ended>;
}

const keyOf = async (given: object) => (await createKey(pair.gateway, { name: 'prod web', ...given })).key;

const CASES: Readonly<Record<string, Case>> = {
  'requests per minute of a key': {
    error: 'rate_limited',
    reason: {
      kind: 'rate_limited',
      used: 1,
      limit: 1,
      needed: 1,
      rule: { id: expect.any(String), cap: 'requests_per_minute' },
    },
    sentence: /^Key prod web: 1 of 1 requests per minute are used\. Free again after \d+ s\.$/,
    hint: /^Key prod web: 1 of 1 requests/,
    end: async () => {
      const key = await keyOf({ rpm: 1 });
      await send({ model: 'plain' }, { key });
      return send({ model: 'plain' }, { key });
    },
  },
  'tokens per minute that no waiting gives': {
    error: 'rate_out_of_reach',
    reason: { kind: 'rate_limited', limit: 1, rule: { id: expect.any(String), cap: 'tokens_per_minute' } },
    sentence: /^Key prod web: this request needs \d+ tokens, and the limit is 1 per minute\.$/,
    hint: /and the limit is 1 per minute\.$/,
    end: async () => send({ model: 'plain' }, { key: await keyOf({ tpm: 1 }) }),
  },
  'concurrency of a workspace': {
    error: 'rate_limited',
    reason: { kind: 'concurrency', used: 1, limit: 1, subject: { type: 'workspace', id: 'busy', name: 'busy' } },
    sentence: /^1 of 1 concurrent requests of workspace busy are in use\.$/,
    hint: /^The workspace of this key has reached its limit of concurrent requests\.$/,
    end: async () => {
      await control(pair.gateway, 'workspaces.create', { id: 'busy' });
      await control(pair.gateway, 'limits.set', { workspace: 'busy', concurrency: 1 });
      const key = await keyOf({ workspace: 'busy' });
      const leaving = new AbortController();
      const running = fetch(`${pair.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(goodBody('chat', { model: 'slow' })),
        signal: leaving.signal,
      }).catch(() => null);
      await eventually('the first request', () => (pair.fake.served('held').length > 0 ? true : null));
      const ended = await send({ model: 'plain' }, { key });
      leaving.abort();
      await running;
      return ended;
    },
  },
  'daily budget of a key': {
    error: 'quota_exceeded',
    reason: { kind: 'budget_spent', limit: '1', rule: { id: expect.any(String), cap: 'budget', window: 'day' } },
    sentence: /^Daily budget of key prod web doesn’t cover this request: .* Resets .* UTC\.$/,
    hint: /^Daily budget of key prod web/,
    end: async () =>
      send({ model: 'plain' }, { key: await keyOf({ budget_usd: '0.000000001', budget_window: 'day' }) }),
  },
  'a model without a price where a budget pays': {
    error: 'unpriced',
    reason: { kind: 'unpriced', subject: { type: 'model', id: 'unpriced', name: 'unpriced' } },
    sentence: /^The model unpriced has no price/,
    hint: /^The model unpriced has no price/,
    end: async () => send({ model: 'unpriced' }, { key: await keyOf({ budget_usd: '1', budget_window: 'day' }) }),
  },
  'a model that the key does not allow': {
    error: 'model_forbidden',
    reason: { kind: 'model_not_allowed', allowed: ['plain'] },
    sentence: /^Key prod web allows plain; falling isn’t included\.$/,
    hint: /^Key prod web allows plain; falling isn’t included\.$/,
    end: async () => send({ model: 'falling' }, { key: await keyOf({ models: ['plain'] }) }),
  },
  'data tags that no target has': {
    error: 'model_forbidden',
    reason: { kind: 'model_not_allowed', rule: { id: 'model:tagged', cap: 'tags' }, allowed: ['us'] },
    sentence: /^No target of tagged has the required data tags: us\.$/,
    hint: /^No target of tagged has the required data tags\.$/,
    end: () => send({ model: 'tagged' }, { headers: { 'x-tollgate-require': 'us' } }),
  },
  'a provider that rejects the request': {
    error: 'upstream_rejected',
    reason: { kind: 'invalid_request', target: { provider: 'echoing', model: 'rejecting' } },
    sentence: /^echoing rejected the request \(422\): “Overloaded by \[…\] and \[…\]”\.$/,
    hint: null,
    end: () => send({ model: 'rejecting' }),
  },
  'a provider whose rate is used up': {
    error: 'upstream_rate_limited',
    reason: { kind: 'provider_error', target: { provider: 'paused', model: 'limited' } },
    sentence: /^paused answered 429: “Overloaded by \[…\] and \[…\]”\.$/,
    hint: /^The provider failed\.$/,
    end: () => send({ model: 'paused' }),
  },
  'targets that are all unavailable': {
    error: 'upstream_rate_limited',
    reason: {
      kind: 'no_target',
      subject: { type: 'model', id: 'paused', name: 'paused' },
      targets: [{ provider: 'paused', model: 'limited', state: 'cooling', until: expect.any(String) }],
    },
    sentence: /^All targets of paused are unavailable: paused was rate-limited until \d\d:\d\d UTC\.$/,
    hint: /^All targets of paused are unavailable until \d\d:\d\d UTC\.$/,
    end: () => send({ model: 'paused' }),
  },
  'a prompt longer than the context of the model': {
    error: 'context_overflow',
    reason: { kind: 'invalid_request', limit: 200_000, needed: 210_000 },
    sentence: /^The prompt has 210,000 tokens; the context of small takes 200,000\.$/,
    hint: null,
    end: () => send({ model: 'small' }),
  },
  'a model that its provider does not know': {
    error: 'upstream_misconfigured',
    reason: { kind: 'provider_error', target: { provider: 'gone', model: 'gone' } },
    sentence: /^gone answered 404: “The model `gone` does not exist”\.$/,
    hint: /^The provider failed\.$/,
    end: () => send({ model: 'gone' }),
  },
  'a request whose idempotency key is in use': {
    error: 'idempotency_running',
    reason: { kind: 'invalid_request' },
    sentence: /idempotency key/i,
    hint: null,
    end: async () => {
      const headers = { 'idempotency-key': 'running' };
      const before = pair.fake.served('held').length;
      const leaving = new AbortController();
      const body = goodBody('chat', { model: 'slow' });
      const running = fetch(`${pair.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: leaving.signal,
      }).catch(() => null);
      await eventually('the first request', () => (pair.fake.served('held').length > before ? true : null));
      const ended = await send(body, { headers });
      leaving.abort();
      await running;
      return ended;
    },
  },
  'an idempotency key of another request': {
    error: 'idempotency_reused',
    reason: { kind: 'invalid_request' },
    sentence: /idempotency key/i,
    hint: null,
    end: async () => {
      const headers = { 'idempotency-key': 'one' };
      await send({ model: 'plain' }, { headers });
      return send({ model: 'plain', temperature: 1 }, { headers });
    },
  },
};

describe.each(Object.entries(CASES))('%s', (_, { error, reason, sentence, hint, end }) => {
  test('has its reason, its sentence, and a hint for the caller', async () => {
    const ended = await end();
    expect(ended.record.error).toBe(error);
    // A copy: the runner writes matchers into the value that it compares.
    expect(structuredClone(ended.record.reason)).toMatchObject(reason as object);
    expect(sentenceOf(ended.record)).toMatch(sentence);
    if (hint === null) expect(ended.hint).toBeUndefined();
    else {
      const { kind, sentence: told = '' } = ended.hint ?? {};
      expect(kind).toBe(ended.record.reason?.kind as string);
      expect(told).toMatch(hint);
      for (const provider of PROVIDERS.filter((name) => name !== ended.record.model)) {
        expect(told).not.toContain(provider);
      }
    }
    const kept = JSON.stringify([ended.record.reason, ended.record.attempts, ended.hint]);
    for (const canary of [CANARY, TOOL_CANARY, 'green house']) expect(kept).not.toContain(canary);
    expect(kept.length).toBeLessThan(4_000);
    const line = await eventually('the log line', () => lineOf(ended.record.request_id));
    expect(line).toMatchObject({ reason: ended.record.reason?.kind, why: sentenceOf(ended.record) });
  });
});

/** Null: not written yet. */
function lineOf(id: string): object | null {
  const text = `${pair.gateway.stdout()}\n${pair.gateway.stderr()}`
    .split('\n')
    .find((line) => line.includes(id) && line.includes('"msg":"request"'));
  return text === undefined ? null : JSON.parse(text);
}

test('a request that its second target answered says why the first failed, without content', async () => {
  const { status, record } = await send({ model: 'falling' });
  expect(status).toBe(200);
  expect(record.reason).toBeUndefined();
  expect(record.attempts).toMatchObject([
    { provider: 'echoing', status: 529, class: 'overloaded', message: 'Overloaded by […] and […]' },
    { provider: 'second', status: 200, error: null },
  ]);
  const sentence = 'Answered by second after echoing answered 529: “Overloaded by […] and […]”.';
  expect(explainFallback(asRecord(record))).toBe(sentence);
  expect(await eventually('the log line', () => lineOf(record.request_id))).toMatchObject({ why: sentence });
});

/** Refused before the caller is known, or not requests to a model: they have no record. */
const WITHOUT_RECORD = ['unauthorized', 'not_found', 'method_not_allowed', 'url_too_long', 'headers_too_large'];
/** States of the process, of another request or of a client, each in the suite of its feature. */
const ELSEWHERE = [
  'idempotency_lost',
  'not_supported',
  'output_over_context',
  'reader_too_slow',
  'guardrail_blocked',
  'guardrail_unavailable',
  'gateway_fault',
  'draining',
  'targets_full',
  'store_unavailable',
];
/** In `records.test.ts`. */
const IN_RECORDS = [
  'invalid_request',
  'encoding_unsupported',
  'body_too_large',
  'body_timeout',
  'over_capacity',
  'model_unknown',
  'model_wrong_protocol',
  'address_forbidden',
  'scope_forbidden',
  'client_left',
  'upstream_credential',
  'upstream_failed',
  'upstream_timeout',
  'upstream_overloaded',
  'upstream_malformed',
  'upstream_truncated',
];

test('no kind of failure is in none of these suites', () => {
  const here = Object.values(CASES).map(({ error }) => error);
  const known = new Set([...here, ...WITHOUT_RECORD, ...ELSEWHERE, ...IN_RECORDS]);
  expect([...known].sort()).toEqual(Object.keys(FAILURE_KINDS).sort());
});
