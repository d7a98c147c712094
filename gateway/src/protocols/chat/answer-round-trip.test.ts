/** Tests that a rendered answer is read back unchanged, by this format's own reader and by the official client. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import OpenAI from 'openai';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import type { GenerationEvent, PartOpening } from '../../generation/event.ts';
import { foldGeneration, type Generation } from '../../generation/generation.ts';
import type { Citation } from '../../generation/part.ts';
import { renderAnswer } from './client/render-answer.ts';
import { CONTEXT, eventsOf, render } from './testing/chat-stream.ts';
import { parseAnswer } from './upstream/parse-answer.ts';

const CLIENT_CONTEXT = { ...CONTEXT, wantsUsage: true };
const USAGE = { input: 5, cache_read: 4, cache_write_5m: 3, cache_write_1h: 0, output: 2, reasoning: 1 };

/** One part as events: its pieces, and its citations. */
interface Told {
  readonly opening: PartOpening;
  readonly pieces: readonly string[];
  readonly citations: readonly Citation[];
}

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 });
const pieces = fc.array(text, { minLength: 1, maxLength: 4 });
const word = fc.stringMatching(/^[a-z]{1,6}$/);
const citation = fc
  .tuple(fc.webUrl(), word)
  .map(([url, title]): Citation => ({ kind: 'url', url, title, quote: null, start: 0, end: 1, native: null }));
const openings: readonly PartOpening[] = [
  { kind: 'text' },
  { kind: 'refusal' },
  { kind: 'reasoning', redacted: false, issuer: null },
];
const spoken = fc
  .tuple(fc.constantFrom(...openings), pieces, fc.array(citation, { maxLength: 2 }))
  .map(([opening, said, cited]): Told => ({ opening, pieces: said, citations: opening.kind === 'text' ? cited : [] }));
const called = fc.tuple(word, fc.constantFrom('function' as const, 'custom' as const), pieces).map(
  ([name, tool, said]): Told => ({
    opening: { kind: 'tool_call', id: name, name, tool },
    pieces: said,
    citations: [],
  }),
);
/** Parts that are distinct on the wire: two adjacent texts of one kind would be one. */
const drafts = fc
  .array(fc.oneof(spoken, called), { maxLength: 6 })
  .map((parts) =>
    parts.filter(
      (part, place) => part.opening.kind === 'tool_call' || part.opening.kind !== parts[place - 1]?.opening.kind,
    ),
  )
  .map((parts) =>
    parts.map((part, place): Told => {
      const { opening } = part;
      return opening.kind === 'tool_call' ? { ...part, opening: { ...opening, id: `${opening.id}_${place}` } } : part;
    }),
  );

/** The events of an answer; with `turns`, consecutive calls are interleaved, all open at once. */
function renderEvents(parts: readonly Told[], cut: boolean, turns: boolean): GenerationEvent[] {
  const groups: GenerationEvent[][][] = [];
  for (const [part, { opening, pieces: said, citations }] of parts.entries()) {
    const kind = opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
    const queue: GenerationEvent[] = [
      { kind: 'part_start', part, opening },
      ...said.map((piece) => ({ kind, part, text: piece }) as const),
      ...citations.map((one) => ({ kind: 'citation', part, citation: one }) as const),
      { kind: 'part_end', part },
    ];
    const follows = opening.kind === 'tool_call' && parts[part - 1]?.opening.kind === 'tool_call';
    if (turns && follows) groups.at(-1)?.push(queue);
    else groups.push([queue]);
  }
  return [
    { kind: 'start', id: 'u', model: 'm' },
    ...groups.flatMap(interleave),
    { kind: 'usage', usage: USAGE },
    { kind: 'finish', finish_reason: finishOf(parts, cut), stop_sequence: null, reported: null, explanation: null },
    { kind: 'end' },
  ];
}

function finishOf(parts: readonly Told[], cut: boolean) {
  if (cut) return 'length';
  if (parts.some(({ opening }) => opening.kind === 'tool_call')) return 'tool_calls';
  return parts.some(({ opening }) => opening.kind === 'refusal') ? 'refusal' : 'stop';
}

/** One event of each in turn; all begin before any continues. */
function interleave(queues: readonly GenerationEvent[][]): GenerationEvent[] {
  const longest = Math.max(...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) => queues.flatMap((queue) => queue.slice(place, place + 1))).flat();
}

/** Citations come last in a stream, when only the last text is still open. */
function citedLast(parts: readonly Told[]): Told[] {
  return parts.map((part, place) => (place === parts.length - 1 ? part : { ...part, citations: [] }));
}

/** The parts of an answer that this format preserves. */
function kept({ parts, finish_reason, usage, complete }: Generation) {
  return { parts, finish_reason, usage, complete };
}

test('a rendered stream is parsed to the same answer, calls in turns too', () => {
  fc.assert(
    fc.property(drafts, fc.boolean(), fc.boolean(), (parts, cut, turns) => {
      const events = renderEvents(citedLast(parts), cut, turns);
      const { written, renderer } = render(events, CLIENT_CONTEXT);
      expect(renderer.violation).toBeNull();
      expect(kept(foldGeneration(eventsOf(written)))).toEqual(kept(foldGeneration(events)));
    }),
    { numRuns: runsOf(400) },
  );
});

/** Texts of each kind joined, and the calls: a non-streamed answer does not tell their order. */
function summary({ parts, finish_reason, usage, complete }: Generation) {
  const joined = (kind: string) =>
    parts.map((part) => (part.kind === kind && 'text' in part ? part.text : '')).join('');
  const calls = parts.filter(({ kind }) => kind === 'tool_call');
  const [said, reasoning, refusal] = [joined('text'), joined('reasoning'), joined('refusal')];
  return { said, reasoning, refusal, calls, finish_reason, usage, complete };
}

test('a rendered answer is parsed to the same texts and calls', () => {
  fc.assert(
    fc.property(drafts, fc.boolean(), (parts, cut) => {
      const generation = foldGeneration(renderEvents(parts, cut, false));
      const { json } = renderAnswer(generation, CLIENT_CONTEXT);
      expect(summary(foldGeneration(parseAnswer(Buffer.from(json))))).toEqual(summary(generation));
    }),
    { numRuns: runsOf(300) },
  );
});

/** The official client's result for a stream. */
async function accumulate(stream: string): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://gateway.invalid/v1',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  });
  return client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
}

test('the official client assembles the stream into the non-streamed answer', async () => {
  await fc.assert(
    fc.asyncProperty(drafts, fc.boolean(), fc.boolean(), async (parts, cut, turns) => {
      const events = renderEvents(parts, cut, turns);
      const completion = await accumulate(render(events, CLIENT_CONTEXT).written);
      const answer: OpenAI.ChatCompletion = JSON.parse(renderAnswer(foldGeneration(events), CLIENT_CONTEXT).json);
      const [got, wanted] = [completion.choices[0], answer.choices[0]];
      expect(got?.message.content ?? '').toBe(wanted?.message.content ?? '');
      expect(got?.message.refusal ?? null).toBe(wanted?.message.refusal ?? null);
      expect(got?.message.annotations).toEqual(wanted?.message.annotations);
      expect(got?.message.tool_calls?.map(withoutParsed)).toEqual(wanted?.message.tool_calls);
      expect(got?.finish_reason).toBe(wanted?.finish_reason);
      expect([completion.id, completion.model, completion.created]).toEqual([answer.id, answer.model, answer.created]);
      expect(completion.usage).toEqual(answer.usage);
    }),
    { numRuns: runsOf(100) },
  );
});

/** The client's own addition to a call is not part of the wire format. */
function withoutParsed(call: OpenAI.ChatCompletionMessageToolCall): unknown {
  const isOwn = (member: string) => member === 'parsed_arguments' || member === 'parsed';
  return JSON.parse(JSON.stringify(call), (member, value) => (isOwn(member) ? undefined : value));
}
