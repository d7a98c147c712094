/**
 * Computes what a client must get for a recording, and what its record must say: an independent reading of contract 5,
 * 6, 7 and 9.
 */
import type { RecordedCall } from './recorded-call.ts';
import { type Counters, chatCounters, lastChatUsage, messagesCounters } from './usage-oracle.ts';
import { chunksOf, type Json, list, object, recordedText, textRecords, words } from './wire-text.ts';

/** The expected record; `usage` null: upstream reported none, so the gateway counts. */
export interface ExpectedRecord {
  readonly error: string | null;
  readonly usage: Counters | null;
  readonly usage_source: 'upstream' | 'counted' | 'partial' | 'void';
  readonly finish_reason: string | null;
  readonly served_model: string | null;
}

/** `body` null: the gateway's own words, checked by shape only. */
export interface ExpectedAnswer {
  readonly status: number;
  readonly body: string | null;
  /** Content of the recording after the protocol's own end: not part of the answer. */
  readonly unsaid?: string;
  readonly record: ExpectedRecord;
}

const AS_IT_CAME = new Set([400, 404, 413, 422]);
const ACCOUNT_WORDS = ['credit balance is too low', 'Incorrect API key provided', 'API key not valid'];
const VOID = { usage: null, usage_source: 'void', finish_reason: null } as const;

/** The client's answer to a recording with the line ends that the chunking gave it. */
export function expectedAnswer(call: RecordedCall, requestId: string, crlf: boolean): ExpectedAnswer {
  const { recording } = call;
  const { status } = recording.response;
  const text = recordedText(recording, crlf);
  if (status !== 200) return refusal(call, status, text);
  if (recording.api === 'openai-chat') {
    return recording.stream ? chatStream(call, text, `chatcmpl-${requestId.slice(4)}`) : plainChat(call, text);
  }
  return recording.stream ? messagesStream(call, text) : plainMessages(text);
}

/**
 * The contract's rule for an upstream status: passed on with its body, passed on with our words, or an upstream fault.
 */
function refusal(call: RecordedCall, status: number, text: string): ExpectedAnswer {
  const record = (error: string): ExpectedRecord => ({ ...VOID, error, served_model: call.upstreamModel });
  // These words come from the recordings and the corpus.
  if (status === 404 && /model|deployment|Resource not found/i.test(text))
    return { status: 500, body: null, record: record('upstream_misconfigured') };
  if (status === 400 && ACCOUNT_WORDS.some((phrase) => text.includes(phrase))) {
    return { status: 500, body: null, record: record('upstream_credential') };
  }
  // The model wrote a call that does not parse (Groq).
  if (status === 400 && text.includes('"tool_use_failed"')) return refusal(call, 500, '');
  if (status === 503 && /overloaded|at capacity/i.test(text)) return refusal(call, 529, '');
  if (AS_IT_CAME.has(status))
    return { status, body: text.startsWith('{') ? text : null, record: record('upstream_rejected') };
  const messages = call.recording.api === 'anthropic-messages';
  if (status === 429) return { status, body: null, record: record('upstream_rate_limited') };
  if (status === 529) return { status: messages ? 529 : 500, body: null, record: record('upstream_overloaded') };
  if (status === 408 || status === 504) {
    return { status: messages ? 504 : 500, body: null, record: record('upstream_timeout') };
  }
  const ours = status === 401 || status === 402 || status === 403;
  return { status: 500, body: null, record: record(ours ? 'upstream_credential' : 'upstream_failed') };
}

function complete(usage: Counters | null, finish_reason: string | null, served_model: string | null): ExpectedRecord {
  return { error: null, usage, usage_source: usage === null ? 'counted' : 'upstream', finish_reason, served_model };
}

function plainChat(call: RecordedCall, text: string): ExpectedAnswer {
  const answer = JSON.parse(text) as Json;
  if (!Array.isArray(answer.choices))
    return { ...refusal(call, Number(object(answer.error)?.status), text), body: null };
  const usage = chatCounters(object(answer.usage)) ?? chatCounters(object(object(answer.x_groq)?.usage));
  const reason = words(object(list(answer.choices)[0])?.finish_reason);
  return { status: 200, body: text, record: complete(usage, reason, words(answer.model) ?? call.upstreamModel) };
}

function plainMessages(text: string): ExpectedAnswer {
  const answer = JSON.parse(text) as Json;
  const usage = messagesCounters([object(answer.usage) ?? {}]);
  return { status: 200, body: text, record: complete(usage, words(answer.stop_reason), words(answer.model)) };
}

function chatStream(call: RecordedCall, text: string, fallbackId: string): ExpectedAnswer {
  const records = textRecords(text);
  const chunks = chunksOf(records);
  const firstNamed = chunks.findIndex((chunk) => !isFilterResult(chunk));
  const id = words(chunks[firstNamed]?.id) ?? fallbackId;
  let seen = 0;
  let body = '';
  let unsaid = '';
  let end: 'done' | 'error' | 'none' = 'none';
  for (const record of records) {
    if (end !== 'none') {
      unsaid += record.text;
      continue;
    }
    const { data } = record;
    if (data === 'DONE') end = 'done';
    else if (data !== null && (data.error !== undefined || record.event === 'error')) end = 'error';
    if (end === 'none' && data !== null && data !== 'DONE') {
      seen += 1;
      if (list(data.choices).length === 0 && object(data.usage) !== null && !call.asksUsage) continue;
      body += seen <= firstNamed ? record.text : withId(record.text, data, id);
    } else body += record.text;
  }
  const usage = lastChatUsage(chunks);
  const model = chunks.reduce<string | null>((last, chunk) => words(chunk.model) ?? last, null);
  const record = complete(usage, lastReason(chunks), model ?? call.upstreamModel);
  if (end === 'error') return { status: 200, body, record: { ...record, error: 'any', usage_source: 'partial' } };
  return { status: 200, body: end === 'done' ? body : `${body}data: [DONE]\n\n`, unsaid, record };
}

/** Azure's first chunk: what its filter found in the prompt, before the stream has an id. */
function isFilterResult(chunk: Json): boolean {
  return chunk.id === '' && list(chunk.choices).length === 0;
}

/** The last finish reason of the first choice. */
function lastReason(chunks: readonly Json[]): string | null {
  const choices = chunks.flatMap((chunk) => list(chunk.choices).map(object));
  return choices.reduce<string | null>((last, choice) => {
    return (choice?.index ?? 0) === 0 ? (words(choice?.finish_reason) ?? last) : last;
  }, null);
}

/** The record with one member's value replaced: the only text that parses to the same chunk except for the id. */
function withId(text: string, chunk: Json, id: string): string {
  if (chunk.id === id) return text;
  const wanted = JSON.stringify(sorted({ ...chunk, id }));
  const old = `"id":${JSON.stringify(chunk.id)}`;
  const member = `"id":${JSON.stringify(id)}`;
  const candidates: string[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + 1)) {
    candidates.push(text.slice(0, at) + member + text.slice(at + old.length));
  }
  const brace = text.lastIndexOf('}');
  if (!('id' in chunk)) candidates.push(`${text.slice(0, brace)},${member}${text.slice(brace)}`);
  const found = candidates.filter((candidate) => JSON.stringify(sorted(textRecords(candidate)[0]?.data)) === wanted);
  if (found.length !== 1) throw new Error(`the oracle finds ${found.length} ways to give ${text} another id`);
  return found[0] ?? '';
}

function sorted(value: unknown): unknown {
  const members = object(value);
  return members === null ? value : Object.fromEntries(Object.entries(members).sort());
}

/** The model named at the beginning, unless a block of the answer says that another one took over. */
function servedModel(begun: string | null, events: readonly Json[]): string | null {
  const took = events
    .map((event) => object(event.content_block))
    .flatMap((block) => (block?.type === 'fallback' ? (words(object(block.to)?.model) ?? []) : []))
    .at(-1);
  return took === undefined || begun?.startsWith(took) ? begun : took;
}

function messagesStream(call: RecordedCall, text: string): ExpectedAnswer {
  const all = textRecords(text);
  const last = all.findIndex(({ data }) => ['message_stop', 'error'].includes(String(object(data)?.type)));
  const records = all.slice(0, last + 1);
  const events = chunksOf(records);
  const failed = object(records[last]?.data)?.type === 'error';
  if (failed && last === 0) return refusal(call, 529, text);
  const started = object(events.find((event) => event.type === 'message_start')?.message);
  const deltas = events.filter((event) => event.type === 'message_delta');
  const usages = [started, ...deltas].map((event) => object(event?.usage)).filter((usage) => usage !== null);
  const counters = messagesCounters(usages);
  const reason = events.reduce<string | null>((found, event) => words(object(event.delta)?.stop_reason) ?? found, null);
  const record = complete(counters, reason, servedModel(words(started?.model), events));
  const body = records.map((one) => one.text).join('');
  const unsaid = all
    .slice(last + 1)
    .map((one) => one.text)
    .join('');
  return { status: 200, body, unsaid, record: failed ? { ...record, error: 'any', usage_source: 'partial' } : record };
}
