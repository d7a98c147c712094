/**
 * Loads recorded exchanges for the translation suites, and defines the permissive upstream that requests are rendered
 * for.
 */
import { CallFailure } from '../../../src/errors/call-failure.ts';
import { AWS_EVENT_STREAM } from '../../../src/framing/aws-event-stream.ts';
import type { FramingOutput, SkimmedRecords } from '../../../src/framing/framing.ts';
import { SSE } from '../../../src/framing/sse-decoder.ts';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import type { AnswerContext } from '../../../src/protocols/client-protocol.ts';
import type { GenerationUpstreamName } from '../../../src/protocols/names.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { RenderedRequest } from '../../../src/protocols/upstream-protocol.ts';
import type { UpstreamTraits } from '../../../src/protocols/upstream-traits.ts';
import { scanJson } from '../../../src/wire/json-scan.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { recordingSets, type SetName } from '../../fake-upstream/recordings.ts';
import { object } from '../wire-text.ts';
import type { Format } from './format.ts';

/** The data of a recording that translations need. */
export interface RecordedExchange {
  readonly id: string;
  readonly format: Format;
  readonly status: number;
  /** JSON of the request body; null if it was not recorded or is not JSON. */
  readonly request: string | null;
  readonly answer: Buffer;
  /** The answer is a stream, whatever was requested. */
  readonly streamed: boolean;
}

const RECORD_BYTES_MAX = 10_000_000;

export const OTHER: { readonly [format in Format]: Format } = {
  chat: 'messages',
  messages: 'chat',
};

export interface ExchangeSet {
  readonly name: SetName;
  readonly exchanges: readonly RecordedExchange[];
}

/** Returns the exchanges of both formats, set by set, in order. */
export function exchangeSets(): ExchangeSet[] {
  const messages = recordingSets('anthropic-messages');
  return recordingSets('openai-chat').map(({ name, recordings }) => {
    const others = messages.find((set) => set.name === name)?.recordings ?? [];
    return { name, exchanges: [...recordings, ...others].map(exchangeOf) };
  });
}

function exchangeOf(recording: Recording): RecordedExchange {
  const body = object(recording.request?.body);
  const answer = Buffer.from(recordingBytes(recording));
  return {
    id: recording.id,
    format: recording.api === 'openai-chat' ? 'chat' : 'messages',
    status: recording.response.status,
    request: body === null ? null : JSON.stringify(body),
    answer,
    streamed: recording.stream && /^data:/m.test(answer.toString()),
  };
}

/** Context of every rendered answer. Without an estimate the usage shown is exactly upstream's. */
export const CONTEXT: AnswerContext = {
  id: 'translated',
  createdSeconds: 1_800_000_000,
  model: 'asked-for',
  wantsUsage: true,
  estimatedInputTokens: 0,
  sign: (reasoning) => `gw1.${reasoning.length}`,
  seal: () => 'gw2.',
};

export interface ReadRequest {
  readonly request: GenerationRequest;
  readonly dropped: readonly string[];
}

/** Parses a body into a canonical request. Throws CallFailure if it is refused. */
export function readRequest(format: Format, json: string, strict = false): ReadRequest {
  const outline = scanJson(Buffer.from(json));
  if (!outline.ok) throw new Error(outline.message);
  const notes = startTranslationNotes(strict);
  return {
    request: CLIENT_PROTOCOLS[format].parseRequest(outline, notes, { model: 'm', stream: false }),
    dropped: notes.dropped,
  };
}

export interface WrittenRequest extends RenderedRequest {
  readonly dropped: readonly string[];
}

/**
 * Renders a request for an upstream of the format, by default one that accepts everything. Throws CallFailure if it is
 * refused.
 */
export function writeRequest(
  format: GenerationUpstreamName,
  request: GenerationRequest,
  traits: UpstreamTraits = { ...CAPABLE, model: request.model },
  strict = false,
): WrittenRequest {
  const notes = startTranslationNotes(strict);
  const rendered = UPSTREAM_PROTOCOLS[format].renderRequest(request, traits, notes);
  return { ...rendered, dropped: notes.dropped };
}

/** Returns the result of `act`, or the message of its refusal. */
export function orRefusal<Result>(act: () => Result): Result | { readonly refused: string } {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof CallFailure) || error.kind !== 'invalid_request') throw error;
    return { refused: error.message };
  }
}

export interface StreamReading {
  readonly events: GenerationEvent[];
  readonly isUsageFinal: boolean;
}

/** Parses a stream's parts into events, up to a clean end of its bytes. Throws for bytes that are no stream. */
export function readStream(format: GenerationUpstreamName, parts: Iterable<Uint8Array>): StreamReading {
  const decoder = (format === 'converse' ? AWS_EVENT_STREAM : SSE).startDecoder(RECORD_BYTES_MAX, null);
  const parser = UPSTREAM_PROTOCOLS[format].startStreamParser();
  const events: GenerationEvent[] = [];
  const take = (output: FramingOutput | SkimmedRecords) => {
    if (output.kind === 'problem') throw new Error(output.message);
    if (output.kind === 'event') for (const event of parser.push(output)) events.push(event);
  };
  for (const part of parts) decoder.feed(part, take);
  for (const output of decoder.finish()) take(output);
  events.push(...parser.finish());
  return { events, isUsageFinal: parser.isUsageFinal };
}

/** The events of a stream in parts. */
export function eventsOfStream(format: GenerationUpstreamName, parts: Iterable<Uint8Array>): GenerationEvent[] {
  return readStream(format, parts).events;
}

/** Parses a recorded answer. */
export function eventsOf({ format, streamed, answer }: RecordedExchange): readonly GenerationEvent[] {
  return streamed ? eventsOfStream(format, [answer]) : UPSTREAM_PROTOCOLS[format].parseAnswer(answer);
}

/** Renders events for a client of the format. Throws if the format does not allow their order. */
export function streamFor(
  format: Format,
  events: readonly GenerationEvent[],
  context: AnswerContext = CONTEXT,
): string {
  const renderer = CLIENT_PROTOCOLS[format].startStreamRenderer(context);
  const text = events.map((event) => renderer.push(event)).join('');
  if (renderer.violation !== null) throw new Error(`the ${format} renderer refuses its events: ${renderer.violation}`);
  return text;
}
