/** Builds test inputs for responses: a context, upstream records, and the events and records derived from them. */
import type { GenerationEvent } from '../../../generation/event.ts';
import { foldGeneration, type Generation } from '../../../generation/generation.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { startStreamRenderer } from '../client/render-stream.ts';
import { startStreamParser } from '../upstream/parse-stream.ts';

export const CONTEXT: AnswerContext = {
  id: 'a1',
  createdSeconds: 1_800_000_000,
  model: 'public-model',
  wantsUsage: true,
  estimatedInputTokens: 1000,
  sign: (reasoning) => `gw1.${reasoning.length}`,
  seal: () => 'gw2.',
};

/** One event as a messages provider sends it. */
export function record(type: string, members: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

/** The events parsed from a stream's text, including those of `finish`. */
export function parsed(stream: string, parser: StreamParser = startStreamParser()): GenerationEvent[] {
  return [...recordsOf(stream).flatMap((one) => [...parser.push(one)]), ...parser.finish()];
}

export function foldedStream(stream: string): Generation {
  return foldGeneration(parsed(stream));
}

/** The client's output for the events, one text per event, and the final state. */
export function rendered(events: readonly GenerationEvent[], context: AnswerContext = CONTEXT) {
  const renderer = startStreamRenderer(context);
  const pieces = events.map((event) => renderer.push(event));
  const { finish_reason, violation } = renderer;
  return { pieces, text: pieces.join(''), finish_reason, violation };
}

/** The data of each record; marked if the event line does not match it. */
export function told(text: string): unknown[] {
  return recordsOf(text).map(({ event, dataBytes, dataStart, dataEnd }) => {
    const found = JSON.parse(Buffer.from(dataBytes.subarray(dataStart, dataEnd)).toString());
    return event === found.type ? found : { misnamed: event, found };
  });
}

/** Shorthands for events. */
export const start: GenerationEvent = { kind: 'start', id: 'x', model: 'm' };
export const end: GenerationEvent = { kind: 'end' };
export const ended = (part: number): GenerationEvent => ({ kind: 'part_end', part });
export const says = (part: number, text: string): GenerationEvent => ({ kind: 'text_delta', part, text });
export const argues = (part: number, text: string): GenerationEvent => ({ kind: 'arguments_delta', part, text });
export const speech = (part: number, kind: 'text' | 'refusal' = 'text'): GenerationEvent => ({
  kind: 'part_start',
  part,
  opening: { kind },
});
export const thinks = (part: number, issuer: string | null = null, redacted = false): GenerationEvent => ({
  kind: 'part_start',
  part,
  opening: { kind: 'reasoning', redacted, issuer },
});
export const calls = (
  part: number,
  id: string,
  name = 'get',
  tool: 'function' | 'custom' = 'function',
): GenerationEvent => ({
  kind: 'part_start',
  part,
  opening: { kind: 'tool_call', id, name, tool },
});
export const finish = (
  finish_reason: Extract<GenerationEvent, { kind: 'finish' }>['finish_reason'],
  more: { readonly stop_sequence?: string; readonly explanation?: string } = {},
): GenerationEvent => ({
  kind: 'finish',
  finish_reason,
  stop_sequence: more.stop_sequence ?? null,
  reported: null,
  explanation: more.explanation ?? null,
});
