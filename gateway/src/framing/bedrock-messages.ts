/**
 * Decodes messages streams of Amazon Bedrock. One of its endpoints sends plain SSE; the other wraps each event in an AWS
 * frame, as base64 with padding. Those records are the SSE that Anthropic itself would have sent.
 */
import { AWS_EVENT_STREAM, FAILURE_PREFIX } from './aws-event-stream.ts';
import {
  dataText,
  type Framing,
  type FramingOutput,
  type RecordDecoder,
  type Skim,
  type SkimmedRecords,
  type StreamRecord,
} from './framing.ts';
import { SSE } from './sse-decoder.ts';

export const BEDROCK_MESSAGES: Framing = {
  name: 'bedrock-messages',
  isStream: (contentType) => AWS_EVENT_STREAM.isStream(contentType) || SSE.isStream(contentType),
  beginsStream: (span) => AWS_EVENT_STREAM.beginsStream(span) || SSE.beginsStream(span),
  startDecoder: (recordBytesMax, skim) => new BedrockDecoder(recordBytesMax, skim),
  firstRecordEnd: (bytes, from, to) => framingOf(bytes, from, to).firstRecordEnd(bytes, from, to),
  lastRecordEnd: (bytes, from, to) => framingOf(bytes, from, to).lastRecordEnd(bytes, from, to),
};

/** Text has no zero bytes. */
function framingOf(bytes: Uint8Array, from: number, to: number): Framing {
  const zero = bytes.indexOf(0, from);
  return zero === -1 || zero >= to ? SSE : AWS_EVENT_STREAM;
}

type Output = FramingOutput | SkimmedRecords;

class BedrockDecoder implements RecordDecoder {
  readonly #recordBytesMax: number;
  readonly #skim: Skim | null;
  /** Chosen by the first byte; null: none came. */
  #inner: RecordDecoder | null = null;
  #isFramed = false;
  #over = false;

  constructor(recordBytesMax: number, skim: Skim | null) {
    this.#recordBytesMax = recordBytesMax;
    this.#skim = skim;
  }

  feed(chunk: Uint8Array, take: (output: Output) => void): void {
    if (this.#over) throw new Error('this event stream has ended: nothing can be fed after a problem or finish()');
    if (chunk.length === 0) return;
    if (this.#inner === null) {
      this.#isFramed = AWS_EVENT_STREAM.beginsStream(chunk);
      this.#inner = (this.#isFramed ? AWS_EVENT_STREAM : SSE).startDecoder(this.#recordBytesMax, this.#skim);
    }
    this.#inner.feed(chunk, this.#isFramed ? (output) => this.#unwrap(output, take) : take);
  }

  finish(): FramingOutput[] {
    this.#over = true;
    return this.#inner?.finish() ?? [];
  }

  #unwrap(output: Output, take: (output: Output) => void): void {
    if (this.#over) return;
    if (output.kind !== 'event') {
      if (output.kind === 'problem') this.#end(output, take);
      return;
    }
    if (output.event.startsWith(FAILURE_PREFIX)) {
      take(failureOf(output));
      return;
    }
    if (output.event !== 'chunk') return;
    const data = eventIn(dataText(output));
    if (data === null) {
      this.#end({ kind: 'problem', message: 'a chunk of the event stream holds no event' }, take);
      return;
    }
    const record = renderRecord(typeOf(data), data);
    const { bytes, end } = record;
    if (this.#skim?.(bytes, 0) === end) take({ kind: 'skimmed', bytes, start: 0, end });
    else take(record);
  }

  #end(problem: Extract<FramingOutput, { kind: 'problem' }>, take: (output: Output) => void): void {
    this.#over = true;
    take(problem);
  }
}

/** The event of a chunk; null: it has none. */
function eventIn(payload: string): Buffer | null {
  try {
    const { bytes } = JSON.parse(payload) as { readonly bytes?: unknown };
    return typeof bytes === 'string' && bytes !== '' ? withoutMetrics(oneLine(Buffer.from(bytes, 'base64'))) : null;
  } catch {
    return null;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** In JSON, a line end outside of a string is white space, and cannot be inside of one. */
function oneLine(event: Buffer): Buffer {
  for (let at = 0; at < event.length; at++) if (event[at] === LF || event[at] === CR) event[at] = SPACE;
  return event;
}

const METRICS = 'amazon-bedrock-invocationMetrics';

/** The last event also has counters of AWS, which are not of the format. */
function withoutMetrics(event: Buffer): Buffer {
  if (!event.includes(METRICS) || typeOf(event) !== 'message_stop') return event;
  const { [METRICS]: _, ...others } = JSON.parse(event.toString());
  return Buffer.from(JSON.stringify(others));
}

const TYPE = /^\{"type":"([a-z_]{1,64})"/;

/** The event's type; empty: it names none. Usually the first member. */
function typeOf(event: Buffer): string {
  const found = TYPE.exec(event.toString('latin1', 0, 80))?.[1];
  if (found !== undefined) return found;
  try {
    const { type } = JSON.parse(event.toString());
    return typeof type === 'string' && /^[a-z_]{1,64}$/.test(type) ? type : '';
  } catch {
    return '';
  }
}

/** Anthropic's types for AWS's exceptions; every other one is a fault of the provider. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['throttlingException', 'rate_limit_error'],
  ['modelTimeoutException', 'timeout_error'],
  ['validationException', 'invalid_request_error'],
]);

function failureOf(record: StreamRecord): StreamRecord {
  const exception = record.event.slice(FAILURE_PREFIX.length);
  const error = { type: ERROR_TYPES.get(exception) ?? 'api_error', message: messageIn(record) || exception };
  return renderRecord('error', Buffer.from(JSON.stringify({ type: 'error', error })));
}

function messageIn(record: StreamRecord): string {
  const payload = dataText(record);
  try {
    const { message } = JSON.parse(payload) as { readonly message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return payload;
  }
}

function renderRecord(event: string, data: Buffer): StreamRecord {
  const head = Buffer.from(`event: ${event}\ndata: `);
  const bytes = Buffer.concat([head, data, Buffer.from('\n\n')]);
  const spans = { bytes, start: 0, end: bytes.length, dataBytes: bytes };
  return { kind: 'event', ...spans, event, dataStart: head.length, dataEnd: head.length + data.length };
}
