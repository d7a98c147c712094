/** Writes client requests in Gemini's format and reads Gemini's answers as clients get them. */
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { foldGeneration } from '../../../src/generation/generation.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { GeminiTraits } from '../../../src/protocols/upstream-traits.ts';
import type { Format } from '../translation/format.ts';
import {
  CONTEXT,
  readRequest,
  readStream as readStreamOf,
  type StreamReading,
  streamFor,
  writeRequest,
} from '../translation/rig.ts';
import { type Json, list, object } from '../wire-text.ts';

export const GEMINI = UPSTREAM_PROTOCOLS.gemini;

export interface Written {
  readonly body: Json;
  readonly dropped: readonly string[];
  readonly outputTool: string | null;
  readonly stopTexts: readonly string[];
}

/** A client's request as Gemini gets it. Throws CallFailure if it is refused. */
export function writeFor(
  model: string,
  format: Format,
  request: object,
  platform: GeminiTraits['platform'] = 'ai_studio',
): Written {
  const { request: parsed, dropped } = readRequest(format, JSON.stringify({ model, max_tokens: 64, ...request }));
  const written = writeRequest('gemini', parsed, { ...CAPABLE, model, gemini: { platform } });
  const { json, outputTool, stopTexts } = written;
  return { body: JSON.parse(json), dropped: [...dropped, ...written.dropped], outputTool, stopTexts };
}

/** The parts of a content of a written request. */
export function partsOf({ body }: Written, index: number): Json[] {
  return list(object(list(body.contents)[index])?.parts).map((part) => object(part) ?? {});
}

/** The records of chunks, as Google writes them. */
export function streamOf(...chunks: readonly object[]): Buffer {
  return Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''));
}

/** The events of a stream that comes in these pieces. */
export function readStream(...pieces: readonly Uint8Array[]): StreamReading {
  return readStreamOf('gemini', pieces);
}

export function readPlain(answer: unknown): readonly GenerationEvent[] {
  return GEMINI.parseAnswer(Buffer.from(JSON.stringify(answer)));
}

/** The answer in one piece for a client. */
export function plainFor(format: Format, events: readonly GenerationEvent[]): Json {
  return JSON.parse(String(CLIENT_PROTOCOLS[format].renderAnswer(foldGeneration(events), CONTEXT).json));
}

/** The data of the records that a client gets; throws if the format does not allow their order. */
export function recordsFor(format: Format, events: readonly GenerationEvent[]): string[] {
  return streamFor(format, events)
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
}

/** An answer of one candidate. */
export function answerOf(parts: readonly object[], more: object = {}, finishReason: string | null = 'STOP'): Json {
  const candidate = { content: { role: 'model', parts }, ...(finishReason === null ? {} : { finishReason }), index: 0 };
  return { candidates: [candidate], modelVersion: 'gemini-harbor', responseId: 'resp1', ...more };
}

export function usageOf(promptTokenCount: number, candidatesTokenCount: number, more: Json = {}): Json {
  const toolUse = Number(more.toolUsePromptTokenCount ?? 0);
  const thoughts = Number(more.thoughtsTokenCount ?? 0);
  const totalTokenCount = promptTokenCount + candidatesTokenCount + toolUse + thoughts;
  return { usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount, ...more } };
}
