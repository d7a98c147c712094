/** Tests what ended calls count, and that callers make no series. */
import { expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { CallCounter } from './call-counter.ts';
import { MetricRegistry } from './registry.ts';
import { renderMetrics } from './render-text.ts';

const ANSWER = { provider: 'lab', model: 'big', status: 200, error: null, start_ms: 0, duration_ms: 40 };

function countAll(records: readonly CallRecord[]): string {
  const registry = new MetricRegistry();
  const counter = new CallCounter(registry, (provider) => `vendor of ${provider}`);
  for (const record of records) counter.count(record, 'm', 'account');
  return renderMetrics(registry.collect(), 'prometheus');
}

function call(changes: Partial<CallRecord>): CallRecord {
  return sampleRecord('req_1', { status: 200, error: null, attempts: [ANSWER], ...changes });
}

test('an answer counts once in each metric, by configured names', () => {
  const usage = { ...ZERO_USAGE, input: 100, cache_read: 20, output: 7 };
  const text = countAll([call({ model: 'what the caller wrote', usage, cost_nano_usd: '2500000000' })]);
  expect(text).toContain('tollgate_requests_total{route="m",protocol="chat",status="200",error_type=""} 1\n');
  expect(text).toContain('tollgate_tokens_total{route="m",provider="lab",type="cache_read"} 20\n');
  expect(text).toContain('tollgate_cost_usd_total{route="m",provider="lab",payer="account"} 2.5\n');
  expect(text).toContain('tollgate_attempts_total{provider="lab",target="lab/big",class="ok",why="order"} 1\n');
  expect(text).toMatch(
    /gen_ai_client_token_usage_sum\{[^}]*gen_ai_provider_name="vendor of lab"[^}]*gen_ai_token_type="input"\} 120\n/,
  );
  expect(text).not.toContain('what the caller wrote');
});

test('a fallback counts its attempts, the move and what the lost attempt cost', () => {
  const lost = { ...ANSWER, provider: 'first', status: 500, error: 'upstream_failed', class: 'fault', wait_ms: 300 };
  const text = countAll([
    call({
      attempts: [
        { ...lost, billed: 'maybe', cost_nano_usd: '1000000000' },
        { ...ANSWER, why: 'fallback' },
      ],
    }),
  ]);
  expect(text).toContain('tollgate_attempts_total{provider="first",target="first/big",class="fault",why="order"} 1\n');
  expect(text).toContain('tollgate_attempts_total{provider="lab",target="lab/big",class="ok",why="fallback"} 1\n');
  expect(text).toContain('tollgate_fallbacks_total{route="m",from="first/big",to="lab/big"} 1\n');
  expect(text).toContain('tollgate_absorbed_attempt_usd_total{provider="first",billed="maybe"} 1\n');
  expect(text).toContain('tollgate_queue_wait_seconds_sum{provider="first",target="first/big"} 0.3\n');
});

test('a batch, whose record has no attempts, counts its tokens and cost', () => {
  const usage = { ...ZERO_USAGE, input: 100, output: 7 };
  const ended = { protocol: 'batches', attempts: [], provider: 'lab', served_model: 'big', usage } as const;
  const text = countAll([call({ ...ended, usage_source: 'upstream', cost_nano_usd: '2500000000' })]);
  expect(text).toContain('tollgate_tokens_total{route="m",provider="lab",type="input"} 100\n');
  expect(text).toContain('tollgate_cost_usd_total{route="m",provider="lab",payer="account"} 2.5\n');
  expect(text).not.toContain('tollgate_attempts_total{');
  const refused = countAll([call({ ...ended, usage: ZERO_USAGE, usage_source: 'void', cost_nano_usd: '0' })]);
  expect(refused).not.toContain('tollgate_cost_usd_total{');
});

test('an answer from the cache counts by its route, and has no attempt', () => {
  const text = countAll([call({ attempts: [], usage_source: 'cache', cost_nano_usd: '0', cached_from: 'req_0' })]);
  expect(text).toContain('tollgate_cached_answers_total{route="m"} 1\n');
  expect(text).not.toContain('tollgate_attempts_total');
  expect(countAll([call({})])).not.toContain('tollgate_cached_answers_total{');
});

test('a refusal without an attempt counts by its kind', () => {
  const text = countAll([call({ status: 429, error: 'rate_limited', attempts: [], provider: null })]);
  expect(text).toContain('tollgate_refusals_total{error_type="rate_limited"} 1\n');
  expect(text).not.toContain('tollgate_attempts_total');
});

test('counting a seen label set again makes no series', () => {
  const once = countAll([call({})]).split('\n').length;
  const records = Array.from({ length: 500 }, (_, at) => call({ model: `made up ${at}`, end_user: `u${at}` }));
  expect(countAll(records).split('\n').length).toBe(once);
});

test('calls of several formats to one target count by their operation', () => {
  const usage = { ...ZERO_USAGE, input: 1 };
  const text = countAll([call({ protocol: 'gemini', usage }), call({ usage })]);
  for (const operation of ['generate_content', 'chat']) {
    const counted = (name: string) => new RegExp(`${name}_count\\{gen_ai_operation_name="${operation}"[^}]*\\} 1\\n`);
    expect(text).toMatch(counted('gen_ai_client_operation_duration_seconds'));
    expect(text).toMatch(counted('gen_ai_client_token_usage'));
  }
});
