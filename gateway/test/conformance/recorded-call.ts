/**
 * Turns a recording into the call that a client would have made, and the exact bytes upstream must get. Does not use
 * the gateway's splicing: marks in the text show what must change and are filled in for both sides.
 */
import type { Recording } from '../fake-upstream/recording.ts';

/** Layouts of the body's JSON: a gateway that re-encodes would change all but `compact`. */
export const LAYOUTS = ['compact', 'spaced', 'escaped'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** A call as sent, and as upstream must receive it. */
export interface RecordedCall {
  readonly recording: Recording;
  /** The public name, and the name at the fake upstream. */
  readonly publicModel: string;
  readonly upstreamModel: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sent: Uint8Array;
  readonly atUpstream: Uint8Array;
  readonly stream: boolean;
  readonly countOnly: boolean;
  /** The client itself requested the usage chunk. */
  readonly asksUsage: boolean;
}

const MODEL_MARK = '@@model@@';
const OPTION_MARK = '@@option@@';
const ADDED_OPTION = ',"stream_options":{"include_usage":true}';
const FORWARDED_HEADER = /^(?:anthropic-|x-claude-code-|x-app$|x-stainless-|user-agent$|accept$)/i;
const OUR_HEADERS = new Set(['x-claude-code-session-id']);

/** Every second recording is requested under a public name different from upstream's. */
function publicModelOf(recording: Recording, index: number, turn: number): string {
  if (index % 2 === 0 && turn === 0) return `rec:${recording.id}`;
  return `public-${recording.id.replace('/', '-')}${turn === 0 ? '' : `-${turn}`}`;
}

/**
 * Returns the call of a recording; one without a request gets a generated request with the right stream mode. Each
 * `turn` of a recording has a public model of its own.
 */
export function recordedCall(recording: Recording, index: number, turn: number): RecordedCall {
  const chat = recording.api === 'openai-chat';
  const body = { ...((recording.request?.body as object | undefined) ?? syntheticBody(recording)) } as JsonBody;
  const stream = body.stream === true;
  const wantsUsage = body.stream_options?.include_usage === true;
  const marked = markBody(body, chat && stream && !wantsUsage);
  const text = layOut(marked, LAYOUTS[index % LAYOUTS.length] ?? 'compact');
  const publicModel = publicModelOf(recording, index, turn);
  const upstreamModel = `rec:${recording.id}`;
  const path = recording.request?.path ?? '';
  const query = path.includes('?') ? path.slice(path.indexOf('?')) : '';
  const countOnly = path.includes('/count_tokens');
  return {
    recording,
    publicModel,
    upstreamModel,
    path: `${chat ? '/v1/chat/completions' : `/v1/messages${countOnly ? '/count_tokens' : ''}`}${query}`,
    headers: clientHeaders(recording),
    sent: fill(text, publicModel, ''),
    atUpstream: fill(text, upstreamModel, ADDED_OPTION),
    stream: stream && !countOnly,
    countOnly,
    asksUsage: wantsUsage,
  };
}

interface JsonBody {
  readonly [member: string]: unknown;
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
}

/** Another model that contributed to the answer of a recording without a request, or null. */
export function otherModelIn({
  request,
  response,
}: Recording): { readonly kind: string; readonly model: string } | null {
  if (request !== null) return null;
  const text = typeof response.body === 'string' ? response.body : JSON.stringify(response.body);
  const [, kind, model] = /"type":"(fallback|advisor)_message"[^{}]*?"model":"([^"]+)"/.exec(text) ?? [];
  return kind === undefined || model === undefined ? null : { kind, model };
}

/** The members that request this model. */
function naming(recording: Recording): object {
  const other = otherModelIn(recording);
  if (other === null) return {};
  const { kind, model } = other;
  return kind === 'advisor'
    ? { tools: [{ type: 'advisor_20260301', name: 'advisor', model }] }
    : { fallbacks: [{ model }] };
}

function syntheticBody(recording: Recording): JsonBody {
  const { api, stream } = recording;
  const messages = [{ role: 'user', content: 'Grüße — hello "there" \u{1f40c}\u2028' }];
  const shared = { model: 'm', messages, ...(stream ? { stream: true } : {}) };
  return api === 'openai-chat' ? { ...shared, temperature: 1.0 } : { ...shared, max_tokens: 64, ...naming(recording) };
}

/** Inserts marks where the gateway must change something: the model, and after all members if the option is added. */
function markBody(body: JsonBody, addsOption: boolean): JsonBody {
  return { ...body, model: MODEL_MARK, ...(addsOption ? { [OPTION_MARK]: true } : {}) };
}

function layOut(body: JsonBody, layout: Layout): string {
  if (layout === 'compact') return JSON.stringify(body);
  if (layout === 'spaced') return ` ${JSON.stringify(body, null, '\t')}\n`;
  const compact = JSON.stringify(body);
  return compact.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
  );
}

/** Fills the marks: `option` is the text of the added member, empty for the text as the client wrote it. */
function fill(text: string, model: string, option: string): Uint8Array {
  const added = new RegExp(`,\\s*"${OPTION_MARK}": ?true`);
  const filled = text.replace(JSON.stringify(MODEL_MARK), () => JSON.stringify(model)).replace(added, () => option);
  return new TextEncoder().encode(filled);
}

/** The recorded headers that a client sends, without its credential and connection headers. */
function clientHeaders(recording: Recording): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(recording.request?.headers ?? {})) {
    if (FORWARDED_HEADER.test(name)) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/**
 * Returns the call's headers that upstream must see: the version and every `anthropic-*` header that the caller may
 * choose.
 */
export function headersForUpstream(call: RecordedCall): Record<string, string> {
  if (call.recording.api === 'openai-chat') return {};
  const seen: Record<string, string> = { 'anthropic-version': '2023-06-01' };
  for (const [name, value] of Object.entries(call.headers)) {
    if (!name.startsWith('anthropic-') || name.startsWith('anthropic-dangerous-') || OUR_HEADERS.has(name)) continue;
    seen[name] = value;
  }
  return seen;
}
