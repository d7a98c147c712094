/** Compares one replayed call with the oracles. Returns sentences: what was expected and what was found. */

import { parsePriceVersion } from '../../src/billing/price.ts';
import { chargedNanoUsd } from '../../src/billing/price-book.ts';
import { textOf } from '../fake-upstream/answer/body-part.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type ExpectedAnswer, type ExpectedRecord, expectedAnswer } from './answer-oracle.ts';
import { headersForUpstream } from './recorded-call.ts';
import type { Replayed, Seen } from './replay.ts';
import { type Counters, costOf } from './usage-oracle.ts';
import { object } from './wire-text.ts';

/** SDKs repeat a call after these: the answer names a delay. */
const FAULTS: ReadonlySet<string> = new Set(['upstream_failed', 'upstream_overloaded', 'upstream_timeout']);

/** Upstream's credential, and the caller's, which upstream must not see. */
export interface Secrets {
  readonly ours: string;
  readonly upstreams: string;
}

/** Returns what the client got and should not have, as sentences. */
export function judgeAnswer({ seen }: Replayed): string[] {
  return named(seen, [...answerFaults(seen, expectedOf(seen))]);
}

/** Returns what upstream saw and should not have. */
export function judgeUpstreamSide({ seen, served }: Replayed, secrets: Secrets): string[] {
  return named(seen, served === null ? ['upstream saw no call'] : [...upstreamFaults(seen, served, secrets)]);
}

/** Returns the record's errors. A token count has no record. */
export function judgeRecord({ seen, record }: Replayed): string[] {
  if (seen.call.countOnly) return [];
  return named(seen, record === null ? ['no record'] : [...recordFaults(seen, record, expectedOf(seen).record)]);
}

function expectedOf(seen: Seen): ExpectedAnswer {
  return expectedAnswer(seen.call, seen.requestId, seen.chunking === 'crlf');
}

function named(seen: Seen, faults: readonly string[]): string[] {
  return faults.map((fault) => `${seen.call.recording.id} [${JSON.stringify(seen.chunking)}]: ${fault}`);
}

function* answerFaults(seen: Seen, expected: ExpectedAnswer): Generator<string> {
  const { status, headers } = seen;
  const body = seen.body.toString('utf8');
  if (status !== expected.status) yield `status ${status}, expected ${expected.status}: ${body.slice(0, 200)}`;
  if (headers.get('request-id') !== seen.requestId || seen.requestId === '') yield 'the two request ids differ or lack';
  if (expected.body !== null && body !== expected.body) {
    yield `body differs: ${difference(body, expected.body)}`;
  }
  const retryAfter = headers.get('retry-after');
  if (status === 429 && !isRetryAfter(retryAfter)) yield `retry-after ${retryAfter}`;
  const wanted = FAULTS.has(expected.record.error ?? '') ? '5' : null;
  if (status >= 500 && retryAfter !== wanted) yield `retry-after ${retryAfter}, expected ${wanted}`;
  if (expected.body === null && !namesError(body, seen)) yield `error body ${body.slice(0, 200)}`;
  const type = headers.get('content-type') ?? '';
  if (status === 200 && seen.call.stream && type !== 'text/event-stream; charset=utf-8') yield `content-type ${type}`;
}

function isRetryAfter(value: string | null): boolean {
  return value !== null && /^[1-9]\d?$/.test(value) && Number(value) <= 60;
}

/** An error in the shape of the caller's protocol; at 5xx its message repeats the request id. */
function namesError(body: string, { call, status, requestId }: Seen): boolean {
  const parsed = object(JSON.parse(body));
  const error = object(parsed?.error);
  const shaped =
    call.recording.api === 'openai-chat'
      ? ['message', 'type', 'param', 'code'].every((member) => error !== null && member in error)
      : parsed?.type === 'error' && typeof error?.type === 'string' && parsed?.request_id === requestId;
  return shaped && (status < 500 || String(error?.message).includes(requestId));
}

function* upstreamFaults(seen: Seen, served: ServedCall, secrets: Secrets): Generator<string> {
  const { call } = seen;
  const found = Buffer.from(served.requestBody);
  if (!found.equals(call.atUpstream)) yield `request differs: ${difference(textOf(found), textOf(call.atUpstream))}`;
  const head = [served.requestLine, ...served.headLines].join('\n');
  if (head.includes(secrets.ours) || textOf(found).includes(secrets.ours)) yield 'upstream saw the key of the caller';
  const headers = new Map(served.headers);
  const chat = call.recording.api === 'openai-chat';
  const credential = chat ? headers.get('authorization') : headers.get('x-api-key');
  if (credential !== (chat ? `Bearer ${secrets.upstreams}` : secrets.upstreams)) yield `credential ${credential}`;
  if (!chat && headers.has('authorization')) yield 'an authorization header beside x-api-key';
  const wanted = headersForUpstream(call);
  for (const [name, value] of Object.entries(wanted)) {
    if (headers.get(name) !== value) yield `header ${name}: ${headers.get(name)}, expected ${value}`;
  }
  for (const name of headers.keys()) {
    if (/^(?:anthropic|x-stainless|x-claude|x-tollgate|cookie)/.test(name) && !(name in wanted)) yield `header ${name}`;
  }
}

function* recordFaults(seen: Seen, record: CallLine, wanted: ExpectedRecord): Generator<string> {
  const usage = record.usage as unknown as Counters;
  if (record.status !== seen.status) yield `record has status ${record.status}`;
  if (record.model !== seen.call.publicModel) yield `record has model ${record.model}`;
  if (record.stream !== seen.call.stream) yield `record has stream ${record.stream}`;
  for (const member of ['finish_reason', 'served_model', 'usage_source'] as const) {
    if (record[member] !== wanted[member]) yield `record has ${member} ${record[member]}, expected ${wanted[member]}`;
  }
  if (wanted.error === 'any' ? record.error === null : record.error !== wanted.error) {
    yield `record has error ${record.error}, expected ${wanted.error}`;
  }
  const { tier: _, parts: __, ...counters } = usage as Counters & { readonly tier?: object; readonly parts?: object };
  if (wanted.usage_source === 'upstream' && !Bun.deepEquals(counters, wanted.usage)) {
    yield `record has usage ${JSON.stringify(usage)}, expected ${JSON.stringify(wanted.usage)}`;
  }
  // A request that we generated has a maximum that the recorded answer did not know.
  const isAsked = seen.call.recording.request?.body !== undefined;
  if (isAsked && record.usage_flags?.includes('far_output')) yield 'its output is flagged as far from what came';
  if (wanted.usage_source === 'counted' && (usage.input < 1 || usage.output < 0)) yield 'nothing was counted';
  if (wanted.usage_source === 'void' && Object.values(usage).some((count) => count !== 0))
    yield 'a void call has usage';
  if (record.cost_nano_usd !== costOf(usage))
    yield `record has cost ${record.cost_nano_usd}, expected ${costOf(usage)}`;
  const price = parsePriceVersion(record.price_version ?? '');
  const recomputed = String(chargedNanoUsd(usageOfPrinted(usage), price, parsePriceVersion));
  if (recomputed !== record.cost_nano_usd)
    yield `record has cost ${record.cost_nano_usd}, its price says ${recomputed}`;
}

/** Converts a record's counters to the formula's input. */
function usageOfPrinted({ input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, ...extras }: Counters) {
  return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, extras };
}

/** Describes where two texts begin to differ. */
function difference(found: string, expected: string): string {
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at += 1;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 80));
  return `at ${at} of ${expected.length}: found ${around(found)}, expected ${around(expected)}`;
}
