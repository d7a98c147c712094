/**
 * Tests the 16 invariants of a Responses stream (specification, D.4) for every stream that the gateway writes, from each
 * upstream format, however the network splits it and wherever it is cut. Without HTTP.
 */
import { describe, expect, test } from 'bun:test';
import { AWS_EVENT_STREAM } from '../../../src/framing/aws-event-stream.ts';
import { SSE } from '../../../src/framing/sse-decoder.ts';
import { TranslatingObserver } from '../../../src/protocols/answer/translating-observer.ts';
import { UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { responsesClient } from '../../../src/protocols/responses/client/client-protocol.ts';
import { violationOf } from '../../../src/protocols/responses/testing/responses-stream.ts';
import { responsesUpstream } from '../../../src/protocols/responses/upstream/upstream-protocol.ts';
import type { Answer } from '../../fake-upstream/answer/answer.ts';
import { streamedChatAnswer } from '../../fake-upstream/answer/chat-answer.ts';
import { streamedConverseAnswer } from '../../fake-upstream/answer/converse-answer.ts';
import { streamedGeminiAnswer } from '../../fake-upstream/answer/gemini-answer.ts';
import { streamedMessagesAnswer } from '../../fake-upstream/answer/messages-answer.ts';
import { streamedResponsesAnswer } from '../../fake-upstream/answer/responses-answer.ts';
import { type Speech, scriptedSpeech } from '../../fake-upstream/answer/speech.ts';
import { recordingBytes } from '../../fake-upstream/recording.ts';
import { recordingSets } from '../../fake-upstream/recordings.ts';
import { exhaustiveTest } from '../../harness/exhaustive.ts';
import { type Relayed, type RelayPlan, relayedBy } from '../relay-stream.ts';
import { CONTEXT } from '../translation/rig.ts';
import { eventsIn } from './rig.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
/** Between the places that are tried: prime, so that no structure of the bytes repeats with it. */
const STRIDE = EXHAUSTIVE ? 1 : 13;

type Format = 'chat' | 'messages' | 'gemini' | 'converse' | 'responses';

const STREAMED: { readonly [format in Format]: (speech: Speech) => Answer } = {
  chat: (speech) => streamedChatAnswer('lab', speech, true),
  messages: (speech) => streamedMessagesAnswer('lab', speech),
  gemini: (speech) => streamedGeminiAnswer('lab', speech),
  converse: streamedConverseAnswer,
  responses: (speech) => streamedResponsesAnswer('lab', speech),
};

const SPEECHES: readonly Speech[] = [
  scriptedSpeech({ reasoning: 'Hm \u{1f914}, so', text: 'Zürich, "then".' }, 1),
  scriptedSpeech(
    {
      reasoning: 'I look.',
      calls: ['a\u{1f30d}"', 'b'].map((place, at) => ({ id: `call_${at}`, name: 'look', input: { place } })),
    },
    2,
  ),
  scriptedSpeech({ text: 'I look.', calls: [{ id: 'call_1', name: 'look', input: {} }] }, 3),
];

/** A relay of an upstream's stream to a Responses client. */
function planOf(format: Format): RelayPlan {
  const framing = format === 'converse' ? AWS_EVENT_STREAM : SSE;
  if (format === 'responses')
    return { protocol: responsesClient, observer: responsesUpstream.passThrough.startObserver(), framing };
  const { startStreamParser, deltaMembers } = UPSTREAM_PROTOCOLS[format];
  const observer = new TranslatingObserver({
    parser: startStreamParser(),
    filter: null,
    filtersText: false,
    renderer: responsesClient.startStreamRenderer(CONTEXT),
    deltaMembers,
    onEvent: null,
  });
  return { protocol: responsesClient, observer, framing };
}

const relay = (format: Format, parts: readonly Uint8Array[], end: 'clean' | 'lost' = 'clean') =>
  relayedBy(planOf(format), parts, end);
const bytesOf = ({ parts }: Answer) => Buffer.concat([...parts].map(({ bytes }) => bytes));
const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Throws where the stream breaks an invariant, or does not end with its only terminal event. */
function expectLegal({ text, began }: Relayed, at: string): void {
  if (!began) return;
  expect([at, violationOf(text)]).toEqual([at, null]);
  const types = eventsIn(text).map(({ type }) => String(type));
  expect([at, types.filter((type) => ENDS.has(type)).length, ENDS.has(types.at(-1) ?? '')]).toEqual([at, 1, true]);
}

/** The answer is the same for every split, and legal for every cut. */
async function expectInvariants(format: Format, bytes: Buffer, stride: number, start = 1): Promise<void> {
  const whole = await relay(format, [bytes]);
  expectLegal(whole, 'whole');
  expect(whole.began).toBe(true);
  for (let at = start; at < bytes.length; at += stride) {
    const split = await relay(format, [bytes.subarray(0, at), bytes.subarray(at)]);
    if (!Bun.deepEquals(split, whole)) expect({ at, ...split }).toEqual({ at, ...whole });
    for (const end of ['clean', 'lost'] as const)
      expectLegal(await relay(format, [bytes.subarray(0, at)], end), `${end} cut at ${at}`);
  }
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  expect(await relay(format, single)).toEqual(whole);
}

describe.each(Object.keys(STREAMED) as Format[])('an upstream of %s', (format) => {
  test.each(SPEECHES.map((speech, index) => [index, speech] as const))(
    'speech %d: every split gives the same stream, every cut a legal one',
    async (index, speech) => {
      await expectInvariants(format, bytesOf(STREAMED[format](speech)), STRIDE, 1 + index);
    },
    60_000,
  );
});

describe.each([
  ['chat', 'openai-chat'],
  ['messages', 'anthropic-messages'],
  ['responses', 'openai-responses'],
] as const)('recorded streams of %s', (format, api) => {
  const streams = recordingSets(api).flatMap(({ recordings }) =>
    recordings.filter(({ stream, response }) => stream && response.status === 200),
  );

  test('are legal as a whole, and wherever they are cut at some places', async () => {
    for (const [index, recording] of streams.entries()) {
      const bytes = Buffer.from(recordingBytes(recording));
      const whole = await relay(format, [bytes]);
      // Streams of the format pass as their host wrote them.
      const isOurs = format !== 'responses';
      if (isOurs) expectLegal(whole, recording.id);
      else if (violationOf(whole.text) !== null) continue;
      const at = (index * 7919) % (bytes.length + 1);
      expectLegal(await relay(format, [bytes.subarray(0, at)], 'lost'), `${recording.id} cut at ${at}`);
    }
  }, 60_000);

  exhaustiveTest(
    'are the same for every split, and legal for every cut',
    async () => {
      // Where the type follows the data, a cut between them leaves a record without its type.
      const short = streams
        .map((one) => Buffer.from(recordingBytes(one)))
        .filter((bytes) => bytes.length < 6_000 && !/^data:.*\r?\nevent:/m.test(bytes.toString()));
      for (const bytes of short) {
        const whole = await relay(format, [bytes]);
        if (whole.began && violationOf(whole.text) === null) await expectInvariants(format, bytes, 3);
      }
    },
    600_000,
  );
});
