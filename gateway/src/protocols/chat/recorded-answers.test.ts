/**
 * Tests the readers and writers against recorded traffic: every text, call and counter arrives, at any split of the
 * bytes.
 */
import { describe, expect, test } from 'bun:test';
import { recordingBytes } from '../../../test/fake-upstream/recording.ts';
import { recordingSets, type SetName } from '../../../test/fake-upstream/recordings.ts';
import { startSseDecoder } from '../../framing/sse-decoder.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration } from '../../generation/generation.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../json.ts';
import { renderAnswer } from './client/render-answer.ts';
import { readReportedUsage } from './shared/usage.ts';
import { CONTEXT, eventsOf, render } from './testing/chat-stream.ts';
import { parseAnswer } from './upstream/parse-answer.ts';
import { startStreamParser } from './upstream/parse-stream.ts';

interface Expected {
  readonly streamsMin: number;
  readonly wholesMin: number;
  /** Answers of status 200 that are errors by their providers' intent. */
  readonly failed: readonly string[];
}

const EXPECTED: Readonly<Record<SetName, Expected>> = {
  corpus: {
    streamsMin: 31,
    wholesMin: 53,
    failed: ['corpus-chat/error-with-status-200', 'corpus-chat/stream-error-after-text'],
  },
  recordings: { streamsMin: 105, wholesMin: 291, failed: ['openai-chat/0050', 'openai-chat/0176', 'openai-chat/0345'] },
};
const isStream = (text: string) => text.includes('data:');

/** The text of a message or delta as a simple reader of the first choice's members joins it. */
function wordsOf(message: JsonObject | null): { content: string; reasoning: string; calls: string } {
  const pieces = asArray(message?.content).map(asObject);
  const thought = pieces
    .flatMap((piece) => asArray(piece?.thinking))
    .map((piece) => asText(asObject(piece)?.text) ?? '');
  const pieceTexts = pieces.map((piece) => (piece?.type === 'text' ? (asText(piece.text) ?? '') : ''));
  const details = asArray(message?.reasoning_details).map(
    (detail) => asText(asObject(detail)?.text) ?? asText(asObject(detail)?.summary) ?? '',
  );
  const calls = asArray(message?.tool_calls).map((call) => {
    const [func, custom] = [asObject(asObject(call)?.function), asObject(asObject(call)?.custom)];
    return `${asText(func?.arguments) ?? ''}${asText(custom?.input) ?? ''}`;
  });
  return {
    content: (asText(message?.content) ?? '') + pieceTexts.join(''),
    reasoning:
      thought.join('') + (asText(message?.reasoning_content) ?? asText(message?.reasoning) ?? details.join('')),
    calls: calls.join('') + (asText(asObject(message?.function_call)?.arguments) ?? ''),
  };
}

function joined(events: readonly GenerationEvent[]) {
  const { parts } = foldGeneration(events);
  const of = (kind: string) =>
    parts
      .map((part) =>
        part.kind !== kind ? '' : part.kind === 'tool_call' ? part.arguments : 'text' in part ? part.text : '',
      )
      .join('');
  return { content: of('text'), reasoning: of('reasoning'), calls: of('tool_call') };
}

const firstOf = (chunk: JsonObject) =>
  asArray(chunk.choices)
    .map(asObject)
    .find((choice) => choice !== null && (choice.index === 0 || choice.index === undefined)) ?? null;

describe.each(recordingSets('openai-chat'))('answers of $name', ({ name, recordings }) => {
  const FAILED = new Set(EXPECTED[name].failed);
  const answered = recordings.filter(({ response }) => response.status === 200);
  const streams = answered.flatMap((recording) => {
    const bytes = recordingBytes(recording);
    return recording.stream && isStream(Buffer.from(bytes).toString()) ? [{ id: recording.id, bytes }] : [];
  });
  const wholes = answered.filter(({ stream, response }) => !stream && asObject(response.body) !== null);

  test('are many', () => {
    expect(streams.length).toBeGreaterThanOrEqual(EXPECTED[name].streamsMin);
    expect(wholes.length).toBeGreaterThanOrEqual(EXPECTED[name].wholesMin);
  });

  test('streamed answers arrive complete, with their usage and their end', () => {
    for (const { id, bytes } of streams) {
      const text = Buffer.from(bytes).toString();
      const chunks = text
        .replaceAll('\r\n', '\n')
        .split('\n\n')
        .map((record) => parseObject(record.replace(/^data: ?/, '')))
        .filter((chunk) => chunk !== null);
      const deltas = chunks.map((chunk) => wordsOf(asObject(firstOf(chunk)?.delta)));
      const wanted = {
        content: deltas.map(({ content }) => content).join(''),
        reasoning: deltas.map(({ reasoning }) => reasoning).join(''),
        calls: deltas.map(({ calls }) => calls).join(''),
      };
      const events = eventsOf(text);
      const answer = foldGeneration(events);
      const usage = chunks.map((chunk) => readReportedUsage(chunk)?.usage ?? null).findLast((one) => one !== null);
      const last = events.at(-1)?.kind;
      if (FAILED.has(id)) expect([id, last]).toEqual([id, 'error']);
      else expect([id, last, joined(events)]).toEqual([id, 'end', wanted]);
      expect([id, answer.usage]).toEqual([id, usage ?? null]);
    }
  });

  test('plain answers arrive complete', () => {
    for (const { id, response } of wholes) {
      const body = asObject(response.body);
      const events = parseAnswer(Buffer.from(JSON.stringify(body)));
      const wanted = wordsOf(asObject(firstOf(body ?? {})?.message));
      if (FAILED.has(id)) expect([id, events.map(({ kind }) => kind)]).toEqual([id, ['error']]);
      else expect([id, events.at(-1)?.kind, joined(events)]).toEqual([id, 'end', wanted]);
    }
  });

  test('are the same events at any split of their bytes', () => {
    for (const { bytes, id } of streams) {
      const whole = eventsOf(Buffer.from(bytes).toString());
      const [decoder, parser] = [startSseDecoder(), startStreamParser()];
      const events: GenerationEvent[] = [];
      let [start, size] = [0, 1];
      while (start < bytes.length) {
        for (const output of decoder.push(bytes.slice(start, start + size)))
          if (output.kind !== 'problem') events.push(...parser.push(output));
        start += size;
        size = (size * 7 + 3) % 61 || 1;
      }
      for (const output of decoder.finish()) if (output.kind !== 'problem') events.push(...parser.push(output));
      events.push(...parser.finish());
      expect([id, events]).toEqual([id, whole]);
    }
  });

  test('are written again in order and read to the same answer', () => {
    for (const { id, bytes } of streams.filter(({ id }) => !FAILED.has(id))) {
      const events = eventsOf(Buffer.from(bytes).toString());
      const { written, renderer } = render(events, { ...CONTEXT, wantsUsage: true });
      expect([id, renderer.violation]).toEqual([id, null]);
      const again = eventsOf(written);
      const bare = (text: string) => text.replaceAll('{}', '');
      expect([id, bare(joined(again).calls)]).toEqual([id, bare(joined(events).calls)]);
      expect([id, joined(again).content, joined(again).reasoning]).toEqual([
        id,
        joined(events).content,
        joined(events).reasoning,
      ]);
      const answer = renderAnswer(foldGeneration(events), CONTEXT);
      expect([id, answer.finish_reason]).toEqual([id, renderer.finish_reason ?? '']);
    }
  });
});
