/**
 * Renders the log lines of ended requests into bytes that are reused. Written out by hand, because it runs on the line of
 * every request: constant parts are bytes from a cache, and a key and a target seen before cost no allocation.
 */
import type { Payer } from '../billing/who-pays.ts';
import type { CountRecord } from '../call/call-observer.ts';
import { explainFallback, explainReason } from '../call/reason/explain-reason.ts';
import type { AttemptRecord, CallRecord } from '../store/ports/records.ts';
import { escapeHidden } from './escape-hidden.ts';
import type { LineWriter } from './line-writer.ts';

/** What a line tells of. */
export interface EndedRequest {
  readonly record: CallRecord | CountRecord;
  /** The operator's name of the route; null: none. */
  readonly model: string | null;
  readonly payer: Payer;
}

const FULL_BYTES = 64 * 1024;
/** Above nine texts of the maximum length and a sentence, each character with an escape of six bytes, and the other members. */
const LINE_BYTES_MAX = 24 * 1024;
const TEXT_CHARS_MAX = 256;
const SENTENCE_CHARS_MAX = 1_000;
/** Bounds each cache. */
const CACHED_MAX = 10_000;

const encoder = new TextEncoder();
const PART = {
  requestId: encoder.encode('Z","request_id":"'),
  traceId: encoder.encode('","trace_id":"'),
  quote: encoder.encode('"'),
  protocol: encoder.encode(',"protocol":'),
  attempts: encoder.encode(',"attempts":'),
  streamed: encoder.encode(',"stream":true,"status":'),
  plain: encoder.encode(',"stream":false,"status":'),
  error: encoder.encode(',"error":'),
  finishReason: encoder.encode(',"finish_reason":'),
  input: encoder.encode(',"input_tokens":'),
  cached: encoder.encode(',"cached_tokens":'),
  output: encoder.encode(',"output_tokens":'),
  source: encoder.encode(',"usage_source":'),
  unpriced: encoder.encode(',"cost_nano_usd":null'),
  cost: encoder.encode(',"cost_nano_usd":"'),
  operator: encoder.encode(',"payer":"operator"'),
  firstByte: encoder.encode(',"ttfb_ms":'),
  duration: encoder.encode(',"duration_ms":'),
  end: encoder.encode(',"msg":"request"}\n'),
};

/** Members that are the same for all requests of a key, unless its workspace moves. */
interface KeyPart {
  readonly account: string;
  readonly workspace: string;
  readonly bytes: Uint8Array;
}

/** Members that are the same for all requests of a route that one target answered. */
interface PathPart {
  readonly asked: string | null;
  readonly by: string | null;
  readonly last: AttemptRecord;
  readonly bytes: Uint8Array;
}

export class RequestLines {
  readonly #bytes = new Uint8Array(FULL_BYTES + LINE_BYTES_MAX);
  #end = 0;
  #second = Number.NaN;
  #beforeMs = new Uint8Array();
  readonly #keys = new Map<string, KeyPart>();
  /** By route, then by target. */
  readonly #paths = new Map<string, Map<string, PathPart>>();
  #pathCount = 0;
  readonly #words = new Map<string, Uint8Array>();

  /** Whether the lines must be taken before the next one. */
  get isFull(): boolean {
    return this.#end >= FULL_BYTES;
  }

  /** Returns a copy of the lines since the last call. */
  take(): Buffer {
    const lines = Buffer.from(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
    return lines;
  }

  /** Adds the line with its line break. Its time is the end of the request. */
  add({ record, model, payer }: EndedRequest): void {
    const { usage, error, reason, finish_reason, cost_nano_usd: cost, ttfb_ms, trace_id } = record;
    this.#time(Math.round(record.at_ms + record.duration_ms));
    this.#part(PART.requestId);
    this.#ascii(record.request_id);
    if (trace_id !== null) {
      this.#part(PART.traceId);
      this.#ascii(trace_id);
    }
    this.#part(this.#key(record));
    this.#word(PART.protocol, record.protocol);
    this.#part(this.#path(record, model));
    this.#count(PART.attempts, record.attempts.length);
    this.#count(record.stream ? PART.streamed : PART.plain, record.status);
    if (error !== null) this.#word(PART.error, error);
    if (finish_reason !== null) this.#word(PART.finishReason, finish_reason);
    this.#count(PART.input, usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h);
    this.#count(PART.cached, usage.cache_read);
    this.#count(PART.output, usage.output);
    this.#word(PART.source, record.usage_source);
    if (cost === null) this.#part(PART.unpriced);
    else {
      this.#part(PART.cost);
      this.#ascii(cost);
      this.#part(PART.quote);
    }
    if (payer === 'operator') this.#part(PART.operator);
    if (reason !== null || record.attempts.length > 1) this.#sentence(record);
    if (ttfb_ms !== null) this.#count(PART.firstByte, ttfb_ms);
    this.#count(PART.duration, record.duration_ms);
    this.#part(PART.end);
  }

  /** The beginning of the line up to the milliseconds; 30 is the level `info`. */
  #time(atMs: number): void {
    const ms = atMs % 1_000;
    if (atMs - ms !== this.#second) {
      this.#second = atMs - ms;
      const time = new Date(this.#second).toISOString().slice(0, -'000Z'.length);
      this.#beforeMs = encoder.encode(`{"level":30,"time":"${time}`);
    }
    this.#part(this.#beforeMs);
    const bytes = this.#bytes;
    bytes[this.#end++] = ZERO + Math.floor(ms / 100);
    bytes[this.#end++] = ZERO + (Math.floor(ms / 10) % 10);
    bytes[this.#end++] = ZERO + (ms % 10);
  }

  #key({ key_id, account, workspace }: EndedRequest['record']): Uint8Array {
    const known = this.#keys.get(key_id);
    if (known !== undefined && known.account === account && known.workspace === workspace) return known.bytes;
    if (this.#keys.size >= CACHED_MAX) this.#keys.clear();
    const text = `"${member('account', account)}${member('workspace', workspace)}${member('key_id', key_id)}`;
    const bytes = encoder.encode(text);
    this.#keys.set(key_id, { account, workspace, bytes });
    return bytes;
  }

  #path({ model: asked, provider: by, attempts }: EndedRequest['record'], route: string | null): Uint8Array {
    const last = attempts[attempts.length - 1];
    // A client may ask by any name; only those of the configuration are kept.
    if (last === undefined || route === null || asked !== route) return renderPath(asked, route, by, last);
    const name = last.target ?? last.model;
    const known = this.#paths.get(route)?.get(name);
    if (known !== undefined && known.by === by && isSameTarget(known.last, last)) return known.bytes;
    const bytes = renderPath(asked, route, by, last);
    this.#keepPath(route, name, { asked, by, last, bytes });
    return bytes;
  }

  #keepPath(route: string, name: string, part: PathPart): void {
    if (this.#pathCount >= CACHED_MAX) {
      this.#paths.clear();
      this.#pathCount = 0;
    }
    this.#pathCount += 1;
    const ofRoute = this.#paths.get(route) ?? new Map<string, PathPart>();
    this.#paths.set(route, ofRoute.set(name, part));
  }

  /** A text that is nearly always one of a few, such as a finish reason: a provider can send any. */
  #word(name: Uint8Array, text: string): void {
    this.#part(name);
    let bytes = this.#words.get(text);
    if (bytes === undefined) {
      bytes = encoder.encode(render(text));
      if (this.#words.size < CACHED_MAX && text.length <= TEXT_CHARS_MAX) this.#words.set(text, bytes);
    }
    this.#part(bytes);
  }

  /** Why the request failed, or which attempts failed before it was answered. */
  #sentence(record: EndedRequest['record']): void {
    const { reason } = record;
    const text = reason === null ? explainFallback(record) : explainReason(reason, record, 'UTC').sentence;
    if (text === null) return;
    const kind = reason === null ? '' : `,"reason":"${reason.kind}"`;
    this.#part(encoder.encode(`${kind},"why":${render(text, SENTENCE_CHARS_MAX)}`));
  }

  #part(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Text of ours, without anything to escape. */
  #ascii(text: string): void {
    const bytes = this.#bytes;
    for (let at = 0; at < text.length; at++) bytes[this.#end++] = text.charCodeAt(at);
  }

  #count(name: Uint8Array, value: number): void {
    this.#part(name);
    if (value < 0 || value !== (value | 0)) {
      this.#ascii(String(value));
      return;
    }
    let digits = 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) digits += 1;
    const bytes = this.#bytes;
    for (let at = this.#end + digits - 1, rest = value; at >= this.#end; at--) {
      const tens = (rest / 10) | 0;
      bytes[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
    this.#end += digits;
  }
}

const ZERO = 0x30;

function renderPath(
  asked: string | null,
  route: string | null,
  by: string | null,
  last: AttemptRecord | undefined,
): Uint8Array {
  const target = last === undefined ? null : (last.target ?? `${last.provider}/${last.model}`);
  const text = `${member('model', asked)}${member('route', route)}${member('provider', by)}${member('target', target)}`;
  return encoder.encode(text);
}

function isSameTarget(one: AttemptRecord, other: AttemptRecord): boolean {
  return one.target === other.target && one.provider === other.provider && one.model === other.model;
}

/** A member with a text, which may be a client's or a provider's: keys in it are masked already, as in the record. */
function member(name: string, text: string | null): string {
  return text === null ? '' : `,"${name}":${render(text)}`;
}

function render(text: string, charsMax = TEXT_CHARS_MAX): string {
  return escapeHidden(JSON.stringify(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text));
}

const GATHER_MS = 100;

/** Gathers the lines for at most 100 ms or 64 KiB, and writes them at once. */
export class RequestLog {
  readonly #writer: LineWriter;
  readonly #lines = new RequestLines();
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(writer: LineWriter) {
    this.#writer = writer;
    writer.holdBack(this.#write);
  }

  add(ended: EndedRequest): void {
    this.#lines.add(ended);
    this.#count += 1;
    if (this.#lines.isFull) this.#write();
    else this.#timer ??= setTimeout(this.#onTime, GATHER_MS);
  }

  /** The timer is not cleared where lines are written before its time: another would be set at once. */
  readonly #onTime = (): void => {
    this.#timer = null;
    this.#write();
  };

  readonly #write = (): void => {
    if (this.#count === 0) return;
    this.#writer.append(this.#lines.take(), this.#count);
    this.#count = 0;
  };
}
