/**
 * Replays every answer of the corpus and of the recordings to clients of both formats, plain and streamed: the official
 * clients read them, no record breaks the order of the format, and the usage is exact.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { foldGeneration, unfoldGeneration } from '../../../src/generation/generation.ts';
import { CLIENT_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { recordingSets, type SetName } from '../../fake-upstream/recordings.ts';
import { readByClient } from '../translation/clients.ts';
import type { Format } from '../translation/format.ts';
import { CONTEXT, streamFor } from '../translation/rig.ts';
import { list, object } from '../wire-text.ts';
import { type ExpectedAnswer, expectedOf, isStream } from './answer-oracle.ts';
import { GEMINI, readStream } from './rig.ts';

const ANSWERED_MIN: Readonly<Record<SetName, number>> = { corpus: 15, recordings: 130 };
const REQUESTS: { readonly [format in Format]: string } = {
  chat: '{"model":"m","messages":[{"role":"user","content":"When?"}]}',
  messages: '{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"When?"}]}',
};
const CHAT_FINISH = { stop: 'stop', length: 'length', refusal: 'content_filter' } as const;
const MESSAGES_FINISH = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal' } as const;

function eventsOf(recording: Recording): readonly GenerationEvent[] {
  const bytes = Buffer.from(recordingBytes(recording));
  return isStream(recording) ? readStream(bytes).events : GEMINI.parseAnswer(bytes);
}

function isAnswer({ response, request }: Recording): boolean {
  return response.status === 200 && request?.path.includes(':countTokens') !== true;
}

/** What a client reads, in the terms of the oracle; `input` and `output` as the format counts them. */
async function readingOf(format: Format, events: readonly GenerationEvent[], streamed: boolean) {
  const answer = streamed
    ? streamFor(format, events)
    : String(CLIENT_PROTOCOLS[format].renderAnswer(foldGeneration(events), CONTEXT).json);
  const { answer: found, reasoning } = await readByClient(format, { request: REQUESTS[format], answer, streamed });
  if (format === 'chat') {
    const choice = object(list(found.choices)[0]) ?? {};
    const message = object(choice.message) ?? {};
    const usage = object(found.usage) ?? {};
    return {
      text: String(message.content ?? ''),
      thoughts: reasoning,
      calls: list(message.tool_calls).map((call) => {
        const called = object(object(call)?.function);
        return [called?.name, JSON.parse(String(called?.arguments))];
      }),
      finish: choice.finish_reason,
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cited: list(message.annotations).map((one) => String(object(object(one)?.url_citation)?.url)),
    };
  }
  const blocks = list(found.content).map((block) => object(block) ?? {});
  const usage = object(found.usage) ?? {};
  const textOf = (type: string, member: string) =>
    blocks.map((block) => (block.type === type ? String(block[member]) : '')).join('');
  return {
    text: textOf('text', 'text'),
    thoughts: textOf('thinking', 'thinking'),
    calls: blocks.flatMap(({ type, name, input }) => (type === 'tool_use' ? [[name, input]] : [])),
    finish: found.stop_reason,
    input: Number(usage.input_tokens) + Number(usage.cache_read_input_tokens),
    output: usage.output_tokens,
    cited: blocks.flatMap(({ citations }) => list(citations).map((one) => String(object(one)?.source))),
  };
}

function wantedBy(format: Format, { text, thoughts, calls, finish, usage, cited }: ExpectedAnswer) {
  if (finish === 'failed') throw new Error('a failed answer has no reading');
  const words = format === 'chat' ? CHAT_FINISH : MESSAGES_FINISH;
  const called = format === 'chat' ? 'tool_calls' : 'tool_use';
  return {
    text,
    thoughts,
    calls,
    finish: finish === 'stop' && calls.length > 0 ? called : words[finish],
    ...tokensOf(format, usage),
    cited,
  };
}

/** Without counts chat clients get no usage, messages clients the gateway's estimate, which is 0 in these tests. */
function tokensOf(format: Format, usage: ExpectedAnswer['usage']) {
  if (usage === null) return format === 'chat' ? { input: undefined, output: undefined } : { input: 0, output: 0 };
  return { input: usage.input + usage.cache_read, output: usage.output };
}

/** Arguments that came in pieces are judged by vectors of their own. */
function withoutPieces<Reading extends { readonly calls: ReadonlyArray<readonly unknown[]> }>(
  reading: Reading,
  { calls }: ExpectedAnswer,
): Reading {
  return {
    ...reading,
    calls: reading.calls.map((call, at) => (calls[at]?.[1] === 'in pieces' ? [call[0], 'in pieces'] : call)),
  };
}

describe.each(recordingSets('gemini-generate'))('the answers of Gemini, $name', ({ name, recordings }) => {
  const answers = recordings.filter(isAnswer).map((recording) => ({ recording, expected: expectedOf(recording) }));
  const answered = answers.filter(({ expected }) => expected.finish !== 'failed');

  test('are there', () => {
    expect(answered.length).toBeGreaterThanOrEqual(ANSWERED_MIN[name]);
  });

  test('have the usage and the searches that an independent reading finds', () => {
    for (const { recording, expected } of answered) {
      const { usage } = foldGeneration(eventsOf(recording));
      if (usage === null || expected.usage === null) {
        expect([recording.id, usage === null]).toEqual([recording.id, expected.usage === null]);
        continue;
      }
      const { input, cache_read, output, reasoning } = usage;
      expect([recording.id, { input, cache_read, output, reasoning }]).toEqual([recording.id, expected.usage]);
      const searches = usage.extras?.server_tools?.web_search ?? 0;
      expect([recording.id, searches > 0, searches <= expected.searches]).toEqual([
        recording.id,
        expected.searches > 0,
        true,
      ]);
      if (isStream(recording)) continue;
      const reading = GEMINI.readAnswer(JSON.parse(Buffer.from(recordingBytes(recording)).toString()), 1);
      const facts = reading.kind === 'answer' ? reading.facts.usage : null;
      expect([recording.id, facts?.input, facts?.output]).toEqual([recording.id, input, output]);
    }
  });

  test('that failed are errors, with the usage before them', () => {
    for (const { recording } of answers.filter(({ expected }) => expected.finish === 'failed')) {
      const events = eventsOf(recording);
      expect([recording.id, events.at(-1)?.kind]).toEqual([recording.id, 'error']);
    }
  });

  test.each(['chat', 'messages'] as const)(
    'are read by the official client of %s, plain and streamed',
    async (format) => {
      for (const { recording, expected } of answered) {
        const events = eventsOf(recording);
        const wanted = wantedBy(format, expected);
        const forms = [
          [true, isStream(recording) ? events : unfoldGeneration(foldGeneration(events))],
          [false, events],
        ] as const;
        for (const [streamed, form] of forms) {
          const reading = withoutPieces(await readingOf(format, form, streamed), expected);
          expect([recording.id, streamed, reading]).toEqual([
            recording.id,
            streamed,
            wanted,
          ] as unknown as (typeof reading)[]);
        }
      }
    },
    120_000,
  );

  test('that stream are the same in whatever pieces they come, and cut nowhere a whole answer', () => {
    for (const { recording } of answered.filter((one) => isStream(one.recording))) {
      const bytes = Buffer.from(recordingBytes(recording));
      const whole = readStream(bytes);
      const step = Math.max(1, Math.floor(bytes.length / 97));
      for (let at = step; at < bytes.length - 4; at += step) {
        expect(readStream(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
      }
      const half = readStream(bytes.subarray(0, Math.floor(bytes.length / 2))).events;
      expect([recording.id, half.some(({ kind }) => kind === 'end')]).toEqual([recording.id, false]);
    }
  });
});
