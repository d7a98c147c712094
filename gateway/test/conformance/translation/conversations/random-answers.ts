/**
 * Generates random answers in normal form, whole and as events: split into deltas anywhere, with consecutive calls all
 * open at once. `answer-oracle.ts` says how they must be translated.
 */
import fc from 'fast-check';
import type { FinishReason, GenerationEvent } from '../../../../src/generation/event.ts';
import { type Generation, unfoldGeneration } from '../../../../src/generation/generation.ts';
import type { Citation, Part } from '../../../../src/generation/part.ts';
import { splitDeltas } from '../../../../src/generation/testing/split-deltas.ts';
import { extrasOf, type Usage } from '../../../../src/generation/usage.ts';
import { functionArguments, spokenText } from './random-parts.ts';

const count = fc.nat(2_000_000);
const usage = fc
  .record({
    input: count,
    cache_read: count,
    cache_write_5m: count,
    cache_write_1h: count,
    output: count,
    reasoning: count,
  })
  .map((counters) => ({ ...counters, reasoning: Math.min(counters.reasoning, counters.output) }))
  .chain(
    (counters): fc.Arbitrary<Usage> => fc.oneof({ weight: 3, arbitrary: fc.constant(counters) }, withApart(counters)),
  );

/** Adds audio, images and server tools, each a part of the whole it belongs to. */
function withApart(counters: Usage): fc.Arbitrary<Usage> {
  const { input, cache_read, output, reasoning } = counters;
  const share = fc.integer({ min: 0, max: 100 });
  const requests = fc.nat(9);
  return fc
    .tuple(fc.array(share, { minLength: 5, maxLength: 5 }), requests, requests, requests)
    .map(([shares, ...ran]) => {
      const part = (index: number, whole: number) => Math.floor((whole * (shares[index] ?? 0)) / 100);
      const audio_input = part(0, input);
      const audio_output = part(2, output - reasoning);
      // A chat answer does not say how much of its audio came from a cache, so some did only if all input was audio.
      const audio_cache_read = audio_input === input ? part(1, cache_read) : 0;
      const media = {
        audio_input,
        audio_cache_read,
        audio_output,
        image_input: part(3, input - audio_input),
        image_output: part(4, output - reasoning - audio_output),
      };
      const [web_search, web_fetch, code_execution] = ran;
      const extras = extrasOf(media, Object.entries({ web_search, web_fetch, code_execution }));
      return extras === undefined ? counters : { ...counters, extras };
    });
}

const citation: fc.Arbitrary<Citation> = fc.oneof(
  spokenText.map((title): Citation => {
    const url = 'https://sources.example/a?b="';
    const json = JSON.stringify({
      type: 'web_search_result_location',
      url,
      title,
      cited_text: 'c',
      encrypted_index: 'e',
    });
    return { kind: 'url', url, title, quote: 'c', start: null, end: null, native: { origin: 'messages', json } };
  }),
  fc.constant<Citation>({
    kind: 'opaque',
    native: { origin: 'messages', json: '{"type":"char_location","cited_text":"x", "start_char_index":1.0}' },
  }),
);

const part: fc.Arbitrary<Part> = fc.oneof(
  {
    arbitrary: fc
      .tuple(spokenText, fc.array(citation, { maxLength: 1 }))
      .map(([text, citations]): Part => ({ kind: 'text', text, citations, cache_mark: null })),
    weight: 4,
  },
  spokenText.map((text): Part => ({ kind: 'refusal', text })),
  fc.tuple(fc.oneof(spokenText, fc.constant('')), fc.constantFrom('EqQB+/==', null)).map(([text, signature]): Part => {
    const issuer = signature === null ? null : 'messages';
    return { kind: 'reasoning', text, signature, redacted: signature !== null && text === '', issuer };
  }),
  {
    arbitrary: fc
      .oneof(
        functionArguments.map((json) => ['function', json] as const),
        spokenText.map((input) => ['custom', input] as const),
      )
      .map(
        ([tool, json]): Part => ({
          kind: 'tool_call',
          id: '',
          name: 'look-up',
          tool,
          arguments: json,
          cache_mark: null,
        }),
      ),
    weight: 3,
  },
  fc.constant<Part>({
    kind: 'opaque',
    type: 'server_tool_use',
    native: {
      origin: 'messages',
      json: '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search", "input":{"n":1.0}}',
    },
    words: null,
  }),
);

const finish = fc.constantFrom<FinishReason>(
  'stop',
  'stop_sequence',
  'length',
  'context_window',
  'refusal',
  'pause',
  'other',
);

/** An answer in normal form: each call has its own id, and the finish reason fits the parts. */
export const randomAnswer: fc.Arbitrary<Generation> = fc
  .record({
    parts: fc.array(part, { maxLength: 6 }),
    ended: finish,
    usage: fc.option(usage, { freq: 8 }),
    explanation: fc.option(spokenText, { freq: 2 }),
    model: fc.option(fc.constant('upstream-model'), { freq: 8 }),
  })
  .map(({ parts, ended, usage: counters, explanation, model }): Generation => {
    const calls = parts.some(({ kind }) => kind === 'tool_call');
    const isCut = ended === 'length' || ended === 'context_window' || ended === 'refusal';
    const finish_reason = calls && !isCut ? 'tool_calls' : ended;
    return {
      id: 'answer-1',
      model,
      parts: parts.map((one, place) => (one.kind === 'tool_call' ? { ...one, id: `toolu_${place}` } : one)),
      finish_reason,
      stop_sequence: finish_reason === 'stop_sequence' ? 'END' : null,
      reported: null,
      explanation: finish_reason === 'refusal' ? explanation : null,
      usage: counters,
      usageFlags: [],
      complete: true,
    };
  });

/** The answer as events: deltas of the given lengths in code units, adjacent calls interleaved. */
export function eventsOfAnswer(answer: Generation, cuts: readonly number[]): GenerationEvent[] {
  const events = splitDeltas(unfoldGeneration(answer), cuts);
  const emitted: GenerationEvent[] = [];
  let open: GenerationEvent[][] = [];
  for (const event of events) {
    const call = 'part' in event && answer.parts[event.part]?.kind === 'tool_call';
    if (!call) {
      emitted.push(...inTurns(open));
      open = [];
      emitted.push(event);
    } else if (event.kind === 'part_start') open.push([event]);
    else open.at(-1)?.push(event);
  }
  return emitted;
}

/** Takes one event of each queue in turn. */
function inTurns(queues: readonly GenerationEvent[][]): GenerationEvent[] {
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) => queues.flatMap((queue) => queue.slice(place, place + 1))).flat();
}
