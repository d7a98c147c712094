/** Test helpers: build chat-completions chunks, and parse and render streams of them. */
import type { GenerationEvent } from '../../../generation/event.ts';
import { foldGeneration, type Generation } from '../../../generation/generation.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { startStreamRenderer } from '../client/render-stream.ts';
import { startStreamParser } from '../upstream/parse-stream.ts';

export const DONE = 'data: [DONE]\n\n';

export const CONTEXT: AnswerContext = {
  id: 'gw1',
  createdSeconds: 1_700_000_000,
  model: 'asked-for',
  wantsUsage: false,
  estimatedInputTokens: 7,
  sign: (reasoning) => `gw1.${reasoning.length}`,
  seal: () => 'gw2.',
};

/** A record with one chunk. */
export function chunk(members: object): string {
  return `data: ${JSON.stringify({ id: 'c1', created: 1, model: 'm', ...members })}\n\n`;
}

/** A record with one delta of the first choice. */
export function delta(members: object): string {
  return chunk({ choices: [{ index: 0, delta: members, finish_reason: null }] });
}

/** A record with the finish reason and further members of its choice. */
export function finish(finish_reason: string, members: object = {}): string {
  return chunk({ choices: [{ index: 0, delta: {}, finish_reason, ...members }] });
}

/** A record with fragments of tool calls. */
export function calls(...fragments: readonly unknown[]): string {
  return delta({ tool_calls: fragments });
}

/** The events of the records, up to a normal end of the bytes. */
export function eventsOf(...records: readonly string[]): GenerationEvent[] {
  const parser = startStreamParser();
  const events = recordsOf(records.join('')).flatMap((record) => parser.push(record));
  return [...events, ...parser.finish()];
}

export function generationOf(...records: readonly string[]): Generation {
  return foldGeneration(eventsOf(...records));
}

/** The tool calls among an answer's parts. */
export function callsOf(generation: Generation): Array<readonly [id: string, name: string, text: string]> {
  return generation.parts.flatMap((part) =>
    part.kind === 'tool_call' ? [[part.id, part.name, part.arguments] as const] : [],
  );
}

/** The client's stream for the events, and its renderer. */
export function render(events: readonly GenerationEvent[], context: AnswerContext = CONTEXT) {
  const renderer = startStreamRenderer(context);
  const written = events.map((event) => renderer.push(event)).join('');
  return { written, renderer };
}

/** The chunks in a client's stream, without `[DONE]`. */
export function chunksIn(written: string): unknown[] {
  return written
    .split('\n\n')
    .filter((record) => record !== '' && record !== DONE.trim())
    .map((record) => JSON.parse(record.slice('data: '.length)));
}
