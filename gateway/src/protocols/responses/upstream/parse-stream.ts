/**
 * Parses a Responses stream or a whole response into canonical events. An item's `done` event decides what it is; its
 * other events only bring its text earlier. Source: specification of the Responses API, D.3 and F.5.
 */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { type FinishReason, type GenerationEvent, type PartOpening, usageEvent } from '../../../generation/event.ts';
import type { JsonText } from '../../../generation/part.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { errorOf, finishWordOf, isFinished, readReportedUsage } from '../shared/usage.ts';
import { ownText, partText } from '../stream/item-texts.ts';

const NONE: readonly GenerationEvent[] = [];
const REASONING = { kind: 'reasoning', redacted: false, issuer: 'responses' } as const;
/** Between two summaries of one reasoning item, and two messages, which other formats have as one. */
const GAP = '\n\n';

export function startStreamParser(): StreamParser {
  return new ResponsesStreamParser();
}

class ResponsesStreamParser implements StreamParser {
  readonly #reader = new ResponseReader();

  get isUsageFinal(): boolean {
    return this.#reader.isUsageFinal;
  }

  push(record: StreamRecord): readonly GenerationEvent[] {
    if (this.#reader.closed || record.kind !== 'event') return NONE;
    const json = dataText(record);
    if (json.trim() === '[DONE]') return NONE;
    const event = parseObject(json);
    if (event === null) this.#reader.refuse('upstream sent a record that is not a JSON object');
    else this.#read(event, json);
    return this.#reader.take();
  }

  /** Only a terminal event ends a stream. */
  finish(): readonly GenerationEvent[] {
    return NONE;
  }

  #read(event: JsonObject, json: JsonText): void {
    const reader = this.#reader;
    switch (event.type) {
      case 'response.created':
        reader.start(asObject(event.response) ?? {});
        return;
      case 'response.output_item.added':
        reader.beginItem(event.output_index, asObject(event.item) ?? {});
        return;
      case 'response.output_item.done':
        reader.endItem(event.output_index, asObject(event.item) ?? {}, memberText(json, 'item') ?? '{}');
        return;
      case 'response.output_text.delta':
        reader.say(event, 'text');
        return;
      case 'response.refusal.delta':
        reader.say(event, 'refusal');
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        reader.say(event, 'reasoning');
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        reader.argue(event);
        return;
      case 'response.completed':
      case 'response.incomplete':
        reader.end(asObject(event.response) ?? {});
        return;
      case 'response.failed':
        reader.fail(asObject(event.response) ?? {});
        return;
      case 'error':
      case undefined:
        reader.fail(event);
    }
  }
}

type TextKind = 'text' | 'refusal' | 'reasoning';

/** The state of an item before its `done` event. */
interface OpenItem {
  /** The number of its open part; null: none is open. */
  part: number | null;
  /** The piece of it that the open part is: `content:0`, `summary:1`. */
  piece: string;
  /** Some text of it came. */
  hasText: boolean;
  /** How much of the open part's text is a gap before the piece. */
  gapChars: number;
}

class ResponseReader {
  closed = false;
  isUsageFinal = false;
  #events: GenerationEvent[] = [];
  #parts = 0;
  #started = false;
  #callsTool = false;
  #refused = false;
  /** The message that spoke last. */
  #speaker: OpenItem | null = null;
  readonly #items = new Map<unknown, OpenItem>();

  /** The events since the last time. */
  take(): readonly GenerationEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  start(response: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ kind: 'start', id: asText(response.id), model: asName(response.model) });
  }

  /** A call begins with its name; a text with its first piece. */
  beginItem(index: unknown, item: JsonObject): void {
    const open: OpenItem = { part: null, piece: '', hasText: false, gapChars: 0 };
    this.#items.set(index, open);
    const opening = callOpening(item);
    if (opening !== null) open.part = this.#begin(opening);
  }

  say(event: JsonObject, kind: TextKind): void {
    const text = asText(event.delta);
    if (text === null) return;
    const { summary_index, content_index } = event;
    const piece =
      summary_index === undefined ? `content:${numberIn(content_index)}` : `summary:${numberIn(summary_index)}`;
    this.#say(this.#itemAt(event.output_index), piece, kind, text);
  }

  argue(event: JsonObject): void {
    const open = this.#itemAt(event.output_index);
    const text = asText(event.delta);
    if (open.part === null || text === null) return;
    open.hasText = true;
    this.#events.push({ kind: 'arguments_delta', part: open.part, text });
  }

  /** `json`: the item as written. Adds the content that no delta brought. */
  endItem(index: unknown, item: JsonObject, json: JsonText): void {
    if (!this.#items.has(index)) this.beginItem(index, item);
    const open = this.#itemAt(index);
    if (!open.hasText) this.#sayWhole(open, item);
    else if (item.type === 'message') this.#cite(open, item);
    // Its issuer wants it back, as it was: the whole item is the signature.
    if (item.type === 'reasoning' && asText(item.encrypted_content) !== null) {
      open.part ??= this.#begin(REASONING);
      this.#events.push({ kind: 'signature', part: open.part, signature: json });
    }
    this.#endPart(open);
  }

  end(response: JsonObject): void {
    this.start(response);
    for (const open of this.#items.values()) this.#endPart(open);
    const reported = readReportedUsage(response);
    if (reported !== null) this.#events.push(usageEvent(reported));
    this.isUsageFinal = reported !== null;
    const finish_reason = this.#finishReason(response);
    const word = finishWordOf(response);
    this.#events.push({ kind: 'finish', finish_reason, stop_sequence: null, reported: word, explanation: null });
    this.#events.push({ kind: 'end' });
    this.closed = true;
  }

  fail(holder: JsonObject): void {
    const reported = readReportedUsage(holder);
    if (reported !== null) this.#events.push(usageEvent(reported));
    const error = errorOf(holder) ?? { type: 'error', status: null, message: 'upstream gave no reason' };
    this.#events.push({ kind: 'error', ...error });
    this.closed = true;
  }

  refuse(message: string): void {
    this.#events.push({ kind: 'malformed', message });
    this.closed = true;
  }

  #begin(opening: PartOpening): number {
    // Some hosts do not announce the response.
    this.start({});
    const part = this.#parts;
    this.#parts += 1;
    if (opening.kind === 'tool_call') this.#callsTool = true;
    if (opening.kind === 'refusal') this.#refused = true;
    this.#events.push({ kind: 'part_start', part, opening });
    return part;
  }

  #itemAt(index: unknown): OpenItem {
    const open = this.#items.get(index) ?? { part: null, piece: '', hasText: false, gapChars: 0 };
    this.#items.set(index, open);
    return open;
  }

  /** Each part of a message is a part; all parts of reasoning are one. */
  #say(open: OpenItem, piece: string, kind: TextKind, text: string): void {
    const isNext = open.piece !== piece;
    if (isNext && kind !== 'reasoning') this.#endPart(open);
    const isAnother = kind === 'text' && this.#speaker !== null && this.#speaker !== open;
    const gap = isNext && (isAnother || open.part !== null) ? GAP : '';
    if (isNext) open.gapChars = gap.length;
    if (kind === 'text') this.#speaker = open;
    open.part ??= this.#begin(kind === 'reasoning' ? REASONING : { kind });
    open.piece = piece;
    open.hasText = true;
    this.#events.push({ kind: 'text_delta', part: open.part, text: gap + text });
  }

  #sayWhole(open: OpenItem, item: JsonObject): void {
    const own = ownText(item);
    if (open.part !== null && own) this.#events.push({ kind: 'arguments_delta', part: open.part, text: own });
    if (item.type !== 'message' && item.type !== 'reasoning') return;
    for (const place of ['summary', 'content'] as const) {
      for (const [index, value] of asArray(item[place]).entries()) {
        const part = asObject(value);
        const text = partText(part);
        const kind = item.type === 'reasoning' ? 'reasoning' : part?.type === 'refusal' ? 'refusal' : 'text';
        if (text) this.#say(open, `${place}:${index}`, kind, text);
        if (kind === 'text') this.#citePart(open, part);
      }
    }
  }

  /** The citations of the last part; those of a part before it come too late. */
  #cite(open: OpenItem, item: JsonObject): void {
    const [place, index] = open.piece.split(':');
    if (place === 'content') this.#citePart(open, asObject(asArray(item.content)[Number(index)]));
  }

  #citePart({ part, gapChars }: OpenItem, content: JsonObject | null): void {
    if (part === null) return;
    for (const value of asArray(content?.annotations)) {
      const found = asObject(value);
      const url = found?.type === 'url_citation' ? asText(found.url) : null;
      if (found === null || url === null) continue;
      const [start, end] = [found.start_index, found.end_index].map((at) =>
        typeof at === 'number' ? at + gapChars : null,
      );
      const citation = { kind: 'url', url, title: asText(found.title), quote: null, native: null } as const;
      this.#events.push({ kind: 'citation', part, citation: { ...citation, start: start ?? null, end: end ?? null } });
    }
  }

  #endPart(open: OpenItem): void {
    if (open.part !== null) this.#events.push({ kind: 'part_end', part: open.part });
    open.part = null;
  }

  #finishReason(response: JsonObject): FinishReason {
    const reason = asText(asObject(response.incomplete_details)?.reason);
    if (response.status === 'incomplete') {
      if (reason === 'content_filter') return 'refusal';
      return reason === null || reason === 'max_output_tokens' ? 'length' : 'other';
    }
    if (this.#callsTool) return 'tool_calls';
    return this.#refused ? 'refusal' : 'stop';
  }
}

/** Null: not a call of a tool of the client's. */
function callOpening({ type, call_id, id, name }: JsonObject): PartOpening | null {
  if (type !== 'function_call' && type !== 'custom_tool_call') return null;
  const tool = type === 'function_call' ? 'function' : 'custom';
  return { kind: 'tool_call', id: asText(call_id) ?? asText(id) ?? '', name: asText(name) ?? '', tool };
}

const FAILED: ReadonlySet<unknown> = new Set(['failed', 'cancelled']);

/**
 * The body of a 200 as events, up to `end`. An error body or a failed response gives one `error`; anything else that is
 * not a response gives one `malformed`.
 */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const json = body.toString();
  const response = parseObject(json);
  const reader = new ResponseReader();
  if (response === null) reader.refuse('the answer is not a JSON object');
  else if (FAILED.has(response.status) || (!Array.isArray(response.output) && errorOf(response) !== null))
    return failureOf(reader, response);
  else if (!Array.isArray(response.output)) reader.refuse('the answer has no output');
  else if (!isFinished(response)) reader.refuse('the answer came before it was finished');
  else {
    reader.start(response);
    const texts = elementTexts(memberText(json, 'output') ?? '[]');
    for (const [index, item] of response.output.entries())
      reader.endItem(index, asObject(item) ?? {}, texts[index] ?? '{}');
    reader.end(response);
  }
  return reader.take();
}

function failureOf(reader: ResponseReader, response: JsonObject): readonly GenerationEvent[] {
  reader.fail(response);
  return reader.take().slice(-1);
}

/** The index of a part, which hosts count from 0. */
function numberIn(index: unknown): number {
  return typeof index === 'number' ? index : 0;
}
