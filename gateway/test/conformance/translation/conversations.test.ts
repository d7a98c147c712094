/**
 * Tests that random conversations survive the translation to the other format and back in every member that both carry,
 * with legal requests at each step. `conversations/carried.ts` defines those members.
 */
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { foldGeneration, type Generation } from '../../../src/generation/generation.ts';
import type { Part } from '../../../src/generation/part.ts';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import { cutsArbitrary } from '../../../src/generation/testing/split-deltas.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { SEED } from '../../harness/exhaustive.ts';
import { type Form, type ReadAnswer, readBack, withoutCitations } from './answer-oracle.ts';
import { judgeChatRequest } from './chat-legality.ts';
import { carried, lostFeatures, withNames } from './conversations/carried.ts';
import { eventsOfAnswer, randomAnswer } from './conversations/random-answers.ts';
import { randomRequest } from './conversations/random-requests.ts';
import type { Format } from './format.ts';
import { judgeMessagesRequest } from './messages-legality.ts';
import { CONTEXT, eventsOfStream, readRequest, streamFor, writeRequest } from './rig.ts';

const RUNS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 10_000 : 60;
const LEGALITY = { chat: judgeChatRequest, messages: judgeMessagesRequest } as const;
/** Losses that may be reported, by their canonical names. */
const MAY_BE_LOST: ReadonlySet<string> = new Set([
  ...['messages.name', 'strict', 'citations', 'cache_marks', 'temperature', 'top_p', 'top_k', 'reasoning'],
  ...['frequency_penalty', 'presence_penalty', 'seed', 'verbosity', 'service_tier', 'schema'],
]);

interface Leg {
  readonly after: GenerationRequest;
  readonly lost: readonly string[];
}

/**
 * Translates through one format: writes the request for an upstream that accepts everything, checks it, and parses it
 * again.
 */
function pass(request: GenerationRequest, format: Format): Leg {
  const { json, dropped, tools, stopTexts } = writeRequest(format, request);
  expect([format, LEGALITY[format](JSON.parse(json))]).toEqual([format, []]);
  const back = readRequest(format, json, true);
  const after = withNames(back.request, tools.restored);
  expect(after.end_user).toBe(endUserAt(request, format));
  expect(stopTexts).toEqual(format === 'chat' ? [] : request.stop.filter((text) => text.trim() === ''));
  const lost = lostFeatures(request, dropped);
  expect(lost.filter((feature) => !MAY_BE_LOST.has(feature))).toEqual([]);
  return { after, lost };
}

/** Chat upstreams get a hash of the messages `user_id`, and of an id that is too long for them. */
function endUserAt({ end_user, named }: GenerationRequest, format: Format): string | null {
  if (end_user === null || format === 'messages') return end_user;
  const hides = named.end_user?.startsWith('metadata') === true || end_user.length > 128;
  return hides ? createHash('sha256').update(end_user).digest('hex').slice(0, 32) : end_user;
}

describe('random requests', () => {
  test.each(['chat', 'messages'] as const)('come back from %s with all that it carries', (format) => {
    fc.assert(
      fc.property(randomRequest, (request) => {
        const { after, lost } = pass(request, format);
        const [through, said] = [new Set([format]), new Set(lost)];
        expect(carried(after, through, said)).toEqual(carried(request, through, said));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test.each([[['chat', 'messages', 'chat']], [['messages', 'chat', 'messages']]] as const)(
    'survive %j in all that both carry',
    (way) => {
      fc.assert(
        fc.property(randomRequest, (request) => {
          const said = new Set<string>();
          let last = request;
          for (const format of way) {
            const { after, lost } = pass(last, format);
            for (const feature of lost) said.add(feature);
            last = after;
          }
          const through = new Set(way);
          expect(carried(last, through, said)).toEqual(carried(request, through, said));
        }),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});

interface AnswerLeg {
  readonly format: Format;
  readonly form: Form;
  readonly cuts: readonly number[];
}

/** Writes an answer for a client of the format and parses it in the same format. */
function passAnswer(answer: Generation, { format, form, cuts }: AnswerLeg): Generation {
  const events =
    form === 'streamed'
      ? eventsOfStream(format, [Buffer.from(streamFor(format, eventsOfAnswer(answer, cuts)))])
      : UPSTREAM_PROTOCOLS[format].parseAnswer(
          Buffer.from(CLIENT_PROTOCOLS[format].renderAnswer(answer, CONTEXT).json),
        );
  return foldGeneration(events);
}

/**
 * The members of an answer that the tables cover; chat's citations are offsets into the whole text, which
 * answers.test.ts checks.
 */
function told(answer: ReadAnswer, format: Format): ReadAnswer {
  const { model, parts, finish_reason, stop_sequence, usage, usageFlags, complete } = answer;
  const kept = { model, parts, finish_reason, stop_sequence, usage, usageFlags, complete };
  return format === 'chat' ? withoutCitations(kept) : kept;
}

/** What no translation may change: every call to the digit, every word, all tokens. */
function essence({ parts, usage }: Generation) {
  const calls = parts.flatMap((part) => {
    if (part.kind !== 'tool_call') return [];
    const json = part.tool === 'custom' ? JSON.stringify({ input: part.arguments }) : part.arguments;
    return [[part.id, part.name, json === '' ? '{}' : json]];
  });
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const { extras: _, ...counters } = usage ?? { cache_write_5m: 0, cache_write_1h: 0 };
  const tokens = usage && {
    ...counters,
    cache_write_5m: usage.cache_write_5m + usage.cache_write_1h,
    cache_write_1h: 0,
  };
  return { calls, text, tokens };
}

const form = fc.constantFrom<Form>('plain', 'streamed');
const leg = (format: Format): fc.Arbitrary<AnswerLeg> =>
  fc.record({ format: fc.constant(format), form, cuts: cutsArbitrary });

describe('random answers', () => {
  test.each([[['chat', 'messages', 'chat']], [['messages', 'chat', 'messages']]] as const)(
    'are at each step of %j what the tables say, plain and streamed',
    (way) => {
      fc.assert(
        fc.property(randomAnswer, fc.tuple(...way.map(leg)), (answer, legs) => {
          let last = answer;
          for (const one of legs) {
            const next = passAnswer(last, one);
            expect(told(next, one.format)).toEqual(told(readBack(last, one.format, one.form), one.format));
            last = next;
          }
          const refuses = answer.explanation !== null || answer.parts.some(({ kind }) => kind === 'refusal');
          const [before, after] = [essence(answer), essence(last)];
          expect(after.calls).toEqual(before.calls);
          if (!refuses) expect(after.text).toBe(before.text);
          if (before.tokens !== null) expect(after.tokens).toEqual(before.tokens);
        }),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});

/**
 * Returns variants of the request with one member that both formats carry removed or changed; the oracle of the tests
 * above must detect each.
 */
function spoiled(request: GenerationRequest): GenerationRequest[] {
  const without = request.turns.flatMap(({ parts }, turn) =>
    parts.flatMap((part, place) => {
      const isNothing = part.kind === 'text' && part.text.trim() === '';
      if (part.kind === 'reasoning' || isNothing) return [];
      const others = parts.filter((_, index) => index !== place);
      return [
        withParts(request, turn, others),
        ...changed(part).map((one) => withParts(request, turn, parts.with(place, one))),
      ];
    }),
  );
  const { tools, tool_choice: choice } = request;
  return [
    ...without,
    ...(choice === null && tools.length > 0 ? [{ ...request, tools: tools.slice(1) }] : []),
    { ...request, outputTokensMax: (request.outputTokensMax ?? 8192) + 1 },
    { ...request, stop: [...request.stop, 'more'] },
    { ...request, stream: !request.stream },
    { ...request, temperature: request.temperature === 0.5 ? 0.25 : 0.5 },
    { ...request, turns: request.turns.slice(0, -1) },
  ];
}

function withParts(request: GenerationRequest, turn: number, parts: readonly Part[]): GenerationRequest {
  const turns = request.turns.map((one, index) => (index === turn ? { ...one, parts } : one));
  return { ...request, turns };
}

function changed(part: Part): Part[] {
  if (part.kind === 'tool_call') {
    return [
      { ...part, arguments: `{"more":1,${part.arguments.slice(1)}` },
      { ...part, name: 'other' },
      { ...part, id: 'other' },
    ];
  }
  if (part.kind === 'tool_result')
    return [
      { ...part, call_id: 'other' },
      { ...part, is_error: !part.is_error },
    ];
  return part.kind === 'text' ? [{ ...part, text: `${part.text}.` }] : [];
}

test('a request that lost or changed anything that both formats carry is seen to have', () => {
  fc.assert(
    fc.property(randomRequest, (request) => {
      const through = new Set<Format>(['chat', 'messages']);
      const lost = new Set<string>();
      const whole = JSON.stringify(carried(request, through, lost));
      for (const one of spoiled(request)) expect(JSON.stringify(carried(one, through, lost))).not.toBe(whole);
    }),
    { numRuns: 100, seed: SEED },
  );
});
