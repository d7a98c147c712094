/**
 * Tests that recorded Converse answers arrive complete at clients of both formats, plain and streamed, with exact usage:
 * parsed by the product, and assembled by the official clients. `answer-reading.ts` reads them a second time.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { foldGeneration, type Generation } from '../../../src/generation/generation.ts';
import type { Part } from '../../../src/generation/part.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { aliasText } from '../../../src/protocols/request/tool-names.ts';
import type { Form } from '../translation/answer-oracle.ts';
import { foundBy, wantedBy } from '../translation/client-oracle.ts';
import { readByClient } from '../translation/clients.ts';
import type { Format } from '../translation/format.ts';
import { CONTEXT, eventsOfStream, streamFor } from '../translation/rig.ts';
import { answerSets, type ConverseAnswer, type Reading, readAnswer } from './answer-reading.ts';

const FORMATS: readonly Format[] = ['chat', 'messages'];
const FORMS: readonly Form[] = ['plain', 'streamed'];
const ANSWERS_MIN: Readonly<Record<string, number>> = { corpus: 22, recordings: 73 };
const REQUESTS: { readonly [format in Format]: string } = {
  chat: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  messages: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}',
};

function eventsOf(
  { streamed, bytes }: ConverseAnswer,
  parts: readonly Uint8Array[] = [bytes],
): readonly GenerationEvent[] {
  return streamed ? eventsOfStream('converse', parts) : UPSTREAM_PROTOCOLS.converse.parseAnswer(bytes);
}

/** What the product finds, in the form of the oracle. */
function found({ parts, usage, reported }: Generation): Reading {
  const { input, cache_read, cache_write_5m, cache_write_1h, output } = usage ?? {};
  return {
    text: parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    reasoning: parts.map((part) => (part.kind === 'reasoning' ? part.text : '')).join(''),
    signatures: parts.flatMap((part) => (part.kind === 'reasoning' && part.signature !== null ? [part.signature] : [])),
    calls: parts.flatMap((part) =>
      part.kind === 'tool_call' ? [[part.id, part.name, JSON.parse(part.arguments)] as const] : [],
    ),
    citations: parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.citations.length : 0), 0),
    stopReason: reported,
    usage: [input, cache_read, cache_write_5m, cache_write_1h, output],
  };
}

/** Blocks of server tools are shown to no client; an id that the client's format does not allow gets an alias. */
function shown(answer: Generation, to: Format): Generation {
  const parts = answer.parts.flatMap((part): Part[] => {
    if (part.kind === 'tool_call' && to === 'messages') return [{ ...part, id: aliasText(part.id, 128) }];
    return part.kind === 'opaque' ? [] : [part];
  });
  return { ...answer, parts };
}

describe.each(answerSets())('Converse answers of $name', ({ name, answers }) => {
  test('are read as another reading finds them, with exact usage', () => {
    for (const answer of answers) {
      const events = eventsOf(answer);
      expect([answer.id, events.at(-1)?.kind]).toEqual([answer.id, 'end']);
      const generation = foldGeneration(events);
      expect([answer.id, found(generation), generation.usageFlags]).toEqual([answer.id, readAnswer(answer), []]);
    }
    expect(answers.length).toBeGreaterThanOrEqual(ANSWERS_MIN[name] ?? 0);
  });

  test('are put together by the official clients of both formats, plain and streamed', async () => {
    for (const answer of answers) {
      const events = eventsOf(answer);
      for (const to of FORMATS) {
        const generation = shown(foldGeneration(events), to);
        for (const form of FORMS) {
          const text =
            form === 'streamed' ? streamFor(to, events) : CLIENT_PROTOCOLS[to].renderAnswer(generation, CONTEXT).json;
          const call = { request: REQUESTS[to], answer: text, streamed: form === 'streamed' };
          const reading = await readByClient(to, call);
          expect([answer.id, to, form, foundBy(to, reading)]).toEqual([
            answer.id,
            to,
            form,
            wantedBy(to, generation, form),
          ]);
        }
      }
    }
  }, 60_000);

  test('are the same events however a stream is divided', () => {
    for (const answer of answers.filter(({ streamed }) => streamed)) {
      const whole = eventsOf(answer);
      for (const size of [1, 7, 64, 1000]) {
        const parts = Array.from({ length: Math.ceil(answer.bytes.length / size) }, (_, index) =>
          answer.bytes.subarray(index * size, (index + 1) * size),
        );
        if (size > 1 || answer.bytes.length < 20_000)
          expect([answer.id, size, eventsOf(answer, parts)]).toEqual([answer.id, size, whole]);
      }
    }
  });

  test('of streams that end early are not complete before messageStop, and have no usage before their end', () => {
    for (const answer of answers.filter(({ streamed }) => streamed)) {
      const stopAt = answer.events.findIndex(([type]) => type === 'messageStop');
      for (let count = 0; count < answer.frames.length; count++) {
        const events = eventsOf(answer, answer.frames.slice(0, count));
        const isComplete = events.at(-1)?.kind === 'end';
        expect([answer.id, count, isComplete]).toEqual([answer.id, count, count > stopAt]);
        expect(events.some(({ kind }) => kind === 'usage')).toBe(false);
      }
    }
  });
});
