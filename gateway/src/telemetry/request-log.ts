/**
 * Logs one structured line per ended request, in the form of the other log lines: ids, outcome, tokens, cost and durations;
 * never content or secrets. The line of a request only notes its record: the lines are rendered together, at most 100 ms
 * later, and by hand, because the logger takes four times as long for the same line.
 */
import type { Payer } from '../billing/who-pays.ts';
import type { CallRecord } from '../store/ports/records.ts';
import type { LineWriter } from './line-writer.ts';

const HOLD_MS = 100;
/** About 64 KiB of lines. */
const HELD_MAX = 128;

/** A request whose line is not rendered yet. */
export interface EndedRequest {
  readonly record: CallRecord;
  /** The operator's name of the route; null: none. */
  readonly model: string | null;
  readonly payer: Payer;
  readonly traceId: string | null;
}

export class RequestLog {
  readonly #lines: LineWriter;
  #held: EndedRequest[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(lines: LineWriter) {
    this.#lines = lines;
    lines.holdBack(this.#write);
  }

  add(ended: EndedRequest): void {
    this.#held.push(ended);
    if (this.#held.length >= HELD_MAX) this.#write();
    else this.#timer ??= setTimeout(this.#onTime, HOLD_MS);
  }

  /** The timer stays where a full buffer was written before its time: it would be set again at once. */
  readonly #onTime = (): void => {
    this.#timer = null;
    this.#write();
  };

  readonly #write = (): void => {
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    this.#lines.append(held.map(renderRequestLine).join(''), held.length);
  };
}

const TEXT_CHARS_MAX = 256;

/** The line, with its line break. Its time is the end of the request. */
export function renderRequestLine({ record, model, payer, traceId }: EndedRequest): string {
  const { usage, attempts, cost_nano_usd: cost, ttfb_ms, duration_ms } = record;
  const input = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
  const trace = traceId === null ? '' : `,"trace_id":"${traceId}"`;
  const head = `${timeOf(record)}","request_id":"${record.request_id}"${trace}${keyOf(record)},"protocol":"${record.protocol}"`;
  // What a client sends is mostly a configured name, whose text is known.
  const asked = record.model === model ? configured('model', model) : foreign('model', record.model);
  const path = `${asked}${configured('route', model)}${configured('provider', record.provider)}${targetOf(attempts)}`;
  const outcome = `,"attempts":${attempts.length},"stream":${record.stream},"status":${record.status}`;
  const end = `${configured('error', record.error)}${foreign('finish_reason', record.finish_reason)}`;
  const tokens = `,"input_tokens":${input},"cached_tokens":${usage.cache_read},"output_tokens":${usage.output}`;
  const charge = `,"usage_source":"${record.usage_source}","cost_nano_usd":${cost === null ? 'null' : `"${cost}"`}`;
  const times = `${ttfb_ms === null ? '' : `,"ttfb_ms":${ttfb_ms}`},"duration_ms":${duration_ms},"msg":"request"}\n`;
  return `${head}${path}${outcome}${end}${tokens}${charge}${payer === 'operator' ? ',"payer":"operator"' : ''}${times}`;
}

let second = Number.NaN;
let beforeMs = '';

/** The beginning of the line; 30 is the level `info`. */
function timeOf({ at_ms, duration_ms }: CallRecord): string {
  const endMs = Math.round(at_ms + duration_ms);
  const ms = endMs % 1_000;
  if (endMs - ms !== second) {
    second = endMs - ms;
    beforeMs = `{"level":30,"time":"${new Date(second).toISOString().slice(0, -'000Z'.length)}`;
  }
  return `${beforeMs}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}

/** Bounds each of the two caches below. */
const CACHED_MAX = 10_000;
const keys = new Map<string, { readonly account: string; readonly workspace: string; readonly text: string }>();

/** The members that are the same for all requests of a key, unless its workspace moves. */
function keyOf({ key_id, account, workspace }: CallRecord): string {
  let known = keys.get(key_id);
  if (known?.account !== account || known.workspace !== workspace) {
    if (keys.size >= CACHED_MAX) keys.clear();
    const text = `${foreign('account', account)}${foreign('workspace', workspace)}${foreign('key_id', key_id)}`;
    known = { account, workspace, text };
    keys.set(key_id, known);
  }
  return known.text;
}

function targetOf(attempts: CallRecord['attempts']): string {
  const last = attempts[attempts.length - 1];
  if (last === undefined) return '';
  const { target, provider, model } = last;
  if (target !== undefined) return configured('target', target);
  if (provider.length + model.length >= TEXT_CHARS_MAX) return foreign('target', `${provider}/${model}`);
  return `,"target":"${escaped(provider)}/${escaped(model)}"`;
}

/** A member with a name of the configuration, or with a word of a closed list. */
function configured(member: string, name: string | null): string {
  return name === null ? '' : `,"${member}":"${escaped(name)}"`;
}

const names = new Map<string, string>();

function escaped(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size >= CACHED_MAX) names.clear();
  const text = JSON.stringify(cut(name)).slice(1, -1);
  if (name.length <= TEXT_CHARS_MAX) names.set(name, text);
  return text;
}

/** A member with a text, which may be a client's or a provider's: keys in it are masked already, as in the record. */
function foreign(member: string, given: string | null): string {
  return given === null ? '' : `,"${member}":${JSON.stringify(cut(given))}`;
}

function cut(text: string): string {
  return text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
}
