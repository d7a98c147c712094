/** Tests with random requests and answers that the two halves of Gemini's format agree: what one writes, the other reads. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { foldGeneration, type Generation } from '../../../src/generation/generation.ts';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import { EXTRA_COUNTERS, type Usage } from '../../../src/generation/usage.ts';
import { geminiClient } from '../../../src/protocols/gemini/client/client-protocol.ts';
import { geminiUpstream } from '../../../src/protocols/gemini/upstream/upstream-protocol.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import { recordsOf } from '../../../src/protocols/testing/outline-of.ts';
import { scanJson } from '../../../src/wire/json-scan.ts';
import { SEED } from '../../harness/exhaustive.ts';
import { eventsOfAnswer, randomAnswer } from '../translation/conversations/random-answers.ts';
import { randomRequest } from '../translation/conversations/random-requests.ts';
import { CONTEXT, readStream } from '../translation/rig.ts';

const RUNS = { numRuns: process.env.TOLLGATE_EXHAUSTIVE === '1' ? 2_000 : 200, seed: SEED };
const TRAITS = { ...CAPABLE, model: 'gemini-3-flash' };

/** Gemini has no calls of free text, and does not tell which tokens were written to a cache. */
const answers = randomAnswer.map(
  (answer): Generation => ({
    ...answer,
    parts: answer.parts.filter(
      (part) => part.kind !== 'opaque' && !(part.kind === 'tool_call' && part.tool === 'custom'),
    ),
  }),
);

function counters(usage: Usage | null) {
  if (usage === null) return null;
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, extras = {} } = usage;
  const media = EXTRA_COUNTERS.map((name) => (name === 'audio_cache_read' ? 0 : (extras[name] ?? 0)));
  return { input: input + cache_write_5m + cache_write_1h, cache_read, output, reasoning, media };
}

/** What the format carries of an answer. Line ends between the values of arguments become spaces. */
function carried({ parts, usage, finish_reason }: Generation) {
  const join = (...kinds: readonly string[]) =>
    parts.map((part) => (kinds.includes(part.kind) && 'text' in part ? part.text : '')).join('');
  const calls = parts.flatMap((part) =>
    part.kind === 'tool_call'
      ? [[part.id, part.name, part.arguments.trim() === '' ? '{}' : part.arguments.replaceAll(/[\r\n]/g, ' ')]]
      : [],
  );
  const word = finish_reason === null ? null : WORDS[finish_reason];
  return {
    said: join('text', 'refusal'),
    thought: join('reasoning'),
    calls,
    usage: counters(usage),
    finish: calls.length > 0 && word === 'stop' ? 'tool_calls' : word,
  };
}

const WORDS: { readonly [reason in NonNullable<Generation['finish_reason']>]: string } = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  context_window: 'length',
  tool_calls: 'stop',
  refusal: 'refusal',
  pause: 'stop',
  other: 'stop',
};

function streamed(events: readonly GenerationEvent[]): string {
  const renderer = geminiClient.startStreamRenderer(CONTEXT);
  const text = events.map((event) => renderer.push(event)).join('');
  expect(renderer.violation).toBeNull();
  return text;
}

test('an answer is read back as it was, whole and as a stream', () => {
  fc.assert(
    fc.property(answers, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }), (answer, cuts) => {
      const events = eventsOfAnswer(answer, cuts);
      const wanted = carried(foldGeneration(events));
      const text = streamed(events);
      expect(carried(foldGeneration(readStream('gemini', [Buffer.from(text)]).events))).toEqual(wanted);
      const { json } = geminiClient.renderAnswer(answer, CONTEXT);
      expect(carried(foldGeneration(geminiUpstream.parseAnswer(Buffer.from(json))))).toEqual(wanted);
    }),
    RUNS,
  );
});

test('a rendered stream passes the observer of the format, and folds into the rendered answer', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      const text = streamed(eventsOfAnswer(answer, [3]));
      const observer = geminiUpstream.passThrough.startObserver();
      const fold = geminiUpstream.passThrough.startFold();
      for (const record of recordsOf(text)) {
        observer.observe(record);
        fold.push(record);
      }
      expect([observer.endOfBytes() === null, observer.protocolViolations]).toEqual([false, 0]);
      expect(counters(observer.facts().usage)).toEqual(counters(answer.usage));
      const whole = foldGeneration(geminiUpstream.parseAnswer(Buffer.from(fold.finish(null))));
      expect(carried(whole)).toEqual(carried(answer));
    }),
    RUNS,
  );
});

function written(request: GenerationRequest): { readonly [member: string]: unknown } {
  return JSON.parse(geminiUpstream.renderRequest(request, TRAITS, startTranslationNotes(false)).json);
}

test('a request is read back as it was', () => {
  fc.assert(
    fc.property(randomRequest, (request) => {
      const { json } = geminiUpstream.renderRequest(request, TRAITS, startTranslationNotes(false));
      const outline = scanJson(Buffer.from(json));
      if (!outline.ok) throw new Error(outline.message);
      const notes = startTranslationNotes(true);
      const parsed = geminiClient.parseRequest(outline, notes, { model: 'gemini-3-flash', stream: request.stream });
      expect(notes.dropped).toEqual([]);
      expect(normal(written(parsed))).toEqual(normal(JSON.parse(json)));
    }),
    RUNS,
  );
});

/** VALIDATED is AUTO to models of others, and adjacent texts of the model are one. */
function normal(body: { readonly [member: string]: unknown }): unknown {
  const whole = JSON.parse(JSON.stringify(body).replaceAll('"VALIDATED"', '"AUTO"'));
  const { generationConfig: config } = whole;
  // A model of levels gets nothing for what it does anyway.
  if (JSON.stringify(config?.thinkingConfig) === '{}') delete config.thinkingConfig;
  if (JSON.stringify(config) === '{}') delete whole.generationConfig;
  for (const content of whole.contents) if (content.role === 'model') content.parts = joined(content.parts);
  return whole;
}

function joined(parts: ReadonlyArray<{ readonly text?: string }>): object[] {
  const all: Array<{ readonly text?: string }> = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.text !== undefined && last?.text !== undefined) all[all.length - 1] = { text: last.text + part.text };
    else all.push(part);
  }
  return all;
}
